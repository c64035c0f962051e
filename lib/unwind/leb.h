/*
 * Numbers as DWARF writes them: LEB128 (DWARF 5, 7.6), from a bounded cursor.
 */
#ifndef PP_UNWIND_LEB_H
#define PP_UNWIND_LEB_H

#include "base/cursor.h"

static inline uint64_t get_uleb(struct cursor *c)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t b;

	do {
		b = get_u8(c);
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
	} while (b & 0x80);
	return v;
}

static inline int64_t get_sleb(struct cursor *c)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t b;

	do {
		b = get_u8(c);
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
	} while (b & 0x80);
	if (b & 0x40 && shift < 64)
		v |= ~UINT64_C(0) << shift;
	return (int64_t)v;
}

#endif
