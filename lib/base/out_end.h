/*
 * The end of a filter's output, and what is reported of it.
 *
 *	rc = out_end(&out, rc, diag);
 *	return rc ? PP_EXIT_FAIL : status;
 */
#ifndef PP_BASE_OUT_END_H
#define PP_BASE_OUT_END_H

#include "base/buf.h"
#include "base/diag.h"
#include "base/err.h"
#include "base/out.h"

/* Reports an error of an output, unless its reader has gone. Returns it. */
static inline int out_report(int rc, struct diag *d)
{
	if (rc && rc != PP_EPIPE)
		diag_error(d, NULL, -1, rc == PP_ENOMEM ? "%s" : "cannot write: %s",
			   pp_strerror(rc));
	return rc;
}

/* Closes an output, the writing of which came to rc. 0 or the first error, which is reported. */
static inline int out_end(struct out *o, int rc, struct diag *d)
{
	int closed = out_close(o);

	return out_report(rc ? rc : closed, d);
}

/* Writes a text to a descriptor. 0 or an error, which is reported. */
static inline int out_text(int fd, const struct buf *b, struct diag *d)
{
	return out_report(b->err ? b->err : out_write_all(fd, buf_str(b), b->len), d);
}

#endif
