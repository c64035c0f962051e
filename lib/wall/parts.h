/* Private to lib/wall: what its forms need of each other. */
#ifndef PP_WALL_PARTS_H
#define PP_WALL_PARTS_H

#include "filter/ssink.h"
#include "interval/lat_context.h"
#include "table/table.h"
#include "wall/shares.h"
#include "wall/spans.h"

/* ---- emit.c: times of threads as samples ---- */

/* The frames below a stack that belong to no function, besides the kinds of waits. */
#define WALL_RUNNABLE_TEXT    "[runnable]"
#define WALL_RUNNING_TEXT     "[running]"
#define WALL_INTERRUPTED_TEXT "[interrupted]"
#define WALL_UNKNOWN_TEXT     "[not known]"

struct wall_emit {
	struct swriter *w;
	const char *event; /* what it is called */
	struct lat_defined strings;
	bool defined;	    /* the event is */
	struct map64 below; /* stack and what is below it: the stack with that */
	bool idle;	    /* write what is idle, too */
	uint64_t key;	    /* of the next samples; 0: none */
	uint64_t n, missing;
	uint64_t aside; /* ns that were idle, and are not written */
};

/* A piece of a thread's time, as a sample. */
struct wall_piece {
	uint64_t begin, end;
	uint64_t ns; /* that it stands for */
	uint32_t thread, cpu;
	uint32_t stack;
	const char *state; /* the word for it */
	const struct wall_wake *wake;
};

/* A record of the input: what is context goes on. */
int wall_emit_record(struct wall_emit *e, struct wall *w, const struct sreader *r,
		     const struct ps_record *rec);
/* Of struct wall. ctx: a struct wall_emit. */
int wall_emit_segment(void *ctx, struct wall *w, const struct wall_segment *s);
int wall_emit_end(void *ctx, struct wall *w, struct wall_thread *t);
int wall_emit_moved(void *ctx, struct wall *w);
int wall_emit_piece(struct wall_emit *e, struct wall *w, const struct wall_piece *p);
/* The word for what a wait was for; NULL: it is idle, and left out. */
int wall_emit_wait(struct wall_emit *e, struct wall *w, const struct wall_segment *s,
		   const char **state);
/* A step of a critical path, and the word for its state. */
int wall_emit_step(struct wall_emit *e, struct wall *w, const struct wall_step *s);
const char *wall_step_state(const struct wall_step *s);
void wall_emit_release(struct wall_emit *e);

/* ---- wait_chains.c: waits as samples, with their wakers, and what these waited for ---- */

struct wall_chains {
	struct wall_emit e;
	struct wall_paths *paths;
	struct wall_path path; /* of the wait that was given last */
	uint64_t cut, deep;    /* paths that are cut, steps whose waker is not followed */
	struct intern nodes;
	uint32_t *stacks; /* by node: of a chain with this end; 0 not yet */
	uint32_t *links;  /* of `path`: their nodes */
	struct lat_stack_part *parts;
	uint32_t cap_stacks, cap_links, nparts, cap_parts;
};

/* Of struct wall. ctx: a struct wall_chains. */
int wall_chains_segment(void *ctx, struct wall *w, const struct wall_segment *s);
int wall_chains_moved(void *ctx, struct wall *w);
/* A new stream has its own stacks. */
void wall_chains_forget(struct wall_chains *c);
void wall_chains_release(struct wall_chains *c); /* all but e */

/* ---- say.c ---- */

/*
 * Reports what is missing in the recording; whether so much that a result is partial. It is of
 * `total` ns, of which `unknown` are WALL_UNKNOWN.
 */
bool wall_say(const struct wall *w, uint64_t unknown, uint64_t total, struct diag *d);
/* Reports that so many paths go back to before the window. */
void wall_say_cut(uint64_t cut, struct diag *d);
/* Reports why there is no result. */
void wall_say_nothing(const struct wall *w, struct diag *d);

/* ---- paths.c: plat --path, --tail, --emit path ---- */

int wall_run_paths(const struct wall_opts *o, char **names, int n, struct diag *d);

/* ---- tail.c ---- */

/* Spans by how long they took, and of what shares. */
struct wall_tail;
struct wall_tail *wall_tail_new(void); /* NULL: out of memory */
void wall_tail_free(struct wall_tail *t);
/* The span's shares: 0, PP_ENOMEM; PP_ELIMIT: there is no room for it. */
int wall_tail_add(struct wall_tail *t, struct wall_shares *s, struct wall *w,
		  const struct wall_span *span);
/*
 * Compares those of at least percentile `p` with the half in the middle, and fills a table of four
 * texts and three sums: more, slow, ordinary; or, if it is NULL, adds lines of folded text to `b`,
 * "THREAD;STACK;STATE ORDINARY SLOW". `title` gets what was compared. 0, PP_ENOMEM; PP_ENOENT:
 * there are too few spans.
 */
int wall_tail_compare(struct wall_tail *t, const struct wall_shares *s, double p, struct table *to,
		      struct buf *b, struct buf *title);

#endif
