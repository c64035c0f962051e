/*
 * Copies of user stacks, cut to what was copied. The kernel reserves as many bytes for each copy as
 * the event asks for, fills those that the thread's stack has, and says after them how many these
 * are. See "struct perf_event_sample" in perf_event_open(2) for the order of fields.
 */
#include "perfdata/format.h"
#include "record/parts.h"

#include <stddef.h>

#define BRANCH_HW_INDEX (1u << 17)
#define BRANCH_COUNTERS (1u << 19)
#define WEIGHT_STRUCT	(1u << 24)
#define KNOWN		((1u << 25) - 1) /* bits of sample_type whose place is known */

#define BEFORE \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | \
	 PERF_SAMPLE_PERIOD)

#define FIRST (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP) /* before whose it is */

/* A sample while its fields are passed. */
struct walk {
	const struct ring *r;
	uint64_t pos;
	uint64_t at, size; /* bytes of the record; at > size: it is shorter than it claims */
};

static void skip(struct walk *w, uint64_t n, uint64_t each)
{
	uint64_t bytes;

	if (__builtin_mul_overflow(n, each, &bytes) || bytes > w->size)
		bytes = w->size + 1;
	w->at += w->at > w->size ? 0 : bytes;
}

static uint64_t next(struct walk *w)
{
	uint64_t at = w->at;

	skip(w, 1, 8);
	return w->at <= w->size ? ring_word(w->r, w->pos + at) : 0;
}

/* PERF_SAMPLE_READ */
static void skip_values(struct walk *w, uint64_t format)
{
	uint64_t times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			 !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	uint64_t each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST), n = 1;

	if (format & PERF_FORMAT_GROUP)
		n = next(w);
	skip(w, times, 8);
	skip(w, n, 8 * each);
}

static void skip_raw(struct walk *w)
{
	uint64_t word = next(w);
	uint32_t n;

	memcpy(&n, &word, sizeof(n)); /* the bytes after it fill whole words */
	skip(w, n > 4 ? ((uint64_t)n + 3) / 8 : 0, 8);
}

static void skip_branches(struct walk *w, uint64_t which)
{
	uint64_t n = next(w);

	skip(w, !!(which & BRANCH_HW_INDEX), 8);
	skip(w, n, which & BRANCH_COUNTERS ? 32 : 24);
}

static void skip_registers(struct walk *w, uint64_t mask)
{
	if (next(w))
		skip(w, (uint64_t)__builtin_popcountll(mask), 8);
}

/* Whose stack, and where it is: words_stack_pointer is the register's number. */
static void find_copy(struct walk w, const struct perf_event_attr *a, struct short_copy *c)
{
	uint64_t below = (UINT64_C(1) << words_stack_pointer()) - 1, mask = a->sample_regs_user;
	uint64_t type = a->sample_type, who;

	*c = (struct short_copy){0};
	if (!(type & PERF_SAMPLE_TID) || !(mask & (below + 1)) || !next(&w))
		return;
	skip(&w, (uint64_t)__builtin_popcountll(mask & below), 8);
	c->sp = next(&w);
	who = ring_word(w.r, w.pos + sizeof(struct perf_event_header) +
				     8 * (uint64_t)__builtin_popcountll(type & FIRST));
	memcpy(&c->pid, &who, sizeof(c->pid));
	memcpy(&c->tid, (uint8_t *)&who + sizeof(c->pid), sizeof(c->tid));
}

static void skip_to_stack(struct walk *w, const struct perf_event_attr *a, struct trim *t)
{
	uint64_t type = a->sample_type;

	t->raw = 0;
	t->copy = (struct short_copy){0};
	skip(w, (uint64_t)__builtin_popcountll(type & BEFORE), 8);
	if (type & PERF_SAMPLE_READ)
		skip_values(w, a->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN)
		skip(w, next(w), 8);
	if (type & PERF_SAMPLE_RAW) {
		t->raw = w->at + 4;
		skip_raw(w);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK)
		skip_branches(w, a->branch_sample_type);
	if (type & PERF_SAMPLE_REGS_USER) {
		find_copy(*w, a, &t->copy);
		skip_registers(w, a->sample_regs_user);
	}
}

static void skip_rest(struct walk *w, const struct perf_event_attr *a)
{
	static const uint64_t one = PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION |
				    PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP |
				    PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE;
	uint64_t type = a->sample_type;

	skip(w, !!(type & (PERF_SAMPLE_WEIGHT | WEIGHT_STRUCT)), 8);
	skip(w, (uint64_t)__builtin_popcountll(type & one), 8);
	if (type & PERF_SAMPLE_REGS_INTR)
		skip_registers(w, a->sample_regs_intr);
	if (type & PERF_SAMPLE_AUX)
		skip(w, next(w), 1);
}

bool trim_find(const struct ring *r, uint64_t pos, size_t size, const struct perf_event_attr *a,
	       struct trim *t)
{
	struct walk w = {r, pos, sizeof(struct perf_event_header), size};
	uint64_t used;

	t->cut = t->whole = t->alike = false;
	if (!(a->sample_type & PERF_SAMPLE_STACK_USER) || a->sample_type & ~(uint64_t)KNOWN)
		return false;
	skip_to_stack(&w, a, t);
	t->at = w.at;
	t->full = next(&w);
	if (!t->full || t->full % 8)
		return false;
	skip(&w, t->full, 1);
	used = next(&w);
	t->copy.end = t->copy.sp + used;
	skip_rest(&w, a);
	/* More than was used, so that readers see that the kernel did not copy all it was to. */
	t->left = (used & ~UINT64_C(7)) + 8;
	t->whole = w.at == size && used <= t->full;
	t->cut = t->whole && used == t->full;
	return t->whole && used < t->full && t->left < t->full;
}

static void add(struct buf *b, const struct ring *r, uint64_t pos, uint64_t len)
{
	struct iovec v[2];
	size_t n = len ? ring_pieces(r, pos, len, v) : 0;

	for (size_t i = 0; i < n; i++)
		buf_add(b, v[i].iov_base, v[i].iov_len);
}

void trim_head(struct buf *b, const struct ring *r, uint64_t pos, size_t size, const struct trim *t)
{
	uint16_t now = (uint16_t)(size - t->full + t->left);
	size_t start = b->len;

	add(b, r, pos, t->at);
	buf_add(b, &t->left, sizeof(t->left));
	if (!b->err)
		memcpy(b->data + start + offsetof(struct perf_event_header, size), &now,
		       sizeof(now));
}

void trim_tail(struct buf *b, const struct ring *r, uint64_t pos, size_t size, const struct trim *t)
{
	uint64_t before = t->at + 8 + t->full;
	size_t used;

	if (t->alike)
		buf_add(b, t->words, t->left - t->bytes);
	used = b->len;
	add(b, r, pos + before, size - before);
	if (t->alike && !b->err)
		memcpy(b->data + used, &t->bytes, sizeof(t->bytes));
}

void trim_as(struct buf *b, const struct ring *r, uint64_t pos, size_t size,
	     const struct trim *from, uint64_t id, const void *bytes, uint64_t n)
{
	struct trim t = *from;
	size_t start = b->len, tail;

	t.left = n;
	trim_head(b, r, pos, size, &t);
	buf_add(b, bytes, (size_t)n);
	tail = b->len;
	trim_tail(b, r, pos, size, &t);
	if (b->err)
		return;
	memcpy(b->data + start + sizeof(struct perf_event_header), &id, sizeof(id));
	memcpy(b->data + tail, &n, sizeof(n)); /* bytes in use */
}

void trim_add(struct buf *b, const struct ring *r, uint64_t pos, size_t size,
	      const struct perf_event_attr *a)
{
	struct trim t;

	if (!a || !trim_find(r, pos, size, a, &t)) {
		add(b, r, pos, size);
		return;
	}
	trim_head(b, r, pos, size, &t);
	add(b, r, pos + t.at + 8, t.left);
	trim_tail(b, r, pos, size, &t);
}
