/* The functions of a compilation unit, and what is inlined into them. */
#include "dwarf/debuginfo_parts.h"

#include "base/err.h"

#include <dwarf.h>
#include <stdlib.h>

int die_ranges(Dwarf_Die *die, uint32_t value, struct ranges *map, uint64_t *steps)
{
	Dwarf_Addr base, lo, hi;
	ptrdiff_t at = 0;
	bool any = false;

	while ((at = dwarf_ranges(die, at, &base, &lo, &hi)) > 0) {
		if (!*steps)
			return PP_ELIMIT;
		--*steps;
		/* What the linker threw away is at 0, or its end is before its beginning. */
		if (!lo || lo >= hi)
			continue;
		if (ranges_put(map, lo, hi, value, NULL))
			return PP_ENOMEM;
		any = true;
	}
	return any ? 0 : PP_ENOENT;
}

void unit_release(struct dwarf_unit *u)
{
	for (uint32_t i = 0; i < u->n; i++) {
		free(u->functions[i].calls);
		ranges_release(&u->functions[i].map);
	}
	free(u->functions);
	u->functions = NULL;
	u->n = u->cap = 0;
	ranges_release(&u->map);
	scan_free(u->scan);
	u->scan = NULL;
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

/* The name of the entry at an offset. */
static const char *name_at(const struct dwarf_unit *u, Dwarf_Off at, Dwarf_Die *die)
{
	return dwarf_offdie(u->dwarf, at, die) ? die_name(die) : NULL;
}

const char *function_name(const struct dwarf_unit *u, struct unit_function *f)
{
	Dwarf_Die die;

	if (!f->named)
		f->name = name_at(u, f->die, &die);
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
static const struct source_frame *inlined_call(struct dwarf_unit *u, struct inlined *in)
{
	Dwarf_Attribute attr;
	Dwarf_Word file;
	Dwarf_Die die = {0};

	if (in->named)
		return &in->call;
	in->named = true;
	in->call.function = name_at(u, in->die, &die);
	if (!u->file->lines || !die.cu)
		return &in->call;
	in->call.line = number_attr(&die, DW_AT_call_line);
	in->call.column = number_attr(&die, DW_AT_call_column);
	if (dwarf_attr(&die, DW_AT_call_file, &attr) && !dwarf_formudata(&attr, &file))
		in->call.file = unit_file(u, file);
	return &in->call;
}

/* ---- the functions of a unit ---- */

/* Gives the addresses of an entry a value: as die_ranges. */
static int entry_ranges(struct dwarf_unit *u, const struct scan_entry *e, uint32_t value,
			struct ranges *map)
{
	Dwarf_Die die;

	if (e->complex)
		return dwarf_offdie(u->dwarf, e->offset, &die)
			       ? die_ranges(&die, value, map, &u->file->steps)
			       : PP_ENOENT;
	if (!e->simple || !e->lo || e->lo >= e->hi)
		return PP_ENOENT;
	return ranges_put(map, e->lo, e->hi, value, NULL);
}

static int add_function(struct dwarf_unit *u, const struct scan_entry *e)
{
	int rc = entry_ranges(u, e, u->n + 1, &u->map);

	if (rc)
		return rc == PP_ENOENT ? 0 : rc;
	if (u->n == u->cap) {
		uint32_t cap = u->cap ? u->cap * 2 : 32;
		struct unit_function *v = realloc(u->functions, cap * sizeof(*v));

		if (!v)
			return PP_ENOMEM;
		u->functions = v;
		u->cap = cap;
	}
	u->functions[u->n++] = (struct unit_function){.die = e->offset};
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

/* Reads the functions of a unit; deep: also those within functions, which takes long. */
static int read_functions(struct dwarf_unit *u, bool deep)
{
	struct scan_entry e;
	int rc;

	unit_release(u);
	u->functions_read = true;
	u->deep = deep;
	rc = scan_open(&u->scan, &u->content, &u->file->steps);
	/* A unit that is damaged has no functions. */
	if (rc)
		return rc == PP_ENOMEM ? rc : 0;
	scan_children(u->scan, dwarf_dieoffset(&u->content));
	while (!rc && scan_next(u->scan, &e)) {
		if (e.tag == DW_TAG_subprogram || e.tag == DW_TAG_entry_point)
			rc = add_function(u, &e);
		if (!may_hold((int)e.tag, deep) || e.depth == DEBUGINFO_DEPTH_MAX)
			scan_skip(u->scan);
	}
	/* A map that is not whole could name functions that are not there. */
	if (rc)
		unit_release(u);
	return rc;
}

int unit_function(struct dwarf_unit *u, uint64_t vaddr, struct unit_function **f)
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

int unit_add_ranges(struct dwarf_unit *u, uint32_t value, struct ranges *map)
{
	int rc = read_functions(u, false);

	for (uint32_t i = 0; !rc && i < u->n; i++) {
		Dwarf_Die die;

		if (!dwarf_offdie(u->dwarf, u->functions[i].die, &die))
			continue;
		rc = die_ranges(&die, value, map, &u->file->steps);
		if (rc == PP_ENOENT)
			rc = 0;
	}
	return rc;
}

/* ---- what is inlined into a function ---- */

static int add_call(struct dwarf_unit *u, struct unit_function *f, const struct scan_entry *e,
		    uint32_t parent)
{
	int rc = entry_ranges(u, e, f->n + 1, &f->map);

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
	f->calls[f->n++] = (struct inlined){.die = e->offset, .parent = parent};
	return 0;
}

static int walk_calls(struct dwarf_unit *u, struct unit_function *f)
{
	uint32_t callers[DEBUGINFO_DEPTH_MAX + 1] = {0};
	struct scan_entry e;
	int rc = 0;

	if (!u->scan)
		return 0;
	scan_children(u->scan, f->die);
	while (!rc && scan_next(u->scan, &e)) {
		uint32_t n = f->n;
		bool into = true;

		callers[e.depth] = callers[e.depth - 1];
		switch (e.tag) {
		case DW_TAG_inlined_subroutine:
			rc = add_call(u, f, &e, callers[e.depth]);
			if (f->n > n)
				callers[e.depth] = n + 1;
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
		case DW_TAG_with_stmt: break;
		default: into = false;
		}
		if (!into || e.depth == DEBUGINFO_DEPTH_MAX)
			scan_skip(u->scan);
	}
	return rc;
}

int function_frames(struct dwarf_unit *u, struct unit_function *f, uint64_t vaddr,
		    struct source_frame frames[DEBUGINFO_FRAMES_MAX], uint32_t *n)
{
	uint32_t at, i = 0;
	int rc = f->walked ? 0 : walk_calls(u, f);

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
	frames[i].function = function_name(u, f);
	*n = i + 1;
	return 0;
}
