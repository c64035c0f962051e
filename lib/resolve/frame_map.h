/*
 * The frames of a DSO by address. Addresses of one DSO nearly always share their upper half, so
 * that an entry takes 8 bytes: what is looked up for most addresses of most samples has to stay in
 * the processor's caches. Private to resolve*.c.
 */
#ifndef PP_RESOLVE_FRAME_MAP_H
#define PP_RESOLVE_FRAME_MAP_H

#include "base/intern.h"

struct frame_slot {
	uint32_t low; /* half of the address */
	uint32_t frame;
};

struct frame_map {
	struct frame_slot *slots; /* open addressing; frame 0: free */
	uint32_t n, mask;
	uint32_t high;	     /* upper half of the addresses in slots */
	struct map64 others; /* addresses with another one */
};

/*
 * Where to begin in the slots. The addresses of 64 bytes of code have places side by side, in two
 * cache lines: samples fall on many instructions of few functions.
 */
static inline uint32_t frame_map_home(uint32_t low, uint32_t mask)
{
	uint32_t block = (uint32_t)((low >> 6) * 0x9e3779b97f4a7c15u >> 32);

	return (block << 4 | (low >> 2 & 15)) & mask;
}

/* The frame of an address, 0 if there is none. */
static inline uint32_t frame_map_get(const struct frame_map *m, uint64_t addr)
{
	const uint32_t *other;

	if (m->n && addr >> 32 == m->high) {
		for (uint32_t i = frame_map_home((uint32_t)addr, m->mask); m->slots[i].frame;
		     i = (i + 1) & m->mask)
			if (m->slots[i].low == (uint32_t)addr)
				return m->slots[i].frame;
		return 0;
	}
	other = map64_get(&m->others, addr);
	return other ? *other : 0;
}

/* Sets the frame of an address that has none; it is not 0. 0 or PP_ENOMEM. */
int frame_map_put(struct frame_map *m, uint64_t addr, uint32_t frame);

void frame_map_clear(struct frame_map *m);
void frame_map_release(struct frame_map *m);

#endif
