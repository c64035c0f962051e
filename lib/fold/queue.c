/* Stacks on their way into a fold, whose steps alternate while memory is fetched. */
#include "fold/queue.h"

#include <string.h>

/* The steps: 1 the slot is there, 2 the names are, 3 the weight is. */
static int step(struct fold_queue *q, uint32_t at, int number)
{
	uint32_t place = at % FOLD_QUEUE_MAX;
	struct fold_queue_entry *e = &q->v[place];
	int rc = 0;

	switch (number) {
	case 1: fold_stack_soon(q->fold, e->hash, true); break;
	case 2:
		rc = fold_stack_hashed(q->fold, e->hash, e->names, e->n, &e->node);
		fold_add_soon(q->fold, e->node);
		break;
	case 3:
		fold_add(q->fold, e->node, e->weight);
		q->done(q->ctx, e->key, place, e->node);
		q->out++;
		break;
	}
	return rc;
}

/* Each of the stacks that have waited for FOLD_QUEUE_STEP others makes a step. */
static int advance(struct fold_queue *q)
{
	int rc = 0;

	for (int number = 3; number > 0 && !rc; number--) {
		uint32_t at = q->in - (uint32_t)number * FOLD_QUEUE_STEP;

		if (q->in - q->out > (uint32_t)number * FOLD_QUEUE_STEP - 1)
			rc = step(q, at, number);
	}
	return rc;
}

int fold_queue_add(struct fold_queue *q, const uint32_t *names, size_t n, uint64_t weight,
		   uint64_t key, uint32_t *place)
{
	struct fold_queue_entry *e;

	*place = q->in % FOLD_QUEUE_MAX;
	e = &q->v[*place];
	e->key = key;
	e->weight = weight;
	e->n = (uint32_t)n;
	memcpy(e->names, names, n * sizeof(*names));
	e->hash = fold_stack_hash(names, n);
	fold_stack_soon(q->fold, e->hash, false);
	q->in++;
	return advance(q);
}

int fold_queue_flush(struct fold_queue *q)
{
	uint32_t first = q->out;
	int rc = 0;

	/* A stack that has made a step makes it again, which changes nothing. */
	for (uint32_t at = first; at != q->in && !rc; at++)
		rc = step(q, at, 2);
	for (uint32_t at = first; at != q->in && !rc; at++)
		rc = step(q, at, 3);
	return rc;
}
