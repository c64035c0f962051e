/*
 * Which of many ranges of addresses an address is in: where they nest, the innermost.
 *
 *	struct addr_range v[] = {{0x10, 0x90, 0, 7}, {0x20, 0x30, 1, 8}};
 *	struct addr_map m = {0};
 *	addr_map_make(&m, v, 2);
 *	addr_map_find(&m, 0x25)		(8; 7 for 0x35; ADDR_MAP_NONE for 0x95)
 *	addr_map_release(&m);
 *
 * The ranges are cut into pieces that do not overlap, so that a look-up is one binary search.
 */
#ifndef PP_SYMBOL_ADDR_MAP_H
#define PP_SYMBOL_ADDR_MAP_H

#include <stddef.h>
#include <stdint.h>

#define ADDR_MAP_NONE UINT32_MAX

struct addr_range {
	uint64_t lo, hi; /* hi is exclusive */
	uint32_t depth;	 /* of two ranges that begin together, the deeper one is inside */
	uint32_t what;	 /* not ADDR_MAP_NONE */
};

struct addr_piece {
	uint64_t lo; /* up to that of the next piece */
	uint32_t what;
};

struct addr_map {
	struct addr_piece *v;
	size_t n;
};

/* Sorts v and makes the map, which has to be empty; v can go afterwards. 0 or PP_ENOMEM. */
int addr_map_make(struct addr_map *m, struct addr_range *v, size_t n);
uint32_t addr_map_find(const struct addr_map *m, uint64_t addr);
void addr_map_release(struct addr_map *m);

/* A growing array of ranges. */
struct addr_ranges {
	struct addr_range *v;
	size_t n, cap;
};

/* Appends a range; an empty one is left out. 0 or PP_ENOMEM. */
int addr_ranges_add(struct addr_ranges *r, uint64_t lo, uint64_t hi, uint32_t depth, uint32_t what);
void addr_ranges_release(struct addr_ranges *r);

#endif
