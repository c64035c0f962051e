/*
 * Folding: counting equal call stacks.
 *
 * The stacks are kept in a tree of frames. A node is one stack, that of the frames from the root to
 * it, and carries a weight of 64 bits; nodes and names are small integers, so that a caller can
 * remember the node of a call chain that it has seen and only add to it:
 *
 *	struct fold *f;
 *	rc = fold_new(&f, &opts, diag);
 *	rc = fold_name(f, "main", 4, &name[1]);
 *	rc = fold_comm(f, "cc1", 3, "41", "42", &name[2]);
 *	rc = fold_stack(f, name, 3, &node);		(leaf first, the command last)
 *	fold_add(f, node, period);
 *	fold_finish(f);
 *	rc = fold_write(f, &out);
 *	fold_free(f);
 *
 * Memory is bounded by the distinct stacks. The output is folded text: `comm;outer;inner COUNT`,
 * one line for each stack, in the byte order of the stacks.
 */
#ifndef PP_FOLD_FOLD_H
#define PP_FOLD_FOLD_H

#include "base/diag.h"
#include "base/out.h"
#include "base/path_tree.h"
#include "fold/about.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The last line of folded text whose input was damaged or cut off. It has no count, so that
 * programs that do not know it skip it; pfold and psvg report it and exit with 1.
 */
#define FOLD_PARTIAL "# partial: the input was damaged or cut off"

/* What is wrong with folded text of which each line has two counts. */
#define FOLD_TWO_COUNTS \
	"each line has two counts, as difffolded.pl writes them: only one profile can be read"

#define FOLD_ROOT	0	/* the node of the empty stack */
#define FOLD_DEPTH_MAX	65536	/* frames of one stack; those beyond are left out */
#define FOLD_NAME_MAX	4096	/* bytes of a name; a longer one is cut, and ends in "...#HASH" */
#define FOLD_STACK_MAX	1048000 /* bytes of a stack's text: what is written can be read again */
#define FOLD_SLICES_MAX 99
#define FOLD_SLICE_LEN	3	   /* bytes of a slice's number in a name */
#define FOLD_BY_MAX	8	   /* fields whose values are frames */
#define FOLD_EVENTS_MAX 64	   /* events that are chosen from */
#define FOLD_TIMES_MAX	(1u << 20) /* samples that are kept with their times */
#define FOLD_LEAVE	UINT32_MAX /* no lane: the sample is left out */

/* What is folded of samples with a second stack, as intervals with a waker have it. */
enum fold_second {
	FOLD_FIRST, /* the first stack */
	FOLD_BOTH,  /* the first, `--`, and the second one upside down */
	FOLD_OTHER  /* the second stack, below the command of its thread */
};

struct fold_opts {
	bool pid;      /* the first frame is COMM-PID */
	bool tid;      /* the first frame is COMM-PID/TID */
	bool kernel;   /* mark kernel frames with _[k] */
	bool jit;      /* mark frames of JIT maps with _[j] */
	bool addrs;    /* unknown frames keep their address */
	bool srcline;  /* each frame of perf script text is followed by a source line */
	bool no_marks; /* no frame says how a stack ended, or that it is broken */
	bool count;    /* each sample weighs 1, whatever its period */
	/*
	 * Stacks are kept and written in the order in which they come, each time again; only equal
	 * ones in a row are added up. Input without times is refused.
	 */
	bool chart;
	bool times; /* event streams: samples are also kept one by one, for fold_times */
	/*
	 * Fields, the names of which are texts that outlive the fold: their values are the
	 * outermost frames, the first of them the root.
	 */
	const char *by[FOLD_BY_MAX];
	uint32_t nby;
	/*
	 * Not 0 (event streams): the first frame begins with the number of the slice of time that
	 * the sample is in, two digits and a blank. There are so many, FOLD_SLICES_MAX at most, of
	 * slice_width ns from slice_first on; the last one takes what is after it.
	 */
	uint32_t slices;
	uint64_t slice_first, slice_width;
	enum fold_second second;
	const char *kallsyms; /* of the recorded kernel, for function_graph; NULL: as recorded */
	const char *event;    /* the event to fold; NULL or "": the one with the most weight */
	const char *prefer;   /* of several, this one if it is there; NULL: none */
};

/* Samples whose period says nothing of their weight. */
struct fold_periods {
	uint64_t zero;
	uint64_t absurd; /* 2^63 or more: a difference below 0 */
};

/* Counts a period, which is returned. */
static inline uint64_t fold_period(struct fold_periods *p, uint64_t period)
{
	if (__builtin_expect(period - 1 >= INT64_MAX, 0)) {
		p->zero += !period;
		p->absurd += period != 0;
	}
	return period;
}

/* Reports them, if there are any. */
void fold_tell_periods(const struct fold_periods *p, struct diag *d);

/* samples = folded + bare + filtered + joined; each line of folded or bpftrace text is a sample. */
struct fold_account {
	uint64_t samples;
	uint64_t folded;	 /* with at least one frame */
	uint64_t bare;		 /* without call stack: folded as their command alone */
	uint64_t filtered;	 /* of events that are not folded */
	uint64_t joined;	 /* calls that count when they end */
	uint64_t outside;	 /* lines with a frame that belong to no sample */
	uint64_t weight;	 /* sum of what was added; saturates */
	uint64_t unrecognised;	 /* lines */
	bool partial;		 /* folded text said that it is partial (FOLD_PARTIAL) */
	bool told;		 /* fold_finish has reported what about and unsaid mean */
	uint64_t left_out;	 /* stacks that fold_shape left out */
	uint64_t lost;		 /* events that the recording says it lost */
	bool lacks;		 /* less than all was taken, which was reported */
	struct fold_about about; /* what is counted */
	struct fold_periods periods;
	bool unsaid; /* there was folded text that does not say what it counts */
};

struct fold;
struct ps_ends;

/*
 * opts are copied, but the texts of opts->event and opts->prefer and the diag (may be NULL) must
 * outlive the fold.
 */
int fold_new(struct fold **f, const struct fold_opts *opts, struct diag *d);
void fold_free(struct fold *f); /* NULL is fine */

const struct fold_opts *fold_options(const struct fold *f);
struct diag *fold_diag(const struct fold *f);
struct fold_account *fold_account(struct fold *f); /* the readers of input keep it */

/*
 * The id (1 and up) of a frame's name. What would break folded text is replaced: ';' by ':', and by
 * '?' control characters (utf8_shown) and bytes that are not UTF-8. 0, PP_ENOMEM or PP_ELIMIT.
 */
int fold_name(struct fold *f, const void *bytes, size_t len, uint32_t *id);

/*
 * The id of a stack's first frame: the command with '_' for each space and, as the options say, its
 * -PID or -PID/TID. pid and tid are decimal text; either may be "?".
 */
int fold_comm(struct fold *f, const char *comm, size_t len, const char *pid, const char *tid,
	      uint32_t *id);

/* Whether one of opts->by is the event or base_event, so that each event has a root of its own. */
bool fold_by_event(const struct fold_opts *opts);

/*
 * The lane of an event's samples. Without opts->event each event has its own, those of one event on
 * several PMUs of CPU cores (core_pmu.h) one, and fold_finish selects the lane with the most
 * weight.
 * Lane 0 has what there is no choice about. FOLD_LEAVE: samples of this event are left out.
 */
uint32_t fold_event(struct fold *f, const char *name, size_t len);

/*
 * A sample is in that lane, for the fold_add that follows: counted as folded, with a stack, or as
 * bare. weight: what it stands for in its event's unit, 0: this is not known. told: weight is the
 * period that the source has, which is looked at: fold_tell_periods.
 */
void fold_sample(struct fold *f, uint32_t lane, uint64_t weight, bool told, bool stack);

/*
 * What the source that is being read counts, by lane: an event is added, by the name without the
 * core's PMU; and all that is known so far, NULL after the last lane.
 */
void fold_note(struct fold *f, uint32_t lane, const char *name, size_t len, const char *unit,
	       size_t unit_len);
struct fold_about *fold_lane_about(struct fold *f, uint32_t lane);

/*
 * fold_tell for all lanes that the source has samples of, at its end, after which lane 0 is that of
 * fold_add. from: has the names of the recordings.
 */
int fold_tell_lanes(struct fold *f, const struct fold_about *from, const char *name);

/*
 * The node of a stack of n frames, names[0] the leaf, names[n - 1] the root. Quick for stacks that
 * were seen before. Of more than FOLD_DEPTH_MAX frames or FOLD_STACK_MAX bytes the leaves are left
 * out (fold_finish reports that). 0, PP_ENOMEM or PP_ELIMIT.
 */
int fold_stack(struct fold *f, const uint32_t *names, size_t n, uint32_t *node);

/*
 * The node of a node's stack with n more frames towards the leaf, the outermost first. Those that
 * fold_stack would leave out are left out, and *left_out is their number: who calls it counts them.
 * 0, PP_ENOMEM or PP_ELIMIT.
 */
int fold_path(struct fold *f, uint32_t below, const uint32_t *names, size_t n, uint32_t *node,
	      size_t *left_out);

/*
 * Adds to a node's weight, which stays at UINT64_MAX when it would exceed it. 0, or PP_ENOMEM: now
 * or before; fold_finish returns that as well.
 */
int fold_add(struct fold *f, uint32_t node, uint64_t weight);

/* Counts frames that a reader had to leave out because of FOLD_DEPTH_MAX. */
void fold_too_deep(struct fold *f, uint64_t frames);

/* Whether stacks or frames are missing, which was reported: folded text ends with a mark. */
bool fold_is_cut(const struct fold *f);

/* The same, or fields are missing in text that was read, which was also reported. */
bool fold_is_partial(const struct fold *f);

/* Number of distinct stacks that were added to. */
uint64_t fold_stacks(const struct fold *f);

/* What the stacks weigh that have marks, and all. 0 or PP_ENOMEM. */
int fold_ends(const struct fold *f, struct ps_ends *e);

/*
 * Calls fn for each stack that was added to, in no order that means something: names[0] is the
 * leaf. Stops when fn returns something other than 0, and returns it; PP_ENOMEM.
 */
typedef int fold_visit(void *ctx, const uint32_t *names, size_t n, uint64_t weight);
int fold_each(const struct fold *f, fold_visit *fn, void *ctx);

/*
 * The same for a chart (fold_opts.chart), in time order: nodes, and each as often as it came
 * after another one. Returns also PP_ENOMEM if memory ran out while the stacks came.
 */
typedef int fold_chart_visit(void *ctx, uint32_t node, uint64_t weight);
int fold_chart_each(const struct fold *f, fold_chart_visit *fn, void *ctx);

/* A sample of fold_opts.times. */
struct fold_time {
	uint64_t time, weight;
	uint32_t node, tid;
	uint32_t lane; /* of no use outside lib/fold */
};

/* When the sample of the next fold_add was taken; without a call its time is not known. */
void fold_at(struct fold *f, uint64_t time, uint32_t tid);

/*
 * The samples, in the order in which they came, which live as long as the fold; fold_finish comes
 * first. NULL and PP_END: there are none, or the time of one is not known; PP_ELIMIT: there were
 * more than FOLD_TIMES_MAX; PP_ENOMEM.
 */
int fold_times(const struct fold *f, const struct fold_time **v, uint32_t *n);

/*
 * The number of nodes, including the root: the node of a stack is greater than those of its parts.
 * And of a node, which is not the root: that of the stack without its innermost frame, whose name
 * is *name; its own weight (NULL: not wanted).
 */
uint32_t fold_nodes(const struct fold *f);
uint32_t fold_node(const struct fold *f, uint32_t node, uint32_t *name, uint64_t *weight);
bool fold_node_ends(const struct fold *f, uint32_t node); /* was added to, perhaps nothing */
/* Its own weight. All nodes with the ids of their names. */
uint64_t fold_weight(const struct fold *f, uint32_t node);
const struct paths *fold_paths(const struct fold *f);

/* Frees what only adding needs, when all is read; it is made again when something is added. */
void fold_settle(struct fold *f);

/* The text of a name's id, which lives as long as the fold. */
const char *fold_name_text(const struct fold *f, uint32_t id, size_t *len);

/*
 * All input has been read: settles, chooses the event, and gives the warnings that are due. What
 * was added, and the account, are known from here on. 0, PP_ENOMEM, or PP_EMISMATCH (fold_tell).
 */
int fold_finish(struct fold *f);

/*
 * Writes the folded text, without a line about it, in the order of memcmp on the stacks' text
 * (which is `LC_ALL=C sort` of the stacks, not of the lines). 0, PP_ENOMEM or the error of o.
 */
int fold_write(struct fold *f, struct out *o);

/*
 * Adds what a part of the input is about: 0, or PP_EMISMATCH if it counts something other than what
 * was read before, which is reported with the input's name.
 */
int fold_tell(struct fold *f, const struct fold_about *a, const char *name);

/* The line about what was folded, which comes first; nothing if it is not known. */
void fold_write_about(struct fold *f, struct buf *b);

#endif
