/*
 * Samples by thread and event: the numbers of these, and the samples of each in the order in which
 * they came, for formats that have a list for each: equal stacks that follow each other are one.
 *
 *	rc = track_add(&r, sample);
 *	for (uint32_t i = 0; i < r.n; i++)
 *		... r.v[i].runs[0] to r.v[i].runs[r.v[i].n - 1] ...
 *	tracks_release(&r);
 */
#ifndef PP_CONV_TRACKS_H
#define PP_CONV_TRACKS_H

#include "conv/prof.h"

/* Threads and events, numbered from 0 in the order in which their first samples came. */
struct lanes {
	struct map64 ids; /* thread and event: number + 1 */
	struct lane {
		uint32_t thread, event;
	} * v;
	uint32_t n, cap;
	uint32_t last; /* of the sample before, which usually is also that of the next */
};

/* The lane of a sample. 0 or PP_ENOMEM. */
int lanes_find(struct lanes *l, const struct prof_sample *s, uint32_t *lane);
void lanes_release(struct lanes *l);

struct track_run {
	uint64_t time, weight;
	uint32_t stack;
	uint32_t count;
};

struct track {
	uint32_t thread, event;
	uint64_t first, weight; /* of all: the earliest time, the sum */
	bool timed;
	struct track_run *runs;
	uint32_t n, cap;
};

struct tracks {
	struct lanes lanes;
	struct track *v; /* by lane */
	uint32_t n, cap;
	bool apart; /* each sample is a run of its own */
};

/* 0 or PP_ENOMEM. */
int track_add(struct tracks *r, const struct prof_sample *s);
void tracks_release(struct tracks *r);

#endif
