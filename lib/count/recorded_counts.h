/*
 * Counts in an event stream, as perf stat record wrote them.
 *
 *	struct count_reader *cr;
 *	struct buf b = BUF_INIT;
 *
 *	rc = count_reader_new(&cr, COUNT_VIEW_TABLE);
 *	while (!sreader_next(r, &rec)) {			(which keeps SREADER_EVENTS)
 *		rc = count_reader_take(cr, r, rec, &b);
 *		... write b, and empty it ...
 *	}
 *	count_reader_free(cr);
 *
 * Each round (ROUND) is printed when it has come: what was counted in an interval, or in all.
 */
#ifndef PP_COUNT_RECORDED_COUNTS_H
#define PP_COUNT_RECORDED_COUNTS_H

#include "base/buf.h"
#include "count/count.h"
#include "stream/stream.h"

enum count_view {
	COUNT_VIEW_TABLE, /* as perf stat printed it */
	COUNT_VIEW_RAW,	  /* each counter, as perf script prints it */
};

struct count_reader;

int count_reader_new(struct count_reader **cr, enum count_view view);
void count_reader_free(struct count_reader *cr); /* NULL is fine */

/*
 * Rounds go to a function instead, summed up: interval is 0 or its length, elapsed the time since
 * counting began, both in ns. What it returns, count_reader_take returns.
 */
typedef int count_reader_fn(void *ctx, const struct counts *c, uint64_t interval, uint64_t elapsed);
void count_reader_on_round(struct count_reader *cr, count_reader_fn *fn, void *ctx);

/*
 * Takes a record of any type, and adds the text of a round that is complete to b. 0; PP_ENOMEM;
 * PP_ELIMIT: more events, CPUs and threads than a table may have.
 */
int count_reader_take(struct count_reader *cr, const struct sreader *r, const struct ps_record *rec,
		      struct buf *b);

/* Whether a count came so far, and how many rounds were printed. */
bool count_reader_any(const struct count_reader *cr);
uint64_t count_reader_rounds(const struct count_reader *cr);

/* Counts of an event, CPU or thread that the recording does not have: they are left out. */
uint64_t count_reader_strays(const struct count_reader *cr);

#endif
