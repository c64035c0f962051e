/* Copies of stacks of which the recorder left out what the samples before have: known_stacks.h. */
#include "perfdata/decoder.h"

#include "base/err.h"

#define USED 8 /* bytes in use: the last word of a sample */

/* The words after the bytes that are left, and where the copy has its size. */
struct left_out {
	struct known_copy copy;
	size_t at, left;
	bool cut;
};

/* False: the sample has its whole copy. */
static bool find(const struct perf_info *p, const struct perf_raw *raw, const struct perf_attr *a,
		 struct left_out *l)
{
	const size_t after = 8 * KNOWN_COPY_WORDS + USED;
	struct cursor c;
	uint64_t left, last;

	if (!(a->sample_type & PSB_STACK_USER) || a->sample_type & ~KNOWN_COPY_FIELDS ||
	    !(a->sample_type & PSB_TID) || raw->size < 8 + 8 + after)
		return false;
	c = cursor_make(raw->rec + raw->size - after, after, p->swap);
	if (get_u64(&c) != KNOWN_COPY_MARK)
		return false;
	l->copy.sp = get_u64(&c);
	last = get_u64(&c);
	left = get_u64(&c);
	l->copy.tid = (uint32_t)(last >> 32);
	l->copy.turn = (uint16_t)(last >> 16);
	l->copy.bytes = (uint16_t)last & ~(uint16_t)KNOWN_COPY_CUT;
	l->cut = last & KNOWN_COPY_CUT;
	if (left % 8 || l->copy.bytes % 8 || left > l->copy.bytes ||
	    left + after + 8 + 8 > raw->size)
		return false;
	l->left = (size_t)left;
	l->at = raw->size - after - l->left - 8;
	c = cursor_make(raw->rec + l->at, 8, p->swap);
	return get_u64(&c) == l->left + 8 * KNOWN_COPY_WORDS;
}

static void put(uint8_t *to, uint64_t v, bool swap)
{
	v = swap ? __builtin_bswap64(v) : v;
	memcpy(to, &v, sizeof(v));
}

/* Room for a record; NULL: out of memory. */
static uint8_t *room(struct perf_decoder *p, size_t n)
{
	struct block *b = p->whole;

	if (!b || b->cap - b->len < n) {
		block_unref(b);
		b = p->whole = block_new(PERF_BLOCK, &p->order.blocks);
		if (!b)
			return NULL;
		b->len = 0;
		b->base = 0;
		b->inflated = true;
	}
	b->len += n;
	return block_bytes(b) + b->len - n;
}

/* Whether the bytes that were left out are known; what is left is known then, too. */
static bool learn(struct stack_bytes *s, const struct left_out *l, const uint8_t *left,
		  uint8_t *rest)
{
	bool all;

	if (s->turn != l->copy.turn)
		s->lo = s->hi = 0;
	s->turn = (uint16_t)(l->copy.turn + 1);
	all = known_stack_get(s, l->copy.sp + l->left, rest, l->copy.bytes - l->left);
	known_stack_learn(s, l->copy.sp, left, l->left);
	return all;
}

int perf_expand_copy(struct perf_decoder *p, const struct perf_attr *a, struct perf_raw *raw)
{
	struct left_out l;
	struct stack_bytes *s;
	size_t bytes, size;
	uint8_t *rec;
	bool swap = p->r.info.swap;
	uint16_t as;

	if (!find(&p->r.info, raw, a, &l))
		return 0;
	/* A size above that of the bytes in use says that the stack had no more. */
	bytes = l.copy.bytes + (l.cut ? 0 : 8u);
	size = l.at + 8 + bytes + USED;
	if (size > UINT16_MAX)
		return PP_ECORRUPT;
	s = known_stack_of(&p->stacks, l.copy.tid);
	rec = s ? room(p, size) : NULL;
	if (!rec)
		return PP_ENOMEM;
	memcpy(rec, raw->rec, l.at + 8 + l.left);
	memset(rec + l.at + 8 + l.left, 0, bytes - l.left);
	if (!learn(s, &l, raw->rec + l.at + 8, rec + l.at + 8 + l.left)) {
		perf_damage(
			&p->r.info, PP_ECORRUPT, perf_raw_offset(raw),
			"of a sample, the part of its stack is missing that samples before it had");
		bytes = l.copy.bytes = (uint16_t)l.left;
		size = l.at + 8 + bytes + USED;
	}
	put(rec + l.at, bytes, swap);
	put(rec + l.at + 8 + bytes, l.copy.bytes, swap);
	as = (uint16_t)size;
	as = swap ? __builtin_bswap16(as) : as;
	memcpy(rec + 6, &as, sizeof(as));
	raw->rec = rec;
	raw->size = (uint32_t)size;
	raw->block = p->whole;
	return 0;
}

void perf_expand_release(struct perf_decoder *p)
{
	block_unref(p->whole);
	p->whole = NULL;
	known_stacks_release(&p->stacks);
}
