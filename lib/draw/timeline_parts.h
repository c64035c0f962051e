/*
 * Private to lib/draw/timeline*.c: what was read of a timeline.
 */
#ifndef PP_DRAW_TIMELINE_PARTS_H
#define PP_DRAW_TIMELINE_PARTS_H

#include "base/buf.h"
#include "base/intern.h"
#include "draw/timeline.h"

/* Columns: a number for each interval, as LEB128; gaps are signed (zigzag). */
enum {
	COLUMN_WHO,  /* number of the thread, 0 none */
	COLUMN_KIND, /* (CPU + 1) * 64 + kind * 2 + is open */
	COLUMN_GAP, /* from the end of the last interval of its thread, or of its kind on its CPU */
	COLUMN_DUR, /* duration */
	COLUMN_NAME,  /* number of a text, 0 none */
	COLUMN_WAKER, /* number of a thread, 0 none; of runq only */
	COLUMN_MARKS, /* of marks: event, CPU + 1, gap from the mark before, tid */
	COLUMN_STEPS, /* of steps of paths: path, tid, name, gap between starts, duration, state */
	NCOLUMNS
};

struct timeline_thread {
	uint32_t tid, pid; /* pid: UINT32_MAX not known */
	uint32_t name;	   /* number of the text */
	uint32_t domain;
};

struct timeline {
	struct timeline_account account;
	struct buf columns[NCOLUMNS];
	char kinds[TIMELINE_KINDS_MAX][32]; /* names; "": none */
	struct timeline_thread *threads;    /* from 1 on */
	uint32_t nthreads, threads_cap;
	uint32_t *text_of; /* by id of the input: number of the text */
	uint32_t text_of_cap, ntexts;
	struct buf texts; /* each ended by a NUL; number 1 first */
	struct buf from;  /* the recordings, with commas */
	struct buf unit;
	struct buf fields;  /* of the marks of this slice, each ended by a NUL */
	struct buf *slices; /* packed */
	uint32_t nslices, slices_cap;
	struct buf losses; /* JSON: [cpu, time, count], ... */
	struct buf events; /* of marks: JSON texts */
	uint64_t *ends;	   /* by lane: where its last interval ended, since `base` */
	uint32_t ends_cap;
	uint64_t base;	      /* where the first interval of the input begins */
	uint64_t first, last; /* of all intervals */
	uint64_t last_mark, last_step;
	struct intern step_texts; /* of steps; their numbers among the texts */
	uint32_t *step_text;
	uint32_t step_text_cap;
	bool begun, ended;
};

/* An interval, when they are gone through again. */
struct timeline_interval {
	uint32_t who, name, waker;
	uint32_t cpu; /* UINT32_MAX: not known */
	unsigned kind;
	bool open;
	uint64_t start, dur; /* start: since `first` */
};
typedef int timeline_fn(void *ctx, const struct timeline_interval *iv);
int timeline_each(const struct timeline *t, timeline_fn *fn, void *ctx);

/* A step of a critical path. */
struct timeline_step {
	uint64_t span;	     /* number of the path */
	uint64_t start, dur; /* start: since `first`, or 0 if it is before that */
	uint32_t tid, name, state;
};
typedef int timeline_step_fn(void *ctx, const struct timeline_step *s);
int timeline_each_step(const struct timeline *t, timeline_step_fn *fn, void *ctx);

/* A number of a column. */
uint64_t timeline_take(const struct buf *b, size_t *at);

/* Whether a kind is what a thread does, in lanes of threads, or what its CPU does. */
bool timeline_is_thread(const char *kind);

/* Packs what there is of a slice. 0 or PP_ENOMEM. */
int timeline_slice(struct timeline *t);

/* Appends the difference of two numbers, zigzag. */
void timeline_put_signed(struct buf *b, uint64_t from, uint64_t to);

/* The text of a number; "" for 0. */
const char *timeline_text(const struct timeline *t, uint32_t number);

extern const char draw_timeline_script[], draw_timeline_style[];
extern const char draw_timeline_script_sha256[], draw_timeline_style_sha256[]; /* in hex */

/* ---- timeline_line.c ---- */

/* Where the lanes of threads are: the middle of lane i is y + i * height. */
struct timeline_geometry {
	const uint32_t *lane_of_thread; /* UINT32_MAX: none */
	double x, per_ns, y, height;
};
/* Sets on[thread] of those on the longest path. 0 or PP_ENOMEM. */
int timeline_line_threads(const struct timeline *t, uint8_t *on);
/* Appends that path as the data of a <path>; nothing if there is none. 0 or PP_ENOMEM. */
int timeline_line(const struct timeline *t, const struct timeline_geometry *g, struct buf *d);

#endif
