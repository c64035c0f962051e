/*
 * An index over entries that somebody else keeps, numbered from 1 on as they come, each found by a
 * parent and a name (or by a single number, with parent 0). A slot takes 4 bytes.
 *
 *	hash = i = children_hash(parent, name);
 *	while ((k = children_next(&c, hash, &i)) && !(v[k].parent == parent && v[k].name == name))
 *		;	(k: the entry, or 0)
 *	if (!k && children_full(&c, n + 1) && !(rc = children_make(&c, n + 1, used + 1)))
 *		...	(children_put of all that there are)
 *	children_put(&c, hash, n);
 *
 * A slot has the number of an entry in the low bits, as many as the numbers need, and in those
 * above them its hash: most others are distinguished without a look at the entry. Open addressing;
 * three quarters of the slots are used at most.
 */
#ifndef PP_BASE_CHILDREN_H
#define PP_BASE_CHILDREN_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHILDREN_FIRST 64u	  /* slots */
#define CHILDREN_IDS   (1u << 20) /* entries for whose numbers there is room at first */

struct children {
	uint32_t *slots; /* 0: free */
	uint32_t mask;	 /* their number less one; 0: there are none */
	uint32_t ids;	 /* the bits of a slot that hold an entry's number */
	uint32_t n;	 /* slots that are used */
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

/* The next entry with this hash, most likely; *i is the hash to begin with. 0: there is no more. */
static inline uint32_t children_next(const struct children *c, uint32_t hash, uint32_t *i)
{
	uint32_t k;

	if (!c->slots)
		return 0;
	for (; (k = c->slots[*i & c->mask]); ++*i)
		if (!((k ^ hash) & ~c->ids)) {
			++*i;
			return k & c->ids;
		}
	return 0;
}

/* Puts an entry that is not in it, for which there is room. */
static inline void children_put(struct children *c, uint32_t hash, uint32_t node)
{
	uint32_t i = hash & c->mask;

	while (c->slots[i])
		i = (i + 1) & c->mask;
	c->slots[i] = (hash & ~c->ids) | node;
	c->n++;
}

/* Whether numbers below n may be more than fit, with one more entry. */
static inline bool children_full(const struct children *c, uint64_t n)
{
	return !c->slots || (uint64_t)c->n + 1 > ((uint64_t)c->mask + 1) / 4 * 3 ||
	       n > (uint64_t)c->ids + 1;
}

/*
 * Makes room for numbers below n, 2^31 at most, of `used` entries; their owner then puts all of
 * them. The old content is gone, but is unchanged if this fails. 0 or PP_ENOMEM.
 */
static inline int children_make(struct children *c, uint64_t n, uint64_t used)
{
	uint64_t slots = c->mask ? (uint64_t)c->mask + 1 : CHILDREN_FIRST, ids = CHILDREN_IDS;
	uint32_t *v;

	while (used > slots / 4 * 3)
		slots *= 2;
	while (n > ids)
		ids *= 2;
	v = realloc(c->slots, slots * sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	memset(v, 0, slots * sizeof(*v));
	*c = (struct children){
		.slots = v, .mask = (uint32_t)(slots - 1), .ids = (uint32_t)(ids - 1)};
	return 0;
}

#endif
