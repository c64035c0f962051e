/* What there is to tell of single functions: who called them, what they called, where they were. */
#include "base/array.h"
#include "base/err.h"
#include "report/parts.h"

#include <stdlib.h>

static uint64_t add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* `at` tells where a call is in e, from 1 on. */
static int add_edge(struct edges *e, uint32_t *at, uint32_t call, uint64_t weight, uint64_t samples)
{
	struct edge *v;

	if (!at[call]) {
		v = array_widen(e->v, &e->cap, e->n, 8, sizeof(*v));
		if (!v)
			return PP_ENOMEM;
		e->v = v;
		e->v[e->n++] = (struct edge){.call = call};
		at[call] = e->n;
	}
	v = &e->v[at[call] - 1];
	v->weight = add(v->weight, weight);
	v->samples += samples;
	return 0;
}

/* A walk through the tree with what is on the path: so each sample counts once for an edge. */
struct walk {
	const struct result *s;
	struct report_function *f;
	uint32_t *caller_on, *callee_on; /* by call */
	uint32_t *caller_at, *callee_at; /* likewise: where it is among the edges */
	uint32_t on;			 /* the function itself */
};

static bool is_it(const struct walk *w, uint32_t node)
{
	const struct report_call *c = report_call_get(w->s->r, paths_name(w->s->paths, node));

	return node && !(c->flags & CALL_GROUP) && c->sym == w->f->sym && c->dso == w->f->dso;
}

/* The caller's call; 0: the node is the outermost frame. */
static uint32_t caller_of(const struct walk *w, uint32_t node)
{
	const struct paths *p = w->s->paths;
	uint32_t up = paths_parent(p, node);

	return up && paths_parent(p, up) ? paths_name(p, up) : 0;
}

/* A result_mark. */
static void mark(void *ctx, uint32_t k, int by)
{
	struct walk *w = ctx;

	if (is_it(w, paths_parent(w->s->paths, k)))
		w->callee_on[paths_name(w->s->paths, k)] += (uint32_t)by;
	if (!is_it(w, k))
		return;
	w->on += (uint32_t)by;
	w->caller_on[caller_of(w, k)] += (uint32_t)by;
}

/* Adds a node, which is not on the path yet. */
static int enter(struct walk *w, uint32_t k)
{
	const struct result *s = w->s;
	uint64_t total = weights_get(&s->total, k), samples = weights_get(&s->samples, k), own, n;
	uint32_t name = paths_name(s->paths, k), caller;
	int rc = 0;

	if (!w->callee_on[name] && is_it(w, paths_parent(s->paths, k)))
		rc = add_edge(&w->f->callees, w->callee_at, name, total, samples);
	if (rc || !is_it(w, k))
		return rc;
	if (!w->on) {
		w->f->total = add(w->f->total, total);
		w->f->samples += samples;
	}
	result_own(s, k, &own, &n);
	w->f->self = add(w->f->self, own);
	w->f->nself += n;
	caller = caller_of(w, k);
	if (!w->caller_on[caller])
		rc = add_edge(&w->f->callers, w->caller_at, caller, total, samples);
	return rc;
}

/* All nodes of the function's event. */
static int walk(struct walk *w)
{
	const struct result *s = w->s;
	uint32_t at = FOLD_ROOT;
	int rc = 0;

	for (uint32_t run = s->event_first[w->f->event]; run != REPORT_NONE && !rc;
	     run = s->event_next[run])
		for (uint32_t k = s->paths->runs[run].first; k < result_run_end(s, run) && !rc;
		     k++) {
			result_step(s, at, k, mark, w);
			rc = enter(w, k);
			mark(w, k, 1);
			at = k;
		}
	result_step(s, at, FOLD_ROOT, mark, w);
	return rc;
}

static int compare_edges(const void *va, const void *vb)
{
	const struct edge *a = va, *b = vb;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->call < b->call ? -1 : a->call > b->call;
}

static int fill_edges(const struct result *s, struct report_function *f)
{
	size_t n = (size_t)s->r->calls.n + 1;
	struct walk w = {.s = s,
			 .f = f,
			 .caller_on = s->by_call,
			 .callee_on = s->by_call + n,
			 .caller_at = s->by_call + 2 * n,
			 .callee_at = s->by_call + 3 * n};
	int rc = walk(&w);

	/* All are 0 again for the next function; the path of a walk is left. */
	for (uint32_t i = 0; i < f->callers.n; i++)
		w.caller_at[f->callers.v[i].call] = 0;
	for (uint32_t i = 0; i < f->callees.n; i++)
		w.callee_at[f->callees.v[i].call] = 0;
	if (f->callers.n)
		qsort(f->callers.v, f->callers.n, sizeof(*f->callers.v), compare_edges);
	if (f->callees.n)
		qsort(f->callees.v, f->callees.n, sizeof(*f->callees.v), compare_edges);
	return rc;
}

static int compare_spots(const void *va, const void *vb)
{
	const struct spot *a = va, *b = vb;

	if (a->at.sym_addr != b->at.sym_addr)
		return a->at.sym_addr < b->at.sym_addr ? -1 : 1;
	return a->at.addr < b->at.addr ? -1 : a->at.addr > b->at.addr;
}

static int fill_spots(const struct result *s, struct report_function *f)
{
	const struct report *r = s->r;

	for (uint32_t id = s->place_first[f->event]; id != REPORT_NONE; id = s->place_next[id]) {
		const struct code_place *p = (const void *)intern_get(&r->places, id, NULL);
		struct place_count count = r->place_counts[id];
		struct spot *v;

		if (s->since && id < s->since->nplaces) {
			count.weight -= s->since->places[id].weight;
			count.samples -= s->since->places[id].samples;
		}
		if (!count.samples)
			continue;
		if (p->sym != f->sym || p->dso != f->dso)
			continue;
		v = array_widen(f->spots, &f->cap_spots, f->nspots, 64, sizeof(*v));
		if (!v)
			return PP_ENOMEM;
		f->spots = v;
		v[f->nspots++] = (struct spot){*p, count.weight, count.samples};
		if (__builtin_add_overflow(f->code, count.weight, &f->code))
			f->code = UINT64_MAX;
	}
	if (f->nspots)
		qsort(f->spots, f->nspots, sizeof(*f->spots), compare_spots);
	return 0;
}

/* The function of a call, made if it is new. */
static int find(struct report_functions *f, uint32_t event, const struct report_call *c)
{
	struct report_function *v;

	for (uint32_t i = 0; i < f->n; i++)
		if (f->v[i].sym == c->sym && f->v[i].dso == c->dso)
			return 0;
	if (f->n == FUNCTIONS_MAX)
		return PP_ELIMIT;
	v = array_widen(f->v, &f->cap, f->n, 8, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	f->v = v;
	v[f->n++] = (struct report_function){.event = event, .sym = c->sym, .dso = c->dso};
	return 0;
}

static int compare_functions(const void *va, const void *vb)
{
	const struct report_function *a = va, *b = vb;

	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	return a->sym < b->sym ? -1 : a->sym > b->sym;
}

/* What each of them has, the greatest first. */
static int fill(struct report_functions *f, const struct result *s)
{
	int rc = 0;

	for (uint32_t i = 0; i < f->n && !rc; i++) {
		rc = fill_edges(s, &f->v[i]);
		if (!rc)
			rc = fill_spots(s, &f->v[i]);
	}
	if (f->n)
		qsort(f->v, f->n, sizeof(*f->v), compare_functions);
	return rc;
}

int functions_one(struct report_functions *f, const struct result *s, uint32_t event,
		  const struct report_call *c)
{
	int rc = find(f, event, c);

	return rc ? rc : fill(f, s);
}

int functions_make(struct report_functions *f, const struct result *s, uint32_t event)
{
	const struct report *r = s->r;
	int rc = 0;

	for (uint32_t run = s->event_first[event]; run != REPORT_NONE && !rc;
	     run = s->event_next[run])
		for (uint32_t k = s->paths->runs[run].first; k < result_run_end(s, run) && !rc;
		     k++) {
			const struct report_call *c = report_call_get(r, paths_name(s->paths, k));
			size_t len;
			const char *name =
				report_text_get(r, c->flags & CALL_GROUP ? 0 : c->sym, &len);

			if (len && report_wants(r, name, len))
				rc = find(f, event, c);
		}
	rc = rc ? rc : fill(f, s);
	/* Those of other events have nothing here. */
	while (f->n && !f->v[f->n - 1].samples) {
		f->n--;
		free(f->v[f->n].callers.v);
		free(f->v[f->n].callees.v);
		free(f->v[f->n].spots);
	}
	return rc;
}

void functions_release(struct report_functions *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		free(f->v[i].callers.v);
		free(f->v[i].callees.v);
		free(f->v[i].spots);
	}
	free(f->v);
	*f = (struct report_functions){0};
}
