/*
 * What addresses without a name cost: for each DSO and reason the samples that have such frames.
 *
 *	struct missing m = {0};
 *	miss = missing_pair(&m, dso, reason);	(a number for each frame without a name)
 *	rc = missing_set(&m, misses, n, &set);		(once for each call chain)
 *	m.counts[set]++;				(for each sample)
 *	missing_sum(&m);
 *	... m.pairs[0 .. m.npairs) ...
 *	missing_release(&m);
 */
#ifndef PP_RESOLVE_MISSING_H
#define PP_RESOLVE_MISSING_H

#include "base/intern.h"

#define MISSING_PAIRS_MAX 65534 /* beyond, the last one stands for the rest */
#define MISSING_SETS_MAX  (1u << 17)

struct missing_pair {
	uint32_t dso, reason; /* the caller's numbers */
	uint64_t samples, frames;
};

struct missing {
	struct map64 by_key; /* dso and reason: index in pairs, + 1 */
	struct missing_pair *pairs;
	uint32_t npairs, pairs_cap;
	struct intern sets;
	uint64_t *counts; /* samples, by set */
	uint32_t counts_cap;
	uint16_t *list; /* of the set that is being made */
	uint32_t list_cap;
};

/* The number of a pair, from 1; 0: out of memory. */
uint16_t missing_pair(struct missing *m, uint32_t dso, uint32_t reason);

/*
 * The set of n pairs, in any order, repeated or not; zeroes in between are left out. *set is 0 when
 * none is left, whose count means nothing. 0, PP_ENOMEM, or PP_ELIMIT: missing_sum must be called,
 * and every set is forgotten.
 */
int missing_set(struct missing *m, const uint16_t *pairs, uint32_t n, uint32_t *set);

/* Adds the counts of the sets to the pairs, and forgets the sets. */
void missing_sum(struct missing *m);

void missing_release(struct missing *m);

#endif
