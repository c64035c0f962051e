/*
 * Where threads spend wall-clock time: running, waiting for a CPU, blocked and on
 * what; and why it took so long.
 *
 *	struct wall_opts o = {.form = WALL_EMIT, .idle = true};
 *
 *	status = wall_run(&o, names, n, diag);
 *
 * The input is event streams with switches and wakeups of the scheduler, their stacks resolved by
 * psym, and samples of the CPUs, as `pcap-perf --wall` records them. It keeps threads, CPUs, and
 * the different stacks, for paths a window of segments (path.h): the memory does not grow with the
 * number of events. For --tail, it keeps all spans with their shares (tail.c).
 */
#ifndef PP_WALL_WALL_H
#define PP_WALL_WALL_H

#include "base/diag.h"
#include "base/opt.h"
#include "filter/ssink.h"
#include "interval/lat.h"

#define WALL_TOP 20 /* rows of a table in text, unless --top is given */

enum wall_form {
	WALL_NONE,	 /* none of these is asked for */
	WALL_EMIT,	 /* samples of an event stream: the whole time of each thread */
	WALL_EMIT_CHAIN, /* samples: all waits, each with its wakers and what they waited for */
	WALL_EMIT_PATH,	 /* samples: the critical paths of spans */
	WALL_PATH,	 /* a table of the critical paths of spans */
	WALL_TAIL,	 /* a table: what slow spans have more of than ordinary ones */
};

struct wall_opts {
	bool idle;	/* of WALL_EMIT, WALL_EMIT_CHAIN: also what is idle */
	bool path;	/* --path */
	double tail;	/* --tail: percentile from which on a span is slow; 0: not asked for */
	bool folded;	/* of WALL_TAIL: folded text with two counts */
	const char *of; /* spans: "process", or kinds of plat; NULL: as `spans` says */
	uint64_t nth;	/* of WALL_PATH: each step of this one; 0: sums of all */
	bool slowest;	/* of WALL_PATH: each step of the longest */
	/* What plat's other options say. */
	enum wall_form form;
	bool stacks;		      /* whole stacks instead of functions */
	bool strict;		      /* losses make the status PP_EXIT_PARTIAL */
	const struct lat_opts *spans; /* intervals, names; the caller's */
	/* Called with each record other than a sample, for these names; NULL: not. */
	void (*see)(void *ctx, const struct ps_record *rec);
	const struct table_opts *table; /* of WALL_PATH, WALL_TAIL */
	struct ssink_opts sink;		/* of samples */
	int argc;			/* for the provenance record */
	char **argv;
};

/* The options, and their handler, whose context is a struct wall_opts. */
extern const struct opt wall_options[];
opt_handler wall_option;
extern const struct opt_rule wall_rules[];

/* The form that the options and plat's --emit (NULL: none) ask for. */
enum wall_form wall_form(const struct wall_opts *o, const char *emit);

/* Reads event streams, stdin if n is 0, and writes to standard output. Returns the exit status. */
int wall_run(const struct wall_opts *o, char **names, int n, struct diag *d);

#endif
