/*
 * The samples of each thread and event in the order in which they came, for formats that have a
 * list for each: equal stacks that follow each other are one.
 *
 *	rc = track_add(&r, sample);
 *	for (uint32_t i = 0; i < r.n; i++)
 *		... r.v[i].runs[0] to r.v[i].runs[r.v[i].n - 1] ...
 *	tracks_release(&r);
 */
#ifndef PP_CONV_TRACKS_H
#define PP_CONV_TRACKS_H

#include "conv/prof.h"

struct run {
	uint64_t time, weight;
	uint32_t stack;
	uint32_t count;
};

struct track {
	uint32_t thread, event;
	uint64_t first, weight; /* of all: the earliest time, the sum */
	bool timed;
	struct run *runs;
	uint32_t n, cap;
};

struct tracks {
	struct map64 ids; /* thread and event: place + 1 */
	struct track *v;
	uint32_t n, cap;
	uint32_t last; /* place */
	bool apart;    /* each sample is a run of its own */
};

/* 0 or PP_ENOMEM. */
int track_add(struct tracks *r, const struct prof_sample *s);
void tracks_release(struct tracks *r);

#endif
