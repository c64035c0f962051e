/* What is visible at an address. */
#include "inspect/scope.h"

#include "base/err.h"
#include "dwarf/dwarf_scan.h"
#include "inspect/units.h"

#include <dwarf.h>
#include <string.h>

/* The function of a unit that covers pc. */
static int find_function(struct scopes *s, uint64_t pc)
{
	struct scan *scan;
	struct scan_entry e;
	int rc = scan_open(&scan, &s->unit, &s->b->steps);

	if (rc)
		return rc;
	s->n = 0;
	scan_children(scan, dwarf_dieoffset(&s->unit));
	while (scan_next(scan, &e)) {
		Dwarf_Die die;

		if (e.tag != DW_TAG_subprogram)
			continue;
		if (!(e.simple && pc >= e.lo && pc < e.hi) &&
		    !(e.complex && dwarf_offdie(dwarf_cu_getdwarf(s->unit.cu), e.offset, &die) &&
		      dwarf_haspc(&die, pc) > 0))
			continue;
		/* One within another comes later, and is meant. */
		if (dwarf_offdie(dwarf_cu_getdwarf(s->unit.cu), e.offset, &s->die[0]))
			s->n = 1;
	}
	scan_free(scan);
	return s->n ? 0 : PP_ENOENT;
}

static bool holds(Dwarf_Die *die, uint64_t pc)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_lexical_block:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_try_block:
	case DW_TAG_catch_block: return dwarf_haspc(die, pc) > 0;
	default: return false;
	}
}

int scopes_at(struct scopes *s, struct binary *b, uint64_t pc)
{
	int rc = PP_ENOENT;

	s->b = b;
	s->n = 0;
	if (b->dwarf)
		rc = binary_unit(b, pc, &s->unit);
	if (!rc)
		rc = find_function(s, pc);
	while (!rc && s->n < SCOPES_MAX) {
		Dwarf_Die child;
		uint32_t left = SCOPE_VARS_MAX;
		bool found = false;

		if (dwarf_child(&s->die[s->n - 1], &child))
			break;
		do {
			found = holds(&child, pc);
		} while (!found && --left && dwarf_siblingof(&child, &child) == 0);
		if (!found)
			break;
		s->die[s->n++] = child;
	}
	return rc;
}

static bool is_variable(Dwarf_Die *die, bool *param)
{
	int tag = dwarf_tag(die);

	*param = tag == DW_TAG_formal_parameter;
	return *param || tag == DW_TAG_variable;
}

/* Whether an entry of a function that was inlined has one of its own in the inlined copy. */
static bool has_copy(Dwarf_Die *scope, Dwarf_Die *abstract)
{
	Dwarf_Die child, origin;
	Dwarf_Attribute attr;
	uint32_t left = SCOPE_VARS_MAX;

	if (dwarf_child(scope, &child))
		return false;
	do {
		if (dwarf_attr(&child, DW_AT_abstract_origin, &attr) &&
		    dwarf_formref_die(&attr, &origin) && origin.addr == abstract->addr)
			return true;
	} while (--left && dwarf_siblingof(&child, &child) == 0);
	return false;
}

struct walk {
	variable_fn *fn;
	void *ctx;
	unsigned scope;
};

/* A block without code of its own: what is in it belongs to what it is in. */
static bool is_empty_block(Dwarf_Die *die)
{
	return dwarf_tag(die) == DW_TAG_lexical_block && !dwarf_hasattr(die, DW_AT_low_pc) &&
	       !dwarf_hasattr(die, DW_AT_ranges);
}

static int each_child(Dwarf_Die *of, Dwarf_Die *copy, struct walk *w, unsigned depth)
{
	uint32_t left = SCOPE_VARS_MAX;
	Dwarf_Die child;
	int rc = 0;

	if (depth > 32 || dwarf_child(of, &child))
		return 0;
	do {
		struct variable v = {.die = child, .scope = w->scope};

		if (!copy && is_empty_block(&child))
			rc = each_child(&child, NULL, w, depth + 1);
		/* A block of which the copy has nothing. */
		if (copy && dwarf_tag(&child) == DW_TAG_lexical_block && !has_copy(copy, &child))
			rc = each_child(&child, copy, w, depth + 1);
		if (!is_variable(&child, &v.param) || (copy && has_copy(copy, &child)))
			continue;
		/* Static variables are described once, for all copies. */
		v.gone = copy && !dwarf_hasattr(&child, DW_AT_location) &&
			 !dwarf_hasattr(&child, DW_AT_const_value);
		v.name = dwarf_diename(&child);
		if (v.name)
			rc = w->fn(w->ctx, &v);
	} while (!rc && --left && dwarf_siblingof(&child, &child) == 0);
	return rc;
}

/* The entry that an inlined call or an out-of-line copy of a function was made from. */
static bool abstract_of(Dwarf_Die *die, Dwarf_Die *abstract)
{
	Dwarf_Attribute attr;

	return dwarf_attr(die, DW_AT_abstract_origin, &attr) && dwarf_formref_die(&attr, abstract);
}

int scopes_each(const struct scopes *s, unsigned from, variable_fn *fn, void *ctx)
{
	for (unsigned i = from + 1; i-- > 0;) {
		Dwarf_Die die = s->die[i], abstract;
		struct walk w = {fn, ctx, i};
		int rc = each_child(&die, NULL, &w, 0);

		if (!rc && abstract_of(&die, &abstract))
			rc = each_child(&abstract, &die, &w, 0);
		if (rc)
			return rc;
	}
	return 0;
}

struct wanted {
	const char *name;
	size_t len;
	struct variable *found;
};

/* A name, or what comes after its last "::" or ".". */
static bool is_called(const char *name, const struct wanted *w)
{
	size_t n = strlen(name);
	const char *at;

	if (n < w->len)
		return false;
	at = name + n - w->len;
	return !memcmp(at, w->name, w->len) && (n == w->len || at[-1] == ':' || at[-1] == '.');
}

static int match(void *ctx, const struct variable *v)
{
	struct wanted *w = ctx;

	if (strlen(v->name) != w->len || memcmp(v->name, w->name, w->len))
		return 0;
	*w->found = *v;
	return 1;
}

static int match_global(void *ctx, const struct variable *v)
{
	struct wanted *w = ctx;
	Dwarf_Die die = v->die;

	if (!is_called(v->name, w) || (!dwarf_hasattr_integrate(&die, DW_AT_location) &&
				       !dwarf_hasattr_integrate(&die, DW_AT_const_value)))
		return 0;
	*w->found = *v;
	return 1;
}

/* Variables of a unit; those in namespaces, too. */
static int unit_variables(Dwarf_Die *of, variable_fn *fn, void *ctx, uint64_t *steps, int depth)
{
	Dwarf_Die child;
	int rc = 0;

	if (depth > 16 || dwarf_child(of, &child))
		return 0;
	do {
		int tag = dwarf_tag(&child);
		struct variable v = {.die = child};

		if (!*steps)
			return PP_ELIMIT;
		--*steps;
		if (tag == DW_TAG_namespace || tag == DW_TAG_module)
			rc = unit_variables(&child, fn, ctx, steps, depth + 1);
		if (tag != DW_TAG_variable)
			continue;
		v.name = dwarf_diename(&child);
		if (v.name)
			rc = fn(ctx, &v);
	} while (!rc && dwarf_siblingof(&child, &child) == 0);
	return rc;
}

int scopes_globals(const struct scopes *s, variable_fn *fn, void *ctx)
{
	Dwarf_Die unit = s->unit;

	return unit_variables(&unit, fn, ctx, &s->b->steps, 0);
}

int scopes_find(const struct scopes *s, unsigned from, const char *name, size_t len,
		struct variable *v)
{
	struct wanted w = {name, len, v};
	Dwarf_Die unit = s->unit;

	if (s->n && scopes_each(s, from, match, &w) == 1)
		return 0;
	if (unit_variables(&unit, match_global, &w, &s->b->steps, 0) == 1)
		return 0;
	return scopes_global(s->b, name, len, &v->die);
}

int scopes_global(struct binary *b, const char *name, size_t len, Dwarf_Die *die)
{
	struct unit u = {0};
	struct variable v;
	struct wanted w = {name, len, &v};

	while (units_next(b, b->dwarf, &u))
		if (unit_variables(&u.content, match_global, &w, &b->steps, 0) == 1) {
			*die = v.die;
			return 0;
		}
	return PP_ENOENT;
}

const char *scope_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr))
		name = dwarf_formstring(&attr);
	return name ? name : dwarf_diename(die);
}

static bool producer_has(const struct scopes *s, const char *text)
{
	Dwarf_Die unit = s->unit;
	Dwarf_Attribute attr;
	const char *producer =
		dwarf_attr(&unit, DW_AT_producer, &attr) ? dwarf_formstring(&attr) : NULL;

	return producer && strstr(producer, text);
}

bool scope_is_llvm(const struct scopes *s)
{
	return producer_has(s, "clang") || producer_has(s, "LLVM") || producer_has(s, "rustc") ||
	       producer_has(s, "flang");
}

/*
 * Go and LLVM mark the end of the set-up in the line table; with gcc the second row is there. LDC,
 * a compiler of D with LLVM, marks where parameters begin to be stored: its next row is meant.
 */
uint64_t scope_body(struct scopes *s)
{
	bool ldc = producer_has(s, "LDC"), marked = false;
	Dwarf_Addr lo, addr, second = 0;
	Dwarf_Lines *lines;
	size_t n;

	if (!s->n || dwarf_entrypc(&s->die[0], &lo) || dwarf_getsrclines(&s->unit, &lines, &n))
		return 0;
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		bool end = false;

		if (dwarf_lineaddr(line, &addr) || addr < lo)
			continue;
		if (addr > lo && dwarf_haspc(&s->die[0], addr) <= 0)
			break;
		if (marked || (!dwarf_lineprologueend(line, &end) && end && !ldc))
			return addr;
		marked = end;
		if (!second && addr > lo)
			second = addr;
	}
	return scope_is_llvm(s) ? 0 : second;
}
