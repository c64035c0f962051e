/* What an input is, by its first bytes. Private to lib/input. */
#ifndef PP_INPUT_KIND_H
#define PP_INPUT_KIND_H

#include "base/src.h"

enum input_kind {
	KIND_UNKNOWN,
	KIND_PERF,
	KIND_TRACE_DAT,
	KIND_STREAM,
	KIND_FTRACE_TEXT,
};

/*
 * Unpacks what is packed, however often, and finds out what is inside: one of those that can be
 * read. *s is replaced, and always the caller's to free. 0; PP_ECUT for an empty input;
 * PP_EUNSUPPORTED for one that is nothing of ours; other codes. What is wrong has been reported to
 * d.
 */
int input_unwrap(struct src **s, enum input_kind *kind, struct diag *d);

#endif
