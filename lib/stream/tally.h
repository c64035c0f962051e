/*
 * What is in an event stream: its events, each with the number of its samples, the sum of their
 * periods, and the times of the first and the last.
 *
 *	struct tally *t;
 *	tally_new(&t);
 *	while (!sreader_next(r, &rec))
 *		tally_record(t, r, rec);	(the reader keeps SREADER_EVENTS)
 *	tally_print(t, &out, false);
 *	tally_free(t);
 */
#ifndef PP_STREAM_TALLY_H
#define PP_STREAM_TALLY_H

#include "stream/stream.h"

struct tally;

/* With `all`, samples that a filter has marked as not passing are also counted. */
int tally_new(struct tally **t, bool all);
void tally_free(struct tally *t); /* NULL is fine */

/* 0, PP_ENOMEM or PP_ELIMIT. */
int tally_record(struct tally *t, const struct sreader *r, const struct ps_record *rec);

struct tally_event {
	const char *name;	  /* as long as the tally */
	uint64_t samples, stacks; /* all, and those with a call chain or a copy of the stack */
	bool sampled;		  /* by period or frequency */
	bool timed;		  /* first and last are times, in ns */
	uint64_t first, last;
};

/* Event i, from 0 on; false: there is none. */
bool tally_event(const struct tally *t, uint32_t i, struct tally_event *e);

/* The table, or with `json` an object a line for each event. 0 or an error of the output. */
int tally_print(const struct tally *t, struct out *o, bool json);

#endif
