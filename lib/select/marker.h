/*
 * The work of pfilter: an event stream with each sample marked by what select.h finds.
 *
 *	struct marker m = {.argc = argc, .argv = argv};
 *	select_new(&m.select, &opts, &why);
 *	status = marker_run(&m, files, n, strict, d);
 */
#ifndef PP_SELECT_MARKER_H
#define PP_SELECT_MARKER_H

#include "select/select.h"
#include "select/split.h"

/* What the options of pfilter itself have to do with others. */
extern const struct opt_rule marker_rules[];

struct marker {
	struct select *select; /* the caller's */
	struct ssink_opts out;
	struct split split; /* prefix NULL: one stream, to stdout */
	bool drop;	    /* leave out what does not pass */
	int argc;
	char **argv; /* for the provenance record */
	struct ssink sink;
};

/*
 * Reads the inputs (n 0: stdin) and writes all. What no event had is reported, and makes the status
 * PP_EXIT_FAIL. Returns the exit status.
 */
int marker_run(struct marker *m, char **files, int n, bool strict, struct diag *d);

#endif
