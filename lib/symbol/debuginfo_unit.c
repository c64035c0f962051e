#include "symbol/debuginfo_parts.h"

#include "base/err.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

void unit_release(struct unit *u)
{
	for (uint32_t i = 0; i < u->n; i++) {
		free(u->functions[i].calls);
		ranges_release(&u->functions[i].map);
	}
	free(u->functions);
	u->functions = NULL;
	u->n = u->cap = 0;
	ranges_release(&u->map);
}

/*
 * The entry after this one. A damaged file can have siblings that go back, which would never end:
 * they end here.
 */
static bool next_sibling(const struct unit *u, Dwarf_Die *die)
{
	Dwarf_Die next;

	if (!u->file->steps || !--u->file->steps || dwarf_siblingof(die, &next) ||
	    next.addr <= die->addr)
		return false;
	*die = next;
	return true;
}

/* ---- names and places ---- */

static const char *text_attr(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, name, &attr) ? dwarf_formstring(&attr) : NULL;
}

static const char *die_name(Dwarf_Die *die)
{
	const char *name = text_attr(die, DW_AT_linkage_name);

	if (!name)
		name = text_attr(die, DW_AT_MIPS_linkage_name);
	return name ? name : text_attr(die, DW_AT_name);
}

const char *function_name(struct function *f)
{
	if (!f->named)
		f->name = die_name(&f->die);
	f->named = true;
	return f->name;
}

static uint32_t number_attr(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Word v;

	if (!dwarf_attr(die, name, &attr) || dwarf_formudata(&attr, &v) || v > UINT32_MAX)
		return 0;
	return (uint32_t)v;
}

/* The name of an inlined function and where it was called. */
static const struct source_frame *inlined_call(struct unit *u, struct inlined *in)
{
	Dwarf_Attribute attr;
	Dwarf_Files *files;
	Dwarf_Word file;
	size_t n;

	if (in->named)
		return &in->call;
	in->named = true;
	in->call.function = die_name(&in->die);
	if (!u->file->lines)
		return &in->call;
	in->call.line = number_attr(&in->die, DW_AT_call_line);
	in->call.column = number_attr(&in->die, DW_AT_call_column);
	if (dwarf_attr(&in->die, DW_AT_call_file, &attr) && !dwarf_formudata(&attr, &file) &&
	    !dwarf_getsrcfiles(&u->content, &files, &n) && file < n)
		in->call.file = unit_path(u, dwarf_filesrc(files, file, NULL, NULL));
	return &in->call;
}

/* ---- the functions of a unit ---- */

static int add_function(struct unit *u, Dwarf_Die *die)
{
	int rc = die_ranges(die, u->n + 1, &u->map, &u->file->steps);

	if (rc)
		return rc == PP_ENOENT ? 0 : rc;
	if (u->n == u->cap) {
		uint32_t cap = u->cap ? u->cap * 2 : 32;
		struct function *v = realloc(u->functions, cap * sizeof(*v));

		if (!v)
			return PP_ENOMEM;
		u->functions = v;
		u->cap = cap;
	}
	u->functions[u->n++] = (struct function){.die = *die};
	return 0;
}

/* Whether functions can be among the children of an entry. */
static bool may_hold(int tag, bool deep)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_common_block: return true;
	/* Functions of functions: Ada, Fortran, D, GNU C, methods of local classes. */
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
	case DW_TAG_inlined_subroutine: return deep;
	}
	return false;
}

static int walk_functions(struct unit *u, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die die;
	int rc = 0;

	if (depth == DEBUGINFO_DEPTH_MAX || dwarf_child(parent, &die))
		return 0;
	do {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_subprogram || tag == DW_TAG_entry_point)
			rc = add_function(u, &die);
		if (!rc && may_hold(tag, u->deep))
			rc = walk_functions(u, &die, depth + 1);
	} while (!rc && next_sibling(u, &die));
	return rc;
}

/* Reads the functions of a unit; deep: also those within functions, which takes long. */
static int read_functions(struct unit *u, bool deep)
{
	int rc;

	unit_release(u);
	u->functions_read = true;
	u->deep = deep;
	rc = walk_functions(u, &u->content, 0);
	/* A map that is not whole could name functions that are not there. */
	if (rc)
		unit_release(u);
	return rc;
}

int unit_function(struct unit *u, uint64_t vaddr, struct function **f)
{
	uint32_t i = 0;
	int rc = 0;

	if (!u->functions_read)
		rc = read_functions(u, false);
	if (!rc)
		i = ranges_find(&u->map, vaddr);
	if (!rc && !i && !u->deep) {
		rc = read_functions(u, true);
		i = ranges_find(&u->map, vaddr);
	}
	*f = i ? &u->functions[i - 1] : NULL;
	return rc;
}

int unit_add_ranges(struct unit *u, uint32_t value, struct ranges *map)
{
	int rc = read_functions(u, false);

	for (uint32_t i = 0; !rc && i < u->n; i++) {
		rc = die_ranges(&u->functions[i].die, value, map, &u->file->steps);
		if (rc == PP_ENOENT)
			rc = 0;
	}
	return rc;
}

/* ---- what is inlined into a function ---- */

static int add_call(struct unit *u, struct function *f, Dwarf_Die *die, uint32_t parent)
{
	int rc = die_ranges(die, f->n + 1, &f->map, &u->file->steps);

	if (rc)
		return rc == PP_ENOENT ? 0 : rc;
	if (f->n == f->cap) {
		uint32_t cap = f->cap ? f->cap * 2 : 16;
		struct inlined *v = realloc(f->calls, cap * sizeof(*v));

		if (!v)
			return PP_ENOMEM;
		f->calls = v;
		f->cap = cap;
	}
	f->calls[f->n++] = (struct inlined){.die = *die, .parent = parent};
	return 0;
}

static int walk_calls(struct unit *u, struct function *f, Dwarf_Die *parent, uint32_t caller,
		      unsigned depth)
{
	Dwarf_Die die;
	int rc = 0;

	if (depth == DEBUGINFO_DEPTH_MAX || dwarf_child(parent, &die))
		return 0;
	do {
		uint32_t n = f->n;

		switch (dwarf_tag(&die)) {
		case DW_TAG_inlined_subroutine:
			rc = add_call(u, f, &die, caller);
			if (!rc)
				rc = walk_calls(u, f, &die, f->n > n ? n + 1 : caller, depth + 1);
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
		case DW_TAG_with_stmt: rc = walk_calls(u, f, &die, caller, depth + 1); break;
		default: break;
		}
	} while (!rc && next_sibling(u, &die));
	return rc;
}

int function_frames(struct unit *u, struct function *f, uint64_t vaddr,
		    struct source_frame frames[DEBUGINFO_FRAMES_MAX], uint32_t *n)
{
	uint32_t at, i = 0;
	int rc = f->walked ? 0 : walk_calls(u, f, &f->die, 0, 0);

	f->walked = true;
	frames[0] = (struct source_frame){0};
	*n = 1;
	if (rc)
		return rc;
	for (at = ranges_find(&f->map, vaddr); at && i + 1 < DEBUGINFO_FRAMES_MAX;
	     at = f->calls[at - 1].parent) {
		const struct source_frame *call = inlined_call(u, &f->calls[at - 1]);

		/* The place of the call is one of the caller. */
		frames[i++].function = call->function;
		frames[i] = *call;
	}
	frames[i].function = function_name(f);
	*n = i + 1;
	return 0;
}
