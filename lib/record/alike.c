/* What is left out of copies of stacks, as the samples before have it. */
#include "record/alike.h"

#include "perfdata/known_stacks.h"
#include "record/parts.h"

#include <stdlib.h>

struct alike {
	struct known_stacks stacks;
	uint64_t now; /* ns, of this round */
	int64_t room; /* bytes that may be written; below 0: copies are cut */
	uint32_t smaller;
};

struct alike *alike_new(uint32_t smaller)
{
	struct alike *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->smaller = smaller & ~7u;
	a->now = now_ns(CLOCK_MONOTONIC);
	a->room = CHAINS_BUDGET;
	return a;
}

void alike_forget(struct alike *a)
{
	known_stacks_release(&a->stacks);
}

void alike_free(struct alike *a)
{
	if (a)
		alike_forget(a);
	free(a);
}

void alike_begin(struct alike *a, uint64_t now)
{
	uint64_t passed = now - a->now < 1000000000u ? now - a->now : 1000000000u;

	a->now = now;
	a->room += (int64_t)(passed * CHAINS_BUDGET / 1000000000u);
	if (a->room > CHAINS_BUDGET)
		a->room = CHAINS_BUDGET;
}

/* Bytes at the end of the copy that are known. */
static size_t known(const struct stack_bytes *s, const struct short_copy *c, const struct iovec *v,
		    size_t n)
{
	uint64_t end = c->end;
	size_t same = 0;

	while (n--) {
		size_t some = known_stack_alike(s, end, v[n].iov_base, v[n].iov_len);

		same += some;
		end -= some;
		if (some < v[n].iov_len)
			break;
	}
	return same;
}

/* Remembers the first bytes of the copy, which are written. */
static void learn(struct stack_bytes *s, const struct ring *r, uint64_t from, uint64_t at,
		  uint64_t len)
{
	struct iovec v[2];
	size_t n = len ? ring_pieces(r, from, len, v) : 0;

	for (at += len; n--;) {
		at -= v[n].iov_len;
		known_stack_learn(s, at, v[n].iov_base, v[n].iov_len);
	}
}

/* The words that follow what is written of a copy, and what is known from then on. */
static void seal(struct stack_bytes *s, const struct ring *r, uint64_t pos, uint64_t used,
		 struct trim *t)
{
	struct iovec v[5];
	size_t n = ring_pieces(r, pos + 8, t->at - 8, v);

	t->words[0] = KNOWN_COPY_MARK;
	t->words[1] = t->copy.sp;
	t->words[2] =
		(uint64_t)t->copy.tid << 32 | t->bytes << 16 | used | (t->cut ? KNOWN_COPY_CUT : 0);
	t->words[3] = (uint64_t)s->check << 32;
	if (t->bytes)
		n += ring_pieces(r, pos + t->at + 8, t->bytes, v + n);
	v[n++] = (struct iovec){t->words, sizeof(t->words) - sizeof(t->words[3])};
	s->check = known_copy_check(s->check, v, n);
	t->words[3] |= s->check;
	t->left = t->bytes + sizeof(t->words);
}

bool alike_trim(struct alike *a, const struct ring *r, uint64_t pos, size_t size,
		const struct perf_event_attr *attr, struct trim *t)
{
	const struct short_copy *c = &t->copy;
	uint64_t used = c->end - c->sp, from = pos + t->at + 8;
	struct stack_bytes *s;
	struct iovec v[2];

	/* A record never becomes longer: room for the pieces was made for what the kernel wrote. */
	if (!t->whole || !c->tid || !used || used % 8 || c->sp % 8 || used > UINT16_MAX ||
	    t->full < sizeof(t->words) || attr->sample_type & ~KNOWN_COPY_FIELDS)
		return false;
	s = known_stack_of(&a->stacks, c->tid);
	if (!s)
		return false;
	t->bytes = used - known(s, c, v, ring_pieces(r, from, used, v));
	if (size - t->full + t->bytes + sizeof(t->words) > (UINT16_MAX & ~7u))
		return false;
	t->alike = true;
	if (a->room < 0 && t->bytes > a->smaller && attr->sample_stack_user < UINT16_MAX / 2) {
		t->bytes = t->left = a->smaller;
		return true;
	}
	learn(s, r, from, c->sp, t->bytes);
	seal(s, r, pos, used, t);
	a->room -= (int64_t)t->left;
	return true;
}
