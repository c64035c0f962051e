/*
 * Private to lib/fold: the tree of stacks, for the files that keep it (fold.c) and write it.
 *
 * A node is a stack: the one of its parent, and a frame (base/path_tree.h). Its mark says that a
 * stack ends there, whose weight may be 0.
 */
#ifndef PP_FOLD_STACK_TREE_H
#define PP_FOLD_STACK_TREE_H

#include "base/buf.h"
#include "base/intern.h"
#include "base/weights.h"
#include "fold/fold.h"
#include "fold/recent_stacks.h"

/* A stack of a chart that came once, or several times in a row. */
struct fold_run {
	uint64_t weight;
	uint32_t node;
	uint32_t lane;
};

/*
 * The samples of an event while it is not known which one is folded (lanes.c). Lane 0 has all that
 * there is no choice about.
 */
struct fold_lane {
	struct map64 at;    /* of a node: its place in v */
	struct fold_run *v; /* what others than the owner of fold.weights have */
	uint32_t n, cap;
	uint64_t folded, bare; /* samples, as in the account */
	uint64_t told;	       /* of them, of the sources before this one */
	uint64_t weight;       /* the sum of their periods, whatever they count for */
	struct fold_periods periods;
	struct fold_about now, all; /* of this source, of all sources */
};

struct fold {
	struct fold_opts opts;
	struct fold_account account;
	struct diag *diag;
	struct intern names;
	struct buf scratch;
	struct paths paths;
	uint32_t tip;		/* the node that was added last */
	size_t tip_len;		/* bytes of its text */
	struct weights weights; /* by node */
	struct fold_table stacks;
	uint64_t seen;	     /* nodes with the mark */
	uint64_t deep;	     /* frames left out of stacks that are too deep */
	uint64_t wide;	     /* of stacks whose text is too long */
	uint64_t long_names; /* names that were cut */
	bool saturated;
	struct intern lane_names; /* the id is the number of the lane */
	struct fold_lane *lanes[FOLD_EVENTS_MAX + 1];
	uint32_t lane;	/* of the sample that is added now */
	uint32_t owner; /* whose weights are those above */
	uint32_t last_lane;
	struct buf last_event;
	uint64_t others_more; /* samples of further events */
	uint64_t untold;      /* of lane 0: samples of which it is not told what they count */
	bool unweighed;	      /* there are samples of which it is not told what they stand for */
	bool chosen;
	int lane_err;	       /* PP_ENOMEM: weights are missing */
	struct fold_run *runs; /* of a chart: stacks in the order in which they came */
	uint32_t nruns, runs_cap;
	int runs_err;		 /* PP_ENOMEM: runs are missing */
	struct fold_time *times; /* of fold_opts.times: all samples */
	struct fold_time now;	 /* what fold_at told of the next one */
	bool timed;		 /* it has */
	uint32_t ntimes, times_cap;
	int times_err; /* why they are not all there: fold_times */
};

/* ---- nodes.c ---- */

int fold_nodes_init(struct fold *f);
void fold_nodes_release(struct fold *f);
/* Frames of the deepest stack. */
uint32_t fold_nodes_depth(const struct fold *f);

/* ---- lanes.c ---- */

/* Adds to a node's weight, of whatever lane. */
void fold_weigh(struct fold *f, uint32_t node, uint64_t weight);

/* fold_add for a lane that does not own the weights. What fails is found by fold_choose. */
void fold_lane_add(struct fold *f, uint32_t node, uint64_t weight);
/* PP_EMISMATCH if they count something else, which is reported with the input's name. */
int fold_about_clash(struct fold *f, const struct fold_about *a, const struct fold_about *before,
		     const char *name);
/* Leaves the samples of one event in the fold. 0, PP_ENOMEM or PP_EMISMATCH (reported). */
int fold_choose(struct fold *f);
/* For struct event_names, of names that are interned: ctx is the table of them. */
const char *fold_interned(const void *ctx, uint32_t i, size_t *len);
void fold_lanes_release(struct fold *f);

/* ---- time_order.c ---- */

/* Takes note of a stack that comes now. What fails is found by fold_chart_each. */
void fold_chart_add(struct fold *f, uint32_t node, uint64_t weight);
/* The same for a sample with its time (fold_at). What fails is found by fold_times. */
void fold_time_add(struct fold *f, uint32_t node, uint64_t weight);
/* Leaves the samples of a lane, and those of lane 0. */
void fold_times_keep(struct fold *f, uint32_t lane);
/* Writes the stacks in the order in which they came. 0, PP_ENOMEM or the error of o. */
int fold_chart_write(const struct fold *f, struct out *o);

#endif
