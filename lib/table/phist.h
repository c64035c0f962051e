/*
 * phist: counts and distributions of values of samples, by other values.
 *
 *	struct phist_opts o = {.fields = "bytes_req", .by = "comm, call_site"};
 *	struct phist *p;
 *
 *	rc = phist_new(&p, &o, diag);
 *	status = phist_files(p, names, n);	(or phist_merge: results that were written before)
 *	status = phist_print(p, status, &table_opts);
 *	phist_free(p);
 *
 * A sample counts if it passed the filters before, if it has all keys, and at least one of the
 * fields. What does not count is accounted for and reported.
 *
 * A recording of perf stat has no samples, but counts: by default they are printed as
 * perf stat printed them, to standard output, as they come.
 */
#ifndef PP_TABLE_PHIST_H
#define PP_TABLE_PHIST_H

#include "expr/expr.h"
#include "table/table.h"

#define PHIST_WINDOW_AUTO UINT64_MAX
#define PHIST_WINDOWS	  400 /* an automatic width makes no more than this many */

struct phist_opts {
	const char *fields; /* values (expr.h) to make histograms of; NULL: samples are counted */
	const char *by;	    /* values that are the keys of the rows; NULL: one row */
	const char *unit;   /* of the fields; NULL: what is known of them */
	const char *view;   /* tables.view */
	uint64_t window;    /* ns of each row's window of time; 0: none */
	uint64_t step;	    /* of linear buckets; 0: there are none */
	bool as_table;	    /* counts of perf stat also come as a table, not in perf's columns */
	/* NULL, or how the tables of its periods are written, and what --source says */
	const struct table_opts *every;
	bool merge; /* for phist_merge: names of keys and fields are in the input */
	bool raw;   /* keys are numbers, also where these have names */
	struct expr_symbols symbols; /* for the names; its functions may be NULL */
	/* Conditions that phist_print decides (gate.h). */
	const struct gate_texts *gates;
};

struct phist;

/*
 * The texts of opts and the diag must outlive it. 0; PP_EUSAGE: an expression or a condition is
 * wrong, or options cannot be combined; PP_ENOMEM. Both are reported.
 */
int phist_new(struct phist **p, const struct phist_opts *opts, struct diag *d);
void phist_free(struct phist *p); /* NULL is fine */

/* Reads event streams, stdin if n is 0. Returns the exit status. */
int phist_files(struct phist *p, char **names, int n);

/* Reads an event stream from a source, which it frees. Returns the exit status. */
int phist_stream(struct phist *p, struct src *s);

/* What was counted so far: one table, or none. */
const struct tables *phist_tables(const struct phist *p);

/* Reads and merges results in the TSV form. Returns the exit status. */
int phist_merge(struct phist *p, char **names, int n);

/* The number of lost events that the recordings report. */
uint64_t phist_lost(const struct phist *p);

/*
 * Reports what did not count, and writes the result to standard output, sorted by count if nothing
 * else is asked for (tables_print). `status` is that of reading; returns the overall exit
 * status: PP_EXIT_PARTIAL if nothing was counted, which is reported; with gates, gates_status.
 */
int phist_print(struct phist *p, int status, const struct table_opts *o);

/* Reports the account. */
void phist_describe(const struct phist *p);

#endif
