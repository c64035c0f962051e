/*
 * The recordings of a comparison: how often each unit (function, stack, ...) was seen in each.
 * Private to lib/diff.
 *
 *	struct runs rs = {.by = "function", .diag = d};
 *	rc = runs_add(&rs, DIFF_BASE, "a.folded");
 *	runs_release(&rs);
 */
#ifndef PP_DIFF_RUNS_H
#define PP_DIFF_RUNS_H

#include "base/intern.h"
#include "diff/diff.h"
#include "fold/about.h"

#define RUN_SLICES 30

/* What was seen in parts of a recording of equal time. Arrays: by unit * RUN_SLICES + slice. */
struct run_slices {
	double n[RUN_SLICES], samples; /* of each, of all */
	double *self, *total;	       /* NULL: nothing */
	uint32_t nself, ntotal;
};

/* One recording. The arrays are parallel; a unit that is not in them was not seen. */
struct diff_recording {
	char *name; /* of its file */
	enum diff_side side;
	bool partial;
	double n;		   /* samples */
	double seconds;		   /* from the first sample to the last; 0: not known */
	bool again;		   /* it is an event stream in a file, which can be read again */
	struct run_slices *slices; /* NULL: not read */
	uint32_t nunits;
	uint32_t *unit; /* ids in runs.units */
	double *self;	/* samples whose leaf is the unit (or whose key is it) */
	double *total;	/* whose stack has it anywhere; NULL: units have no callees */
	/* Of latencies, instead: the median and the 99th percentile; 0: there are too few. */
};

/* Who called whom: samples of a side whose leaf is the callee, and all of them. */
struct run_edge {
	uint32_t callee, caller; /* units */
	double self[2], total[2];
};

struct runs {
	const char *by; /* the kind of unit */
	bool exact;	/* keep what canon.h leaves out */
	bool latency;	/* the recordings are tables with distributions */
	bool rows;	/* they are tables, or were made such by keys */
	bool seconds;	/* learn how long the recordings took */
	struct diag *diag;
	struct fold_about about; /* what the recordings so far count, as far as they tell */
	double period;		 /* weight of a sample in folded text; 0: found out */
	struct intern units;
	struct diff_recording *v;
	size_t n;
	struct map64 edge_of; /* callee << 32 | caller: index in edges */
	struct run_edge *edges;
	uint32_t nedges, edges_cap;
	bool no_edges; /* they are of no use */
	/* Whole stacks of each side, for folded text; only with keep_stacks. */
	bool keep_stacks;
	struct intern whole;
	double *whole_y[2]; /* by id in whole; samples */
	uint32_t nwhole[2];
};

/*
 * Reads one recording. Weights become samples: they are divided by the period, or, in folded text
 * of which it is not known, by what they have in common. 0, or an error that was reported. A
 * recording that is damaged is kept, and `partial`; one without samples is an error.
 */
int runs_add(struct runs *rs, enum diff_side side, const char *file);

/*
 * Reads a recording once more, for its slices. 0, also if it has none (then they stay NULL), or an
 * error that was reported.
 */
int runs_slice(struct runs *rs, struct diff_recording *r);

void runs_release(struct runs *rs);

#endif
