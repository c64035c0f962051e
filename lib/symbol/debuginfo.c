#include "symbol/debuginfo_parts.h"

#include "base/err.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* zlib packs at most so well; what claims more is not believed. */
#define RATIO_MAX 1100

/* ---- opening ---- */

/* Whether the sections that libdw will unpack have believable sizes. */
static int check_packed(Elf *elf)
{
	uint64_t sum = 0;
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		GElf_Shdr sh;
		GElf_Chdr ch;

		if (!gelf_getshdr(scn, &sh) || !(sh.sh_flags & SHF_COMPRESSED))
			continue;
		if (!gelf_getchdr(scn, &ch))
			return PP_ECORRUPT;
		if (ch.ch_size / RATIO_MAX > sh.sh_size || ch.ch_size > DEBUGINFO_BYTES_MAX)
			return PP_ELIMIT;
		sum += ch.ch_size;
		if (sum > DEBUGINFO_BYTES_MAX)
			return PP_ELIMIT;
	}
	return 0;
}

bool debuginfo_present(Elf *elf)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		GElf_Shdr sh;
		const char *name =
			gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;

		if (name && sh.sh_type != SHT_NOBITS && sh.sh_size &&
		    (!strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info")))
			return true;
	}
	return false;
}

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

static int add_unit(struct debuginfo *d, Dwarf_Die *die, Dwarf_Die *content)
{
	if (d->n == DEBUGINFO_UNITS_MAX)
		return PP_ELIMIT;
	if (d->n == d->cap) {
		uint32_t cap = d->cap ? d->cap * 2 : 64;
		struct unit *v = realloc(d->units, cap * sizeof(*v));

		if (!v)
			return PP_ENOMEM;
		d->units = v;
		d->cap = cap;
	}
	d->units[d->n++] = (struct unit){.file = d, .die = *die, .content = *content};
	return 0;
}

static int read_units(struct debuginfo *d)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, sub;
	uint8_t type;
	int rc = 0;

	while (!rc && dwarf_get_units(d->dwarf, cu, &cu, NULL, &type, &die, &sub) == 0) {
		bool split = type == DW_UT_skeleton && sub.addr;

		if (dwarf_tag(&die) != DW_TAG_compile_unit && type != DW_UT_skeleton)
			continue;
		rc = add_unit(d, &die, split ? &sub : &die);
		if (!rc)
			rc = die_ranges(&die, d->n, &d->map, &d->steps);
		if (rc == PP_ENOENT) {
			/* A unit without code has no ranges either. */
			d->units[d->n - 1].loose = dwarf_haschildren(split ? &sub : &die) > 0;
			d->loose = d->loose || d->units[d->n - 1].loose;
			rc = 0;
		}
	}
	return rc;
}

int debuginfo_open(struct debuginfo **out, Elf *elf, Elf *alt)
{
	struct debuginfo *d;
	GElf_Ehdr eh;
	int rc;

	*out = NULL;
	if (!debuginfo_present(elf))
		return PP_ENOENT;
	if (!gelf_getehdr(elf, &eh) || eh.e_type == ET_REL)
		return PP_EUNSUPPORTED;
	rc = check_packed(elf);
	if (!rc && alt)
		rc = check_packed(alt);
	if (rc)
		return rc;
	d = calloc(1, sizeof(*d));
	if (!d)
		return PP_ENOMEM;
	d->steps = DEBUGINFO_STEPS_MAX;
	d->dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	if (d->dwarf && alt) {
		d->alt = dwarf_begin_elf(alt, DWARF_C_READ, NULL);
		if (d->alt)
			dwarf_setalt(d->dwarf, d->alt);
	}
	rc = d->dwarf ? read_units(d) : PP_ECORRUPT;
	if (rc) {
		debuginfo_close(d);
		return rc;
	}
	*out = d;
	return 0;
}

void debuginfo_close(struct debuginfo *d)
{
	if (!d)
		return;
	for (uint32_t i = 0; i < d->n; i++)
		unit_release(&d->units[i]);
	free(d->units);
	ranges_release(&d->map);
	arena_release(&d->arena);
	map64_release(&d->paths);
	free(d->whole);
	dwarf_end(d->dwarf);
	dwarf_end(d->alt);
	free(d);
}

/* ---- looking up ---- */

/* Units that do not say their ranges are asked for their functions', when an address is in no other. */
static int read_loose(struct debuginfo *d)
{
	int rc = 0;

	d->loose = false;
	for (uint32_t i = 0; !rc && i < d->n; i++)
		if (d->units[i].loose)
			rc = unit_add_ranges(&d->units[i], i + 1, &d->map);
	return rc;
}

static int find_unit(struct debuginfo *d, uint64_t vaddr, struct unit **u)
{
	uint32_t i = ranges_find(&d->map, vaddr);
	int rc = 0;

	if (!i && d->loose) {
		rc = read_loose(d);
		i = ranges_find(&d->map, vaddr);
	}
	*u = i ? &d->units[i - 1] : NULL;
	return rc ? rc : *u ? 0 : PP_ENOENT;
}

const char *unit_path(struct unit *u, const char *path)
{
	struct debuginfo *d = u->file;
	Dwarf_Attribute attr;
	const char *dir;
	uint32_t *slot;
	char *p;

	if (!path || path[0] == '/')
		return path;
	slot = map64_put(&d->paths, (uintptr_t)path, NULL);
	if (slot && *slot)
		return d->whole[*slot - 1];
	dir = dwarf_attr(&u->die, DW_AT_comp_dir, &attr) ? dwarf_formstring(&attr) : NULL;
	if (!slot || !dir || !dir[0])
		return path;
	if (d->nwhole == d->whole_cap) {
		uint32_t cap = d->whole_cap ? d->whole_cap * 2 : 64;
		const char **v = realloc(d->whole, cap * sizeof(*v));

		if (!v)
			return path;
		d->whole = v;
		d->whole_cap = cap;
	}
	p = arena_alloc(&d->arena, strlen(dir) + strlen(path) + 2);
	if (!p)
		return path;
	sprintf(p, "%s/%s", dir, path);
	d->whole[d->nwhole++] = p;
	*slot = d->nwhole;
	return p;
}

static uint64_t line_addr(struct unit *u, size_t i)
{
	Dwarf_Addr a = 0;

	dwarf_lineaddr(dwarf_onesrcline(u->lines, i), &a);
	return a;
}

/* The row of the line table that is in force at an address: the last one at or before it. */
static void find_line(struct unit *u, uint64_t vaddr, struct source_frame *f)
{
	size_t lo = 0, hi;
	Dwarf_Line *line;
	bool end = false;
	int n;

	if (!u->lines_read) {
		u->lines_read = true;
		if (dwarf_getsrclines(&u->die, &u->lines, &u->nlines))
			u->nlines = 0;
	}
	for (hi = u->nlines; lo < hi;) {
		size_t mid = lo + (hi - lo) / 2;

		if (line_addr(u, mid) <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	line = lo ? dwarf_onesrcline(u->lines, lo - 1) : NULL;
	if (!line || dwarf_lineendsequence(line, &end) || end)
		return;
	f->file = unit_path(u, dwarf_linesrc(line, NULL, NULL));
	if (!dwarf_lineno(line, &n) && n > 0)
		f->line = (uint32_t)n;
	if (!dwarf_linecol(line, &n) && n > 0)
		f->column = (uint32_t)n;
}

int debuginfo_find(struct debuginfo *d, uint64_t vaddr, bool inlines,
		   struct source_frame f[DEBUGINFO_FRAMES_MAX], uint32_t *n)
{
	struct function *fn;
	struct unit *u;
	int rc = find_unit(d, vaddr, &u);

	*n = 0;
	if (!rc)
		rc = unit_function(u, vaddr, &fn);
	if (rc)
		return rc;
	f[0] = (struct source_frame){0};
	*n = 1;
	if (fn && inlines)
		rc = function_frames(u, fn, vaddr, f, n);
	else if (fn)
		f[0].function = function_name(fn);
	find_line(u, vaddr, &f[0]);
	return rc;
}
