/* Finds the compilation unit of an address, and the files that DWARF is spread over. */
#include "dwarf/debuginfo_parts.h"

#include "base/hidden.h"
#include "base/unpack.h"
#include "dwarf/dwarf_image.h"
#include "dwarf/dwarf_seal.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- opening ---- */

static int add_unit(struct debuginfo *d, Dwarf_Die *die, Dwarf_Die *content)
{
	if (d->n == DEBUGINFO_UNITS_MAX)
		return PP_ELIMIT;
	if (d->n == d->cap) {
		uint32_t cap = d->cap ? d->cap * 2 : 64;
		struct dwarf_unit *v = realloc(d->units, cap * sizeof(*v));

		if (!v)
			return PP_ENOMEM;
		d->units = v;
		d->cap = cap;
	}
	d->units[d->n++] = (struct dwarf_unit){.file = d,
					       .die = *die,
					       .content = *content,
					       .dwarf = dwarf_cu_getdwarf(content->cu)};
	return 0;
}

/* *split: there are units whose entries are in other files. */
static int read_units(struct debuginfo *d, bool *split)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, sub;
	Dwarf_Half version;
	uint8_t type;
	int rc = 0;

	while (!rc && dwarf_get_units(d->dwarf, cu, &cu, &version, &type, &die, &sub) == 0) {
		bool skeleton = type == DW_UT_skeleton;
		bool apart = skeleton && sub.addr && dwarf_split_sound(&d->split, &sub);
		Dwarf_Die *content = apart ? &sub : &die;

		*split = *split || skeleton;
		if (skeleton && !apart && !d->nunread++)
			d->unread = dwarf_split_name(&die);
		if (dwarf_tag(&die) != DW_TAG_compile_unit && type != DW_UT_skeleton)
			continue;
		rc = add_unit(d, &die, content);
		if (!rc)
			rc = die_ranges(&die, d->n, &d->map, &d->steps);
		/* DWARF 2 has one range for a unit, though its code can be in many places. */
		if (rc == PP_ENOENT || (!rc && version < 3)) {
			/* A unit without code has no ranges either. */
			d->units[d->n - 1].loose = dwarf_haschildren(content) > 0;
			d->loose = d->loose || d->units[d->n - 1].loose;
			rc = 0;
		}
	}
	return rc;
}

/* The DWARF of a file, unpacked to an image; NULL: it cannot be used, or *rc. */
static Dwarf *open_image(struct image *im, const struct elf_file *f, bool lines, int *rc)
{
	*rc = dwarf_image(f, lines, &im->bytes);
	if (*rc)
		return NULL;
	im->elf = elf_memory((char *)im->bytes.data, im->bytes.len);
	return im->elf ? dwarf_begin_elf(im->elf, DWARF_C_READ, NULL) : NULL;
}

/* The same of the file itself. Its copies live as long as d. */
static Dwarf *open_file(struct debuginfo *d, struct image *im, const struct elf_file *f, int *rc)
{
	im->elf = elf_file_again(f);
	*rc = im->elf ? dwarf_seal(im->elf, &d->arena) : PP_ENOMEM;
	return *rc ? NULL : dwarf_begin_elf(im->elf, DWARF_C_READ, NULL);
}

static void close_dwarf(struct debuginfo *d)
{
	for (uint32_t i = 0; i < d->n; i++)
		unit_release(&d->units[i]);
	line_tables_release(&d->tables);
	d->n = d->nunread = 0;
	d->loose = false;
	ranges_release(&d->map);
	dwarf_end(d->dwarf);
	dwarf_end(d->alt);
	d->dwarf = d->alt = NULL;
	map64_release(&d->split);
	for (int i = 0; i < 2; i++) {
		elf_end(d->images[i].elf);
		buf_release(&d->images[i].bytes);
		d->images[i].elf = NULL;
	}
}

/* Opens the DWARF by images, or by the files themselves. */
static int begin(struct debuginfo *d, const struct elf_file *f, const struct elf_file *alt,
		 bool images, bool *split)
{
	int rc = images ? 0 : dwarf_check_packed(f);

	if (!rc && !images && alt)
		rc = dwarf_check_packed(alt);
	if (rc)
		return rc;
	d->sealed = !images;
	if (images)
		d->dwarf = open_image(&d->images[0], f, d->lines, &rc);
	else
		d->dwarf = open_file(d, &d->images[0], f, &rc);
	if (!rc && alt) {
		if (images)
			d->alt = open_image(&d->images[1], alt, d->lines, &rc);
		else
			d->alt = open_file(d, &d->images[1], alt, &rc);
		if (d->alt && d->dwarf)
			dwarf_setalt(d->dwarf, d->alt);
		/* What cannot be read of the other file costs names, no more. */
		rc = rc == PP_ENOMEM ? rc : 0;
	}
	dwarf_memory(d->dwarf);
	dwarf_memory(d->alt);
	if (!rc)
		rc = d->dwarf ? read_units(d, split) : PP_ECORRUPT;
	return rc;
}

int debuginfo_open(struct debuginfo **out, const struct elf_file *f, const struct elf_file *alt,
		   bool lines)
{
	struct debuginfo *d;
	bool split = false;
	int rc;

	errno = 0;
	*out = NULL;
	if (!elf_file_has_dwarf(f))
		return PP_ENOENT;
	if (elf_file_type(f) == ET_REL)
		return PP_EUNSUPPORTED;
	d = calloc(1, sizeof(*d));
	if (!d)
		return PP_ENOMEM;
	d->steps = DEBUGINFO_STEPS_MAX;
	d->lines = lines;
	rc = begin(d, f, alt, true, &split);
	/*
	 * libdw looks for the other files beside this one, whose place only the file itself tells.
	 */
	if (!rc && split) {
		close_dwarf(d);
		rc = begin(d, f, alt, false, &split);
	}
	rc = pp_hidden(rc);
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
	close_dwarf(d);
	free(d->units);
	arena_release(&d->arena);
	map64_release(&d->paths);
	free(d->whole);
	free(d);
}

uint32_t debuginfo_unread(const struct debuginfo *d, const char **first, uint32_t *of)
{
	*first = d->unread;
	*of = d->n;
	return d->nunread;
}

/* ---- looking up ---- */

/*
 * Units that do not say their ranges are asked for their functions', when an address is in no
 * other.
 */
static int read_loose(struct debuginfo *d)
{
	int rc = 0;

	d->loose = false;
	for (uint32_t i = 0; !rc && i < d->n; i++)
		if (d->units[i].loose)
			rc = unit_add_ranges(&d->units[i], i + 1, &d->map);
	return rc;
}

static int find_unit(struct debuginfo *d, uint64_t vaddr, struct dwarf_unit **u)
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

static int find(struct debuginfo *d, uint64_t vaddr, bool inlines,
		struct source_frame f[DEBUGINFO_FRAMES_MAX], uint32_t *n)
{
	struct unit_function *fn;
	struct dwarf_unit *u;
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
		f[0].function = function_name(u, fn);
	if (d->lines)
		unit_line(u, vaddr, &f[0]);
	return rc;
}

int debuginfo_find(struct debuginfo *d, uint64_t vaddr, bool inlines,
		   struct source_frame f[DEBUGINFO_FRAMES_MAX], uint32_t *n)
{
	int rc;

	errno = 0;
	rc = find(d, vaddr, inlines, f, n);
	return d->no_memory ? PP_ENOMEM : pp_hidden(rc);
}
