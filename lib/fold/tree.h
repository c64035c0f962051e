/*
 * Private to lib/fold: the tree of stacks, for the files that keep it (fold.c) and write it.
 *
 * A node is a stack: the one of its parent, and a frame. Children are found by a hash table of
 * (parent, name) for the whole tree.
 */
#ifndef PP_FOLD_TREE_H
#define PP_FOLD_TREE_H

#include "base/buf.h"
#include "base/intern.h"
#include "fold/fold.h"
#include "fold/table.h"

struct node {
	uint32_t parent, name;
	uint32_t depth : 31;
	uint32_t seen : 1; /* a stack ends here (its weight may be 0) */
	uint32_t len;	   /* bytes of the stack's text, with a ';' at its end */
};

/* Most that a search skips are recognized by the hash alone. */
struct child {
	uint32_t hash;
	uint32_t node; /* FOLD_ROOT: free */
};

/* A stack of a chart that came once, or several times in a row. */
struct fold_run {
	uint64_t weight;
	uint32_t node;
};

struct fold {
	struct fold_opts opts;
	struct fold_account account;
	struct diag *diag;
	struct intern names;
	struct buf scratch;
	struct node *nodes; /* nodes[0] is the root */
	uint64_t *weights;  /* by node: what is added to for every sample lies close together */
	uint32_t n, cap;
	struct child *children; /* open addressing on (parent, name) */
	uint32_t children_mask;
	struct fold_table stacks;
	uint64_t seen;	     /* nodes with seen set */
	uint64_t deep;	     /* frames left out of stacks that are too deep */
	uint64_t wide;	     /* of stacks whose text is too long */
	uint64_t long_names; /* names that were cut */
	bool saturated;
	struct buf event; /* the event that is folded, once known */
	struct intern others;
	uint64_t others_count[FOLD_EVENTS_MAX];
	uint64_t others_more;
	struct fold_run *runs; /* of a chart: stacks in the order in which they came */
	uint32_t nruns, runs_cap;
	int runs_err; /* PP_ENOMEM: runs are missing */
};

/* ---- chart.c ---- */

/* Takes note of a stack that comes now. What fails is found by fold_chart_each. */
void fold_chart_add(struct fold *f, uint32_t node, uint64_t weight);
/* Writes the stacks in the order in which they came. 0, PP_ENOMEM or the error of o. */
int fold_chart_write(const struct fold *f, struct out *o);

#endif
