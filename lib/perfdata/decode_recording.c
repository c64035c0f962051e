/*
 * A recording to an event stream: each record is queued by its time, and in its turn decoded. What
 * has no time, and perf's own records, are decoded at once.
 */
#include "perfdata/decoder.h"

#include "base/err.h"

#include <stdlib.h>

#define MAPPED_MAX (4u << 20) /* bytes of windows that are done with */

/* Windows of the file that were lent to the output are kept until it has been written. */
static void unmap(struct perf_decoder *p)
{
	p->w->out->lasting = NULL;
	p->w->out->nlasting = 0;
	if (p->r.first.mapped)
		out_flush(p->w->out);
	blocks_unmap(&p->order.blocks);
}

/* A record in its turn. */
static int deliver(struct perf_decoder *p, uint64_t time, uint8_t *rec, struct block *b)
{
	struct cursor c = cursor_make(rec, 8, p->r.info.swap);
	uint32_t type = get_u32(&c);
	size_t size;
	int rc;

	get_u16(&c);
	size = get_u16(&c);
	if (p->order.blocks.mapped_bytes > MAPPED_MAX)
		unmap(p);
	p->w->out->lasting = b->map ? block_bytes(b) : NULL;
	p->w->out->nlasting = b->map ? b->len : 0;
	rc = type == PERF_REC_SAMPLE ? perf_sample(p, rec, size, time)
				     : perf_record(p, rec, size, time);
	if (p->w->err)
		return p->w->err;
	if (rc == PP_ECUT || rc == PP_ECORRUPT) {
		perf_damage(&p->r.info, PP_ECORRUPT,
			    (int64_t)(b->base + (size_t)(rec - block_bytes(b))),
			    "a record of type %u is damaged", type);
		rc = 0;
	}
	return rc;
}

/* A record from the queue, whose call chain perf_ahead has seen: an order_fn. */
static int deliver_queued(void *ctx, uint64_t time, uint8_t *rec, struct block *b)
{
	struct perf_decoder *p = ctx;
	int rc;

	p->ahead.now = p->ahead.out++ % PERF_AHEAD + 1;
	rc = deliver(p, time, rec, b);
	p->ahead.now = 0;
	return rc;
}

/* Time of a sample, 0 if it has none. */
static uint64_t time_of_sample(const struct perf_info *p, const uint8_t *rec, size_t size)
{
	int pos = p->time_pos;
	struct cursor c;
	uint64_t t;

	if (pos == PERF_POS_VARIES) {
		const struct perf_attr *a = perf_attr_of_sample(p, rec + 8, size - 8);

		pos = a ? a->time_pos : -1;
	}
	if (pos < 0 || !p->nattrs)
		return 0;
	c = cursor_make(rec + 8, size - 8, p->swap);
	cursor_skip(&c, 8 * (uint64_t)pos);
	t = get_u64(&c);
	return t == UINT64_MAX ? 0 : t;
}

static int queue(struct perf_decoder *p, uint64_t time, const struct perf_raw *raw)
{
	if (!time)
		return deliver(p, 0, raw->rec, raw->block);
	p->r.newest = time;
	return order_add(&p->order, time, raw->rec, raw->block);
}

static int take_sample(struct perf_decoder *p, const struct perf_raw *raw)
{
	return queue(p, time_of_sample(&p->r.info, raw->rec, raw->size), raw);
}

/* A sample of a recording with copies of stacks: parts of this one's may have been left out. */
static int take_copied(struct perf_decoder *p, struct perf_raw raw)
{
	const struct perf_attr *a;
	int rc;

	a = perf_attr_of_sample(&p->r.info, raw.rec + 8, raw.size - 8);
	rc = a && a->sample_type & PSB_STACK_USER ? perf_expand_copy(p, a, &raw) : 0;
	return rc ? rc : take_sample(p, &raw);
}

static int take_other(struct perf_decoder *p, const struct perf_raw *raw)
{
	struct perf_id id;
	uint64_t time;

	perf_record_id(&p->r.info, raw->rec, raw->size, &id);
	time = id.has_time ? id.time : 0;
	if (raw->type == PERF_REC_CALLCHAIN_DEFERRED && time &&
	    perf_deferred_add(p, raw->rec, raw->size, id.tid))
		return PP_ENOMEM;
	return queue(p, time, raw);
}

static int take_kernel(struct perf_decoder *p, const struct perf_raw *raw)
{
	if (raw->type != PERF_REC_SAMPLE)
		return take_other(p, raw);
	return p->r.info.copies ? take_copied(p, *raw) : take_sample(p, raw);
}

/* Call chains are looked at ahead when there are any; copies of stacks go from file to pipe. */
static void look_ahead(struct perf_decoder *p)
{
	for (uint32_t i = 0; i < p->r.info.nattrs; i++) {
		if (p->r.info.attrs[i].sample_type & PSB_CALLCHAIN)
			p->order.ahead = perf_ahead;
		if (p->r.info.attrs[i].sample_type & PSB_STACK_USER)
			p->r.first.mapped = out_is_pipe(p->w->out);
	}
}

/* What the reader hands over: the two functions of a struct perf_sink. */
static int take_record(void *ctx, const struct perf_raw *raw)
{
	struct perf_decoder *p = ctx;

	if (raw->type < PERF_REC_USER_START)
		return take_kernel(p, raw);
	if (raw->type == PERF_REC_HEADER_ATTR)
		look_ahead(p);
	/* In the directory form a round of one file does not end one of the others. */
	if (raw->type == PERF_REC_FINISHED_ROUND)
		return p->r.budget ? 0 : order_round(&p->order);
	return perf_session_put(p, raw);
}

static int take_feature(void *ctx, uint32_t feature, struct cursor c)
{
	return perf_feature_put(ctx, feature, c);
}

/* ---- from the beginning to the end ---- */

/* The kernel's symbols that lie beside a recording in a directory. */
static int put_kallsyms(struct perf_decoder *p)
{
	struct buf text = BUF_INIT;
	int rc = perf_read_kallsyms(&p->r, &text);

	if (!rc && text.len)
		rc = perf_blob(p, PS_BLOB_KALLSYMS, text.data, text.len);
	buf_release(&text);
	return rc;
}

static int begin(struct perf_decoder *p)
{
	int rc = perf_reader_open(&p->r);

	if (!rc)
		rc = perf_reader_header(&p->r, false);
	if (!rc)
		rc = put_kallsyms(p);
	if (!rc)
		look_ahead(p);
	return rc;
}

/* When reading ended with rc. */
static int finish(struct perf_decoder *p, int rc)
{
	int flushed;

	rc = perf_reader_ended(&p->r, rc);
	/* Something of a record is missing in the stream or in memory: no more is put together. */
	if (rc && rc == p->r.stopped)
		return p->w->err ? p->w->err : rc;
	if (!p->out.source && perf_announce(p))
		return p->w->err;
	flushed = order_flush(&p->order);
	if (p->w->out->err && !p->w->err)
		p->w->err = p->w->out->err;
	if (p->w->err)
		return p->w->err;
	if (flushed || rc)
		return flushed ? flushed : rc;
	if (perf_event_write_all(p))
		return p->w->err ? p->w->err : PP_ENOMEM;
	return p->r.info.damage;
}

static void release(struct perf_decoder *p)
{
	unmap(p); /* also before those that are still queued go */
	buf_release(&p->out.metas);
	intern_release(&p->out.strings);
	intern_release(&p->out.dsos);
	hashids_release(&p->out.chains);
	perf_threads_release(&p->threads);
	perf_counters_release(&p->counters);
	buf_release(&p->counts.tids);
	perf_deferred_release(&p->deferred);
	perf_names_release(&p->names);
	perf_reader_release(&p->r); /* its block is one of the queue's */
	perf_expand_release(p);
	order_release(&p->order);
	free(p);
}

int perf_decode(struct src *s, uint32_t source, struct swriter *w, struct diag *d,
		struct ps_end *account, bool stats)
{
	struct perf_decoder *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return PP_ENOMEM;
	p->w = w;
	p->source = source;
	p->account = account;
	p->out.chains = (struct hashids){.max_ids = PERF_CHAIN_IDS, .max_bytes = PERF_CHAIN_BYTES};
	order_init(&p->order, deliver_queued, p);
	perf_reader_init(&p->r, s, d, &p->order.blocks);
	p->r.sink = (struct perf_sink){take_record, take_feature, p};
	rc = begin(p);
	if (!rc) {
		rc = finish(p, perf_reader_records(&p->r));
		if (!rc || rc == p->r.info.damage)
			perf_report(p, stats);
	}
	release(p);
	return rc;
}
