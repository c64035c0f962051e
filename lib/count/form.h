/*
 * Counts as text, in the forms of perf stat: columns for people, CSV, JSON.
 *
 *	struct count_form f = {.kind = COUNT_TEXT, .title = "'sleep 1'"};
 *	struct buf b = BUF_INIT;
 *
 *	count_form_begin(&f, &c, &b);		(a line above the intervals, or a title)
 *	count_form_rows(&f, &c, &b);
 *	count_form_end(&f, &c, &times, &b);
 *	... write b ...
 *
 * The text form is line for line what perf 6.1 prints, with two exceptions: JSON has no metric
 * where there is none, and the name of what is counted is safe for a terminal.
 */
#ifndef PP_COUNT_FORM_H
#define PP_COUNT_FORM_H

#include "base/buf.h"
#include "count/count.h"

enum count_form_kind { COUNT_TEXT, COUNT_CSV, COUNT_JSON };

struct count_form {
	enum count_form_kind kind;
	const char *separator; /* of CSV */
	const char *thousands; /* between groups of three digits in text; NULL or "": nothing */
	const char *title;     /* what was counted, quoted, as "'true'" or "process id '1'" */
	unsigned repeats;      /* runs; 0 and 1: one, without deviations */
	bool cgroups;	       /* cgroups are shown */
	bool no_zeros;	       /* threads that counted nothing are left out */
	bool metric_only;      /* the figures, not the counts */
	bool interval;	       /* rows begin with the time */
	bool summary;	       /* after intervals: CSV rows begin with that word */
	bool nothing;	       /* no event is counted: only the times */
	uint64_t time;	       /* ns, of the interval */
	unsigned printed;      /* intervals so far: set to 0 to begin with */
};

struct count_times {
	double elapsed;	     /* seconds, the mean of all runs */
	double error;	     /* standard error of that mean */
	bool has_cpu;	     /* user and system are known */
	double user, system; /* seconds */
	const double *each;  /* seconds of each run, for --table; NULL: not asked for */
};

/* The line above the intervals, now and then, or the title. */
void count_form_begin(struct count_form *f, const struct counts *c, struct buf *b);

/* All rows. Out of memory is in b->err. */
void count_form_rows(struct count_form *f, const struct counts *c, struct buf *b);

/* The times, in text. */
void count_form_end(const struct count_form *f, const struct count_times *t, struct buf *b);

#endif
