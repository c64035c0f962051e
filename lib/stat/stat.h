/*
 * Counting events of this machine, as perf stat does. Nothing is recorded: the kernel adds up, and
 * is asked at the end, or at the end of each interval.
 *
 *	struct stat_config c = {.repeat = 1, .command = argv, .log_fd = -1};
 *	rc = pevents_add(&c.events, "cs,page-faults", &why);
 *	rc = stat_run(&c, diag, &status);
 *	pevents_release(&c.events);
 *
 * The words of the command line become a struct stat_config in counting_options.h. The table and
 * its figures are those of count/.
 */
#ifndef PP_STAT_STAT_H
#define PP_STAT_STAT_H

#include "base/diag.h"
#include "count/count.h"
#include "pevent/pevent.h"
#include "pevent/target.h"

#include <signal.h>

#define STAT_REPEAT_MAX 1000000

enum stat_form { STAT_TEXT, STAT_CSV, STAT_JSON, STAT_TSV };

struct stat_config {
	struct pevents events;	 /* none: the usual ones */
	unsigned detail;	 /* -d: caches (1), TLBs (2), prefetches (3) besides */
	struct target_want want; /* with neither this nor a command: all CPUs */
	const char *each_cgroup; /* all events for each of these cgroups, "a,b" */
	enum count_by by;
	char **command;		    /* NULL, or argv of what to run */
	const sigset_t *mask;	    /* signals that are blocked in it; NULL: as they are here */
	unsigned repeat;	    /* how often; 0: until it is interrupted */
	uint64_t duration_ns;	    /* 0: until the command or the processes end, or a signal */
	uint64_t timeout_ns;	    /* the command is ended after it; 0: no */
	uint64_t interval_ns;	    /* a table every so often; 0: one at the end */
	uint64_t intervals;	    /* so many of them; 0: any number */
	uint64_t delay_ns;	    /* from the start to the first count */
	pid_t while_pid;	    /* counting ends with this process; 0: none */
	bool disabled;		    /* begin without counting: see `control` */
	const char *control;	    /* fd:CTL[,ACK] or fifo:CTL[,ACK] */
	const char *before, *after; /* commands of the shell around each run */
	bool sync;		    /* sync(2) before each run */
	bool no_inherit, no_scale, group, nothing, all_user, all_kernel;
	/* What is printed. */
	enum stat_form form;
	const char *separator; /* of CSV */
	bool no_thousands, metric_only, summary, no_csv_summary, runs_table, clear, quiet, verbose;
	const char *output; /* a file, or "-"; NULL: standard error, of TSV standard output */
	bool append;
	int log_fd; /* a descriptor instead; -1: none */
};

/*
 * Counts and prints. *status: the command's exit status, 0 without one. 0 or a code, which has been
 * told to d: PP_EUSAGE for contradictions, PP_EACCES, ...
 */
int stat_run(const struct stat_config *c, struct diag *d, int *status);

#endif
