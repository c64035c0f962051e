/*
 * The records of all CPUs and buffers in order of time: each CPU's are in order in themselves, so a
 * heap of the CPUs by the time of their next record gives the next of all. Of equal times the first
 * CPU of the first buffer comes first, as in trace-cmd.
 */
#include "input/trace.h"

#include "base/err.h"

#include <stdlib.h>

struct heap {
	uint32_t *v; /* indices of CPUs */
	uint32_t n;
};

static bool before(const struct trace *t, uint32_t a, uint32_t b)
{
	uint64_t x = t->cpus[a].rec.time, y = t->cpus[b].rec.time;

	return x < y || (x == y && a < b);
}

static void sift_down(const struct trace *t, struct heap *h, uint32_t i)
{
	uint32_t cpu = h->v[i];

	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= h->n)
			break;
		if (child + 1 < h->n && before(t, h->v[child + 1], h->v[child]))
			child++;
		if (!before(t, h->v[child], cpu))
			break;
		h->v[i] = h->v[child];
		i = child;
	}
	h->v[i] = cpu;
}

static int fill(struct trace *t, struct heap *h)
{
	for (uint32_t i = 0; i < t->ncpus; i++) {
		int rc = trace_next_record(t, &t->cpus[i]);

		if (!rc)
			h->v[h->n++] = i;
		else if (rc != PP_END)
			return rc;
	}
	for (uint32_t i = h->n / 2; i-- > 0;)
		sift_down(t, h, i);
	return 0;
}

/* Delivers the first of the heap, and takes the next record of its CPU in. */
static int turn(struct trace *t, struct heap *h)
{
	struct trace_cpu *c = &t->cpus[h->v[0]];
	int rc, next;

	/* The next record is read before this one is written, since it may be its stack. */
	c->last = c->rec;
	next = trace_next_record(t, c);
	if (next && next != PP_END)
		return next;
	rc = trace_sample(t, c, &c->last, next ? NULL : &c->rec);
	if (next)
		h->v[0] = h->v[--h->n];
	if (h->n)
		sift_down(t, h, 0);
	return rc;
}

int trace_merge(struct trace *t)
{
	struct heap h = {0};
	int rc;

	if (!t->ncpus)
		return 0;
	h.v = calloc(t->ncpus, sizeof(*h.v));
	if (!h.v)
		return PP_ENOMEM;
	rc = fill(t, &h);
	while (!rc && h.n)
		rc = turn(t, &h);
	free(h.v);
	return rc;
}
