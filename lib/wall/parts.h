/* Private to lib/wall: segments as samples of an event stream (emit.c). */
#ifndef PP_WALL_PARTS_H
#define PP_WALL_PARTS_H

#include "filter/ssink.h"
#include "interval/lat_context.h"
#include "wall/kind.h"
#include "wall/wall.h"

struct wall_emit {
	struct swriter *w;
	struct lat_defined strings;
	bool defined;	    /* the event is */
	struct map64 below; /* stack and what is beneath it: the stack with that */
	struct map64 kinds; /* stack, and of what it is asked: kind + 1 */
	bool idle;	    /* write what is idle, too */
	uint64_t n, missing;
	uint64_t aside, total, unknown; /* ns */
};

/* A record of the input: what is context goes on. */
int wall_emit_record(struct wall_emit *e, struct wall *w, const struct sreader *r,
		     const struct ps_record *rec);
/* Of struct wall. ctx: a struct wall_emit. */
int wall_emit_segment(void *ctx, struct wall *w, const struct wall_segment *s);
int wall_emit_end(void *ctx, struct wall *w, struct wall_thread *t);
int wall_emit_moved(void *ctx, struct wall *w);
void wall_emit_release(struct wall_emit *e);

#endif
