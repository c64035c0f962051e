/* What a function returns, by the calling convention. */
#include "inspect/result.h"

#include "base/err.h"

#include <dwarf.h>
#include <string.h>

enum { REG_AX, REG_DX };

bool result_is(const struct variable *v)
{
	Dwarf_Die die = v->die;
	Dwarf_Attribute attr;
	bool flag = false;

	return v->param && dwarf_attr_integrate(&die, DW_AT_variable_parameter, &attr) &&
	       !dwarf_formflag(&attr, &flag) && flag;
}

/* Whether a floating point number is among the members, whose register cannot be recorded. */
static bool has_float(Dwarf_Die *type, int depth)
{
	Dwarf_Die t = *type, m;

	type_strip(&t);
	if (type_class(&t) == TYPE_FLOAT)
		return true;
	if (depth > TYPE_DEPTH || type_class(&t) != TYPE_STRUCT || dwarf_child(&t, &m))
		return false;
	do {
		struct field f;
		int tag = dwarf_tag(&m);

		if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) && !type_field(&m, &f) &&
		    has_float(&f.type, depth + 1))
			return true;
	} while (dwarf_siblingof(&m, &m) == 0);
	return false;
}

static bool is_rust(struct scopes *s)
{
	return dwarf_srclang(&s->unit) == DW_LANG_Rust;
}

static const char *structure(struct scopes *s, struct loc *l, uint64_t size)
{
	if (size > 16 || type_by_reference(&l->type)) {
		if (is_rust(s))
			return "it is returned in memory; at the entry its address is in %di";
		l->place = place_register(REG_AX);
		l->place.kind = PLACE_MEMORY;
		return NULL;
	}
	if (has_float(&l->type, 0))
		return "it is, or a part of it is, in a floating point register";
	if (size <= 8) {
		l->place = place_register(REG_AX);
		return NULL;
	}
	l->place = (struct place){.kind = PLACE_SPLIT, .n = 2};
	for (unsigned i = 0; i < 2; i++)
		l->place.piece[i] = (struct piece){.kind = PLACE_VALUE,
						   .v = {.reg = i ? REG_DX : REG_AX},
						   .bits = i ? 8 * (size - 8) : 64};
	return NULL;
}

const char *result_loc(struct binary *b, struct scopes *s, struct loc *l)
{
	Dwarf_Die function;

	(void)b;
	memset(l, 0, sizeof(*l));
	if (!s->n)
		return "there is no debug information here";
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
	case TYPE_VOID: return "of a type whose place is not known";
	default: return NULL;
	}
}
