/*
 * Running pprobe(1) for the definitions of probes in the kernel's syntax. It is a program of its
 * own here as well, so that a recorder does not have to load what reads debug information, nor keep
 * the memory that this takes.
 *
 *	struct maker_want w = {.file = "bash", .texts = texts, .n = 2};
 *	rc = maker_run(&w, &lines, diag);
 */
#ifndef PP_INPLACE_MAKER_H
#define PP_INPLACE_MAKER_H

#include "base/buf.h"
#include "base/diag.h"

#include <stdbool.h>
#include <signal.h>

struct maker_want {
	const char *file; /* -x; NULL: of the process */
	const char *pid;  /* -p; NULL: none */
	bool kernel;	  /* -k */
	bool each;	  /* --each */
	const char *const *texts;
	unsigned n;
	const sigset_t *mask; /* signals that are blocked in it */
};

/*
 * Its lines. It is searched for next to this program, then in PATH; its messages go to stderr. 0,
 * or an error that was reported.
 */
int maker_run(const struct maker_want *w, struct buf *lines, struct diag *d);

#endif
