/*
 * Looks at stacks that are deeper than the largest copies, which recorders take some times a second
 * (perfdata/format.h, PERF_HELPER). Of each thread what was seen last is kept, and since when each
 * word is so. When a look is complete, the samples between it and the one before are continued by
 * the words that did not change.
 */
#include "resolve/resolve_parts.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define THREADS	  64u	       /* whose stacks are kept */
#define STACK_MAX (16u << 20)  /* bytes of one */
#define ALL_MAX	  (128u << 20) /* of all */
#define AGREE	  2	       /* looks that must find the same, at least */
#define MORE_NS	  12500000u    /* one more for so much time between them */

struct look {
	uint64_t thread;
	uint64_t base, end; /* what it covers */
	uint64_t at, time;  /* of the bytes; when it began */
	uint32_t number;
	bool last;
};

struct deep {
	uint64_t thread; /* 0: unused */
	struct look look;
	bool done;	     /* it is complete */
	uint32_t first;	     /* looks follow each other since this one */
	uint64_t base, time; /* of the look before */
	uint8_t *bytes;	     /* owned, up to the end */
	uint32_t *changed;   /* owned, by word */
	size_t size;
};

struct looked {
	struct deep deep[THREADS];
	size_t size; /* of all */
};

static void forget(struct looked *l, struct deep *d)
{
	l->size -= d->size;
	free(d->bytes);
	free(d->changed);
	*d = (struct deep){0};
}

void resolve_looks_release(struct resolver *r)
{
	for (uint32_t i = 0; r->looked && i < THREADS; i++)
		forget(r->looked, &r->looked->deep[i]);
	free(r->looked);
	r->looked = NULL;
}

/* The stack of a thread, or the place of the one that was looked at longest ago, emptied. */
static struct deep *deep_of(struct looked *l, uint64_t thread)
{
	struct deep *old = &l->deep[0];

	for (uint32_t i = 0; i < THREADS; i++) {
		struct deep *d = &l->deep[i];

		if (d->thread == thread)
			return d;
		if (!d->thread || (old->thread && d->look.time < old->look.time))
			old = d;
	}
	forget(l, old);
	old->thread = thread;
	return old;
}

/* Room below for a stack that has grown. False: there is none. */
static bool grow(struct looked *l, struct deep *d, uint64_t size)
{
	size_t more = (size_t)(size - d->size);
	uint32_t *changed;
	uint8_t *bytes;

	if (size <= d->size)
		return true;
	if (size > STACK_MAX || l->size + more > ALL_MAX)
		return false;
	bytes = calloc(1, (size_t)size);
	changed = malloc((size_t)size / 8 * sizeof(*changed));
	if (!bytes || !changed) {
		free(bytes);
		free(changed);
		return false;
	}
	for (size_t i = 0; i < more / 8; i++)
		changed[i] = d->look.number;
	if (d->size) {
		memcpy(bytes + more, d->bytes, d->size);
		memcpy(changed + more / 8, d->changed, d->size / 8 * sizeof(*changed));
	}
	free(d->bytes);
	free(d->changed);
	d->bytes = bytes;
	d->changed = changed;
	l->size += more;
	d->size = (size_t)size;
	return true;
}

/* Another look at a stack begins. False: what is known of it is not what its recorder knew. */
static bool begin(struct looked *l, struct deep *d, const struct look *k)
{
	bool follows = d->done && k->end == d->look.end && k->number == d->look.number + 1;

	if (follows) {
		d->base = d->look.base;
		d->time = d->look.time;
	} else {
		if (k->number % RESOLVE_LOOKS_ALL)
			return false;
		forget(l, d);
		d->thread = k->thread;
		d->first = k->number;
	}
	d->look = *k;
	d->done = false;
	return grow(l, d, k->end - k->base);
}

static void take_bytes(struct deep *d, const struct look *k, const uint8_t *p, size_t n)
{
	size_t from = d->size - (size_t)(k->end - k->at);

	for (size_t i = 0; d->bytes && i < n; i += 8) {
		if (!memcmp(d->bytes + from + i, p + i, 8))
			continue;
		memcpy(d->bytes + from + i, p + i, 8);
		d->changed[(from + i) / 8] = k->number;
	}
}

/*
 * A look is complete: what did not change since the one before was so between them. What changes
 * can come to be the same again, the sooner the more time there was.
 */
static int settle(struct resolver *r, struct machine *m, struct deep *d)
{
	uint64_t base = d->base > d->look.base ? d->base : d->look.base;
	uint64_t times[2] = {d->time, d->look.time},
		 agree = AGREE + (times[1] - times[0]) / MORE_NS;
	size_t from = d->size - (size_t)(d->look.end - base);
	struct unwind_beyond beyond = {.base = base,
				       .bytes = d->bytes + from,
				       .len = d->size - from,
				       .changed = d->changed + from / 8};

	d->done = true;
	if (d->look.number - d->first < agree - 1)
		return 0;
	beyond.since = d->look.number - (uint32_t)agree + 1;
	return resolve_hold_rest(r, m, d->thread, times, &beyond);
}

/* What a sample tells of a look. False: it is none. */
static bool read_look(const struct machine *m, const struct ps_sample *s, struct look *k)
{
	const struct unwind_arch *a;
	uint64_t pc = 1, sp = 0;
	uint32_t n = 0;

	if (!resolve_can_unwind(m, s) || __builtin_popcountll(s->user_regs.mask) < 3)
		return false;
	a = unwind_arch(m->host.kernel.origin.arch, s->user_regs.abi, s->user_regs.mask);
	for (unsigned i = 0; i < 64; i++) {
		if (!(s->user_regs.mask >> i & 1))
			continue;
		if (i == a->pc)
			pc = s->user_regs.v[n];
		if (i < a->nperf && a->dwarf[i] == (int8_t)a->sp)
			sp = s->user_regs.v[n];
		n++;
	}
	*k = (struct look){.thread = (uint64_t)m->source << 32 | s->tid,
			   .base = s->user_regs.v[0],
			   .end = s->user_regs.v[1],
			   .at = sp,
			   .time = s->time,
			   .number = (uint32_t)(s->user_regs.v[2] / 2),
			   .last = s->user_regs.v[2] & 1};
	return !pc;
}

/* Whether it can be what a recorder wrote. */
static bool is_sound(const struct look *k, size_t len)
{
	return k->thread && !((k->base | k->end | k->at | len) & 7) && k->base < k->end &&
	       k->end - k->base <= STACK_MAX && k->at >= k->base && k->at < k->end &&
	       len <= k->end - k->at && k->number < UINT32_MAX;
}

bool resolve_look(struct resolver *r, struct machine *m, const struct ps_sample *s, int *rc)
{
	struct look k;
	struct deep *d;

	*rc = 0;
	if (!read_look(m, s, &k))
		return false;
	if (!is_sound(&k, s->user_stack.len))
		return true;
	if (!r->looked && !(r->looked = calloc(1, sizeof(*r->looked)))) {
		*rc = PP_ENOMEM;
		return true;
	}
	d = deep_of(r->looked, k.thread);
	if (d->done || !d->size || k.number != d->look.number || k.end != d->look.end ||
	    k.base != d->look.base) {
		if (!begin(r->looked, d, &k)) {
			forget(r->looked, d);
			return true;
		}
	}
	take_bytes(d, &k, (const uint8_t *)s->user_stack.p, s->user_stack.len);
	if (k.last)
		*rc = settle(r, m, d);
	return true;
}
