/*
 * Numbers of 64 bits by a dense index, most of which are 0 or small: each takes 4 bytes, and 8 more
 * if it is 2^31 or greater.
 *
 *	struct weights w = {0};
 *	rc = weights_widen(&w, n);		(from now on 0 to n - 1 are there)
 *	rc = weights_set(&w, i, weights_get(&w, i) + 3);
 *	weights_release(&w);
 */
#ifndef PP_BASE_WEIGHTS_H
#define PP_BASE_WEIGHTS_H

#include <stdint.h>

#define WEIGHTS_BIG (1u << 31) /* the rest is an index of `big` */

struct weights {
	uint32_t *v;
	uint64_t *big;
	uint32_t n, cap, nbig, cap_big;
};

void weights_release(struct weights *w);

/* Makes room for n of them, the new ones 0. 0 or PP_ENOMEM. */
int weights_grow(struct weights *w, uint32_t n);
/* Gives one a place in `big`. 0 or PP_ENOMEM, and it is as it was. */
int weights_add_big(struct weights *w, uint32_t i, uint64_t value);

static inline int weights_widen(struct weights *w, uint32_t n)
{
	if (n <= w->cap) {
		while (w->n < n)
			w->v[w->n++] = 0;
		return 0;
	}
	return weights_grow(w, n);
}

static inline uint64_t weights_get(const struct weights *w, uint32_t i)
{
	uint32_t v = w->v[i];

	return v & WEIGHTS_BIG ? w->big[v & ~WEIGHTS_BIG] : v;
}

/* 0 or PP_ENOMEM, and it is as it was. */
static inline int weights_set(struct weights *w, uint32_t i, uint64_t value)
{
	if (w->v[i] & WEIGHTS_BIG)
		w->big[w->v[i] & ~WEIGHTS_BIG] = value;
	else if (value < WEIGHTS_BIG)
		w->v[i] = (uint32_t)value;
	else
		return weights_add_big(w, i, value);
	return 0;
}

#endif
