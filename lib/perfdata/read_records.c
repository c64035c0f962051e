/*
 * The records of a recording, one after the other: what is needed of it to read on is noted, then
 * it is given to the sink, then what follows it is read (trace data, formats of tracepoints, what
 * was compressed).
 */
#include "perfdata/perf_file.h"

#include <zstd.h>

static inline int take(struct perf_reader *r, const struct perf_raw *raw);

/* The whole records in block b from *pos on. */
static int records_of(struct perf_reader *r, struct block *b, size_t *pos)
{
	int rc = 0;

	while (!rc && b->len - *pos >= 8) {
		uint8_t *rec = block_bytes(b) + *pos;
		struct cursor c = cursor_make(rec, 8, r->info.swap);
		uint32_t type = get_u32(&c);
		uint16_t misc = get_u16(&c), size = get_u16(&c);

		if (size < 8)
			return PP_ECORRUPT;
		if (b->len - *pos < size)
			break;
		*pos += size;
		/* A compressed record holds kernel records only: no nesting. */
		if (type < PERF_REC_USER_START || type == PERF_REC_FINISHED_ROUND)
			rc = take(r, &(struct perf_raw){b, rec, type, misc, size});
	}
	return rc;
}

/* A block with room for what is decompressed; it begins with what has come of a record so far. */
static struct block *inflate_block(struct perf_bytes *in)
{
	struct block *old = in->inflate_cur, *b = block_new(PERF_BLOCK, in->blocks);
	size_t tail = old ? old->len - in->inflate_pos : 0;

	if (!b)
		return NULL;
	b->base = in->inflated - tail;
	b->inflated = true;
	b->len = tail;
	if (tail)
		memcpy(block_bytes(b), block_bytes(old) + in->inflate_pos, tail);
	block_unref(old);
	in->inflate_cur = b;
	in->inflate_pos = 0;
	return b;
}

/*
 * Decompresses some of `from` to where its records stay, and takes those that it completes. full:
 * it filled the block, so that there may be more.
 */
static int inflate_some(struct perf_reader *r, ZSTD_inBuffer *from, bool *full)
{
	struct perf_bytes *in = r->in;
	struct block *b = in->inflate_cur;
	ZSTD_outBuffer to;
	int rc;

	if ((!b || b->len == b->cap) && !(b = inflate_block(in)))
		return PP_ENOMEM;
	to = (ZSTD_outBuffer){block_bytes(b) + b->len, b->cap - b->len, 0};
	if (ZSTD_isError(ZSTD_decompressStream(in->inflate, &to, from))) {
		in->inflate_pos = b->len; /* the record that was begun stays unfinished */
		return PP_ECORRUPT;
	}
	b->len += to.pos;
	in->inflated += to.pos;
	rc = records_of(r, b, &in->inflate_pos);
	if (rc)
		in->inflate_pos = b->len;
	*full = to.pos == to.size;
	return rc;
}

/* A compressed record: its bytes continue the stream of records that the recorder compressed. */
static int inflate(struct perf_reader *r, struct cursor c, bool sized)
{
	uint64_t size = sized ? get_u64(&c) : cursor_left(&c), before = r->in->inflated;
	const uint8_t *bytes = get_bytes(&c, size);
	ZSTD_inBuffer from = {bytes, (size_t)size, 0};
	bool full = false;
	int rc = 0;

	if (!bytes)
		return PP_ECUT;
	if (!r->in->inflate && !(r->in->inflate = ZSTD_createDCtx()))
		return PP_ENOMEM;
	while (!rc && (from.pos < from.size || full)) {
		rc = inflate_some(r, &from, &full);
		if (!rc && r->in->inflated - before > PERF_INFLATE_MAX)
			rc = PP_ECORRUPT;
	}
	return rc;
}

/* ---- what follows a record ---- */

static int tracing_data(struct perf_reader *r, struct cursor c)
{
	int rc = perf_feature_learn(&r->info, PERF_FEAT_TRACING_DATA, c);

	return rc ? rc : perf_feed_feature(r, PERF_FEAT_TRACING_DATA, c);
}

/* The data of a tracing data record follow it, outside of its size; simpleperf has them inside. */
static int after_tracing_data(struct perf_reader *r, struct cursor c)
{
	uint32_t size = get_u32(&c);
	struct perf_bytes *in = r->in;
	int rc;

	if (c.bad)
		return PP_ECUT;
	if (cursor_left(&c) && size <= cursor_left(&c))
		return tracing_data(r, cursor_sub(&c, size));
	rc = perf_need(in, size);
	if (rc)
		return rc == PP_END ? PP_ECUT : rc;
	rc = tracing_data(r, cursor_make(block_bytes(in->cur) + in->pos, size, r->info.swap));
	in->pos += size;
	/* The next record begins at a multiple of 8 bytes. */
	if (!rc && size % 8 && !(rc = perf_need(in, 8 - size % 8)))
		in->pos += 8 - size % 8;
	return rc == PP_END ? 0 : rc;
}

/* Hardware trace data follow the record. */
static int after_auxtrace(struct perf_reader *r, struct cursor c)
{
	uint64_t size = get_u64(&c);
	int rc = c.bad ? PP_ECUT : perf_skip(r->in, size);

	if (!rc)
		r->aux_bytes += size;
	return rc;
}

/* A feature of the pipe form, where each is a record. */
static int after_feature(struct perf_reader *r, struct cursor c)
{
	uint32_t feature = (uint32_t)get_u64(&c);

	/* The last one is also followed by one without content; its number is the first unknown. */
	if (c.bad || (!cursor_left(&c) && !perf_feature_is_flag(feature)))
		return 0;
	return perf_feed_feature(r, feature, c);
}

/* The tracing data of simpleperf: their size, then they, as in the file of a tracer. */
static int simpleperf_tracing_data(struct perf_reader *r, struct cursor c)
{
	uint32_t size = get_u32(&c);

	if (c.bad || size > cursor_left(&c))
		return PP_ECUT;
	return tracing_data(r, cursor_sub(&c, size));
}

/* The kernel's symbols: the size of their text, then it. */
static int simpleperf_kallsyms(struct perf_reader *r, struct cursor c)
{
	uint32_t size = get_u32(&c);

	if (c.bad || size > cursor_left(&c))
		return PP_ECUT;
	return perf_feed_feature(r, FEAT_SIMPLEPERF_KALLSYMS, cursor_sub(&c, size));
}

/* A part of a record that was too long for simpleperf. */
static int split(struct perf_reader *r, struct cursor c)
{
	size_t n = cursor_left(&c);

	if (r->split.len + n > PERF_REC_BYTES_MAX)
		return PP_ECORRUPT;
	buf_add(&r->split, get_bytes(&c, n), n);
	return r->split.err;
}

/* The parts make a record, of which only the type tells what it is. */
static int split_end(struct perf_reader *r)
{
	struct cursor c = cursor_make(buf_str(&r->split), r->split.len, r->info.swap);
	uint32_t type = get_u32(&c);
	int rc = 0;

	get_u32(&c); /* misc and size */
	if (type == PERF_SIMPLEPERF_TRACING_DATA)
		rc = simpleperf_tracing_data(r, c);
	else if (type == PERF_SIMPLEPERF_KERNEL_SYMBOL)
		rc = simpleperf_kallsyms(r, c);
	buf_reset(&r->split);
	return rc;
}

static int follow(struct perf_reader *r, const struct perf_raw *raw)
{
	struct cursor c = perf_raw_body(raw, r->info.swap);

	switch (raw->type) {
	case PERF_REC_HEADER_FEATURE: return after_feature(r, c);
	case PERF_REC_HEADER_TRACING_DATA: return after_tracing_data(r, c);
	case PERF_REC_AUXTRACE: return after_auxtrace(r, c);
	case PERF_REC_COMPRESSED: return inflate(r, c, false);
	case PERF_REC_COMPRESSED2: return inflate(r, c, true);
	case PERF_SIMPLEPERF_TRACING_DATA: return simpleperf_tracing_data(r, c);
	case PERF_SIMPLEPERF_KERNEL_SYMBOL: return simpleperf_kallsyms(r, c);
	case PERF_SIMPLEPERF_SPLIT: return split(r, c);
	case PERF_SIMPLEPERF_SPLIT_END: return split_end(r);
	default: return 0;
	}
}

/* ---- records ---- */

static inline bool is_damage(int rc)
{
	return rc == PP_ECUT || rc == PP_ECORRUPT;
}

/* One of perf's own. */
static int take_own(struct perf_reader *r, const struct perf_raw *raw)
{
	int learned = perf_own_learn(r, raw), rc;

	if (learned && !is_damage(learned))
		return learned;
	rc = perf_feed_record(r, raw);
	if (!rc && !learned)
		rc = follow(r, raw);
	return rc ? rc : learned;
}

/* What is damaged is reported and skipped. */
static int damaged(struct perf_reader *r, const struct perf_raw *raw, int rc)
{
	bool own = raw->type >= PERF_REC_USER_START;

	/* Where the data that follow it are cut off, nothing comes after them. */
	if (rc == PP_ECUT &&
	    (raw->type == PERF_REC_AUXTRACE || raw->type == PERF_REC_HEADER_TRACING_DATA))
		return rc;
	perf_damage(&r->info, own ? rc : PP_ECORRUPT, perf_raw_offset(raw),
		    "a record of type %u is damaged", raw->type);
	return 0;
}

static void count_other(struct perf_reader *r, uint32_t type)
{
	r->other++;
	for (int i = 0; i < PERF_OTHERS_MAX; i++) {
		if (r->others[i].n && r->others[i].type != type)
			continue;
		r->others[i].type = type;
		r->others[i].n++;
		return;
	}
}

static void count(struct perf_reader *r, uint32_t type)
{
	if (type < sizeof(r->counts) / sizeof(r->counts[0]))
		r->counts[type]++;
	else if (type - PERF_SIMPLEPERF_START < PERF_SIMPLEPERF_MAX)
		r->simpleperf[type - PERF_SIMPLEPERF_START]++;
	else
		count_other(r, type);
}

static inline int take(struct perf_reader *r, const struct perf_raw *raw)
{
	int rc;

	count(r, raw->type);
	rc = raw->type < PERF_REC_USER_START ? perf_feed_record(r, raw) : take_own(r, raw);
	return is_damage(rc) ? damaged(r, raw, rc) : rc;
}

int perf_read_init_map(struct perf_reader *r)
{
	struct buf *map = &r->init_map;
	size_t pos = 0;
	struct block *b;
	int rc;

	if (!map->len)
		return 0;
	b = block_new(map->len, r->in->blocks);
	if (!b)
		return PP_ENOMEM;
	b->len = map->len;
	memcpy(block_bytes(b), map->data, map->len);
	buf_release(map);
	rc = records_of(r, b, &pos);
	if (is_damage(rc) || (!rc && pos < b->len)) {
		perf_damage(&r->info, PP_ECORRUPT, -1, "header feature %u is damaged",
			    FEAT_SIMPLEPERF_INIT_MAP);
		rc = 0;
	}
	block_unref(b);
	return rc;
}

/*
 * Of a file that perf is writing, only its header tells at last where the records end. What follows
 * them, a table of offsets, has no type of a record.
 */
static bool after_records(const struct perf_reader *r, uint32_t type)
{
	return type >= 256 && !r->info.pipe && !r->info.data_size && src_follows(r->first.src);
}

int perf_read_records(struct perf_reader *r)
{
	struct perf_bytes *in = r->in;
	uint64_t done = 0;

	while (!r->budget || done < r->budget) {
		uint32_t type, size;
		uint16_t misc;
		struct cursor c;
		struct block *b;
		uint8_t *rec;
		int rc = perf_need(in, 8);

		if (rc)
			return rc;
		c = cursor_make(block_bytes(in->cur) + in->pos, 8, r->info.swap);
		type = get_u32(&c);
		misc = get_u16(&c);
		size = get_u16(&c);
		if (type >= PERF_SIMPLEPERF_START) {
			size |= (uint32_t)misc << 16;
			misc = 0;
		}
		if (after_records(r, type))
			return PP_END;
		if (size < 8 || size > PERF_REC_BYTES_MAX) {
			perf_damage(&r->info, PP_ECORRUPT, (int64_t)(in->cur->base + in->pos),
				    "a record of %u bytes: what follows cannot be read", size);
			return PP_ECORRUPT;
		}
		rc = perf_need(in, size);
		if (rc)
			return rc == PP_END ? PP_ECUT : rc;
		b = in->cur;
		rec = block_bytes(b) + in->pos;
		in->pos += size;
		b->refs++; /* taking it may go on to the next block */
		rc = take(r, &(struct perf_raw){b, rec, type, misc, size});
		block_unref(b);
		if (rc)
			return rc;
		done += size;
	}
	return 0;
}
