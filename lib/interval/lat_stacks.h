/*
 * The call chains and stacks of points, for plat --emit and plat's wall clock (wall/wall.h).
 *
 * While an interval is open, the stream may define the ids of its stacks again, or begin all of
 * them again. So what they stand for is kept here by content, under ids of our own; in the stream
 * that is written they get others, in the order in which they are defined there:
 *
 *	lat_stacks_see(k, &rec);			(each record other than a sample)
 *	rc = lat_stacks_keep(k, r, &rec->sample, &p);	(p->chain and p->stack are ids of k)
 *	...
 *	rc = lat_stacks_write(k, w, source, &p, &s.chain, &s.stack);
 *	swriter_sample(w, source, &s);
 *
 * Between records, when lat_stacks_full, lat_stacks_bound frees what no point refers to any more:
 *
 *	lat_stacks_sweep(k);
 *	for (each point that is in use)
 *		rc = lat_stacks_move(k, &p);
 *	lat_stacks_swept(k);
 */
#ifndef PP_INTERVAL_LAT_STACKS_H
#define PP_INTERVAL_LAT_STACKS_H

#include "interval/interval.h"

#define LAT_STACKS_MAX	 (1u << 20)   /* different chains, stacks, frames, symbols: of each */
#define LAT_STACKS_BYTES (256u << 20) /* of all of them; twice that during a sweep */
#define LAT_STACKS_DEPTH (1u << 16)   /* addresses or frames of one */

struct lat_stacks;

/* max: instead of LAT_STACKS_MAX; 0: that. NULL: out of memory. */
struct lat_stacks *lat_stacks_new(uint32_t max);
void lat_stacks_free(struct lat_stacks *k); /* NULL is fine */

/* A record that defines something, or begins a stream. */
void lat_stacks_see(struct lat_stacks *k, const struct ps_record *rec);

/* Sets the ids of a point; or its `missing`, if there is no room. 0 or PP_ENOMEM. */
int lat_stacks_keep(struct lat_stacks *k, const struct sreader *r, const struct ps_sample *s,
		    struct lat_point *p);

/*
 * Whether as much has come since the last sweep as was in use then, or an eighth of what there is
 * room for.
 */
bool lat_stacks_full(const struct lat_stacks *k);
int lat_stacks_sweep(struct lat_stacks *k);
int lat_stacks_move(struct lat_stacks *k, struct lat_point *p);
void lat_stacks_swept(struct lat_stacks *k);

/*
 * Writes the definitions that a sample with the stacks of this point needs, where they are not yet
 * in w; what their ids are there, 0 none. 0, PP_ENOMEM or the writer's error.
 */
int lat_stacks_write(struct lat_stacks *k, struct swriter *w, uint32_t source,
		     const struct lat_point *p, uint32_t *chain, uint32_t *stack);

/* ---- stacks as what they are made of, for those that look into them or make new ones ---- */

/* Frame i of a stack, leaf first: its function, NULL where it has none; false: there is none. */
struct lat_stack_frame {
	const char *name;
	size_t len;
	uint32_t flags; /* PS_FRAME_KERNEL, ... */
};
bool lat_stacks_frame(const struct lat_stacks *k, uint32_t stack, uint32_t i,
		      struct lat_stack_frame *f);

/*
 * A part of a new stack: a stack of its own (0: none) without its `skip` innermost frames, or a
 * name.
 */
struct lat_stack_part {
	uint32_t stack, skip;
	bool turned;	  /* its innermost frame is the outermost of the part */
	const char *name; /* of a frame; NULL: it is a stack */
	size_t len;
};

/*
 * The stack of n parts, the outermost first; how it ended is what the first one says of that. 0;
 * PP_ELIMIT: there is no room; PP_ENOMEM.
 */
int lat_stacks_join(struct lat_stacks *k, const struct lat_stack_part *parts, uint32_t n,
		    uint32_t *stack);

#endif
