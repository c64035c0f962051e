/*
 * The entries of one compilation unit, one after another, with their tags and simple addresses:
 * to find the few that matter, which libdw then reads in full. libdw takes ten times as long to
 * pass over an entry, as it interprets each attribute.
 *
 *	struct scan *s;
 *	struct scan_entry e;
 *	rc = scan_open(&s, &unit_die, &steps);
 *	scan_children(s, dwarf_dieoffset(&unit_die));
 *	while (scan_next(s, &e))
 *		if (e.tag != DW_TAG_namespace)
 *			scan_skip(s);
 *	scan_free(s);
 *
 * Format: DWARF 2 to 5, sections "Debugging Information Entry" and "Attribute Encodings".
 */
#ifndef PP_DWARF_DWARF_SCAN_H
#define PP_DWARF_DWARF_SCAN_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#define SCAN_ABBREVS_MAX (1u << 20) /* abbreviations of a unit */
#define SCAN_SPECS_MAX	 (1u << 22) /* attributes in them */

struct scan;

struct scan_entry {
	Dwarf_Off offset; /* for dwarf_offdie */
	unsigned tag;
	uint32_t depth;	 /* 1: a child of the entry that the scan began with */
	bool simple;	 /* its code is [lo, hi) */
	bool complex;	 /* its addresses have to come from libdw */
	bool inlined;	 /* a function that says whether it was inlined (DW_AT_inline) */
	uint64_t lo, hi; /* addresses in the DSO */
	/* Of an inlined call: the entry of its function, as Dwarf_Die's addr; NULL: ask libdw. */
	const void *origin;
};

/*
 * Prepares for the unit of an entry. *steps decreases by what is done, also for each entry; at 0
 * the scan ends. 0; PP_EUNSUPPORTED: its bytes cannot be found; PP_ECORRUPT; PP_ELIMIT; PP_ENOMEM.
 */
int scan_open(struct scan **s, Dwarf_Die *unit, uint64_t *steps);
void scan_free(struct scan *s); /* NULL is fine */

/* The next entries are those below this one. */
void scan_children(struct scan *s, Dwarf_Off offset);

/* The next entry, in the order of the file; false: there is none, or what follows is damaged. */
bool scan_next(struct scan *s, struct scan_entry *e);

/* Skips everything below the last entry. */
void scan_skip(struct scan *s);

#endif
