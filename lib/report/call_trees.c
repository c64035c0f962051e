/* Trees of a report: what functions call, from the root on, and what calls them. */
#include "report/parts.h"

#include "base/array.h"
#include "base/err.h"

#include <stdlib.h>

double report_least(const struct report *r)
{
	return r->o.min_share < 0 ? 0.5 : r->o.min_share;
}

void branches_release(struct branches *b)
{
	free(b->v);
	map64_release(&b->index);
	*b = (struct branches){0};
}

static int new_branch(struct branches *b, uint32_t parent, uint32_t call, uint32_t *at)
{
	struct branch *v = array_widen(b->v, &b->cap, b->n, 64, sizeof(*v));

	if (!v)
		return PP_ENOMEM;
	b->v = v;
	v[b->n] = (struct branch){.parent = parent, .call = call};
	v[b->n].depth = b->n ? v[parent].depth + 1 : 0;
	*at = b->n++;
	return 0;
}

/* The branch of a call below another one, made if it is new. */
static int step(struct branches *b, uint32_t parent, uint32_t call, uint32_t *at)
{
	uint32_t *slot = map64_put(&b->index, (uint64_t)parent << 32 | call, NULL);
	int rc = 0;

	if (!slot)
		return PP_ENOMEM;
	if (!*slot)
		rc = new_branch(b, parent, call, slot);
	*at = *slot;
	return rc;
}

static void add(struct branch *v, uint64_t weight, uint64_t samples)
{
	if (__builtin_add_overflow(v->total, weight, &v->total))
		v->total = UINT64_MAX;
	v->samples += samples;
}

/* Frames from the root on; a caller's tree has groups there. */
static uint32_t deepest_branch(const struct report *r, bool groups)
{
	return r->o.depth ? r->o.depth + groups : UINT32_MAX;
}

/* Links what is not left out: too small, too deep, or below such a one. */
static int link_all(struct branches *b, const struct result *s, uint32_t event, bool groups)
{
	const struct report *r = s->r;
	uint64_t whole = s->events[event].weight;
	struct report_child *v = calloc((size_t)b->n + 1, sizeof(*v));
	double least = report_least(r);
	uint32_t deepest = deepest_branch(r, groups), n = 0;

	if (!v)
		return PP_ENOMEM;
	for (uint32_t i = 1; i < b->n; i++)
		if (b->v[i].depth <= deepest && report_share(b->v[i].total, whole) >= least)
			v[n++] = (struct report_child){b->v[i].total, i, b->v[i].parent};
	report_sort_children(v, n);
	for (uint32_t i = 0; i < n; i++) {
		b->v[v[i].node].next = b->v[v[i].parent].first;
		b->v[v[i].parent].first = v[i].node;
	}
	free(v);
	return 0;
}

/* A node, unless it is left out. */
static int add_caller(struct branches *b, const struct result *s, uint32_t event, uint32_t k,
		      uint32_t *at)
{
	uint64_t total = weights_get(&s->total, k), whole = s->events[event].weight, own, samples;
	uint32_t parent = paths_parent(s->paths, k);
	int rc;

	result_own(s, k, &own, &samples);
	add(&b->v[0], own, samples);
	if ((parent && !at[parent]) || !weights_get(&s->samples, k) ||
	    report_share(total, whole) < report_least(s->r) ||
	    b->v[at[parent]].depth == deepest_branch(s->r, true))
		return 0;
	rc = new_branch(b, at[parent], paths_name(s->paths, k), &at[k]);
	if (rc)
		return rc;
	b->v[at[k]].total = total;
	b->v[at[k]].samples = weights_get(&s->samples, k);
	b->v[at[k]].self = own;
	return 0;
}

int branches_caller(struct branches *b, const struct result *s, uint32_t event)
{
	/* By node: its branch, 0 if it is left out. */
	uint32_t *at = calloc(s->n, sizeof(*at));
	int rc = at ? new_branch(b, 0, 0, at) : PP_ENOMEM;

	for (uint32_t run = s->event_first[event]; run != REPORT_NONE && !rc;
	     run = s->event_next[run]) {
		uint32_t end = result_run_end(s, run);

		for (uint32_t k = s->paths->runs[run].first; k < end && !rc; k++)
			rc = add_caller(b, s, event, k, at);
	}
	free(at);
	return rc ? rc : link_all(b, s, event, true);
}

/* Whether a node above is of the same row: what is below that counts there. */
static bool is_inside(const struct result *s, uint32_t node)
{
	for (uint32_t p = paths_parent(s->paths, node); p; p = paths_parent(s->paths, p))
		if (s->row_of[p] == s->row_of[node])
			return true;
	return false;
}

/* The ways up from the nodes of a row, with what these have themselves, or with all below them. */
static int callers(struct branches *b, const struct result *s, uint32_t row, bool own)
{
	uint32_t at;
	int rc = new_branch(b, 0, 0, &at);

	for (uint32_t k = s->row_first[row]; k != REPORT_NONE && !rc; k = s->row_next[k]) {
		uint64_t weight = weights_get(&s->total, k), samples = weights_get(&s->samples, k);
		uint32_t p = k;

		if (own)
			result_own(s, k, &weight, &samples);
		if (!samples || (!own && is_inside(s, k)))
			continue;
		add(&b->v[0], weight, samples);
		at = 0;
		while (!rc && (p = paths_parent(s->paths, p)) && paths_parent(s->paths, p)) {
			rc = step(b, at, paths_name(s->paths, p), &at);
			if (!rc)
				add(&b->v[at], weight, samples);
		}
		if (!rc)
			b->v[at].self += weight;
	}
	return rc ? rc : link_all(b, s, s->rows[row].event, false);
}

int branches_callee(struct branches *b, const struct result *s, uint32_t row)
{
	return callers(b, s, row, true);
}

int branches_callers(struct branches *b, const struct result *s, uint32_t row)
{
	return callers(b, s, row, s->r->o.no_children);
}
