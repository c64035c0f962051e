/*
 * Source lines and inlined functions, from the DWARF of a DSO.
 *
 *	struct debuginfo *d;
 *	struct source_frame f[DEBUGINFO_FRAMES_MAX];
 *	uint32_t n;
 *	if (debuginfo_open(&d, elf_file, NULL, true) == 0) {
 *		if (debuginfo_find(d, vaddr, true, f, &n) == 0)
 *			... f[0] is the innermost, f[n - 1] the function that is not inlined ...
 *		debuginfo_close(d);
 *	}
 *
 * The address ranges of all compilation units are read at the beginning; the line table and the
 * functions of a unit when an address is in it, the inlined calls of a function when an address is
 * in that. Entries are skipped by dwarf_scan.h, lines are read by line_rows.h, everything else by
 * libdw. Format: DWARF 2 to 5, dwarfstd.org.
 */
#ifndef PP_DWARF_DEBUGINFO_H
#define PP_DWARF_DEBUGINFO_H

#include "symbol/elf_file.h"
#include "symbol/source_frame.h"

#include <stdbool.h>
#include <stdint.h>

#define DEBUGINFO_FRAMES_MAX 64		/* of one address; frames further out are left out */
#define DEBUGINFO_UNITS_MAX  (1u << 20) /* compilation units of a file */
/* Steps through the entries of a file and their ranges: a damaged one could lead in circles. */
#define DEBUGINFO_STEPS_MAX (UINT64_C(1) << 28)
#define DEBUGINFO_DEPTH_MAX 256 /* of the tree of entries */

struct debuginfo;

/*
 * Opens the DWARF of a file. alt is the file that it shares entries with (dwz, .gnu_debugaltlink),
 * or NULL. Both must outlive *d. Without `lines` frames have names but no places, which takes half
 * of the time. 0; PP_ENOENT: it has none; PP_EUNSUPPORTED: it is not linked yet, as kernel modules
 * are; PP_ELIMIT; PP_ECORRUPT; or this machine failed, also within libdw:
 * pp_is_machine.
 */
int debuginfo_open(struct debuginfo **d, const struct elf_file *f, const struct elf_file *alt,
		   bool lines);
void debuginfo_close(struct debuginfo *d); /* NULL is fine */

/*
 * How many compilation units, of how many, have their entries in files that are not there or cannot
 * be used (split DWARF). *first: the first of these files, which lives as long as d.
 */
uint32_t debuginfo_unread(const struct debuginfo *d, const char **first, uint32_t *of);

/*
 * The frames of a DSO-relative virtual address, the innermost first: one, or with `inlines` one for
 * also for each function inlined there. 0, PP_ENOENT: no unit covers the address; errors of this
 * machine as above.
 */
int debuginfo_find(struct debuginfo *d, uint64_t vaddr, bool inlines,
		   struct source_frame f[DEBUGINFO_FRAMES_MAX], uint32_t *n);

#endif
