/*
 * A cell of the TSV form, or a part of one, as its bytes; private to lib/table.
 *
 *	head = cell_until(&rest, '\t');
 *	rc = cell_u64(head, &count);
 */
#ifndef PP_TABLE_CELL_H
#define PP_TABLE_CELL_H

#include "base/buf.h"
#include "table/hist.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cell {
	const char *p;
	size_t n;
};

/* Cuts off what is before c, or all. */
struct cell cell_until(struct cell *s, char c);

bool cell_is(struct cell s, const char *want);

/* Adds the bytes that a cell stands for. 0, PP_ECORRUPT or PP_ENOMEM. */
int cell_unescape(struct buf *b, struct cell s);

/* A decimal integer; hexadecimal after 0x. 0, or PP_ECORRUPT: it is none, or not from least to
 * most. */
int cell_int(struct cell s, hist_int least, hist_int most, hist_int *v);
int cell_u64(struct cell s, uint64_t *v);

#endif
