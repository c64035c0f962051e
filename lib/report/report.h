/*
 * Reports: how much of the samples functions, or other keys, have, with what they call and
 * what calls them.
 *
 *	struct report_opts o = REPORT_OPTS_INIT;
 *	struct report *r;
 *
 *	rc = report_new(&r, &o, diag);
 *	status = report_files(r, names, n);
 *	status = report_print(r, status, STDOUT_FILENO);
 *	report_free(r);
 *
 * Input is read once. What is kept is a tree of the different stacks (fold/), of frames that are
 * told apart by what the report shows of them; memory does not grow with the number of samples.
 * Each event has a table of its own. A row's "self" is the weight of the samples whose innermost
 * frame has its keys, "children" that of the samples in whose stacks any frame has them, each
 * counted once however often the function called itself.
 */
#ifndef PP_REPORT_REPORT_H
#define PP_REPORT_REPORT_H

#include "base/diag.h"
#include "base/opt.h"
#include "table/table.h"

#include <stdint.h>

/* The keys, if none are asked for: in capitals, as events have fields of their own named comm. */
#define REPORT_BY "COMM, dso, sym"

#define REPORT_DIRS_MAX 16

/* Which tree is printed. */
enum report_tree {
	REPORT_NO_TREE,
	REPORT_CALLEE, /* below each function what called it */
	REPORT_CALLER  /* from the root, below each function what it called */
};

struct report_opts {
	const char *by;	      /* keys of the rows, values as of expr.h; NULL: REPORT_BY */
	const char *event;    /* only this event; NULL: all, one after another */
	const char *function; /* only about the functions of this name or pattern (glob.h) */
	const char *sort;     /* children, self, samples, or a key; NULL: children */
	enum table_form form;
	enum report_tree tree;
	bool view;			    /* in the terminal, to browse */
	bool annotate;			    /* also the instructions of these functions */
	const char *symfs[REPORT_DIRS_MAX]; /* where their binaries are: roots (symbol/root.h) */
	const char *debug[REPORT_DIRS_MAX]; /* directories of debug files */
	size_t n_symfs, n_debug;
	const char *vmlinux; /* the kernel's code: a vmlinux, or a /proc/kcore */
	const char *source;  /* a directory with the sources; NULL: they are not shown */
	bool trust_host;     /* the binaries of this machine are those of the recording */
	bool count;	     /* each sample weighs 1, whatever its period */
	bool addrs;	     /* functions without a name are told apart by their address */
	bool samples;	     /* text: a column with the number of samples */
	bool no_children;    /* text: no column that includes callees */
	bool wide;	     /* text: lines may be longer than the terminal is wide */
	bool ascii;	     /* text: lines of trees in ASCII */
	bool of_parent;	     /* trees: percentages are of the parent */
	double min_share;    /* percent: what has less is left out; below 0: 0.5 in trees, else 0 */
	uint32_t top;	     /* rows of a table; 0: all */
	uint32_t depth;	     /* frames of a branch of a tree; 0: all */
	uint64_t every;	     /* ns: a report of each such period, then the sum; 0: one in the end */
	bool cumulative;     /* of those: each is of all until then */
	struct gate_texts gates;
};

#define REPORT_OPTS_INIT \
	{ \
		.min_share = -1 \
	}

/* The options, and their handler, whose context is a struct report_opts. */
extern const struct opt report_options[];
extern const struct opt_rule report_rules[];
opt_handler report_option;

struct report;

/*
 * The texts of opts and the diag must outlive it. 0; PP_EUSAGE: an expression is wrong; PP_ENOMEM.
 * Both are reported.
 */
int report_new(struct report **r, const struct report_opts *opts, struct diag *d);
void report_free(struct report *r); /* NULL is fine */

/*
 * Reads event streams, or whatever pfold reads (fold/inputs.h), stdin if n is 0. Returns the exit
 * status.
 */
int report_files(struct report *r, char **names, int n);

/*
 * Writes the report to a descriptor and closes it. `status` is that of the reading; returns the
 * exit status of the whole: PP_EXIT_PARTIAL if nothing was counted, PP_EXIT_USAGE if there is no
 * column to sort by; both are reported.
 */
int report_print(struct report *r, int status, int fd);

/* Events that the recordings say they lost. */
uint64_t report_lost(const struct report *r);

/* Reports the account. */
void report_describe(const struct report *r);

#endif
