/* What a function returns, by the calling convention. */
#include "inspect/result.h"

#include "base/err.h"
#include "inspect/go_abi.h"

#include <dwarf.h>
#include <string.h>

enum { REG_AX, REG_DX };

/* Whether a floating point number is among the members, whose register cannot be recorded. */
static bool has_float(Dwarf_Die *type, int depth, unsigned *left)
{
	Dwarf_Die t = *type, m;

	type_strip(&t);
	if (type_class(&t) == TYPE_FLOAT)
		return true;
	if (depth > TYPE_DEPTH || type_class(&t) != TYPE_STRUCT || dwarf_child(&t, &m))
		return false;
	do {
		struct type_part f;
		int tag = dwarf_tag(&m);

		if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) && !type_field(&m, &f) &&
		    has_float(&f.type, depth + 1, left))
			return true;
	} while (*left && --*left && dwarf_siblingof(&m, &m) == 0);
	return false;
}

static bool is_rust(struct scopes *s)
{
	return dwarf_srclang(&s->unit) == DW_LANG_Rust;
}

/* Two numbers in a structure, as Option<u32>: where the second one begins; 0: it is none. */
static uint64_t second_number(Dwarf_Die *type)
{
	Dwarf_Die t = *type, m;
	uint64_t first = UINT64_MAX, second = 0;

	type_strip(&t);
	if (dwarf_child(&t, &m))
		return 0;
	/* The variants of an enum begin where its tag does; what they hold comes after it. */
	do {
		struct type_part f;
		Dwarf_Die v, inner;

		if (dwarf_tag(&m) == DW_TAG_member && !type_field(&m, &f)) {
			if (type_class(&f.type) == TYPE_STRUCT)
				return 0;
			if (first == UINT64_MAX)
				first = f.offset;
			else
				second = f.offset > first ? f.offset : first;
		}
		if (dwarf_tag(&m) != DW_TAG_variant_part || dwarf_child(&m, &v))
			continue;
		do {
			struct type_part body, part;

			if (dwarf_tag(&v) != DW_TAG_variant || dwarf_child(&v, &inner) ||
			    type_field(&inner, &body) || type_member(&body.type, "__0", 3, &part))
				continue;
			second = body.offset + part.offset;
		} while (dwarf_siblingof(&v, &v) == 0);
	} while (dwarf_siblingof(&m, &m) == 0);
	return second;
}

static const char *structure(struct scopes *s, struct loc *l, uint64_t size)
{
	uint64_t half = 8;
	unsigned left = TYPE_MEMBERS_MAX;

	if (size > 16 || type_by_reference(&l->type)) {
		if (is_rust(s))
			return "it is returned in memory; at the entry its address is in %di";
		l->place = place_register(REG_AX);
		l->place.kind = PLACE_MEMORY;
		return NULL;
	}
	if (has_float(&l->type, 0, &left))
		return "it is, or a part of it is, in a floating point register";
	if (is_rust(s))
		half = second_number(&l->type);
	if (size <= 8 && !(is_rust(s) && half)) {
		l->place = place_register(REG_AX);
		return NULL;
	}
	if (!half || half >= size)
		return "of a type whose location is not known";
	l->place = (struct place){.kind = PLACE_SPLIT, .n = 2};
	for (unsigned i = 0; i < 2; i++)
		l->place.piece[i] = (struct piece){.kind = PLACE_VALUE,
						   .v = {.reg = i ? REG_DX : REG_AX},
						   .bits = 8 * (i ? size - half : half)};
	return NULL;
}

const char *result_loc(struct binary *b, struct scopes *s, struct loc *l)
{
	const char *name;
	Dwarf_Die function;

	memset(l, 0, sizeof(*l));
	if (!s->n)
		return "there is no debug information here";
	if (b->go)
		return go_abi_result(s, 0, l, &name);
	function = s->die[0];
	if (type_of(&function, &l->type))
		return "the function returns nothing";
	l->place = place_register(REG_AX);
	switch (type_class(&l->type)) {
	case TYPE_FLOAT:
		return "it is in a floating point register (%xmm0), which the kernel cannot record";
	case TYPE_STRUCT: return structure(s, l, type_size(&l->type));
	case TYPE_ARRAY:
	case TYPE_OTHER:
	case TYPE_VOID: return "of a type whose location is not known";
	default: return NULL;
	}
}
