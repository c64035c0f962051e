/* Private to lib/wall: what its forms need of each other. */
#ifndef PP_WALL_PARTS_H
#define PP_WALL_PARTS_H

#include "filter/ssink.h"
#include "wall/kind.h"
#include "wall/wall.h"

/* ---- emit.c: segments as samples of an event stream ---- */

/* The frames beneath a stack that are no function's. */
#define WALL_RUNNABLE_TEXT    "[runnable]"
#define WALL_RUNNING_TEXT     "[running]"
#define WALL_INTERRUPTED_TEXT "[interrupted]"
#define WALL_UNKNOWN_TEXT     "[not known]"

struct wall_emit {
	struct swriter *w;
	const char *event;
	uint8_t *strings; /* bits, by text: defined in the stream that is written */
	uint32_t cap;
	bool defined;	    /* the event is */
	struct map64 below; /* stack and what is beneath it: the stack with that */
	struct map64 kinds; /* stack: kind + 1 */
	bool idle;	    /* write what is idle, too */
	uint64_t n, missing;
	uint64_t aside, aside_threads, total, unknown; /* ns */
};

/* A piece of a thread's time. */
struct wall_piece {
	uint64_t begin, end;
	uint64_t ns; /* that it stands for */
	uint32_t thread, cpu;
	uint32_t stack;
	const char *state; /* the word for it */
	const struct wall_wake *wake;
};

int wall_emit_sample(struct wall_emit *e, struct wall *w, const struct wall_piece *p);
/* A record of the input: what is context goes on. */
int wall_emit_record(struct wall_emit *e, struct wall *w, const struct sreader *r,
		     const struct ps_record *rec);
/* Of struct wall: the wall clock. ctx: a struct wall_emit. */
int wall_emit_segment(void *ctx, struct wall *w, const struct wall_segment *s);
int wall_emit_end(void *ctx, struct wall *w, struct wall_thread *t, bool open);
int wall_emit_moved(void *ctx, struct wall *w);
void wall_emit_release(struct wall_emit *e);

/* The stack with a frame beneath it, without its kernel frames if `user`; 0: there was no room. */
int wall_below(struct wall_emit *e, struct wall *w, uint32_t stack, const char *name, bool user,
	       uint32_t *out);
/* wall_wait, remembered. */
int wall_kind(struct wall_emit *e, struct wall *w, const struct wall_segment *s,
	      enum wall_kind *kind);

#endif
