/*
 * Where a variable is: a DWARF location, in a form that the kernel can fetch.
 *
 *	struct place p;
 *	place_of(&p, binary, function, &variable, pc);
 *	if (p.kind == PLACE_NONE)
 *		printf("%s: %s", name, p.why);
 *	else
 *		place_text(&p.v, p.kind == PLACE_MEMORY, binary, pc, &buf);	-20(%bp)
 *
 * A value is a register, an address of data or a constant; then any number of loads, each of the
 * word at the value so far plus an offset; then something added. That is everything that the
 * kernel's syntax can say. Format: DWARF 5, 2.5 and 2.6.
 */
#ifndef PP_INSPECT_PLACE_H
#define PP_INSPECT_PLACE_H

#include "base/buf.h"
#include "inspect/binary.h"

#define PLACE_LOADS  13 /* the kernel allows 14 dereferences */
#define PLACE_PIECES 8
#define PLACE_OPS    256 /* operations of a location */

enum value_base { VALUE_REGISTER, VALUE_DATA, VALUE_CONSTANT };

struct value {
	enum value_base base;
	int reg;       /* by its DWARF number */
	uint64_t addr; /* of data, or the constant */
	unsigned n;
	int64_t load[PLACE_LOADS];
	int64_t add;
};

enum place_kind {
	PLACE_NONE,
	PLACE_VALUE,  /* the variable's bytes are the value */
	PLACE_MEMORY, /* they are at the address that is the value */
	PLACE_SPLIT,  /* they are in pieces */
};

struct piece {
	enum place_kind kind;
	struct value v;
	const char *why;
	uint64_t bits;
};

struct place {
	enum place_kind kind;
	const char *why; /* PLACE_NONE: why; static */
	struct value v;
	bool late; /* holds only when the function has set up its frame */
	unsigned n;
	struct piece piece[PLACE_PIECES];
};

/* What is reported for a variable that has no place. */
#define PLACE_GONE "optimized out"

/*
 * The place of a variable (its entry in the DWARF) at pc; `function` is that whose frame it is in,
 * NULL for globals. PLACE_NONE with the reason when there is none.
 */
void place_of(struct place *p, struct binary *b, Dwarf_Die *function, Dwarf_Die *variable,
	      uint64_t pc);

/* A place that is a register. */
struct place place_register(int reg);

/*
 * The value, or with `memory` what is at it, in the kernel's syntax, for a probe at pc. NULL, or
 * why there is none.
 */
const char *place_text(const struct value *v, bool memory, const struct binary *b, uint64_t pc,
		       struct buf *out);

/* The same for display: registers that the kernel cannot read also have names. */
void place_show(const struct place *p, const struct binary *b, uint64_t pc, struct buf *out);

/* The value becomes what is in memory at it. False: there are too many loads. */
bool value_load(struct value *v);

#endif
