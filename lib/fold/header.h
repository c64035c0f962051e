/*
 * The header lines of samples in perf script text. Private to lib/fold.
 *
 *	struct fold_header h;
 *
 *	if (fold_header_parse("comm 12/34 [000] 5.6: 100 cycles:", 34, &h))
 *		... h.comm_len is 4, h.pid_len 2 ...
 */
#ifndef PP_FOLD_HEADER_H
#define PP_FOLD_HEADER_H

#include "fold/lines.h"

/*
 * The parts of a header line of perf script, "comm 12/34 [000] 5.6: 100 cycles:": where the command
 * ends and the numbers are. False if the line is none.
 */
struct fold_header {
	size_t comm_len;
	const char *pid, *tid; /* tid_len 0: there is one number only */
	size_t pid_len, tid_len;
};
bool fold_header_parse(const char *p, size_t n, struct fold_header *h);

/* Whether a line that begins with '#' is a comment, not the header of a thread of such a name. */
bool fold_is_comment(const char *p, size_t n);

/* White space, digits ... from i on: where they end. */
size_t fold_span(const char *p, size_t i, size_t n, int class);

/* Whether the text has a time, as in " 12.345678:". */
bool fold_has_time(const char *p, size_t n);

#endif
