/* Reading a perf.data: records into blocks, into time order, to the stream. */
#include "input/perf.h"

#include "base/err.h"

#include <inttypes.h>
#include <stdlib.h>
#include <zstd.h>

void perf_damage(struct perf *p, int err, int64_t offset, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	diag_vwarn(p->d, p->name, offset, fmt, ap);
	va_end(ap);
	if (!p->damage)
		p->damage = err;
}

/* Time of a record, 0 if it has none: those are delivered at once. */
static uint64_t time_of(struct perf *p, uint32_t type, const uint8_t *rec, size_t size)
{
	const struct perf_attr *a;
	struct perf_id id;
	struct cursor c;
	uint64_t t;

	if (type != PERF_REC_SAMPLE) {
		perf_record_id(p, rec, size, &id);
		return id.has_time ? id.time : 0;
	}
	a = p->alike ? p->attrs : perf_attr_of_sample(p, rec + 8, size - 8);
	if (!a || a->time_pos < 0)
		return 0;
	c = cursor_make(rec + 8, size - 8, p->swap);
	cursor_skip(&c, 8 * (uint64_t)a->time_pos);
	t = get_u64(&c);
	return t == UINT64_MAX ? 0 : t;
}

static int deliver(void *ctx, uint64_t time, uint8_t *rec, struct block *b)
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

/*
 * Makes n contiguous bytes available at p->pos. 0, PP_END (nothing is left), PP_ECUT (less than n).
 * What lies in a block never moves: when it is full, the unread rest goes to a new one.
 */
static int need(struct perf *p, uint64_t n)
{
	struct block *b = p->cur;
	size_t have = b ? b->len - p->pos : 0;

	if (have >= n)
		return 0;
	if (n > PERF_SECTION_MAX)
		return PP_ELIMIT;
	if (!b || p->pos + n > b->cap) {
		b = block_new(n > PERF_BLOCK ? n : PERF_BLOCK, &p->order.live);
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

/* Passes over n bytes of the input that need not be kept (hardware trace data). */
static int skip(struct perf *p, uint64_t n)
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

		rc = need(p, step);
		if (!rc)
			p->pos += step;
		n -= step;
	}
	return rc == PP_END ? PP_ECUT : rc;
}

/* ---- perf's own records: not ordered, they act at once ---- */

static int one_attr(struct perf *p, struct cursor c)
{
	struct cursor peek = c;
	struct perf_attr *a;
	uint32_t size;
	int rc;

	get_u32(&peek);
	size = get_u32(&peek);
	if (size < PERF_ATTR_SIZE_VER0)
		size = PERF_ATTR_SIZE_VER0;
	rc = perf_attr_add(p, cursor_sub(&c, size), &a);
	while (!rc && cursor_left(&c) >= 8)
		rc = perf_attr_id(p, a, get_u64(&c));
	perf_attr_layout(p);
	return rc;
}

static int event_update(struct perf *p, struct cursor c)
{
	uint64_t kind = get_u64(&c), id = get_u64(&c);
	uint32_t *slot = map64_get(&p->by_id, id);
	const char *name;
	size_t len;

	if (kind != 2 || !slot) /* PERF_EVENT_UPDATE__NAME */
		return 0;
	name = get_text(&c, cursor_left(&c), &len);
	return name ? perf_attr_rename(p, &p->attrs[*slot - 1], name, len) : PP_ECUT;
}

/* The data of a tracing data record follow it, outside of its size; simpleperf has them inside. */
static int tracing_data(struct perf *p, struct cursor c)
{
	uint32_t size = get_u32(&c);
	int rc;

	if (c.bad)
		return PP_ECUT;
	if (cursor_left(&c) && size <= cursor_left(&c))
		return perf_tracing_read(p, cursor_sub(&c, size));
	rc = need(p, size);
	if (rc)
		return rc == PP_END ? PP_ECUT : rc;
	rc = perf_tracing_read(p, cursor_make(block_bytes(p->cur) + p->pos, size, p->swap));
	p->pos += size;
	/* The next record begins at a multiple of 8 bytes. */
	if (!rc && size % 8 && !(rc = need(p, 8 - size % 8)))
		p->pos += 8 - size % 8;
	return rc == PP_END ? 0 : rc;
}

static int inflate(struct perf *p, struct cursor c, bool sized);

static int own_record(struct perf *p, uint32_t type, uint16_t misc, struct cursor c)
{
	switch (type) {
	case PERF_REC_HEADER_ATTR: return one_attr(p, c);
	case PERF_REC_EVENT_UPDATE: return event_update(p, c);
	case PERF_REC_HEADER_TRACING_DATA: return tracing_data(p, c);
	case PERF_REC_HEADER_BUILD_ID: return perf_build_id(p, c, misc);
	case PERF_REC_HEADER_FEATURE: {
		uint32_t feature = (uint32_t)get_u64(&c);

		return c.bad ? PP_ECUT : perf_feature(p, feature, c);
	}
	case PERF_REC_FINISHED_ROUND: p->rounds = true; return order_round(&p->order);
	case PERF_REC_AUXTRACE: return skip(p, get_u64(&c));
	case PERF_REC_COMPRESSED: return inflate(p, c, false);
	case PERF_REC_COMPRESSED2: return inflate(p, c, true);
	default: return 0;
	}
}

/* ---- the records ---- */

/* One whole record of `size` bytes in block b. */
static int take(struct perf *p, struct block *b, uint8_t *rec, uint32_t type, uint16_t misc,
		size_t size)
{
	uint64_t time;
	int rc;

	p->counts[type < 256 ? type : 255]++;
	if (!p->announced && type != PERF_REC_HEADER_ATTR && perf_announce(p))
		return p->w->err;
	if (type >= PERF_REC_USER_START) {
		rc = own_record(p, type, misc, cursor_make(rec + 8, size - 8, p->swap));
		if (rc != PP_ECORRUPT && (rc != PP_ECUT || type == PERF_REC_AUXTRACE ||
					  type == PERF_REC_HEADER_TRACING_DATA))
			return rc;
		perf_damage(p, rc, (int64_t)(b->base + (size_t)(rec - block_bytes(b))),
			    "a record of type %u is damaged", type);
		return 0;
	}
	time = time_of(p, type, rec, size);
	return time ? order_add(&p->order, time, rec, b) : deliver(p, 0, rec, b);
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

/* A compressed record: its bytes continue the stream of records that the recorder compressed. */
static int inflate(struct perf *p, struct cursor c, bool sized)
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
		b = block_new(p->inflate_tail.len + out.pos, &p->order.live);
		if (!b)
			return PP_ENOMEM;
		b->len = b->cap;
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

static int read_records(struct perf *p)
{
	for (;;) {
		uint32_t type;
		uint16_t misc, size;
		struct cursor c;
		struct block *b;
		uint8_t *rec;
		int rc = need(p, 8);

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
		rc = need(p, size);
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
	}
}

/* ---- the whole ---- */

/* What was passed over, each kind once. */
static void say_passed_over(struct perf *p)
{
	static const struct {
		unsigned type;
		const char *name;
	} kinds[] = {
#define R(name, number, text) {number, text},
		PERF_RECORD_TYPES(R)
#undef R
	};
	static const bool quiet[256] = {
		[PERF_REC_HEADER_EVENT_TYPE] = true, [PERF_REC_ID_INDEX] = true,
		[PERF_REC_THREAD_MAP] = true,	     [PERF_REC_CPU_MAP] = true,
		[PERF_REC_TIME_CONV] = true,	     [PERF_REC_FINISHED_INIT] = true,
	};
	uint64_t unknown = 0;

	for (unsigned t = 1; t < 256; t++) {
		const char *name = NULL;

		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
			if (kinds[i].type == t)
				name = kinds[i].name;
		if (!p->counts[t])
			continue;
		if (!name)
			unknown += p->counts[t];
		else if ((t >= PERF_REC_THREAD_MAP && t <= PERF_REC_STAT_ROUND && !quiet[t]) ||
			 (t >= PERF_REC_AUXTRACE_INFO && t <= PERF_REC_AUXTRACE_ERROR) ||
			 t >= PERF_REC_BPF_METADATA)
			diag_say(p->d, p->name, "%" PRIu64 " %s record%s passed over", p->counts[t],
				 name, p->counts[t] == 1 ? "" : "s");
	}
	if (unknown)
		diag_say(p->d, p->name, "%" PRIu64 " records of unknown types passed over",
			 unknown);
}

static void say_account(struct perf *p)
{
	say_passed_over(p);
	if (p->order.late)
		diag_say(p->d, p->name, "%" PRIu64 " records came too late to be put in time order",
			 p->order.late);
	if (p->lost)
		diag_say(p->d, p->name, "the recorder lost %" PRIu64 " event%s", p->lost,
			 p->lost == 1 ? "" : "s");
	if (p->untimed)
		diag_say(p->d, p->name, "%" PRIu64 " samples have no time", p->untimed);
}

/* How the reading of records ended, as a code for the caller. */
static int finish(struct perf *p, int rc)
{
	bool sized = !p->pipe && p->data_size;
	int flushed;

	if (rc == PP_ECUT)
		perf_damage(p, PP_ECUT, (int64_t)src_tell(p->src),
			    "the input ends within a record");
	else if (rc == PP_END && sized && p->left)
		perf_damage(p, PP_ECUT, (int64_t)src_tell(p->src),
			    "the input is cut off: %" PRIu64 " of %" PRIu64
			    " bytes of records are missing",
			    p->left, p->data_size);
	else if (rc == PP_END && !p->pipe && !p->data_size)
		perf_damage(
			p, PP_ECUT, -1,
			"the recording was never finished: names of events and machine are missing");
	else if (rc == PP_EIO || rc == PP_ELIMIT)
		perf_damage(p, rc, (int64_t)src_tell(p->src), "%s", pp_strerror(rc));
	if (perf_announce(p))
		return p->w->err;
	flushed = order_flush(&p->order);
	if (p->w->err)
		return p->w->err;
	if (flushed || rc == PP_ENOMEM)
		return flushed ? flushed : rc;
	if (perf_attr_write_all(p))
		return p->w->err ? p->w->err : PP_ENOMEM;
	say_account(p);
	return p->damage;
}

static int begin(struct perf *p)
{
	uint8_t first[PERF_PIPE_HEADER_SIZE];
	struct cursor c;
	int rc = src_read_all(p->src, first, sizeof(first));

	if (rc)
		return PP_ECUT;
	p->swap = memcmp(first, PERF_MAGIC2, 8) != 0;
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		p->swap = !p->swap;
	p->big_endian = p->swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	c = cursor_make(first + 8, 8, p->swap);
	p->pipe = get_u64(&c) == PERF_PIPE_HEADER_SIZE;
	p->left = UINT64_MAX;
	if (p->pipe)
		return 0; /* what comes first are the events */
	rc = src_unread(p->src, first, sizeof(first));
	if (!rc)
		rc = src_spool(p->src, p->d);
	if (!rc)
		rc = perf_read_file_header(p, first);
	if (perf_announce(p))
		return p->w->err;
	if (!rc)
		rc = perf_read_features(p);
	if (rc)
		return rc;
	perf_attr_layout(p);
	if (p->data_size)
		p->left = p->data_size;
	return src_seek(p->src, p->data_offset);
}

static void release(struct perf *p)
{
	for (uint32_t i = 0; i < p->nattrs; i++)
		perf_attr_release(&p->attrs[i]);
	free(p->attrs);
	map64_release(&p->by_id);
	intern_release(&p->strings);
	intern_release(&p->dsos);
	intern_release(&p->build_id_paths);
	free(p->build_ids);
	hashids_release(&p->chains);
	perf_threads_release(&p->threads);
	perf_tracing_free(p->tracing);
	block_unref(p->cur);
	order_release(&p->order);
	ZSTD_freeDCtx(p->inflate);
	buf_release(&p->inflate_out);
	buf_release(&p->inflate_tail);
	free(p);
}

int perf_decode(struct src *s, uint32_t source, struct swriter *w, struct diag *d,
		struct ps_end *account)
{
	struct perf *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return PP_ENOMEM;
	p->src = s;
	p->w = w;
	p->d = d;
	p->name = src_name(s);
	p->source = source;
	p->account = account;
	p->id_pos = -1;
	p->chains = (struct hashids){.max_ids = PERF_CHAIN_IDS, .max_bytes = PERF_CHAIN_BYTES};
	order_init(&p->order, deliver, p);
	rc = begin(p);
	if (!rc)
		rc = finish(p, read_records(p));
	release(p);
	return rc;
}
