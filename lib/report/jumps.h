/*
 * Jumps within a function, drawn beside its instructions. Private to lib/report.
 *
 *	struct jumps j;
 *	rc = jumps_make(&j, addrs, targets, n);
 *	for (i = 0; i < n; i++)
 *		jumps_draw(&j, i, ascii, buf);
 *	jumps_release(&j);
 */
#ifndef PP_REPORT_JUMPS_H
#define PP_REPORT_JUMPS_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

#define JUMPS_MAX   1024 /* of a function; more are not drawn */
#define JUMPS_LANES 6	 /* beside each other; those that find none are not drawn */

struct jump {
	uint32_t from, to; /* rows */
	uint32_t lane;	   /* 1: next to the code; 0: none */
};
struct jumps {
	struct jump *v;
	uint32_t n, lanes;
};

/* Addresses are ascending; target 0: no jump. 0 or PP_ENOMEM. */
int jumps_make(struct jumps *j, const uint64_t *addr, const uint64_t *target, uint32_t n);
void jumps_release(struct jumps *j);

/* Appends the text before a row: as wide for each, nothing if there are no jumps. */
void jumps_draw(const struct jumps *j, uint32_t row, bool ascii, struct buf *b);

#endif
