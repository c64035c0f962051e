/*
 * Private to lib/report: the state of a report, and what its files need of each other.
 *
 * The tree is a struct fold whose names are not texts, but numbers of calls (struct report_call):
 * the fold's name k is call k. The first call of every stack is its group: the event, and the keys
 * that a sample has as a whole. When all is read, a result is made of it (result_rows.c), and
 * written.
 */
#ifndef PP_REPORT_PARTS_H
#define PP_REPORT_PARTS_H

#include "base/buf.h"
#include "base/intern.h"
#include "base/weights.h"
#include "expr/expr.h"
#include "fold/fold.h"
#include "report/report.h"
#include "symbol/kfunc.h"
#include "symbol/root.h"
#include "table/gate.h"

#define REPORT_KEYS_MAX (TABLE_KEYS_MAX - 1)
#define REPORT_NONE	UINT32_MAX

/* What distinguishes frames; compared as bytes, so that there is no padding. */
enum call_flags {
	CALL_GROUP = 1, /* no frame: `sym` is a number of report.groups */
	CALL_KERNEL = 2,
	CALL_INLINED = 4
};
struct report_call {
	uint64_t addr;		 /* with --addrs, of one without a name; else 0 */
	uint32_t sym, dso, line; /* texts; 0: not known */
	uint32_t flags;
};

/* A group: the event, and the texts of the keys, 0 for those of frames. Compared as bytes. */
struct group {
	uint32_t event;
	uint32_t key[REPORT_KEYS_MAX];
};

struct report_key {
	char *name;
	bool frame;	  /* a frame has it: sym, dso, srcline */
	enum field_id id; /* of such a one, and of those that every sample has */
	bool hex;	  /* an address */
	bool number;	  /* all values were numbers */
	bool comm;	  /* is the name of the thread */
	bool own;	  /* and never a field of the event */
};

/* An event; its figures are those of the samples that count. */
struct report_event {
	uint32_t name, unit; /* texts; unit 0: none */
	uint32_t number;     /* among those of that name, from 1 */
	uint32_t pmus;	     /* text: of kinds of CPU core that counted it; 0: no matter */
	uint64_t samples, weight;
	uint64_t told; /* samples, as the first line of folded text has it */
	/* By how their stacks ended, enum ps_end_how: those that are not whole. */
	uint64_t ended[PS_END_MAX], ended_weight[PS_END_MAX];
	uint64_t bare; /* without a stack */
	bool deep;     /* there is a stack of more than one frame */
	bool units;    /* there are several units */
};

/* samples = counted + filtered + others + joined + no_key. */
struct report_account {
	struct fold_periods periods;
	uint64_t samples, counted;
	uint64_t filtered; /* a filter before has not let them pass */
	uint64_t others;   /* of events that were not asked for */
	uint64_t joined;   /* stacks that belong to the sample before them */
	uint64_t no_key;   /* have no key */
	uint64_t raw;	   /* counted, but with addresses only */
	uint64_t lost;
};

/* A place in a function that was asked for. Compared as bytes, so that there is no padding. */
struct code_place {
	uint64_t addr;		     /* DSO-relative; kernel: absolute */
	uint64_t sym_addr, sym_size; /* of its function */
	uint32_t event, sym, dso;
	uint32_t build_id;   /* a text: the bytes; 0: not known */
	uint32_t file, line; /* of the source; 0: not known */
	uint32_t flags;	     /* CALL_KERNEL */
	uint32_t reserved;
};
/* What samples that were there themselves have. */
struct place_count {
	uint64_t weight, samples;
};

struct report {
	struct report_opts o;
	struct diag *d;
	struct expr *by;
	struct kfunc *kfunc; /* names for numbers of `by` */
	unsigned nkeys;
	struct report_key key[REPORT_KEYS_MAX];
	bool text_only; /* so far all input was text, without events and DSOs */
	struct intern texts, calls, groups, places;
	struct intern event_ids;	  /* of name and number */
	struct place_count *place_counts; /* by id */
	uint32_t nplace_counts;
	struct fold *tree;
	struct weights counts; /* samples by node */
	struct report_event *events;
	uint32_t nevents, cap_events;
	struct report_account account;
	struct buf text;		     /* of a key that is put together */
	struct root *roots[REPORT_DIRS_MAX]; /* of --symfs */
	size_t n_roots;
	struct gates *gates; /* NULL: no conditions */
	struct every *every; /* NULL: one report, in the end */
	bool *failed;	     /* a file that is there could not be read; owned */
	bool partial;	     /* the input was damaged or cut off */
};

/* ---- dictionaries.c ---- */

/* The number of a text, from 1 on; 0 means none. 0 or PP_ENOMEM, PP_ELIMIT. */
int report_text(struct report *r, const char *s, size_t len, uint32_t *id);
const char *report_text_get(const struct report *r, uint32_t id, size_t *len);

/* The number of a call, which is its name in the tree. */
int report_call(struct report *r, const struct report_call *c, uint32_t *id);
const struct report_call *report_call_get(const struct report *r, uint32_t id);

/* The number of a group's call. */
int report_group(struct report *r, const struct group *g, uint32_t *id);
const struct group *report_group_get(const struct report *r, const struct report_call *c);

/* What an event is called; made when it is new. */
int report_event(struct report *r, struct ps_str name, uint32_t number, struct ps_str unit,
		 uint32_t *event);

/* A PMU that counted the event, one of those of several kinds of CPU core. 0 or PP_ENOMEM. */
int report_event_pmu(struct report *r, uint32_t event, const char *pmu, size_t n);

/* Adds a sample to a node of the tree. 0 or PP_ENOMEM. */
int report_add(struct report *r, uint32_t event, uint32_t node, uint64_t weight, uint64_t samples);

/* How a call is shown: its name, that of its file in brackets, or its address. */
void report_call_name(const struct report *r, const struct report_call *c, struct buf *b);

/* The keys of a group, for people. */
void report_group_name(const struct report *r, const struct report_call *c, struct buf *b);

/*
 * The name of an event for people: without the terms that say how it was recorded where no other
 * has that name, and with its number if it is not the first of its name.
 */
void report_event_name(const struct report *r, uint32_t event, struct buf *b);

/* ---- sample_tree.c ---- */

/* Takes all samples of a stream from a source, which it frees. Returns the exit status. */
int report_stream(struct report *r, struct src *s);

/* ---- places.c ---- */

/* Takes note of where in a function that was asked for a sample is. 0 or PP_ENOMEM. */
int report_place(struct report *r, const struct sreader *in, const struct ps_sample *p,
		 uint32_t event, uint64_t weight);

/* Whether a function was asked for. */
bool report_wants(const struct report *r, const char *name, size_t len);

/* ---- every.c ---- */

/* What is shown of each period. 0, PP_ENOMEM, or PP_EUNSUPPORTED: which was reported. */
int every_new(struct every **e, struct report *r);
void every_free(struct every *e); /* NULL is fine */
/* A time, before its sample is counted. 0; PP_END: the user has seen enough; or an error. */
int every_see(struct every *e, uint64_t time);
/* A src_pause_fn. */
int every_pause(void *e);
/* Another recording follows: the period ends. As every_see. */
int every_next(struct every *e);
/* The exit status if it ended the reading: the user, or an error; -1: it did not. */
int every_status(const struct every *e);
/*
 * The end of all: text has what is above the sum; a view is gone through. *viewed: nothing is left
 * to be printed. 0 or an error, which was reported.
 */
int every_end(struct every *e, bool *viewed);

/* ---- folded_input.c ---- */

/* Takes the stacks of text from a source, which it frees. Returns the exit status. */
int report_folded(struct report *r, struct src *s);

/* ---- result_rows.c ---- */

struct report_row {
	uint32_t event;
	uint32_t key;  /* number in result.keys */
	uint32_t call; /* one of its frames; 0: it has none */
	uint64_t children, self;
	uint64_t nchildren, nself; /* samples */
};

/* What was counted by a moment, for the result of what came after it. */
struct report_since {
	uint64_t *weights, *samples; /* by node; owned */
	uint32_t n;
	struct report_event *events; /* owned */
	uint32_t nevents;
	struct place_count *places; /* by id; owned */
	uint32_t nplaces;
};

/* Which samples count. Of several conditions all must hold. */
struct report_filter {
	bool on;
	uint32_t event; /* REPORT_NONE: any */
	uint32_t comm;	/* text of the thread's name; 0: any */
	uint32_t dso;	/* text: a frame of the stack is of that file; 0: any */
	char sym[121];	/* the name of a frame has this in it; "": any */
	bool of_all;	/* percentages are of all samples, not of those that count */
};

/* What is made of the tree. */
struct result {
	const struct report *r;
	const struct report_since *since;   /* NULL: of everything */
	const struct report_filter *filter; /* NULL: everything counts */
	struct report_event *events; /* those of the report; their figures are of what counts */
	uint32_t nevents;
	/* By node, where the report goes on meanwhile: what it has itself; else NULL. */
	struct report_own {
		uint64_t weight, samples;
	} * own;
	bool *counts;		   /* by node: with a filter, whether its samples count */
	const struct paths *paths; /* the report's; their names are calls */
	uint32_t n, nruns;	   /* nodes and runs of it, which may have become more */
	struct weights total;	   /* by node: its weight and that of all below */
	struct weights samples;	   /* the same */
	uint32_t *group;	   /* by run: the call of its group */
	uint32_t *row_of;	   /* by node */
	struct intern keys;	   /* tuples of event and texts */
	struct report_row *rows;
	uint32_t nrows, cap_rows;
	/* For trees from functions and the view, else NULL: */
	uint32_t *row_first, *row_next; /* the nodes of a row: by row, by node; REPORT_NONE: none */
	/* For trees, functions and the view, else NULL: */
	uint32_t *event_first, *event_next; /* the same: the runs of an event, ascending */
	uint32_t *place_first, *place_next; /* and its places, whose ids begin with 1 */
	uint32_t *by_call; /* four numbers for each call, all 0: what walks count in (function.c) */
	uint32_t *order;   /* rows as they are shown: by event, then as asked for */
};

/*
 * Of what came since a moment, or NULL; with a filter, or NULL. Both must outlive it. 0, PP_ENOMEM,
 * or PP_ENOENT: there is no such column to sort by.
 */
int result_make(struct result *s, const struct report *r, const struct report_since *since,
		const struct report_filter *filter);
void result_release(struct result *s);

/* The texts of all keys of a row: their numbers. */
const uint32_t *row_texts(const struct result *s, const struct report_row *row);

/* Key k of a row as it is shown: an unknown one also has a word. Not yet safe for a terminal. */
void row_cell(const struct result *s, const struct report_row *row, unsigned k, struct buf *b);

/* Whether there is a column for a key: text does not tell the files of functions. */
bool report_has_key(const struct report *r, unsigned k);

/* A share in percent; 0 of nothing. */
static inline double report_share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* The rows of an event: the range of result.order. */
void result_event(const struct result *s, uint32_t event, uint32_t *from, uint32_t *to);

/* What a node has itself, not below it. */
void result_own(const struct result *s, uint32_t node, uint64_t *weight, uint64_t *samples);

/* The call of a node's group; the node after the last one of a run. */
static inline uint32_t result_group(const struct result *s, uint32_t node)
{
	return s->group[paths_run(s->paths, node)];
}
static inline uint32_t result_run_end(const struct result *s, uint32_t run)
{
	return run + 1 < s->nruns ? s->paths->runs[run + 1].first : s->n;
}

/*
 * A step to a node, from the one of the step before (FOLD_ROOT: there is none), whichever is the
 * next: `mark` is called with -1 for those that are left, and with 1 for those that are on the way
 * from what both have in common to the node's parent.
 */
typedef void result_mark(void *ctx, uint32_t node, int by);
void result_step(const struct result *s, uint32_t from, uint32_t to, result_mark *mark, void *ctx);

/* Whether a row is in the table: not what has too small a share. */
bool result_shows(const struct result *s, const struct report_row *row);

/* A node that is to be linked to its parent. */
struct report_child {
	uint64_t total;
	uint32_t node, parent;
};

/* By parent, then the smallest first, as they are put in front of each other. */
void report_sort_children(struct report_child *v, size_t n);

/* ---- since.c ---- */

/* Takes note of what is counted now. 0 or PP_ENOMEM. */
int report_since(struct report_since *x, const struct report *r);
void report_since_release(struct report_since *x);
/* Takes what was counted by then from the figures of a result's events. */
void report_since_events(struct result *s);

/* ---- call_trees.c ---- */

/* A node of a tree that is printed. Node 0 is the root, and stands for all of it. */
struct branch {
	uint32_t call; /* its number; right below the root of a caller's tree a group's */
	uint32_t parent;
	uint32_t depth;	      /* frames from the root */
	uint32_t first, next; /* its children, the greatest first; 0: none */
	uint64_t total, self, samples;
};
struct branches {
	struct branch *v;
	uint32_t n, cap;
	struct map64 index; /* by parent and call */
};

/* The stacks of an event from the root on, below their groups. 0 or PP_ENOMEM. */
int branches_caller(struct branches *b, const struct result *s, uint32_t event);

/* What called the frames of a row that have something themselves. 0 or PP_ENOMEM. */
int branches_callee(struct branches *b, const struct result *s, uint32_t row);

/* What called the frames of a row, with all that these called, unless --no-children was given. */
int branches_callers(struct branches *b, const struct result *s, uint32_t row);
void branches_release(struct branches *b);

/* The share of an event's weight below which branches are left out, in percent. */
double report_least(const struct report *r);

/* ---- event_head.c ---- */

/* Key k of a row as text and the view have it: paths are cut to their file; safe for a terminal. */
void report_cell(const struct result *s, const struct report_row *row, unsigned k, struct buf *b);

/* What was counted of an event, and what was not: a line without its end. */
void report_head(const struct result *s, uint32_t event, struct buf *b);

/* The tree of callers of an event; b is used on the way. */
int report_write_tree(const struct result *s, uint32_t event, uint32_t width, struct buf *b,
		      struct out *out);

/* ---- tree_text.c ---- */

#define REPORT_TREE_LEFT 9 /* columns before a tree below a row */

struct tree_draw {
	const struct report *r;
	const struct branches *b;
	uint64_t whole; /* what shares are of */
	uint32_t width; /* of a line; 0: any */
	uint32_t indent;
};

/* Appends the lines of what is below a node. 0 or PP_ENOMEM. */
int tree_draw(const struct tree_draw *t, uint32_t node, struct buf *out);

/* ---- function.c ---- */

/* Who called a function, or what it called. */
struct edge {
	uint32_t call;
	uint64_t weight, samples;
};
struct edges {
	struct edge *v;
	uint32_t n, cap;
};

/* A place, and what it has. */
struct spot {
	struct code_place at;
	uint64_t weight, samples;
};

/* All about one function of one event. */
struct report_function {
	uint32_t event, sym, dso;
	uint64_t total, self, samples, nself; /* samples: with it anywhere */
	struct edges callers, callees;	      /* the greatest first; call 0: there is none */
	uint64_t code;	    /* what is in its code: its own, and what is inlined there */
	struct spot *spots; /* by the address of the function, and theirs */
	uint32_t nspots, cap_spots;
};
struct report_functions {
	struct report_function *v; /* the greatest first */
	uint32_t n, cap;
};

#define FUNCTIONS_MAX 256 /* that a pattern may stand for */

/* The functions of an event that were asked for. 0, PP_ENOMEM, or PP_ELIMIT: there are too many. */
int functions_make(struct report_functions *f, const struct result *s, uint32_t event);
void functions_release(struct report_functions *f);

/* One of them. */
int functions_one(struct report_functions *f, const struct result *s, uint32_t event,
		  const struct report_call *c);

/* ---- function_facts.c ---- */

/* What all forms show about a function, one after another. */
enum fact_kind { FACT_FUNCTION, FACT_CALLER, FACT_CALLEE, FACT_LINE, FACT_CODE, FACT_NOTE };
struct fact {
	enum fact_kind kind;
	uint64_t weight, samples;
	double share;	  /* percent: of the event; lines and code: of the function itself */
	uint64_t addr;	  /* of code */
	uint64_t target;  /* of code that jumps within the function; 0: it does not */
	const char *file; /* of lines, and of code where it changes; NULL: none */
	uint32_t line;
	const char *text; /* name, instruction, or what is to be reported */
	bool hot;	  /* has more than most */
};
typedef int fact_fn(void *ctx, const struct report_function *f, const struct fact *fact);

/* Shows everything about a function. 0, PP_ENOMEM, or what fn returned. */
int function_tell(const struct result *s, const struct report_function *f, fact_fn *fn, void *ctx);

/* ---- instructions.c ---- */

/* Shows the instructions of a function; if its code is not available, a note says why. */
int code_tell(const struct result *s, const struct report_function *f, fact_fn *fn, void *ctx);

/* ---- function_text.c ---- */

/* The forms of --function. */
int report_write_functions(const struct result *s, uint32_t width, struct out *out);

/* One function as text. */
int report_write_function(const struct result *s, uint32_t event, const struct report_call *c,
			  struct out *out);

/* ---- html.c ---- */

int report_write_html(const struct result *s, struct out *out);

/* ---- data_forms.c ---- */

/* TSV, JSON and Markdown. */
int report_write_data(const struct result *s, struct out *out);

/* Lines are to be no longer than `width`; 0: they may be. 0 or an error, as of those below. */
int report_write_text(const struct result *s, uint32_t width, struct out *out);

/* The table of an event as text, or the table or the tree; b is used on the way. */
int report_write_table(const struct result *s, uint32_t event, uint32_t width, struct buf *b,
		       struct out *out);
int report_write_event(const struct result *s, uint32_t event, uint32_t width, struct buf *b,
		       struct out *out);

/*
 * Conditions of --fail-if: whether there is what they name, before anything was read; and what they
 * are, by all rows. 0; PP_EUSAGE, PP_ENOMEM: reported.
 */
int report_check_gates(const struct report *r);
int report_judge(const struct result *s, gates_zero_fn *zero, void *ctx);

#endif
