/*
 * The compilation units of a binary, and what has their entries: the binary, or for split DWARF
 * another file.
 *
 *	struct unit u = {0};
 *	while (units_next(b, b->dwarf, &u))
 *		use(&u.content);
 */
#ifndef PP_INSPECT_UNITS_H
#define PP_INSPECT_UNITS_H

#include "inspect/binary.h"

struct unit {
	Dwarf_CU *cu;
	uint8_t type;	   /* DW_UT_... */
	Dwarf_Die die;	   /* what the file itself has of it */
	Dwarf_Die content; /* what its functions are below: die, or that of split DWARF */
	bool split;	   /* it is split, and content is what was split off */
};

/* The unit after u->cu; NULL: the first one. False: there is none. */
bool units_next(struct binary *b, Dwarf *dwarf, struct unit *u);

/* Reports that a part of the debug information cannot be used. */
void units_damaged(struct binary *b);

/* Reads the address ranges of units, for binary_unit. 0 or PP_ENOMEM. */
int units_read(struct binary *b);

/* The part of the code that an address is in; NULL: of no unit. */
const struct binary_unit *units_at(const struct binary *b, uint64_t vaddr);

/* The entry of the compilation unit that covers an address: 0 or PP_ENOENT. */
int binary_unit(struct binary *b, uint64_t vaddr, Dwarf_Die *unit);

/* What the file itself has of a unit of split DWARF, its lines above all. False: there is none. */
bool binary_skeleton(struct binary *b, Dwarf_CU *cu, Dwarf_Die *unit);

#endif
