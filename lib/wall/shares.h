/*
 * Private to lib/wall: what critical paths are made of: shares, steps that look the same to people
 * for their thread, state and place, and for what the span's own thread waited meanwhile.
 *
 *	rc = wall_share_of(&s, w, &path, i, &id);
 *	text = wall_share_text(&s, id, WALL_SHARE_STATE, &len);	("[runnable] behind hog")
 */
#ifndef PP_WALL_SHARES_H
#define PP_WALL_SHARES_H

#include "wall/path.h"

#define WALL_SHARES_MAX \
	(1u << 20) /* different ones; the others are one, whose texts are "(other)" */

/* T(NAME, name): what a share is known by. */
#define WALL_SHARE_TEXTS(T) T(THREAD, "thread") T(STATE, "state") T(WHERE, "where") T(FOR, "for")
enum wall_share_text {
#define T(name, text) WALL_SHARE_##name,
	WALL_SHARE_TEXTS(T)
#undef T
		WALL_SHARE_NTEXTS
};

struct wall_shares {
	bool stacks;   /* whole stacks instead of functions: "main;run;work" */
	bool requests; /* each request, beside its device */
	struct intern texts;
	struct intern shares;
	struct intern steps; /* what of a step determines its share */
	uint32_t *of;	     /* by its id: the share */
	uint32_t cap;
	struct buf words;
};

/* The share that path->v[step] is of: ids count from 1. 0 or PP_ENOMEM. */
int wall_share_of(struct wall_shares *s, struct wall *w, const struct wall_path *path,
		  uint32_t step, uint32_t *share);
const char *wall_share_text(const struct wall_shares *s, uint32_t share, enum wall_share_text which,
			    size_t *len);
/* Stacks or threads were renumbered. */
void wall_shares_moved(struct wall_shares *s);
void wall_shares_release(struct wall_shares *s);

#endif
