/*
 * Tables while the input goes on: those of each period of its time, one after another, then the
 * sum.
 *
 *	struct periods p;
 *
 *	rc = periods_open(&p, &opts, &tables, diag);	(opts.every is not 0)
 *	src_on_pause(s, periods_pause, &p);
 *	rc = periods_see(&p, time);	(for each sample, before it is counted in the tables)
 *	rc = periods_end(&p, true);	(the last period is written; the tables then hold the sum)
 *	tables_print(&tables, &opts, STDOUT_FILENO, diag);
 *	periods_release(&p);
 *
 * Periods are those of turns.h; one that has no rows is not written. After a period the tables are
 * empty, so that what they hold is in proportion to one; with opts.cumulative they stay, and what
 * is written has everything from the beginning.
 *
 * Text on a terminal is written over that of the last period, as many lines as fit.
 */
#ifndef PP_TABLE_PERIODS_H
#define PP_TABLE_PERIODS_H

#include "table/table.h"
#include "table/turns.h"

struct periods {
	const struct table_opts *o;
	struct tables *ts, sum;
	struct diag *d;
	struct out out;
	/* Called before the tables are written: NULL, or what completes them. 0 or an error. */
	int (*complete)(void *ctx);
	void *ctx;
	struct turns turns;
	uint32_t lines; /* on the terminal, of the last period */
	uint64_t n;	/* periods that were written */
	int err;	/* the error that ended it; it was reported */
};

/* Writes to standard output. 0 or PP_ENOMEM. */
int periods_open(struct periods *p, const struct table_opts *o, struct tables *ts, struct diag *d);
void periods_release(struct periods *p);

/* A time of the input. 0; an error, which was reported: nothing more can be written. */
static inline int periods_see(struct periods *p, uint64_t time)
{
	return p->err ? p->err : turns_see(&p->turns, time);
}

/* A src_pause_fn. */
int periods_pause(void *p);

/*
 * Another recording follows, with its own times: the period ends. At the very end the tables
 * become the sum of all periods, and its head is written. 0 or an error, which was reported.
 */
int periods_end(struct periods *p, bool all);

/* The exit status for an error of these functions. */
int periods_status(int rc);

#endif
