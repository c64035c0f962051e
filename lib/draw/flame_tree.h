/*
 * Private to lib/draw: the tree of struct flame, and the pieces of text and colour of the SVG.
 *
 *	struct label l = {0};
 *	rc = label_make(&l, name, len, palette, &arena);
 *	size_t n = label_fit(&l, 80, 12);	(bytes of l.text that fit into 80 pixels)
 */
#ifndef PP_DRAW_FLAME_TREE_H
#define PP_DRAW_FLAME_TREE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/path_tree.h"
#include "draw/flame.h"

#define FLAME_ROOT PATHS_ROOT /* no frame is its own callee: also "none" */

/* What the stacks that end at a node count. */
struct flame_counts {
	long double *v; /* by the node's number in flame.self; v[0] is 0 */
	uint32_t n;
};

/*
 * Counts with those of the callees. Frames that only call the next one, and count nothing
 * themselves, share a place.
 */
struct flame_sums {
	uint32_t *at;		 /* by node: its place */
	long double *now, *base; /* base NULL: one profile */
};

/* Where the callees of a node are, in the order of folded text that is sorted by bytes. */
struct flame_links {
	uint32_t last;	 /* its last callee, or FLAME_ROOT */
	uint32_t before; /* the sibling to its left, or FLAME_ROOT */
};

/* Two profiles: the base beside the nodes' own counts (two_profiles.c). */
struct flame_diff {
	long double base_sum;
	/* Of flame_diff_prepare. */
	long double most; /* greatest difference of a frame */
	long double gone_sum;
	long double total;  /* of the base */
	uint64_t gone;	    /* frames of the base alone */
	struct buf matched; /* commands of the base that were taken for others: "old as new" */

	struct flame_counts base;
	int8_t *verdict;    /* by node, of stacks: 1 more, -1 less */
	struct map64 names; /* verdicts by name: 2 more, 1 less */
	uint32_t nverdict;
	enum { FLAME_BY_FUNCTION, FLAME_BY_STACK, FLAME_BY_COMM } by;
	bool base_side; /* lines with one count are the base's */
	bool both;	/* lines had two counts, which are on one scale */
	bool judged;	/* pdiff said what is significant */
};

/* Whether a line is one of pdiff's about its verdicts; *rc: what came of it. */
bool flame_diff_line(struct flame *f, const char *line, size_t n, int *rc);
/* Before the drawing: all sums; with o->gone, only what is gone is left. 0 or PP_ENOMEM. */
int flame_diff_prepare(struct flame *f, const struct flame_opts *o, struct flame_sums *s);
/*
 * Commands of the base alone stand for those of the new profile alone: what is below them is
 * compared. 0 or PP_ENOMEM.
 */
int flame_diff_match(struct flame *f);
/* The callee of that name; made if there is none and `make`. *id FLAME_ROOT: there is none. */
int flame_callee(struct flame *f, uint32_t parent, uint32_t name, bool make, uint32_t *id);
/* Colour (six digits), tooltip and account. */
void flame_diff_fill(const struct flame *f, const struct flame_opts *o, uint32_t node,
		     const struct flame_sums *s, char fill[8]);
/* What pdiff says of a frame: 1 more, -1 less, 0 not significant. */
int flame_diff_verdict(const struct flame *f, uint32_t node);
void flame_diff_words(const struct flame *f, const struct flame_opts *o, uint32_t node,
		      const struct flame_sums *s, struct buf *b);
void flame_diff_legend(const struct flame *f, const struct flame_opts *o, double x, double y,
		       struct buf *b);
void flame_diff_describe(const struct flame *f, const struct flame_opts *o, bool page,
			 struct buf *b);

/* A sample of an event stream, for the order of time. */
struct flame_time {
	uint64_t time, weight;
	uint32_t node, tid;
};

struct flame {
	bool reverse;
	bool chart;		 /* in time order */
	const char *event;	 /* of text, as flame_choose was told */
	struct fold_about other; /* text: the events that were left out */
	struct buf rooted;	 /* text: a stack with its event as the root */
	int failed;		 /* what a stack could not be added for */
	uint32_t leaf;		 /* node of the stack that was added last */
	struct flame_diff *diff; /* NULL: one profile */
	/* Names are in `names`; 0: the root, or in a chart what counts for its caller. */
	struct paths paths;
	uint32_t *self; /* by node: its number in the counts; 0: no stack ends here */
	uint32_t nself; /* numbers given out, 0 included */
	struct flame_counts counts;
	struct flame_links *links; /* by node, as long as the stacks come sorted */
	uint32_t cap;		   /* nodes that self and links have room for */
	struct intern names;
	/*
	 * Sorted stacks need no look-ups: what does not begin like the stack before is new, and
	 * siblings come in their order. The first one that is out of order makes the index.
	 */
	bool unsorted;
	uint64_t looks; /* at siblings, that sorted stacks may still cost */
	/* The last stack: the next one often begins like it, and need not look up those frames. */
	struct buf last;
	uint32_t depth;
	uint32_t ntimes;	  /* see below */
	uint32_t *path;		  /* FLAME_DEPTH_MAX nodes */
	size_t *ends;		  /* where each frame ends in `last` */
	struct flame_time *times; /* all samples, if their times are known; see flame_times_add */
	double factor;		  /* of flame_scale: what a weight of theirs counts */
	long double times_sum;	  /* of their weights */
	struct flame_account account;
};

/*
 * Keeps the samples of a fold whose stacks have been read, with their times. 0, PP_ENOMEM; PP_END
 * or PP_ELIMIT, of fold_times: there are none.
 */
struct fold;
int flame_times_add(struct flame *f, const struct fold *fold);
/* Whether they are all that is in the tree. */
bool flame_times_whole(const struct flame *f);
/*
 * The samples in time order as a column: number of the thread, node, time since the one
 * before, weight; `node` has the page's numbers of nodes. To `threads` go the threads' tids, with
 * commas. 0 or PP_ENOMEM.
 */
int flame_times_column(struct flame *f, const uint32_t *node, struct buf *column,
		       struct buf *threads);

/* The counts of the stacks that end at a node, of the two profiles. */
static inline long double flame_self(const struct flame *f, uint32_t node)
{
	return f->self[node] < f->counts.n ? f->counts.v[f->self[node]] : 0;
}
static inline long double flame_base(const struct flame *f, uint32_t node)
{
	return f->self[node] < f->diff->base.n ? f->diff->base.v[f->self[node]] : 0;
}

/* Sets one of the two: c is &f->counts or &f->diff->base. 0 or PP_ENOMEM. */
int flame_set(struct flame *f, struct flame_counts *c, uint32_t node, long double count);

/* 0 or PP_ENOMEM. */
int flame_sums_make(const struct flame *f, struct flame_sums *s);
void flame_sums_release(struct flame_sums *s);

/* A frame's name as it is shown. Everything lives in the arena that label_make was given. */
struct label {
	const char *full; /* valid UTF-8 that XML allows, not yet escaped; NULL: not made yet */
	size_t full_len;
	size_t text_len; /* without the annotation _[k], _[i], _[j] or _[w] */
	float em;	 /* estimated width of the text in units of the font size */
	char fill[4];	 /* three hexadecimal digits and a NUL */
	bool plain;	 /* nothing in it needs escaping */
};

int label_make(struct label *l, const char *name, size_t len, unsigned palette, struct arena *a);

/* Bytes of the text that fit into `width` pixels, with ".." after them if not all; 0: none. */
size_t label_fit(const struct label *l, double width, double font_size);

/* Makes any bytes text that XML 1.0 may contain, not yet escaped. */
void xml_clean(struct buf *b, const char *s, size_t n);

/* Escapes cleaned text for use as content and as attribute. 0 or the output's error. */
int xml_escape(struct out *o, const char *s, size_t n);

/* What the time of an event was spent with: " on CPU"; NULL: it has no words. */
const char *event_words(const char *event);

/* The colour of a function of a class (palette_class), the same in every graph. */
void palette_fill(unsigned class, const char *name, size_t len, char fill[4]);

/*
 * The range of colours that a frame's is from, and its bounds (red, green, blue: from, to; 0 to
 * 15); false: there are no more.
 */
unsigned palette_class(unsigned palette, const char *name, size_t len);
bool palette_range(unsigned class, uint8_t v[6]);

/*
 * The palette of plat --emit wall: its number; whether a frame is a state of waiting; the class of
 * a function in whose frame more is waiting than running; its legend, line i (false: there is
 * none).
 */
unsigned palette_wall(void);
/* Whether it is for the samples of an event: those of plat --emit wall and path. */
bool palette_is_of_states(const char *event);
bool palette_waits(const char *name, size_t len);
unsigned palette_mostly_waits(unsigned class);
bool palette_legend(size_t i, unsigned *class, const char **what);

/* share/psvg.js, psvg-chart.js and psvg.css, made into C by the build. */
extern const char draw_script[], draw_chart_script[], draw_style[];
extern const char draw_page_script[], draw_page_style[];
extern const char draw_page_script_sha256[], draw_page_style_sha256[]; /* in hex */

#endif
