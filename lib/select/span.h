/*
 * Parts of a recording by time: what follows --time.
 *
 *	struct spans s = SPANS_INIT;
 *	rc = spans_parse(&s, "10%/2", &why);
 *	spans_settle(&s, first, last);		(times of the first and the last sample)
 *	if (spans_hold(&s, rec->sample.time)) ...
 *	spans_release(&s);
 *
 * A text is a list of spans with ',' between:
 *	A..B  A..  ..B	both ends are in it
 *	P%-P%  P%..P%	percent of the time from the first sample to the last
 *	P%/N		the Nth part of P percent
 * A, B: seconds of the recording's clock as they are printed, or with a unit: 12.5, 3us; with '+'
 * from the first sample, with '-' back from the last one, or percent: +1.5..+2, -100ms.., 50%..
 * "A,B" without ".." or '%' is one span, as perf script writes it; A or B may be missing.
 */
#ifndef PP_SELECT_SPAN_H
#define PP_SELECT_SPAN_H

#include "base/buf.h"

#include <stdbool.h>

enum span_from { SPAN_ABSOLUTE, SPAN_START, SPAN_END, SPAN_PERCENT };

struct span_time {
	enum span_from from;
	uint64_t ns;	 /* not of SPAN_PERCENT */
	double fraction; /* SPAN_PERCENT: 0 to 1 */
};

struct span {
	struct span_time a, b;
};

struct span_range {
	uint64_t first, last; /* ns; both are in it */
};

struct spans {
	struct span *v;
	unsigned n, cap;
	struct span_range *ranges; /* as settled: in order, apart from each other */
	unsigned nranges;
};

#define SPANS_INIT \
	{ \
		0 \
	}

/* 0; PP_EUSAGE with what is wrong in `why`; PP_ENOMEM. Adds to what is there. */
int spans_parse(struct spans *s, const char *text, struct buf *why);

/* Adds a span from `first` to `last`. 0, PP_ENOMEM, PP_ELIMIT. */
int spans_add(struct spans *s, uint64_t first, uint64_t last);
void spans_release(struct spans *s);

/* Whether the time of the first sample, of the last sample has to be known. */
bool spans_need_first(const struct spans *s);
bool spans_need_last(const struct spans *s);

/* Makes all of them absolute, for one recording. 0 or PP_ENOMEM. */
int spans_settle(struct spans *s, uint64_t first, uint64_t last);

/* Whether a time is in one of them, as settled. */
bool spans_hold(const struct spans *s, uint64_t time);

/*
 * A duration or a time: "1.5" (seconds), "10ms", "3us". Returns how many bytes it takes, 0: it is
 * none, or has more than ns.
 */
size_t span_number(const char *text, uint64_t *ns, bool *has_unit);

#endif
