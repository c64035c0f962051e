/*
 * Numbers of a thread's own, dense and from 1 on, for those of the many stacks of a profile that it
 * has: small enough to be kept for each of thousands of threads.
 *
 *	local = locals_find(&l, stack);
 *	if (!local)
 *		rc = locals_add(&l, stack, &local);
 *	...	(l.keys[local - 1] is the stack)
 *	locals_release(&l);
 */
#ifndef PP_CONV_LOCALS_H
#define PP_CONV_LOCALS_H

#include "base/array.h"
#include "base/children.h"

struct locals {
	struct children at;
	uint32_t *keys; /* by number less 1 */
	uint32_t n, cap;
};

/* The number of a stack; 0: it has none. */
static inline uint32_t locals_find(const struct locals *l, uint32_t key)
{
	uint32_t hash = children_hash(0, key), i = hash, k;

	while ((k = children_next(&l->at, hash, &i)) && l->keys[k - 1] != key)
		;
	return k;
}

/* Gives a stack that has none the next number. 0 or PP_ENOMEM. */
static inline int locals_add(struct locals *l, uint32_t key, uint32_t *local)
{
	uint32_t *v = array_widen(l->keys, &l->cap, l->n, 16, sizeof(*v));
	int rc = v ? 0 : PP_ENOMEM;

	if (rc)
		return rc;
	l->keys = v;
	if (children_full(&l->at, (uint64_t)l->n + 2)) {
		rc = children_make(&l->at, (uint64_t)l->n + 2, (uint64_t)l->n + 1);
		for (uint32_t k = 0; k < l->n && !rc; k++)
			children_put(&l->at, children_hash(0, v[k]), k + 1);
	}
	if (rc)
		return rc;
	v[l->n] = key;
	*local = ++l->n;
	children_put(&l->at, children_hash(0, key), *local);
	return 0;
}

static inline void locals_release(struct locals *l)
{
	children_release(&l->at);
	free(l->keys);
}

#endif
