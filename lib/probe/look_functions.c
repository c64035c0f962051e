/*
 * What can be probed: functions, and where they were inlined.
 *
 * Which functions there are is known by the symbols. Debug information is only asked for what it
 * tells of those that are listed, and where it is quick to find: at the top of their units first,
 * then everywhere in the units of those that are not described there.
 */
#include "probe/look.h"

#include "base/array.h"
#include "base/err.h"
#include "base/intern.h"
#include "dwarf/dwarf_scan.h"
#include "inspect/inlined.h"
#include "inspect/source_lines.h"
#include "inspect/name_pattern.h"
#include "inspect/units.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Where a function is described: in the file, or in that of a unit of split DWARF. */
struct described {
	Dwarf *dwarf;
	Dwarf_Off offset;
};

struct functions {
	struct look *l;
	struct sheet r;
	struct name_pattern pattern;
	struct name_pattern *wanted; /* NULL: all */
	struct name_scratch scratch;
	uint32_t *picked; /* that are listed, by their places in l->funcs */
	uint32_t n_picked;
	struct map64 units; /* by the pointer to the unit: 1 read at its top, 2 everywhere */
	struct map64 dies;  /* address of a function: index in entries, + 1 */
	struct described *entries;
	uint32_t n, cap;
	struct buf shown, place;
};

/* ---- which ---- */

static int pick(struct functions *f)
{
	const struct funcs *t = f->l->funcs;

	f->picked = malloc((t->n ? t->n : 1) * sizeof(*f->picked));
	if (!f->picked)
		return PP_ENOMEM;
	for (uint32_t i = 0; i < t->n; i++)
		if (!f->wanted || name_match(f->wanted, t->v[i].name, &f->scratch) != NAME_NO)
			f->picked[f->n_picked++] = i;
	return f->scratch.demangled.err ? f->scratch.demangled.err : f->scratch.bare.err;
}

/* ---- what describes them ---- */

static int remember(struct functions *f, Dwarf *dwarf, const struct scan_entry *e)
{
	uint32_t *slot = map64_put(&f->dies, e->lo, NULL);
	struct described *v;

	if (!slot)
		return PP_ENOMEM;
	v = array_widen(f->entries, &f->cap, f->n, 4096, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	f->entries = v;
	f->entries[f->n++] = (struct described){dwarf, e->offset};
	*slot = f->n;
	return 0;
}

/* What has functions in it in most languages. */
static bool holds_functions(unsigned tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module;
}

/* The functions of a unit; deep: also those within functions and types. */
static int read_unit(struct functions *f, Dwarf_Die *unit, bool deep)
{
	uint32_t *state = map64_put(&f->units, (uintptr_t)unit->cu, NULL);
	Dwarf *dwarf = dwarf_cu_getdwarf(unit->cu);
	struct scan *scan;
	struct scan_entry e;
	int rc;

	if (!state)
		return PP_ENOMEM;
	if (*state > deep)
		return 0;
	*state = 1 + deep;
	rc = scan_open(&scan, unit, &f->l->b->steps);
	if (rc == PP_ENOMEM)
		return rc;
	if (rc) {
		units_damaged(f->l->b);
		return 0;
	}
	scan_children(scan, dwarf_dieoffset(unit));
	while (!rc && scan_next(scan, &e)) {
		Dwarf_Die die;
		Dwarf_Addr lo;

		if (!deep && !holds_functions(e.tag))
			scan_skip(scan);
		if (e.tag != DW_TAG_subprogram)
			continue;
		if (e.complex && dwarf_offdie(dwarf, e.offset, &die) &&
		    dwarf_entrypc(&die, &lo) == 0)
			e.lo = lo;
		if (e.lo)
			rc = remember(f, dwarf, &e);
	}
	scan_free(scan);
	return rc;
}

static int read_all(struct functions *f)
{
	struct unit u = {0};
	int rc = 0;

	while (!rc && units_next(f->l->b, f->l->b->dwarf, &u))
		if (u.type == DW_UT_compile || u.split)
			rc = read_unit(f, &u.content, false);
	return rc;
}

/* The parts that compilers move out of a function, and thunks: nothing describes them. */
static bool is_derived(const char *name)
{
	return strstr(name, ".cold") || !strncmp(name, "_ZTh", 4) || !strncmp(name, "_ZTv", 4) ||
	       !strncmp(name, "_ZTc", 4);
}

/* Reads the units of the functions that are listed, where those are not yet described. */
static int read_theirs(struct functions *f, bool deep)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < f->n_picked; i++) {
		const struct func *fn = &f->l->funcs->v[f->picked[i]];
		Dwarf_Die unit;

		if (!map64_get(&f->dies, fn->addr) && !(deep && is_derived(fn->name)) &&
		    binary_unit(f->l->b, fn->addr, &unit) == 0)
			rc = read_unit(f, &unit, deep);
	}
	return rc;
}

/* Whether the ranges of units tell which units the listed functions are in. */
static bool units_known(const struct functions *f)
{
	for (uint32_t i = 0; i < f->n_picked; i++)
		if (!units_at(f->l->b, f->l->funcs->v[f->picked[i]].addr))
			return false;
	return true;
}

static int read_dies(struct functions *f)
{
	int rc = f->wanted && units_known(f) ? read_theirs(f, false) : read_all(f);

	return rc ? rc : read_theirs(f, true);
}

/* ---- rows ---- */

static const char *params_known(Dwarf_Die *die)
{
	Dwarf_Die child;
	bool any = false;

	if (dwarf_child(die, &child))
		return "none";
	do {
		if (dwarf_tag(&child) == DW_TAG_formal_parameter)
			any = true;
	} while (!any && dwarf_siblingof(&child, &child) == 0);
	return any ? "yes" : "none";
}

static const struct record_column columns[] = {
	{"name", 48},  {"address", 12}, {"size", 6, true}, {"params", 6},
	{"where", 24}, {"source", 6},	{"symbol", 0},	   {0}};

static int put_function(struct functions *f, const struct func *fn)
{
	uint32_t *slot = map64_get(&f->dies, fn->addr);
	Dwarf_Die die, *known = NULL;
	int rc = 0;

	if (slot && *slot &&
	    dwarf_offdie(f->entries[*slot - 1].dwarf, f->entries[*slot - 1].offset, &die))
		known = &die;
	buf_reset(&f->place);
	if (known)
		rc = lines_place(f->l->b, known, &f->place);
	if (rc)
		return rc;
	sheet_text(&f->r, name_shown(fn->name, &f->shown));
	record_hex(&f->r.cells, fn->addr);
	record_u64(&f->r.cells, fn->size);
	sheet_text(&f->r, known ? params_known(known) : "no");
	sheet_text(&f->r, buf_str(&f->place));
	sheet_text(&f->r, func_source_name((enum func_source)fn->source));
	sheet_text(&f->r, fn->name);
	return sheet_end_row(&f->r);
}

static int put_copy(void *ctx, const struct inlined_place *p)
{
	struct functions *f = ctx;
	const struct func *in = funcs_at(f->l->funcs, p->addr);
	Dwarf_Die die = p->die;
	int rc;

	if (!in)
		return 0;
	rc = lines_place(f->l->b, &die, &f->place);
	if (rc)
		return rc;
	sheet_text(&f->r, name_shown(p->name, &f->shown));
	record_hex(&f->r.cells, p->addr);
	sheet_text(&f->r, "0");
	sheet_text(&f->r, params_known(&die));
	sheet_text(&f->r, buf_str(&f->place));
	sheet_text(&f->r, "inlined");
	sheet_text(&f->r, in->name);
	return sheet_end_row(&f->r);
}

int look_functions(struct look *l, const char *pattern)
{
	struct functions f = {.l = l};
	int rc = sheet_begin(&f.r, columns, l->form);

	if (pattern) {
		name_pattern_set(&f.pattern, pattern);
		f.wanted = &f.pattern;
	}
	if (!rc)
		rc = pick(&f);
	if (!rc && l->b->dwarf)
		rc = read_dies(&f);
	for (uint32_t i = 0; !rc && i < f.n_picked; i++)
		rc = put_function(&f, &l->funcs->v[f.picked[i]]);
	/* Copies of everything would be most of the list. */
	if (!rc && f.wanted)
		rc = inlined_each(l->b, f.wanted, NAME_PART, put_copy, &f);
	map64_release(&f.units);
	map64_release(&f.dies);
	free(f.picked);
	free(f.entries);
	buf_release(&f.shown);
	buf_release(&f.place);
	name_scratch_release(&f.scratch);
	return look_finish(l, &f.r, rc, pattern ? "such functions" : "functions");
}
