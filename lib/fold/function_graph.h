/*
 * Recordings of the function_graph tracer as stacks: of each call the time that it took itself,
 * without that of the calls in it. Private to lib/fold.
 *
 *	struct fold_graph g = {.fold = f};
 *	rc = fold_graph_new(&g);
 *	rc = fold_graph_see(&g, rec);			(records other than samples)
 *	if (fold_graph_is(&g, rec->sample.event))
 *		rc = fold_graph_call(&g, r, rec, path, &n, &weight);
 *	fold_graph_release(&g);
 *
 * A thread is in so many calls as its last event says; an event has the depth, so that what
 * was not recorded is noticed. ns, as the tracer measured them.
 */
#ifndef PP_FOLD_FUNCTION_GRAPH_H
#define PP_FOLD_FUNCTION_GRAPH_H

#include "base/buf.h"
#include "base/intern.h"
#include "fold/fold.h"
#include "stream/stream.h"
#include "symbol/kfunc.h"

#define FOLD_GRAPH	 "function_graph" /* what the events are called together */
#define FOLD_GRAPH_DEPTH 256		  /* calls within each other; the kernel has 50 */

struct graph_event;
struct graph_task;

struct fold_graph {
	struct fold *fold;
	struct kfunc *kfunc;
	struct graph_event *events; /* by id */
	uint32_t nevents;
	bool any; /* there are such events */
	struct graph_task *tasks;
	uint32_t ntasks, cap;
	struct map64 by_tid; /* place of a task + 1 */
	struct map64 funcs;  /* address: name id */
	struct buf text;
	uint32_t unknown; /* name id of what was not recorded; 0: not yet made */
};

/* 0, or an error, which is reported. */
int fold_graph_new(struct fold_graph *g);
void fold_graph_release(struct fold_graph *g);

/* 0 or PP_ENOMEM. */
int fold_graph_see(struct fold_graph *g, const struct ps_record *rec);

/* Whether samples of an event are calls, or ends of calls. */
bool fold_graph_is(const struct fold_graph *g, uint32_t event);

/*
 * Takes a call, or its end. At an end, the names of the functions, leaf first, are in path, which
 * has room for FOLD_GRAPH_DEPTH; else *n is 0. 0, PP_ENOMEM or PP_ELIMIT.
 */
int fold_graph_call(struct fold_graph *g, const struct sreader *r, const struct ps_record *rec,
		    uint32_t *path, size_t *n, uint64_t *weight);

#endif
