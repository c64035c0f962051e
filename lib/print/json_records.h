/*
 * Records as JSON, one object a line: perfpipe-stream(5) describes the content. Private to
 * lib/print.
 */
#ifndef PP_PRINT_JSON_RECORDS_H
#define PP_PRINT_JSON_RECORDS_H

#include "stream/stream.h"

#define PS_TEXT_SPILL (1u << 16) /* bytes of a line that wait in memory */

/* Prints a record of a type that is shown; b is room for its line. 0 or an error of the output. */
int ps_json_record(struct buf *b, struct out *o, const struct sreader *r,
		   const struct ps_record *rec);

/*
 * Gives the output what there is of a long line: a stack of many long names would take more memory
 * than there is. 0 or an error.
 */
static inline int ps_text_spill(struct buf *b, struct out *o)
{
	int rc = b->err;

	if (rc || b->len < PS_TEXT_SPILL)
		return rc;
	rc = out_add(o, b->data, b->len);
	buf_reset(b);
	return rc;
}

#endif
