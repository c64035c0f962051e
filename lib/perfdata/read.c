/* Reading the records of a perf.data: into blocks, and from there into time order. */
#include "perfdata/parts.h"

#include "base/err.h"

#include <stdlib.h>
#include <zstd.h>

/* Time of a record, 0 if it has none: those are delivered at once. */
static uint64_t time_of_sample(struct perf *p, const uint8_t *rec, size_t size)
{
	const struct perf_attr *a;
	struct cursor c;
	uint64_t t;

	a = p->alike ? p->attrs : perf_attr_of_sample(p, rec + 8, size - 8);
	if (!a || a->time_pos < 0)
		return 0;
	c = cursor_make(rec + 8, size - 8, p->swap);
	cursor_skip(&c, 8 * (uint64_t)a->time_pos);
	t = get_u64(&c);
	return t == UINT64_MAX ? 0 : t;
}

int perf_deliver(void *ctx, uint64_t time, uint8_t *rec, struct block *b)
{
	struct perf *p = ctx;
	struct cursor c = cursor_make(rec, 8, p->swap);
	uint32_t type = get_u32(&c);
	size_t size;
	int rc;

	get_u16(&c);
	size = get_u16(&c);
	rc = type == PERF_REC_SAMPLE ? perf_sample(p, rec, size, time)
				     : perf_record(p, rec, size, time);
	if (p->w->err)
		return p->w->err;
	if (rc == PP_ECUT || rc == PP_ECORRUPT) {
		perf_damage(p, PP_ECORRUPT, (int64_t)(b->base + (size_t)(rec - block_bytes(b))),
			    "a record of type %u is damaged", type);
		rc = 0;
	}
	return rc;
}

/* ---- blocks ---- */

/* What lies in a block never moves: when it is full, the unread rest goes to a new one. */
int perf_need_more(struct perf *p, uint64_t n)
{
	struct block *b = p->cur;
	size_t have = b ? b->len - p->pos : 0;

	if (n > PERF_SECTION_MAX)
		return PP_ELIMIT;
	if (!b || p->pos + n > b->cap) {
		b = block_new(n > PERF_BLOCK ? n : PERF_BLOCK, &p->order.blocks);
		if (!b)
			return PP_ENOMEM;
		b->base = src_tell(p->src) - have;
		if (have)
			memcpy(b->data, block_bytes(p->cur) + p->pos, have);
		b->len = have;
		block_unref(p->cur);
		p->cur = b;
		p->pos = 0;
	}
	while (b->len - p->pos < n) {
		size_t want = b->cap - b->len, got;
		int rc;

		if (!src_ready(p->src) && out_flush(p->w->out))
			return p->w->err = p->w->out->err;
		if (want > p->left)
			want = (size_t)p->left;
		rc = src_read(p->src, block_bytes(b) + b->len, want, &got);
		if (rc)
			return rc;
		if (!got)
			return b->len > p->pos ? PP_ECUT : PP_END;
		b->len += got;
		p->left -= got;
		diag_progress(p->d, p->name, src_tell(p->src), src_size(p->src));
	}
	return 0;
}

int perf_skip(struct perf *p, uint64_t n)
{
	size_t have = p->cur->len - p->pos;
	int rc = 0;

	if (n <= have) {
		p->pos += n;
		return 0;
	}
	p->pos += have;
	for (n -= have; n && !rc;) {
		uint64_t step = n < PERF_BLOCK ? n : PERF_BLOCK;

		rc = perf_need(p, step);
		if (!rc)
			p->pos += step;
		n -= step;
	}
	return rc == PP_END ? PP_ECUT : rc;
}

/* ---- the records ---- */

/* One whole record of `size` bytes in block b. */
static int take(struct perf *p, struct block *b, uint8_t *rec, uint32_t type, uint16_t misc,
		size_t size)
{
	struct perf_id id;
	uint64_t time;
	int rc;

	p->counts[type < 256 ? type : 255]++;
	if (p->view && p->view->what == PERF_DESCRIBE_DUMP) {
		rc = perf_dump(p, b, rec, type, misc, size);
		if (rc)
			return rc;
	}
	if (type >= PERF_REC_USER_START) {
		rc = perf_own_record(p, type, misc, cursor_make(rec + 8, size - 8, p->swap));
		if (rc != PP_ECORRUPT && (rc != PP_ECUT || type == PERF_REC_AUXTRACE ||
					  type == PERF_REC_HEADER_TRACING_DATA))
			return rc;
		perf_damage(p, rc, (int64_t)(b->base + (size_t)(rec - block_bytes(b))),
			    "a record of type %u is damaged", type);
		return 0;
	}
	/* A dump needs the names of threads, and no order. */
	if (p->view)
		return type == PERF_REC_SAMPLE ? 0 : perf_deliver(p, 0, rec, b);
	if (type == PERF_REC_SAMPLE) {
		time = time_of_sample(p, rec, size);
	} else {
		perf_record_id(p, rec, size, &id);
		time = id.has_time ? id.time : 0;
		if (type == PERF_REC_CALLCHAIN_DEFERRED && time &&
		    perf_deferred_add(p, rec, size, id.tid))
			return PP_ENOMEM;
	}
	if (time)
		p->newest = time;
	return time ? order_add(&p->order, time, rec, b) : perf_deliver(p, 0, rec, b);
}

/* The whole records in block b from *pos on. */
static int records_of(struct perf *p, struct block *b, size_t *pos)
{
	int rc = 0;

	while (!rc && b->len - *pos >= 8) {
		uint8_t *rec = block_bytes(b) + *pos;
		struct cursor c = cursor_make(rec, 8, p->swap);
		uint32_t type = get_u32(&c);
		uint16_t misc = get_u16(&c), size = get_u16(&c);

		if (size < 8)
			return PP_ECORRUPT;
		if (b->len - *pos < size)
			break;
		*pos += size;
		/* A compressed record holds kernel records only: no nesting. */
		if (type < PERF_REC_USER_START || type == PERF_REC_FINISHED_ROUND)
			rc = take(p, b, rec, type, misc, size);
	}
	return rc;
}

int perf_inflate(struct perf *p, struct cursor c, bool sized)
{
	uint64_t size = sized ? get_u64(&c) : cursor_left(&c), total = 0;
	const uint8_t *bytes = get_bytes(&c, size);
	ZSTD_inBuffer in = {bytes, (size_t)size, 0};
	ZSTD_outBuffer out = {NULL, 0, 0};
	int rc = 0;

	if (!bytes)
		return PP_ECUT;
	if (buf_reserve(&p->inflate_out, PERF_BLOCK) ||
	    (!p->inflate && !(p->inflate = ZSTD_createDCtx())))
		return PP_ENOMEM;
	while (!rc && (in.pos < in.size || (out.size && out.pos == out.size))) {
		struct block *b;
		size_t pos = 0;

		out = (ZSTD_outBuffer){p->inflate_out.data, PERF_BLOCK, 0};
		if (ZSTD_isError(ZSTD_decompressStream(p->inflate, &out, &in)))
			rc = PP_ECORRUPT;
		/* A block of just this size: what lies idle in blocks would count as held. */
		b = block_new(p->inflate_tail.len + out.pos, &p->order.blocks);
		if (!b)
			return PP_ENOMEM;
		b->len = p->inflate_tail.len + out.pos;
		b->base = p->inflated - p->inflate_tail.len;
		b->inflated = true;
		p->inflated += out.pos;
		memcpy(block_bytes(b) + p->inflate_tail.len, out.dst, out.pos);
		if (p->inflate_tail.len)
			memcpy(b->data, p->inflate_tail.data, p->inflate_tail.len);
		total += out.pos;
		if (total > PERF_INFLATE_MAX)
			rc = PP_ECORRUPT;
		if (!rc)
			rc = records_of(p, b, &pos);
		/* What is left begins a record that goes on in what is decompressed next. */
		buf_reset(&p->inflate_tail);
		if (!rc)
			buf_add(&p->inflate_tail, block_bytes(b) + pos, b->len - pos);
		block_unref(b);
	}
	return rc ? rc : p->inflate_tail.err;
}

void perf_inflate_free(void *inflate)
{
	ZSTD_freeDCtx(inflate);
}

int perf_read_records(struct perf *p)
{
	uint64_t done = 0;

	while (!p->budget || done < p->budget) {
		uint32_t type;
		uint16_t misc, size;
		struct cursor c;
		struct block *b;
		uint8_t *rec;
		int rc = perf_need(p, 8);

		if (rc)
			return rc;
		c = cursor_make(block_bytes(p->cur) + p->pos, 8, p->swap);
		type = get_u32(&c);
		misc = get_u16(&c);
		size = get_u16(&c);
		if (size < 8) {
			perf_damage(p, PP_ECORRUPT, (int64_t)(p->cur->base + p->pos),
				    "a record of %u bytes: what follows cannot be read", size);
			return PP_ECORRUPT;
		}
		rc = perf_need(p, size);
		if (rc)
			return rc == PP_END ? PP_ECUT : rc;
		b = p->cur;
		rec = block_bytes(b) + p->pos;
		p->pos += size;
		b->refs++; /* taking it may go on to the next block */
		rc = take(p, b, rec, type, misc, size);
		block_unref(b);
		if (rc)
			return rc;
		done += size;
	}
	return 0;
}
