/*
 * Numbers as DWARF writes them: LEB128 (DWARF 5, 7.6), from a bounded cursor.
 */
#ifndef PP_DWARF_LEB_H
#define PP_DWARF_LEB_H

#include "base/cursor.h"

/* The bits of a number, and how many its bytes have: 7 for each; *last is the last byte. */
static inline uint64_t get_leb(struct cursor *c, unsigned *bits, uint8_t *last)
{
	uint64_t v = 0;
	uint8_t b;

	*bits = 0;
	do {
		b = get_u8(c);
		if (*bits < 64)
			v |= (uint64_t)(b & 0x7f) << *bits;
		*bits += 7;
	} while (b & 0x80);
	*last = b;
	return v;
}

static inline uint64_t get_uleb(struct cursor *c)
{
	unsigned bits;
	uint8_t last;

	return get_leb(c, &bits, &last);
}

static inline int64_t get_sleb(struct cursor *c)
{
	unsigned bits;
	uint8_t last;
	uint64_t v = get_leb(c, &bits, &last);

	if (last & 0x40 && bits < 64)
		v |= ~UINT64_C(0) << bits;
	return (int64_t)v;
}

#endif
