/*
 * Where the time of threads goes by the wall clock: running, waiting for a CPU, blocked and for
 * what; and why it took so long.
 *
 *	struct wall_opts o = {.form = WALL_EMIT};
 *
 *	status = wall_run(&o, names, n, diag);
 *
 * The input are event streams with switches and wakeups of the scheduler, their stacks resolved by
 * psym, and samples of the CPUs, as `pcap-perf --wall` records them. Kept are threads, CPUs, and
 * the different stacks: the memory does not grow with the number of events.
 */
#ifndef PP_WALL_WALL_H
#define PP_WALL_WALL_H

#include "base/diag.h"
#include "base/opt.h"
#include "filter/ssink.h"

enum wall_form {
	WALL_NONE,
	WALL_EMIT, /* samples of an event stream: the whole time of each thread */
};

struct wall_opts {
	enum wall_form form;
	bool idle;		/* also what is idle */
	bool any;		/* an option that is only for this was given */
	bool strict;		/* losses make the status PP_EXIT_PARTIAL */
	struct ssink_opts sink; /* of WALL_EMIT */
	int argc;		/* for the provenance record */
	char **argv;
};

/* The options, and their handler, whose context is a struct wall_opts. */
extern const struct opt wall_options[];
opt_handler wall_option;

/* Whether these kinds of plat --emit are a form of this. */
enum wall_form wall_form_of(const char *emit);

/* Reads event streams, stdin if n is 0, and writes to standard output. Returns the exit status. */
int wall_run(const struct wall_opts *o, char **names, int n, struct diag *d);

#endif
