/*
 * The records in the pages of the ring buffer.
 *
 * A page begins with a u64 time and a commit word, a long: its low bits are the bytes of data, its
 * bits 31 and 30 tell that events were lost before the page, and that their number stands after
 * the data. Each record has a u32 head: type_len of 5 bits and time_delta of 27 bits, in the order
 * of bit fields of the machine. type_len 1 to 28 is the length in words, 0: the length is the next
 * u32; 29 to 31 are padding, a longer delta and an absolute time.
 */
#include "tracedat/parts.h"

#include "base/err.h"
#include "base/wide.h"

#define COMMIT_MASK   ((UINT32_C(1) << 27) - 1)
#define MISSED_EVENTS (UINT32_C(1) << 31)
#define MISSED_STORED (UINT32_C(1) << 30)
#define TYPE_PADDING  29
#define TYPE_EXTEND   30
#define TYPE_STAMP    31
#define DELTA_BITS    27
#define STAMP_HIGH    (UINT64_C(0xf8) << 56) /* an absolute time lacks these bits */

/* ---- times ---- */

/* What is added to the offset of a, on the way to that of b; rounded. */
static uint64_t way_between(uint64_t ts, const struct trace_shift *a, const struct trace_shift *b)
{
	uint64_t before = a->time - ts, after = ts - a->time, delta = b->time - a->time, rest;
	uint64_t down = (uint64_t)a->offset - (uint64_t)b->offset;
	bool back = ts < a->time, less = b->offset < a->offset;
	struct wide way = wide_mul(back ? before : after, less ? down : 0 - down);

	if (back == less) {
		wide_add(&way, delta / 2);
		return wide_div(&way, delta, &rest);
	}
	if (!way.hi && way.lo < delta / 2)
		return 0;
	wide_sub(&way, delta / 2);
	return 0 - wide_div(&way, delta, &rest);
}

static uint64_t shift_between(uint64_t ts, uint32_t flags, const struct trace_shift *a,
			      const struct trace_shift *b)
{
	uint64_t offset = (uint64_t)a->offset;

	if (flags & 1 && b->time > a->time)
		offset += way_between(ts, a, b);
	ts = a->fraction > 63 ? 0 : ts * a->scaling >> a->fraction;
	return ts + offset;
}

/* The correction that was found nearest before a time. */
static uint64_t shift(const struct trace *t, uint32_t cpu, uint64_t ts)
{
	const struct trace_shifts *s;
	uint32_t lo = 0, hi;

	if (cpu >= t->nshifts || !t->shifts[cpu].n)
		return ts;
	s = &t->shifts[cpu];
	if (s->n == 1)
		return ts + (uint64_t)s->v[0].offset;
	hi = s->n - 2;
	while (lo < hi) {
		uint32_t mid = (lo + hi + 1) / 2;

		if (s->v[mid].time <= ts)
			lo = mid;
		else
			hi = mid - 1;
	}
	return shift_between(ts, t->shift_flags, &s->v[lo], &s->v[lo + 1]);
}

static inline uint64_t correct(const struct trace *t, const struct trace_cpu *c, uint64_t ts)
{
	/* Further buffers are not corrected in trace-cmd either. */
	if (t->nshifts && !c->buffer->index)
		ts = shift(t, c->cpu, ts);
	if (t->tsc_mult)
		ts = wide_shift(wide_mul(ts, t->tsc_mult), t->tsc_shift);
	return ts + (uint64_t)t->ts_offset;
}

/* ---- pages ---- */

static int bad_page(struct trace *t, struct trace_cpu *c, const char *what)
{
	trace_damage(t, PP_ECORRUPT,
		     (int64_t)(c->block_offset + (c->buffer->packed ? 0 : c->block_at)),
		     "a page of CPU %u %s", c->cpu, what);
	return 0;
}

/* Brings the next page that has data to c->page. */
static int load_page(struct trace *t, struct trace_cpu *c)
{
	const uint8_t *p;
	size_t len;
	int rc;

	c->page = NULL;
	c->at = c->commit = 0;
	while (!(rc = trace_next_page(t, c, &p, &len))) {
		uint64_t word;

		if (len < t->header_size) {
			bad_page(t, c, "is cut off");
			continue;
		}
		c->stamp = trace_number(t, p, 8);
		word = trace_number(t, p + 8, t->long_size);
		c->commit = (uint32_t)word & COMMIT_MASK;
		c->missed = word & MISSED_EVENTS ? -1 : 0;
		len -= t->header_size;
		c->page = p + t->header_size;
		if (c->commit > len) {
			bad_page(t, c, "says that it has more data than fits");
			c->commit = (uint32_t)len;
		} else if ((word & MISSED_EVENTS) && (word & MISSED_STORED) &&
			   len - c->commit >= t->long_size) {
			c->missed = (int64_t)(trace_number(t, c->page + c->commit, t->long_size) &
					      INT64_MAX);
		}
		if (c->commit)
			return 0;
	}
	if (rc == PP_END || rc == PP_ENOMEM)
		return rc;
	trace_damage(t, rc == PP_ECUT ? PP_ECUT : PP_ECORRUPT, (int64_t)c->block_offset,
		     "the data of CPU %u is damaged: %s", c->cpu, pp_strerror(rc));
	return PP_END;
}

/* What follows the head of a record, up to the next. */
struct span {
	uint32_t start, end;
};

/* One record of a page. 1: it is an event; 0: it is none; PP_ECORRUPT. */
static int step(struct trace *t, struct trace_cpu *c, struct span *s)
{
	uint32_t left = c->commit - c->at, head, type, more = 0;
	uint64_t delta, len;

	if (left < 4)
		return PP_ECORRUPT;
	head = (uint32_t)trace_number(t, c->page + c->at, 4);
	type = t->big_endian ? head >> DELTA_BITS : head & 31;
	delta = t->big_endian ? head & ((UINT32_C(1) << DELTA_BITS) - 1) : head >> 5;
	if (left >= 8)
		more = (uint32_t)trace_number(t, c->page + c->at + 4, 4);
	else if (!type || type > TYPE_PADDING)
		return PP_ECORRUPT;
	s->start = c->at + 4;
	switch (type) {
	case TYPE_PADDING:
		/* The rest of a page, or an event that was discarded. */
		c->stamp += delta;
		len = left < 8 || !delta ? left - 4 : more;
		break;
	case TYPE_EXTEND:
		c->stamp += ((uint64_t)more << DELTA_BITS) + delta;
		len = 4;
		break;
	case TYPE_STAMP:
		c->stamp = (((uint64_t)more << DELTA_BITS) + delta) | (c->stamp & STAMP_HIGH);
		len = 4;
		break;
	case 0:
		s->start += 4;
		len = ((uint64_t)more + 3) & ~UINT64_C(3);
		if (len < 4)
			return PP_ECORRUPT;
		len -= 4;
		c->stamp += delta;
		break;
	default: len = (uint64_t)type * 4; c->stamp += delta;
	}
	if (len > c->commit - s->start)
		return PP_ECORRUPT;
	s->end = s->start + (uint32_t)len;
	return type < TYPE_PADDING;
}

static uint32_t type_of(const struct trace *t, const uint8_t *data, uint32_t size)
{
	if (t->type_at + t->type_size > size)
		return UINT32_MAX;
	return (uint32_t)trace_number(t, data + t->type_at, t->type_size);
}

/*
 * The next record if it is an event with a small delta and length, in the byte order of this
 * machine, as nearly all are. False: it is something else, and nothing was done.
 */
static inline bool next_plain(const struct trace *t, struct trace_cpu *c, struct trace_rec *rec)
{
	const uint8_t *p;
	uint32_t left = c->commit - c->at, head, len;

	if (left < 8 || t->swap || t->big_endian)
		return false;
	p = c->page + c->at;
	memcpy(&head, p, 4);
	len = (head & 31) * 4;
	if (!len || (head & 31) >= TYPE_PADDING || len > left - 4)
		return false;
	c->stamp += head >> 5;
	c->at += 4 + len;
	*rec = (struct trace_rec){.data = p + 4,
				  .size = len,
				  .type = type_of(t, p + 4, len),
				  .time = correct(t, c, c->stamp),
				  .missed = c->missed};
	c->missed = 0;
	return true;
}

/* Not inline: its registers need not be saved for what is plain. */
__attribute__((noinline)) static int next_any(struct trace *t, struct trace_cpu *c,
					      struct trace_rec *rec)
{
	struct span s;
	int rc;

	for (;;) {
		if (c->at >= c->commit && (rc = load_page(t, c)))
			return rc;
		rc = step(t, c, &s);
		if (rc < 0) {
			bad_page(t, c, "has an impossible record");
			c->at = c->commit;
			continue;
		}
		c->at = s.end;
		if (!rc)
			continue;
		*rec = (struct trace_rec){.data = c->page + s.start,
					  .size = s.end - s.start,
					  .type = type_of(t, c->page + s.start, s.end - s.start),
					  .time = correct(t, c, c->stamp),
					  .missed = c->missed};
		c->missed = 0;
		return 0;
	}
}

int trace_next_record(struct trace *t, struct trace_cpu *c, struct trace_rec *rec)
{
	return next_plain(t, c, rec) ? 0 : next_any(t, c, rec);
}

void trace_page_span(struct trace *t, const uint8_t *page, size_t len, struct trace_page_span *span)
{
	struct trace_cpu c = {.page = page + t->header_size, .stamp = trace_number(t, page, 8)};
	struct span s;
	int rc;

	*span = (struct trace_page_span){.first = c.stamp};
	c.commit = (uint32_t)trace_number(t, page + 8, t->long_size) & COMMIT_MASK;
	if (c.commit > len - t->header_size)
		c.commit = (uint32_t)(len - t->header_size);
	while (c.at < c.commit && (rc = step(t, &c, &s)) >= 0) {
		span->events += (uint64_t)rc;
		c.at = s.end;
	}
	span->last = c.stamp;
}
