/*
 * Stacks on their way into a fold. To count a stack takes three steps, each of which waits for
 * memory that the one before has named: the slot of its hash, the names it is compared with, the
 * weight of its node. So some stacks are on the way at once, and between the steps of one the
 * others are served. Private to lib/fold.
 *
 *	struct fold_queue q = {.fold = f, .done = done, .ctx = ctx};
 *	rc = fold_queue_add(&q, names, n, weight, key, &place);
 *	fold_queue_more(&q, place, weight);	(until it is done)
 *	rc = fold_queue_flush(&q);
 */
#ifndef PP_FOLD_QUEUE_H
#define PP_FOLD_QUEUE_H

#include "fold/fold.h"

#define FOLD_QUEUE_STEP	 4		       /* stacks between two steps of one */
#define FOLD_QUEUE_MAX	 (4 * FOLD_QUEUE_STEP) /* on the way at most */
#define FOLD_QUEUE_NAMES 32		       /* names of a stack; others cannot be queued */

/* A stack has been counted: its node. `key` is as given to fold_queue_add. */
typedef void fold_queue_fn(void *ctx, uint64_t key, uint32_t place, uint32_t node);

struct fold_queue_entry {
	uint64_t key, weight;
	uint32_t hash, n, node;
	uint32_t names[FOLD_QUEUE_NAMES]; /* leaf first */
};

struct fold_queue {
	struct fold *fold;
	fold_queue_fn *done;
	void *ctx;
	uint32_t in, out; /* count for ever: a place is the remainder by FOLD_QUEUE_MAX */
	struct fold_queue_entry v[FOLD_QUEUE_MAX];
};

/*
 * n is from 1 to FOLD_QUEUE_NAMES. *place stands for the stack until it is done. 0, or as
 * fold_stack.
 */
int fold_queue_add(struct fold_queue *q, const uint32_t *names, size_t n, uint64_t weight,
		   uint64_t key, uint32_t *place);

/* Adds to the weight of a stack that is on the way. False: it is too much for one number. */
static inline bool fold_queue_more(struct fold_queue *q, uint32_t place, uint64_t weight)
{
	if (weight > UINT64_MAX - q->v[place].weight)
		return false;
	q->v[place].weight += weight;
	return true;
}

/* Counts all that are on the way. */
int fold_queue_flush(struct fold_queue *q);

#endif
