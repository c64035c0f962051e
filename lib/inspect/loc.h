/*
 * A variable, or a part of one, with its place and its type; steps from it to its parts.
 *
 *	struct loc l = {.place = place, .type = type};
 *	why = loc_member(&l, "next", 4);
 *	why = loc_deref(&l);
 *
 * Every step returns NULL, or why it cannot be made.
 */
#ifndef PP_INSPECT_LOC_H
#define PP_INSPECT_LOC_H

#include "inspect/place.h"
#include "inspect/type.h"

struct loc {
	struct place place; /* PLACE_VALUE, PLACE_MEMORY or PLACE_SPLIT */
	Dwarf_Die type;
	bool untyped; /* void, or not described */
	unsigned bits,
		bit; /* a part of the place: so many bits, from that bit on. 0: by its type */
};

/* A text, slice or vector: where its elements are, and how many. */
struct sequence {
	struct loc data;   /* the pointer to the elements */
	struct loc length; /* their number, or with `end` the pointer to their end */
	Dwarf_Die elem;
	const char *data_gone; /* why there is no pointer; NULL: there is one */
	const char *length_gone;
	bool end, text;
};

/* References become what they refer to. */
const char *loc_settle(struct loc *l);

/* The place and type of a part. */
const char *loc_field(struct loc *l, const struct type_part *f);

/* "." of the language: of a pointer what it points to is meant. */
const char *loc_member(struct loc *l, const char *name, size_t len);
const char *loc_deref(struct loc *l);
const char *loc_index(struct loc *l, int64_t index);

/* Whether the type is a sequence of C++, Go or Rust; *s is that. */
bool loc_sequence(const struct loc *l, struct sequence *s);

/* The size in bits, 0: not known. */
uint64_t loc_bits(struct loc *l);

#endif
