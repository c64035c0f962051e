/*
 * Private to lib/wall: spans, such as requests, with the critical path of each.
 *
 *	struct wall_spans s = {.span = on_span, .ctx = ...};
 *	rc = wall_spans_init(&s, o, d, &why);
 *	... wall_spans_record(&s, r, rec) ...
 *	rc = wall_spans_end(&s);
 *	wall_spans_release(&s);
 *
 * Spans are intervals of plat, which lat.h finds, or the lives of commands: of processes that began
 * in the recording, and were not made by one that did.
 */
#ifndef PP_WALL_SPANS_H
#define PP_WALL_SPANS_H

#include "wall/path.h"
#include "wall/wall.h"

struct wall_span {
	uint64_t begin, end;
	uint32_t thread; /* in which it ended */
	uint32_t name;	 /* text of the engine */
	uint64_t number; /* in the order of their ends, from 1 */
	const struct wall_path *path;
};

struct wall_spans {
	struct wall w;
	struct wall_paths *paths;
	struct wall_path path; /* of the span that was given last */
	struct lat *lat;       /* NULL: lives of commands */
	struct lat_opts lat_opts;
	uint64_t n, cut;
	uint64_t total, unknown; /* ns of their paths; what of that is WALL_UNKNOWN */
	/* Called for each span when it has ended. 0, or an error that ends the run. */
	int (*span)(void *ctx, struct wall_spans *s, const struct wall_span *span);
	/* Stacks were renumbered: see struct wall. NULL: it keeps none. */
	int (*moved)(void *ctx, struct wall *w);
	void *ctx;
};

/* 0; PP_EUSAGE with what is wrong in `why`; PP_ENOMEM. Release it in any case. */
int wall_spans_init(struct wall_spans *s, const struct wall_opts *o, struct diag *d,
		    struct buf *why);
void wall_spans_release(struct wall_spans *s);
int wall_spans_record(struct wall_spans *s, const struct sreader *r, const struct ps_record *rec);
int wall_spans_end(struct wall_spans *s);

#endif
