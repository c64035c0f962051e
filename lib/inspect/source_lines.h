/*
 * Source lines: where the code of a line begins, which lines have code.
 *
 *	rc = lines_each(binary, &unit, on_row, ctx);
 */
#ifndef PP_INSPECT_SOURCE_LINES_H
#define PP_INSPECT_SOURCE_LINES_H

#include "inspect/binary.h"

struct line_row {
	uint64_t addr;
	const char *file; /* as in the line table */
	int line;
};

/* Non-zero ends the walk and is its result. */
typedef int line_fn(void *ctx, const struct line_row *r);

/* The rows of a unit at which a statement begins, in the order of addresses. */
int lines_each(Dwarf_Die *unit, line_fn *fn, void *ctx);

/* The row of an address: 0 or PP_ENOENT. */
int lines_at(struct binary *b, uint64_t addr, struct line_row *r);

/* Whether a path ends in another: "src/a.c" in "/build/src/a.c". */
bool lines_same_file(const char *path, const char *end, size_t len);

/* "FILE:LINE" of where a function was declared; empty: not known. 0 or PP_ENOMEM. */
int lines_place(struct binary *b, Dwarf_Die *die, struct buf *place);

/* Where a function was declared: 0, or PP_ENOENT. */
int lines_declared(struct binary *b, Dwarf_Die *die, const char **file, int *line);

#endif
