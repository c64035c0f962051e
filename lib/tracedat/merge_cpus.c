/*
 * The records of all CPUs and buffers in order of time: each CPU's are in order in themselves, so a
 * heap of the CPUs by the time of their next record gives the next of all. Of equal times the first
 * CPU of the first buffer comes first, as in trace-cmd.
 */
#include "tracedat/parts.h"

#include "base/err.h"

#include <stdlib.h>

static bool before(struct trace_heap_cpu a, struct trace_heap_cpu b)
{
	return a.time < b.time || (a.time == b.time && a.cpu < b.cpu);
}

static void sift_down(struct trace_heap *h, uint32_t i)
{
	struct trace_heap_cpu cpu = h->v[i];

	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= h->n)
			break;
		if (child + 1 < h->n && before(h->v[child + 1], h->v[child]))
			child++;
		if (!before(h->v[child], cpu))
			break;
		h->v[i] = h->v[child];
		i = child;
	}
	h->v[i] = cpu;
}

int trace_heap_feed(struct trace *t, struct trace_heap *h)
{
	struct trace_heap_cpu *v;

	if (h->cap < t->ncpus) {
		v = realloc(h->v, t->ncpus * sizeof(*v));
		if (!v)
			return PP_ENOMEM;
		h->v = v;
		h->cap = t->ncpus;
	}
	for (uint32_t i = 0; i < t->ncpus; i++) {
		int rc = t->cpus[i].waits ? PP_END
					  : trace_next_record(t, &t->cpus[i], &t->cpus[i].rec);

		if (rc && rc != PP_END)
			return rc;
		if (!rc) {
			h->v[h->n++] = (struct trace_heap_cpu){t->cpus[i].rec.time, i};
			t->cpus[i].waits = true;
		}
	}
	for (uint32_t i = h->n / 2; i-- > 0;)
		sift_down(h, i);
	return 0;
}

void trace_heap_release(struct trace_heap *h)
{
	free(h->v);
	*h = (struct trace_heap){0};
}

/* Moves on by one record: 0, PP_END or an error. */
static int advance(struct trace *t, struct trace_cpu *c)
{
	c->last = c->rec;
	if (c->last.data == c->hold_rec.data) {
		struct buf hold = c->hold;

		c->hold = c->hold_rec;
		c->hold_rec = hold;
	}
	if (!c->peeked)
		return trace_next_record(t, c, &c->rec);
	c->rec = c->peek;
	c->peeked = false;
	return c->rec.data ? 0 : PP_END;
}

/* A kernel stack may be followed by the user's part of it. */
static int peek(struct trace *t, struct trace_cpu *c)
{
	int rc;

	if (t->user_type == UINT32_MAX || c->rec.type != t->stack_type)
		return 0;
	rc = trace_next_record(t, c, &c->peek);
	if (rc == PP_END)
		c->peek.data = NULL;
	c->peeked = !rc || rc == PP_END;
	return c->peeked ? 0 : rc;
}

/* Delivers the first of the heap, and takes the next record of its CPU in. */
static int turn(struct trace *t, struct trace_heap *h)
{
	struct trace_cpu *c = &t->cpus[h->v[0].cpu];
	/* The next record is read before this one is written, since it may be its stack. */
	int rc, next = advance(t, c);

	if (next && next != PP_END)
		return next;
	rc = next ? 0 : peek(t, c);
	if (!rc)
		rc = trace_sample(t, c, next ? NULL : &c->rec,
				  c->peeked && c->peek.data ? &c->peek : NULL);
	c->waits = !next;
	if (next)
		h->v[0] = h->v[--h->n];
	else
		h->v[0].time = c->rec.time;
	/* The CPU whose turn it was is often the one whose turn it is again. */
	if ((h->n > 1 && before(h->v[1], h->v[0])) || (h->n > 2 && before(h->v[2], h->v[0])))
		sift_down(h, 0);
	return rc;
}

int trace_heap_run(struct trace *t, struct trace_heap *h, uint64_t limit)
{
	int rc = 0;

	while (!rc && h->n && h->v[0].time <= limit)
		rc = turn(t, h);
	return rc;
}

int trace_merge(struct trace *t)
{
	struct trace_heap h = {0};
	int rc = trace_heap_feed(t, &h);

	if (!rc)
		rc = trace_heap_run(t, &h, UINT64_MAX);
	trace_heap_release(&h);
	return rc;
}
