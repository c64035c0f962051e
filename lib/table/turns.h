/*
 * Periods of the input's time: one after another, from the first time that is seen on.
 *
 *	struct turns t = {.every = 1000000000, .over = write, .empty = has_none, .ctx = x};
 *
 *	rc = turns_see(&t, time);	(for each sample, before it is counted)
 *	ms = turns_pause(&t);		(from a src_pause_fn)
 *
 * `over` is called when [begin, end) has passed. A time from before a period counts in it.
 *
 * Where the input is recorded while it is read, a period also ends by the clock: if nothing comes
 * any more, nothing that comes ends it. A recording that is read later is told from that by its
 * times, which are not those of now.
 */
#ifndef PP_TABLE_TURNS_H
#define PP_TABLE_TURNS_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct turns {
	uint64_t every;		  /* ns */
	int (*over)(void *ctx);	  /* what it returns is returned by turns_see */
	bool (*empty)(void *ctx); /* nothing was counted: the period need not end */
	void *ctx;
	uint64_t first, begin, end; /* times; begin is 0 while there is no period */
	uint64_t last;		    /* the latest that was seen */
	uint64_t seen;		    /* `last` when the input paused last */
	int64_t ahead;		    /* ns that the input's clock is ahead of this machine's */
	int64_t since;		    /* ns of this machine's clock: when `ahead` was settled */
	bool live, paused;
};

/* Ends the period; the next one has the time. */
int turns_turn(struct turns *t, uint64_t time);

/* A time of the input. */
static inline int turns_see(struct turns *t, uint64_t time)
{
	if (time > t->last)
		t->last = time;
	return time < t->end ? 0 : turns_turn(t, time);
}

/* When the input pauses: ends the period by the clock. For so many ms; -1: without end. */
int turns_pause(struct turns *t);

/* Another recording follows, with times of its own. */
void turns_forget(struct turns *t);

/* Appends the line above a period: "period 12.500000 - 13.500000". */
void turns_head(const char *what, uint64_t begin, uint64_t end, struct buf *b);

/*
 * Appends what writes a text over that of the period before on the terminal that stdout is; *had:
 * how many lines that was, 0 at first. What is too much for the screen is left out, and counted.
 */
void turns_redraw(uint32_t *had, const struct buf *text, struct buf *b);

#endif
