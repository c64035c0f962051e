/*
 * What users give a filter by mistake: the formats that other filters of the pipe read.
 *
 *	const struct ps_foreign *f = ps_foreign(bytes, n);
 *
 *	if (f)
 *		diag_error(d, name, -1, "is %s: %s", f->is,
 *			   f->recorded ? "put pdecode before this filter" : f->remedy);
 */
#ifndef PP_STREAM_FOREIGN_H
#define PP_STREAM_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>

#define PS_FOREIGN_MAX	40  /* first bytes that are looked at */
#define PS_FOREIGN_TEXT 512 /* and of text */

struct ps_foreign {
	const char *magic;
	size_t len;
	const char *is;	    /* "a perf.data recording" */
	bool recorded;	    /* a recording: pdecode reads it */
	bool packed;	    /* compressed: pdecode unpacks what it reads */
	const char *remedy; /* of the others: what to do */
};

/* The format that begins with these bytes; NULL: none of them, or an event stream. */
const struct ps_foreign *ps_foreign(const void *bytes, size_t n);

/* The same of text, for those that read none; NULL: it is not text. */
const struct ps_foreign *ps_foreign_text(const void *bytes, size_t n);

#endif
