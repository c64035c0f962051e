/*
 * Private to lib/wall: the critical path of a span: what decided when it ended. It is walked
 * backwards from the end, along the thread's time; a wait is replaced by what its waker did
 * meanwhile, and what that waited for by its own waker, and so on:
 *
 *	w.segment = wall_paths_segment; w.ctx = p = wall_paths_new(WALL_WINDOW);
 *	...
 *	rc = wall_path(p, &w, &from, begin, &path);
 *	... path.v[0..n - 1], the last step first: their times are begin to from.time, without a gap
 *
 * The last segments of all threads are kept in a window. What a path would need from before it is
 * WALL_UNKNOWN.
 */
#ifndef PP_WALL_PATH_H
#define PP_WALL_PATH_H

#include "wall/requests.h"

#define WALL_WINDOW   (4u << 20) /* segments that are kept, of 64 bytes */
#define WALL_WAKERS   64	 /* wakers of wakers that are followed */
#define WALL_PATH_MAX (1u << 22) /* steps of a path */

struct wall_step {
	uint64_t begin, end;
	uint32_t thread;
	uint32_t stack;	  /* kept */
	uint32_t other;	  /* RUNNABLE: the thread that ran there; BLOCKED: a waker that was not
			       recorded; 0 none */
	uint32_t request; /* BLOCKED: what a device was asked for: requests.h; 0 not known */
	uint32_t link;	  /* of the path's: whose wait ended by this; 0: the span's thread did it */
	uint8_t state;	  /* enum wall_state */
	uint8_t kind;	  /* BLOCKED: enum wall_kind */
	bool interrupted; /* RUNNING: it was interrupts that ran */
	bool between;	  /* RUNNING: the stack is that of a switch or a wakeup */
	bool unknown;	  /* BLOCKED: who ended it is not known */
	bool deep;	  /* BLOCKED: its waker is not followed, it would be the 65th */
};

/* A wait, which a waker that is followed ended. */
struct wall_link {
	uint32_t up;	/* the wait that this one replaces on the path; 0: none */
	uint32_t first; /* the outermost of these: of the span's own thread */
	uint32_t thread, stack;
	uint32_t waker, waker_stack; /* its thread; kept */
	uint8_t kind; /* enum wall_kind; WALL_NKINDS: the thread did not exist, it was made */
};

struct wall_path {
	struct wall_step *v; /* the last one first */
	uint32_t n, cap;
	struct wall_link *links; /* links[0] is none */
	uint32_t nlinks, links_cap;
	bool cut; /* it goes back to before the window */
};

/* Where a path begins. */
struct wall_from {
	uint32_t thread;
	uint64_t time;
	uint64_t last;	/* of the thread, then */
	uint32_t stack; /* where it is; 0 not known */
	uint8_t state;	/* since that: enum wall_state */
};

struct wall_paths;

struct wall_paths *wall_paths_new(uint32_t window); /* NULL: out of memory */
void wall_paths_free(struct wall_paths *p);	    /* NULL is fine */

/* Of struct wall. ctx: a struct wall_paths. */
int wall_paths_segment(void *ctx, struct wall *w, const struct wall_segment *s);
int wall_paths_moved(struct wall_paths *p, struct wall *w);

/* Sets the path from there back to `begin`. 0, PP_ENOMEM, PP_ELIMIT. */
int wall_path(struct wall_paths *p, struct wall *w, const struct wall_from *from, uint64_t begin,
	      struct wall_path *path);
void wall_path_release(struct wall_path *path);

#endif
