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
 * The first period begins with the first time that is seen. One that has no rows is not written. A
 * time from before a period counts in it: its own has been written. After a period the tables are
 * empty, so what they hold is in proportion to one; with opts.cumulative they stay, and what
 * is written has everything from the beginning.
 *
 * Where the input is recorded while it is read, a period also ends by the clock: if nothing comes
 * any more, no later record would end it. A recording that is read later is recognized by its
 * times, which are not those of now.
 *
 * Text on a terminal is written over that of the last period, as many lines as fit.
 */
#ifndef PP_TABLE_PERIODS_H
#define PP_TABLE_PERIODS_H

#include "table/table.h"

struct periods {
	const struct table_opts *o;
	struct tables *ts, sum;
	struct diag *d;
	struct out out;
	/* Called before the tables are written: NULL, or what completes them. 0 or an error. */
	int (*complete)(void *ctx);
	void *ctx;
	uint64_t first, begin, end; /* times; begin is 0 while there is no period */
	uint64_t last;		    /* the latest that was seen */
	uint64_t seen;		    /* `last` when the input paused last */
	int64_t ahead;		    /* ns that the input's clock is ahead of this machine's */
	int64_t since;		    /* ns of this machine's clock: when `ahead` was settled */
	bool live, paused;
	uint32_t lines; /* on the terminal, of the last period */
	uint64_t n;	/* periods that were written */
	int err;	/* the error that ended it; it was reported */
};

/* Writes to standard output. 0 or PP_ENOMEM. */
int periods_open(struct periods *p, const struct table_opts *o, struct tables *ts, struct diag *d);
void periods_release(struct periods *p);

/* Ends the period if the time is after it. */
int periods_turn(struct periods *p, uint64_t time);

/* A time of the input. 0; an error, which was reported: nothing more can be written. */
static inline int periods_see(struct periods *p, uint64_t time)
{
	if (time > p->last)
		p->last = time;
	return time < p->end ? 0 : periods_turn(p, time);
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
