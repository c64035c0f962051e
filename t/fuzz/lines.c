/*
 * The rows of a line table. The input: minimum_instruction_length, line_base, line_range,
 * opcode_base, a byte whose lowest bit tells the byte order, then the program.
 */
#include "dwarf/line_rows.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Rows lie at or before the address that was asked for, and a place has one row. */
static void look(const struct line_rows *r, uint64_t addr)
{
	struct table_row row, again;

	if (!line_rows_find(r, addr, &row))
		return;
	if (row.addr > addr)
		abort();
	/* Where sequences overlap, the row may lie beneath another sequence. */
	if (ranges_find(&r->map, row.addr) != ranges_find(&r->map, addr))
		return;
	if (!line_rows_find(r, row.addr, &again) || again.addr != row.addr ||
	    again.line != row.line || again.column != row.column || again.file != row.file)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t lengths[255] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
	struct line_program p = {.instructions = 1, .lengths = lengths};
	struct line_rows r;

	if (size < 5)
		return 0;
	p.min_step = data[0];
	p.line_base = (int8_t)data[1];
	p.line_range = data[2];
	p.opcode_base = data[3];
	p.c = cursor_make(data + 5, size - 5, data[4] & 1);
	if (line_rows_read(&r, &p))
		return 0;
	for (uint32_t i = 0; i < r.n; i++)
		for (uint64_t more = 0; more < 64; more += 7)
			look(&r, r.marks[i].row.addr + more);
	line_rows_release(&r);
	return 0;
}
