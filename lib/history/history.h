/*
 * Recordings of the scheduler, switch by switch, as text: a line for each time that a thread ran
 * (timehist), or a line for each switch with what each CPU runs (map).
 *
 *	struct history_opts o = {.form = HISTORY_TIMES, .wakeups = true};
 *
 *	status = history_run(&o, names, n, STDOUT_FILENO, diag);
 *
 * The text is laid out as `perf sched timehist` and `perf sched map` print it. Lines come as the
 * input does; kept are the threads and the CPUs. Samples that a filter marked as failing have no
 * line, but are followed nevertheless.
 */
#ifndef PP_HISTORY_HISTORY_H
#define PP_HISTORY_HISTORY_H

#include "base/diag.h"
#include "base/opt.h"

#include <stdbool.h>

enum history_form { HISTORY_NONE, HISTORY_TIMES, HISTORY_MAP };
enum history_summary { HISTORY_LINES, HISTORY_LINES_AND_SUMMARY, HISTORY_SUMMARY };

#define HISTORY_STACK 5 /* functions of a stack, by default */

struct history_opts {
	enum history_form form;
	/* Of HISTORY_TIMES: */
	bool wakeups, migrations; /* lines for them */
	bool cpus;		  /* a column for each CPU */
	bool next;		  /* which thread runs next */
	bool state;		  /* with which state the thread went */
	bool idle;		  /* only lines of idle CPUs */
	bool woken;		  /* the delay is that after wakeups alone */
	bool no_stack;
	uint64_t max_stack; /* functions of a stack; 0: HISTORY_STACK */
	enum history_summary summary;
	/* Of HISTORY_MAP: */
	bool compact; /* columns only for CPUs that had a switch */
	bool strict;  /* losses make the status PP_EXIT_PARTIAL */
};

/* The options, and their handler, whose context is a struct history_opts. */
extern const struct opt history_options[];
extern const struct opt_rule history_rules[];
opt_handler history_option;

/* Reads event streams, stdin if n is 0, and writes to fd. Returns the exit status. */
int history_run(const struct history_opts *o, char **names, int n, int fd, struct diag *d);

#endif
