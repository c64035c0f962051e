/*
 * The children of the nodes of a tree, found by their parent and name: an index over nodes that
 * somebody else keeps, numbered from 1 on, with 4 bytes per slot.
 *
 *	uint32_t hash = children_hash(parent, name), i = hash, k;
 *	while ((k = children_next(&c, hash, &i)) && !(v[k].parent == parent && v[k].name == name))
 *		;	(k: the child, or 0)
 *	if (!k && children_full(&c, n + 1) && !(rc = children_make(&c, n + 1)))
 *		...	(children_put of all that there are)
 *	children_put(&c, hash, n++);
 *
 * A slot has the number of a node in the low bits, as many as the numbers of all slots need, and in
 * those above them its hash: most others are distinguished without a look at the node. Open
 * addressing; three quarters of the slots are used at most, of the largest table all but one.
 */
#ifndef PP_BASE_CHILDREN_H
#define PP_BASE_CHILDREN_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHILDREN_MAX   0x7fffffffu /* nodes, including the root */
#define CHILDREN_FIRST 64u	   /* slots */

struct children {
	uint32_t *slots; /* 0: free */
	uint32_t mask;	 /* their number less one; 0: there are none */
};

static inline void children_release(struct children *c)
{
	free(c->slots);
	*c = (struct children){0};
}

static inline uint32_t children_hash(uint32_t parent, uint32_t name)
{
	uint64_t k = ((uint64_t)parent << 32 | name) * 0x9e3779b97f4a7c15u;

	return (uint32_t)((k ^ k >> 29) * 0xbf58476d1ce4e5b9u >> 32);
}

/* The next node with this hash, most likely; *i is the hash to begin with. 0: there is no more. */
static inline uint32_t children_next(const struct children *c, uint32_t hash, uint32_t *i)
{
	uint32_t k;

	if (!c->slots)
		return 0;
	for (; (k = c->slots[*i & c->mask]); ++*i)
		if (!((k ^ hash) & ~c->mask)) {
			++*i;
			return k & c->mask;
		}
	return 0;
}

/* Memory is asked for where a node will be put. */
static inline void children_prefetch(const struct children *c, uint32_t hash)
{
	__builtin_prefetch(&c->slots[hash & c->mask], 1);
}

/* Puts a node that is not in it, for which there is room. */
static inline void children_put(struct children *c, uint32_t hash, uint32_t node)
{
	uint32_t i = hash & c->mask;

	while (c->slots[i])
		i = (i + 1) & c->mask;
	c->slots[i] = (hash & ~c->mask) | node;
}

/* Whether n nodes, including the root, are more than fit. */
static inline bool children_full(const struct children *c, uint64_t n)
{
	return !c->slots || (n > ((uint64_t)c->mask + 1) / 4 * 3 && c->mask < CHILDREN_MAX);
}

/*
 * Makes room for n nodes; their owner then puts all of them. The old content is gone,
 * but is unchanged if this fails. 0 or PP_ENOMEM.
 */
static inline int children_make(struct children *c, uint64_t n)
{
	uint64_t slots = c->mask ? (uint64_t)c->mask + 1 : CHILDREN_FIRST;
	uint32_t *v;

	while (n > slots / 4 * 3 && slots <= CHILDREN_MAX)
		slots *= 2;
	v = realloc(c->slots, slots * sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	memset(v, 0, slots * sizeof(*v));
	c->slots = v;
	c->mask = (uint32_t)(slots - 1);
	return 0;
}

#endif
