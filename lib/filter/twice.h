/*
 * Inputs that are read twice: to know the whole before the first record is passed on.
 *
 *	struct twice t;
 *	twice_scan(&t, files, n, SREADER_EVENTS, on_record, ctx, d);
 *	f.open = twice_open;	(of struct filter; gives the inputs out again, in their order)
 *	f.open_ctx = &t;
 *	filter_run(&f, files, n, ...);
 *	twice_release(&t);
 *
 * Input that cannot be read twice, a pipe, is copied to a temporary file without a name in TMPDIR
 * or /tmp.
 */
#ifndef PP_FILTER_TWICE_H
#define PP_FILTER_TWICE_H

#include "stream/stream.h"

struct twice {
	struct src **v; /* NULL: could not be opened, which was reported */
	int n, next;
};

/*
 * Reads all inputs (n 0: stdin) and gives each record to fn. Damage is left to the second reading
 * to report; an input that cannot be opened is skipped. An error of fn, or one that the second
 * reading need not meet again (memory, input), is reported, and then twice_open has no input to
 * give: so the run ends with PP_EXIT_FAIL, and its stream says so.
 */
void twice_scan(struct twice *t, char **files, int n, unsigned keep,
		int (*fn)(void *ctx, const struct sreader *r, const struct ps_record *rec),
		void *ctx, struct diag *d);

/* The next input, from its beginning. ctx is the struct twice. */
int twice_open(void *ctx, const char *file, struct src **s, struct diag *d);
void twice_release(struct twice *t);

#endif
