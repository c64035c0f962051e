/*
 * The stacks that were seen last, each with its node in the tree: a short way to the node of a
 * stack that comes again. Private to lib/fold.
 *
 * A list of names is compared as it lies in one piece; the tree's nodes, through which it would be
 * compared otherwise, lie wherever there was room. Memory is bounded: what does not fit makes the
 * table forget all, which costs time only, as the tree has everything.
 */
#ifndef PP_FOLD_TABLE_H
#define PP_FOLD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOLD_TABLE_MAX (4u << 20) /* numbers in the pool: 16 MB */

struct fold_table_slot {
	uint32_t hash;
	uint32_t at; /* in the pool; 0: free */
};

struct fold_table {
	struct fold_table_slot *slots; /* open addressing */
	uint32_t n, mask;
	uint32_t *pool; /* from 1 on, of each stack: node, number of names, the names */
	uint32_t pool_n, pool_cap;
};

void fold_table_release(struct fold_table *t);

uint32_t fold_table_hash(const uint32_t *names, size_t n);

/* What is looked at for a hash, for __builtin_prefetch: its slot, or what the pool has for it. */
static inline const void *fold_table_place(const struct fold_table *t, uint32_t hash, bool pool)
{
	const struct fold_table_slot *s = &t->slots[hash & t->mask];

	if (!t->slots)
		return NULL;
	return pool ? (const void *)&t->pool[s->at] : s;
}

/* The node of a stack; 0: it is not in the table. */
uint32_t fold_table_find(const struct fold_table *t, uint32_t hash, const uint32_t *names,
			 size_t n);

/* Adds a stack that is not in the table. 0 or PP_ENOMEM. */
int fold_table_add(struct fold_table *t, uint32_t hash, const uint32_t *names, size_t n,
		   uint32_t node);

#endif
