/* The compilation units of a binary, and what has their entries. */
#include "inspect/units.h"

#include "base/array.h"
#include "base/err.h"
#include "dwarf/dwarf_seal.h"

#include <dwarf.h>
#include <stdlib.h>

void units_damaged(struct binary *b)
{
	b->damaged = true;
	diag_warn(b->diag, b->path, -1, "a part of its debug information cannot be used: %s",
		  "it is damaged, or there is no memory for it");
}

bool units_next(struct binary *b, Dwarf *dwarf, struct unit *u)
{
	Dwarf_Die sub;

	int rc = dwarf ? dwarf_get_units(dwarf, u->cu, &u->cu, NULL, &u->type, &u->die, &sub) : 1;

	if (rc < 0)
		units_damaged(b);
	if (rc)
		return false;
	u->split =
		u->type == DW_UT_skeleton && sub.addr && dwarf_split_sound(&b->split_files, &sub);
	u->content = u->split ? sub : u->die;
	return true;
}

static int add_range(struct binary *b, uint64_t lo, uint64_t hi, Dwarf_Off die)
{
	struct binary_unit *v;

	if (lo >= hi || !lo)
		return 0;
	v = array_widen(b->units, &b->cap_units, b->n_units, 256, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	b->units = v;
	b->units[b->n_units++] = (struct binary_unit){lo, hi, die};
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct binary_unit *x = a, *y = b;

	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

/* The ranges of all units. A unit of split DWARF is known by its skeleton, which has them. */
int units_read(struct binary *b)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;
	int rc = 0, end = 0;

	while (!rc && !(end = dwarf_get_units(b->dwarf, cu, &cu, NULL, &type, &die, NULL))) {
		Dwarf_Addr base, lo, hi;
		ptrdiff_t at = 0;

		if (type != DW_UT_compile && type != DW_UT_skeleton)
			continue;
		while (!rc && b->steps && (at = dwarf_ranges(&die, at, &base, &lo, &hi)) > 0) {
			b->steps--;
			rc = add_range(b, lo, hi, dwarf_dieoffset(&die));
		}
	}
	if (end < 0)
		units_damaged(b);
	if (b->n_units)
		qsort(b->units, b->n_units, sizeof(*b->units), by_start);
	return rc;
}

/*
 * Ranges of units do not overlap in sound files: the last one that begins at or before the address
 * is asked, and a few before it.
 */
const struct binary_unit *units_at(const struct binary *b, uint64_t vaddr)
{
	uint32_t lo = 0, hi = b->n_units;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (b->units[mid].lo <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (uint32_t i = lo; i > 0 && lo - i < 8; i--)
		if (vaddr < b->units[i - 1].hi)
			return &b->units[i - 1];
	return NULL;
}

int binary_unit(struct binary *b, uint64_t vaddr, Dwarf_Die *unit)
{
	const struct binary_unit *u = units_at(b, vaddr);
	Dwarf_Die skeleton;
	uint8_t type;

	if (!u || !dwarf_offdie(b->dwarf, u->die, &skeleton))
		return PP_ENOENT;
	*unit = skeleton;
	if (!dwarf_cu_info(skeleton.cu, NULL, &type, NULL, unit, NULL, NULL, NULL) &&
	    type == DW_UT_skeleton) {
		if (unit->addr && dwarf_split_sound(&b->split_files, unit))
			return 0;
		diag_warn(b->diag, b->path, -1,
			  "%s is missing, which has its debug information (libdw before 0.191 "
			  "does not read .dwp)",
			  dwarf_split_name(&skeleton));
	}
	*unit = skeleton;
	return 0;
}

bool binary_skeleton(struct binary *b, Dwarf_CU *cu, Dwarf_Die *unit)
{
	Dwarf_Die sub;

	if (b->split == cu)
		return dwarf_offdie(b->dwarf, b->skeleton, unit) != NULL;
	for (uint32_t i = 0; i < b->n_units; i++) {
		if ((i && b->units[i].die == b->units[i - 1].die) ||
		    !dwarf_offdie(b->dwarf, b->units[i].die, unit) ||
		    dwarf_cu_info(unit->cu, NULL, NULL, NULL, &sub, NULL, NULL, NULL) ||
		    sub.addr == NULL || sub.cu != cu)
			continue;
		b->split = cu;
		b->skeleton = b->units[i].die;
		return true;
	}
	return false;
}
