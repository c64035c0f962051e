/* Copies of stacks of which the recorder left out what the samples before have: known_stacks.h. */
#include "perfdata/decoder.h"

#include "base/err.h"

#define USED 8 /* bytes in use: the last word of a sample */

/* The words after the bytes that are left, and where the copy has its size. */
struct left_out {
	struct known_copy copy;
	size_t at;
	bool cut;
	bool sound; /* its check is right, and so are its sizes */
};

static uint64_t word_at(const struct perf_raw *raw, size_t at, bool swap)
{
	struct cursor c = cursor_make(raw->rec + at, 8, swap);

	return get_u64(&c);
}

/* Whether the words, which end the copy, say what they can say. */
static bool read_words(const struct perf_raw *raw, size_t words, bool swap, struct known_copy *k)
{
	uint64_t sizes = word_at(raw, words + 16, swap), checks = word_at(raw, words + 24, swap);

	if (word_at(raw, words, swap) != KNOWN_COPY_MARK)
		return false;
	*k = (struct known_copy){.sp = word_at(raw, words + 8, swap),
				 .tid = (uint32_t)(sizes >> 32),
				 .left = (uint16_t)(sizes >> 16),
				 .bytes = (uint16_t)sizes,
				 .before = (uint32_t)(checks >> 32),
				 .check = (uint32_t)checks};
	return k->left % 8 == 0 && (k->bytes & ~KNOWN_COPY_CUT) % 8 == 0 && k->left <= k->bytes;
}

/* False: the sample has its whole copy. */
static bool find(const struct perf_info *p, const struct perf_raw *raw, const struct perf_attr *a,
		 struct left_out *l)
{
	const size_t words = 8 * KNOWN_COPY_WORDS;
	struct iovec v[2];
	bool right, fits;
	size_t end;

	if (!(a->sample_type & PSB_STACK_USER) || a->sample_type & ~KNOWN_COPY_FIELDS ||
	    !(a->sample_type & PSB_TID) || raw->size < 8 + 8 + words + USED)
		return false;
	end = raw->size - USED;
	if (!read_words(raw, end - words, p->swap, &l->copy) || 8u + 8 + l->copy.left + words > end)
		return false;
	l->at = end - words - l->copy.left - 8;
	v[0] = (struct iovec){(void *)(raw->rec + 8), l->at - 8};
	v[1] = (struct iovec){(void *)(raw->rec + l->at + 8), l->copy.left + words - 8};
	right = known_copy_check(l->copy.before, v, 2) == l->copy.check;
	fits = word_at(raw, l->at, p->swap) == l->copy.left + words &&
	       word_at(raw, end, p->swap) == l->copy.left;
	l->cut = l->copy.bytes & KNOWN_COPY_CUT;
	l->copy.bytes &= ~(uint16_t)KNOWN_COPY_CUT;
	l->sound =
		right && fits && l->at + 8 + l->copy.bytes + (l->cut ? 0 : 8u) + USED <= UINT16_MAX;
	/* Neither: a stack that has the mark by chance. */
	return right || fits;
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
static bool learn(struct stack_bytes *s, const struct known_copy *k, const uint8_t *left,
		  uint8_t *rest)
{
	bool all;

	if (s->check != k->before)
		s->lo = s->hi = 0;
	s->check = k->check;
	all = known_stack_get(s, k->sp + k->left, rest, (size_t)(k->bytes - k->left));
	known_stack_learn(s, k->sp, left, k->left);
	return all;
}

/* The record has another copy now: what is in `rec` up to it, with so many bytes in use. */
static void end_record(struct perf_decoder *p, struct perf_raw *raw, uint8_t *rec, size_t at,
		       size_t bytes, size_t used)
{
	bool swap = p->r.info.swap;
	size_t size = at + 8 + bytes + (bytes ? USED : 0);
	uint16_t as = (uint16_t)size;

	put(rec + at, bytes, swap);
	if (bytes)
		put(rec + at + 8 + bytes, used, swap);
	as = swap ? __builtin_bswap16(as) : as;
	memcpy(rec + 6, &as, sizeof(as));
	raw->rec = rec;
	raw->size = (uint32_t)size;
	raw->block = p->whole;
}

/* Nothing of the copy is what it seems. What follows in the thread does not fit, and says so. */
static int leave_out(struct perf_decoder *p, const struct left_out *l, struct perf_raw *raw)
{
	uint8_t *rec = room(p, l->at + 8);

	if (!rec)
		return PP_ENOMEM;
	perf_damage(&p->r.info, PP_ECORRUPT, perf_raw_offset(raw),
		    "a sample with a copy of its stack is damaged: the copy is left out");
	memcpy(rec, raw->rec, l->at);
	end_record(p, raw, rec, l->at, 0, 0);
	return 0;
}

int perf_expand_copy(struct perf_decoder *p, const struct perf_attr *a, struct perf_raw *raw)
{
	struct left_out l;
	struct stack_bytes *s;
	size_t bytes, left;
	uint8_t *rec;

	if (!find(&p->r.info, raw, a, &l))
		return 0;
	if (!l.sound)
		return leave_out(p, &l, raw);
	/* A size above that of the bytes in use says that the stack had no more. */
	bytes = l.copy.bytes + (l.cut ? 0 : 8u);
	left = l.copy.left;
	s = known_stack_of(&p->stacks, l.copy.tid);
	rec = s ? room(p, l.at + 8 + bytes + USED) : NULL;
	if (!rec)
		return PP_ENOMEM;
	memcpy(rec, raw->rec, l.at + 8 + left);
	memset(rec + l.at + 8 + left, 0, bytes - left);
	if (!learn(s, &l.copy, raw->rec + l.at + 8, rec + l.at + 8 + left)) {
		perf_damage(
			&p->r.info, PP_ECORRUPT, perf_raw_offset(raw),
			"of a sample, the part of its stack is missing that samples before it had");
		bytes = l.copy.bytes = l.copy.left;
	}
	end_record(p, raw, rec, l.at, bytes, l.copy.bytes);
	return 0;
}

void perf_expand_release(struct perf_decoder *p)
{
	block_unref(p->whole);
	p->whole = NULL;
	known_stacks_release(&p->stacks);
}
