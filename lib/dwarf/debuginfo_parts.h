/*
 * The insides of debuginfo: debuginfo.c finds the unit of an address, debuginfo_unit.c the
 * functions in a unit and what is inlined into them, debuginfo_line.c source files and lines.
 * Private to them.
 */
#ifndef PP_DWARF_DEBUGINFO_PARTS_H
#define PP_DWARF_DEBUGINFO_PARTS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "dwarf/debuginfo.h"
#include "dwarf/dwarf_scan.h"
#include "dwarf/line_rows.h"
#include "symbol/ranges.h"

#include <elfutils/libdw.h>

/* A call that was inlined into a function. */
struct inlined {
	Dwarf_Off die;
	uint32_t parent; /* the call that it is inlined into, + 1; 0: the function itself */
	bool named;	 /* the rest has been read */
	struct source_frame call;
};

struct unit_function {
	Dwarf_Off die;
	bool named, walked;
	const char *name;
	struct inlined *calls;
	uint32_t n, cap;
	struct ranges map; /* index in calls, + 1 */
};

struct dwarf_unit;

/* The sections of a file, if it is not read itself. */
struct image {
	struct buf bytes;
	Elf *elf;
};

/* A line table. */
struct line_table {
	struct line_files files;
	struct line_rows rows;
	const char **paths; /* by number of a file; NULL: not yet asked for */
	/* Of a table that is strange, and left to libdw. */
	bool by_libdw;
	Dwarf_Lines *all;
	size_t n;
};

/* Those of all units that were asked for; units can share one. */
struct line_tables {
	struct line_table **v;
	uint32_t n, cap;
	struct map64 by_offset; /* in the section: index in v, + 1 */
	struct line_sections sections;
	/* Bytes of the section; tables of a damaged file may overlap, so that more are read. */
	uint64_t read, there;
};

struct debuginfo {
	Dwarf *dwarf, *alt;
	struct image images[2]; /* of these two */
	bool sealed;		/* they are the files themselves (dwarf_seal.h) */
	struct map64 split;	/* of dwarf_split_sound */
	const char *unread;	/* the first file of split units that cannot be read, */
	uint32_t nunread;	/* and how many units are in such */
	bool lines;		/* places are wanted */
	struct dwarf_unit *units;
	uint32_t n, cap;
	struct ranges map; /* index in units, + 1 */
	bool loose;	   /* there are units that do not say their ranges */
	uint64_t steps;	   /* that are left */
	bool no_memory;	   /* a place is incomplete for want of memory */
	struct line_tables tables;
	struct arena arena;
	struct map64 paths; /* a relative path where libdw has it: index in whole */
	const char **whole; /* with the directory of the compilation; in the arena */
	uint32_t nwhole, whole_cap;
};

/* A compilation unit. */
struct dwarf_unit {
	struct debuginfo *file;
	Dwarf_Die die;	   /* has the line table */
	Dwarf_Die content; /* has the entries: of split DWARF another one */
	bool loose;	   /* it has code, but does not say where */
	bool functions_read, deep;
	Dwarf *dwarf;	   /* where content is */
	struct scan *scan; /* of content; NULL: not begun */
	bool lines_sought;
	struct line_table *lines; /* NULL: there are none */
	struct unit_function *functions;
	uint32_t n, cap;
	struct ranges map; /* index in functions, + 1 */
};

/* The function of a unit that covers an address; *f is NULL if there is none. 0 or PP_ENOMEM. */
int unit_function(struct dwarf_unit *u, uint64_t vaddr, struct unit_function **f);

/*
 * The functions inlined into f at an address, innermost first, with the names of all and the places
 * of their calls, then f itself: f[0] has no place yet, that is for the line table to say.
 */
int function_frames(struct dwarf_unit *u, struct unit_function *f, uint64_t vaddr,
		    struct source_frame frames[DEBUGINFO_FRAMES_MAX], uint32_t *n);

/* Adds the address ranges of the functions of a unit that does not say its own. */
int unit_add_ranges(struct dwarf_unit *u, uint32_t value, struct ranges *map);

/*
 * Gives the ranges of an entry a value; entries come before those within them. 0, PP_ENOENT: it has
 * no ranges; PP_ENOMEM; PP_ELIMIT: no steps are left.
 */
int die_ranges(Dwarf_Die *die, uint32_t value, struct ranges *map, uint64_t *steps);

/* The path of a source file by its number in the entries of a unit; NULL: it has none. */
const char *unit_file(struct dwarf_unit *u, uint64_t number);

/* The place of an address: the file, the line and the column of *f, as far as they are known. */
void unit_line(struct dwarf_unit *u, uint64_t vaddr, struct source_frame *f);

void line_tables_release(struct line_tables *t);

/* The name of a function by its entry. */
const char *function_name(const struct dwarf_unit *u, struct unit_function *f);

void unit_release(struct dwarf_unit *u);

#endif
