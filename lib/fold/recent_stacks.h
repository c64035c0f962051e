/*
 * The stacks that were seen last, each with its node in the tree: a short way to the node of a
 * stack that comes again. Private to lib/fold.
 *
 * A stack is known by 96 bits of the hash of its names: one look at one place gives its node, where
 * comparing names would wait for memory once more. Memory is bounded: what does not fit makes the
 * table forget all, which costs time only, as the tree has everything.
 */
#ifndef PP_FOLD_RECENT_STACKS_H
#define PP_FOLD_RECENT_STACKS_H

#include <stddef.h>
#include <stdint.h>

#define FOLD_TABLE_MAX (1u << 20) /* stacks: 32 MB */

struct fold_key {
	uint64_t low;
	uint32_t high;
};

struct fold_table_slot {
	uint64_t low;
	uint32_t high;
	uint32_t node; /* 0: free */
};

struct fold_table {
	struct fold_table_slot *slots; /* open addressing */
	uint32_t n, mask;
};

void fold_table_release(struct fold_table *t);

struct fold_key fold_table_key(const uint32_t *names, size_t n);

/* The node of a stack; 0: it is not in the table. */
uint32_t fold_table_find(const struct fold_table *t, struct fold_key key);

/* Adds a stack that is not in the table; its node is not 0. 0 or PP_ENOMEM. */
int fold_table_add(struct fold_table *t, struct fold_key key, uint32_t node);

#endif
