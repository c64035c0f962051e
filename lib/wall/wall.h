/*
 * Where the time of threads goes by the wall clock: running, waiting for a CPU, blocked and for
 * what; and why it took so long.
 *
 *	struct wall_opts o = {.idle = true};
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

struct wall_opts {
	bool idle;		/* also what is idle */
	bool strict;		/* losses make the status PP_EXIT_PARTIAL */
	struct ssink_opts sink; /* the form of what is written */
	int argc;		/* for the provenance record */
	char **argv;
};

/* The options, and their handler, whose context is a struct wall_opts. */
extern const struct opt wall_options[];
opt_handler wall_option;

/* Reads event streams, stdin if n is 0, and writes to standard output. Returns the exit status. */
int wall_run(const struct wall_opts *o, char **names, int n, struct diag *d);

#endif
