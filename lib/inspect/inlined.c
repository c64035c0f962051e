/* Where functions were inlined: finds the functions by name, then their copies. */
#include "inspect/inlined.h"

#include "base/err.h"
#include "base/intern.h"
#include "dwarf/dwarf_scan.h"
#include "inspect/scope.h"
#include "inspect/units.h"

#include <dwarf.h>

struct walk {
	struct binary *b;
	const struct name_pattern *pattern;
	enum name_fit least;
	struct name_scratch scratch;
	struct map64 wanted; /* addresses of the entries of functions */
	inlined_fn *fn;
	void *ctx;
};

typedef int entry_fn(struct walk *w, Dwarf_Die *die);

/* Whether `want` or `take` may look for the entry: libdw need not be asked about others. */
static bool may_count(const struct walk *w, unsigned tag, const struct scan_entry *e)
{
	if (e->tag != tag)
		return false;
	if (tag == DW_TAG_subprogram)
		return e->inlined;
	return !e->origin || map64_get(&w->wanted, (uintptr_t)e->origin);
}

static int each_entry(struct walk *w, Dwarf *dwarf, unsigned tag, entry_fn *fn)
{
	struct unit u = {0};
	int rc = 0;

	while (!rc && units_next(w->b, dwarf, &u)) {
		struct scan *scan;
		struct scan_entry e;

		rc = scan_open(&scan, &u.content, &w->b->steps);
		if (rc == PP_ENOMEM)
			return rc;
		if (rc) {
			units_damaged(w->b);
			rc = 0;
			continue;
		}
		scan_children(scan, dwarf_dieoffset(&u.content));
		while (!rc && scan_next(scan, &e)) {
			Dwarf_Die die;

			if (may_count(w, tag, &e) &&
			    dwarf_offdie(dwarf_cu_getdwarf(u.content.cu), e.offset, &die))
				rc = fn(w, &die);
		}
		scan_free(scan);
		if (!w->b->steps)
			return PP_ELIMIT;
	}
	return rc;
}

static int want(struct walk *w, Dwarf_Die *die)
{
	const char *name;
	uint32_t *slot;

	name = scope_name(die);
	if (!name || (w->pattern && name_match(w->pattern, name, &w->scratch) < w->least))
		return 0;
	slot = map64_put(&w->wanted, (uintptr_t)die->addr, NULL);
	if (!slot)
		return PP_ENOMEM;
	*slot = 1;
	return 0;
}

static int take(struct walk *w, Dwarf_Die *die)
{
	struct inlined_place p = {.die = *die};
	Dwarf_Attribute attr;
	Dwarf_Die origin;
	Dwarf_Addr base, lo, hi, entry;

	if (!dwarf_attr(die, DW_AT_abstract_origin, &attr) || !dwarf_formref_die(&attr, &origin) ||
	    !map64_get(&w->wanted, (uintptr_t)origin.addr))
		return 0;
	/* LLVM and Go give ranges only. */
	if (dwarf_ranges(die, 0, &base, &lo, &hi) > 0)
		p.start = lo;
	p.addr = dwarf_entrypc(die, &entry) == 0 ? entry : p.start;
	p.name = scope_name(&origin);
	return p.addr && p.name ? w->fn(w->ctx, &p) : 0;
}

int inlined_each(struct binary *b, const struct name_pattern *p, enum name_fit least,
		 inlined_fn *fn, void *ctx)
{
	struct walk w = {.b = b, .pattern = p, .least = least, .fn = fn, .ctx = ctx};
	int rc = 0;

	if (!b->dwarf)
		return 0;
	rc = each_entry(&w, b->dwarf, DW_TAG_subprogram, want);
	/* What dwz has moved to another file. */
	if (!rc && b->alt)
		rc = each_entry(&w, b->alt, DW_TAG_subprogram, want);
	if (!rc && w.wanted.n)
		rc = each_entry(&w, b->dwarf, DW_TAG_inlined_subroutine, take);
	map64_release(&w.wanted);
	name_scratch_release(&w.scratch);
	return rc;
}
