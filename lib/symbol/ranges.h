/*
 * A map of addresses in which a later range covers what it overlaps of earlier ones.
 *
 *	struct ranges t = {0};
 *	rc = ranges_put(&t, 0x1000, 0x1400, 7);
 *	v = ranges_find(&t, 0x1100);		(7; 0: none)
 *	ranges_release(&t);
 *
 * Adding and finding take logarithmic time in the number of ranges, in whatever
 * order they come.
 */
#ifndef PP_SYMBOL_RANGES_H
#define PP_SYMBOL_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ranges_block;

struct ranges {
	struct ranges_block **blocks; /* in the order of addresses, none empty */
	size_t n, cap;
};

void ranges_release(struct ranges *t);

/*
 * [start, end) is value from now on; 0 removes what was there. *covered (or NULL) becomes true
 * if there was something. 0 or PP_ENOMEM.
 */
int ranges_put(struct ranges *t, uint64_t start, uint64_t end, uint32_t value, bool *covered);

/* The value at an address; 0: none. */
uint32_t ranges_find(const struct ranges *t, uint64_t addr);

#endif
