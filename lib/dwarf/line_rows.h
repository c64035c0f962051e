/*
 * The rows of a line table by address: which source line an instruction is of.
 *
 *	struct line_rows r = {0};
 *	struct table_row row;
 *	if (line_rows_read(&r, &files.program) == 0 && line_rows_find(&r, vaddr, &row))
 *		... line_files_name(&files, row.file, &path), row.line ...
 *	line_rows_release(&r);
 *
 * Only some rows are kept; the others are made again when an address is looked up. That takes a
 * fraction of the table's size in the file, all rows would take many times that size.
 *
 * Format: DWARF 2 to 5, section "Line Number Information".
 */
#ifndef PP_DWARF_LINE_ROWS_H
#define PP_DWARF_LINE_ROWS_H

#include "dwarf/line_files.h"
#include "symbol/ranges.h"

#include <stdbool.h>
#include <stdint.h>

struct table_row {
	uint64_t addr;
	uint32_t file, line, column; /* file: for line_files_name; line, column: 0 unknown */
};

/* A row that is kept. */
struct line_mark {
	struct table_row row;
	uint32_t next; /* where the program continues after it */
};

struct line_rows {
	struct line_program program; /* lives in the file's sections */
	struct line_mark *marks;     /* sequence by sequence, each by address */
	uint32_t n, cap;
	uint32_t *first; /* of its marks, by sequence; one more than there are */
	uint32_t n_sequences, first_cap;
	struct ranges map; /* address: sequence + 1 */
	/* What opcodes from opcode_base on add. */
	uint8_t step[256];
	int16_t lines[256];
};

/*
 * Reads a table. 0; PP_EUNSUPPORTED: libdw may know it; PP_ECORRUPT, PP_ELIMIT, PP_ENOMEM: r is
 * empty.
 */
int line_rows_read(struct line_rows *r, const struct line_program *p);
void line_rows_release(struct line_rows *r);

/* The row that is in force at an address. False: there is none. */
bool line_rows_find(const struct line_rows *r, uint64_t vaddr, struct table_row *row);

#endif
