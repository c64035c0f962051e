/*
 * Private to lib/interval: what a pfilter before plat was asked.
 *
 *	lat_filter_see(&f, &rec);	(each record other than a sample)
 *	if (f.sides == LAT_SIDE_OUT)	(its expression is about the thread that a switch goes from)
 *		...
 *
 * A switch is two events in one, of the thread that it goes from and of the one that it goes to;
 * but it has one mark. Where the expression has only fields of one of the two, the mark does not
 * apply to the other.
 */
#ifndef PP_INTERVAL_LAT_FILTER_H
#define PP_INTERVAL_LAT_FILTER_H

#include "base/buf.h"
#include "stream/stream.h"

enum { LAT_SIDE_OUT = 1, LAT_SIDE_IN = 2 };

struct lat_filter {
	unsigned sides; /* which the expressions of this stream are about; 0: not known */
	bool any;	/* there was one, in whatever stream */
	uint32_t streams;
	struct buf words; /* of the first stream */
};

/* Takes note of a record. 0 or PP_ENOMEM. */
int lat_filter_see(struct lat_filter *f, const struct ps_record *rec);

/* Adds how the filter was called, cut if it is long: pfilter 'prev_state == 0'. */
void lat_filter_words(const struct lat_filter *f, struct buf *b);

void lat_filter_release(struct lat_filter *f);

#endif
