/* Recordings of the function_graph tracer as stacks. */
#include "fold/function_graph.h"

#include "base/array.h"
#include "base/err.h"
#include "event/field.h"
#include "fold/tidy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum part { FUNC, DEPTH, DURATION, CALLTIME, RETTIME, PARTS };
static const char *const part_names[PARTS] = {"func", "depth", "duration", "calltime", "rettime"};

struct graph_event {
	enum { OTHER, CALL, END } what;
	uint32_t has; /* bits, of fields */
	struct field fields[PARTS];
};

struct graph_task {
	uint32_t depth; /* calls that it is in */
	struct {
		uint32_t name;	  /* 0: not recorded */
		uint64_t start;	  /* time of the event; 0 not known */
		uint64_t in_them; /* ns of the calls that it made, which have ended */
	} v[FOLD_GRAPH_DEPTH];
};

static void forget_event(struct graph_event *e)
{
	for (int i = 0; i < PARTS; i++)
		if (e->has & 1u << i)
			field_release(&e->fields[i]);
	*e = (struct graph_event){0};
}

int fold_graph_new(struct fold_graph *g)
{
	return kfunc_new(&g->kfunc, fold_options(g->fold)->kallsyms, fold_diag(g->fold));
}

void fold_graph_release(struct fold_graph *g)
{
	for (uint32_t i = 0; i < g->nevents; i++)
		forget_event(&g->events[i]);
	free(g->events);
	free(g->tasks);
	map64_release(&g->by_tid);
	map64_release(&g->funcs);
	buf_release(&g->text);
	kfunc_free(g->kfunc);
}

static int see_event(struct fold_graph *g, const struct ps_event *e)
{
	static const char *const names[] = {"", "ftrace:funcgraph_entry", "ftrace:funcgraph_exit"};
	const char *want = fold_options(g->fold)->event;
	struct graph_event *v;
	int what = END;

	while (what && (e->name.len != strlen(names[what]) ||
			memcmp(e->name.p, names[what], e->name.len) != 0))
		what--;
	if (e->id < g->nevents)
		forget_event(&g->events[e->id]);
	/* By their own names, the events are samples like others. */
	if (!what || (want && !strncmp(want, "ftrace:", 7)))
		return 0;
	v = array_widen(g->events, &g->nevents, e->id, 64, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	g->events = v;
	v += e->id;
	for (int i = 0; i < PARTS; i++) {
		int rc = field_resolve(&v->fields[i], e, part_names[i], strlen(part_names[i]));

		if (rc == PP_ENOMEM)
			return rc;
		if (!rc)
			v->has |= 1u << i;
	}
	if ((v->has & 3u) != 3u)
		return 0;
	v->what = what == END ? END : CALL;
	g->any = true;
	return 0;
}

static void forget_tasks(struct fold_graph *g)
{
	map64_clear(&g->by_tid);
	g->ntasks = 0;
}

int fold_graph_see(struct fold_graph *g, const struct ps_record *rec)
{
	kfunc_see(g->kfunc, rec);
	switch (rec->type) {
	case PS_EVENT: return see_event(g, &rec->event);
	/* What ended meanwhile is not known. */
	case PS_LOST: forget_tasks(g); break;
	case PS_HEADER:
		forget_tasks(g);
		map64_clear(&g->funcs);
		for (uint32_t i = 0; i < g->nevents; i++)
			forget_event(&g->events[i]);
		g->any = false;
		break;
	}
	return 0;
}

bool fold_graph_is(const struct fold_graph *g, uint32_t event)
{
	return g->any && event < g->nevents && g->events[event].what != OTHER;
}

static bool number(const struct graph_event *e, enum part i, const struct sreader *r,
		   const struct ps_record *rec, uint64_t *v)
{
	struct qval q;

	if (!(e->has & 1u << i) || !field_get(&e->fields[i], r, rec, &q) || q.kind != QV_INT)
		return false;
	*v = q.num;
	return true;
}

static int add_name(struct fold_graph *g, const char *s, size_t n, uint32_t *name)
{
	static const char kernel[] = "[kernel.kallsyms]";
	struct fold_symbol sym = {
		.func = s, .func_len = n, .dso = kernel, .dso_len = sizeof(kernel) - 1};

	buf_reset(&g->text);
	fold_tidy(fold_options(g->fold), &sym, &g->text);
	return g->text.err ? g->text.err : fold_name(g->fold, buf_str(&g->text), g->text.len, name);
}

/*
 * The name of the function of an event: an address, or in text its name, which the end of a call
 * that began before the recording lacks.
 */
static int func_name(struct fold_graph *g, const struct graph_event *e, const struct sreader *r,
		     const struct ps_record *rec, uint32_t *name)
{
	struct qval q;
	uint32_t *slot;
	char text[24];
	const char *s;
	size_t n;
	int rc;

	if (!field_get(&e->fields[FUNC], r, rec, &q) || (q.kind == QV_STR && !q.len))
		return fold_name(g->fold, "[unknown]", 9, name);
	if (q.kind == QV_STR)
		return add_name(g, q.s, q.len, name);
	slot = map64_put(&g->funcs, q.num ^ (uint64_t)rec->source << 48, NULL);
	if (!slot)
		return PP_ENOMEM;
	if (!*slot) {
		s = kfunc_name(g->kfunc, rec->source, q.num, &n);
		if (!s) {
			n = (size_t)snprintf(text, sizeof(text), "0x%" PRIx64, q.num);
			s = text;
		}
		rc = add_name(g, s, n, slot);
		if (rc)
			return rc;
	}
	*name = *slot;
	return 0;
}

/* The task of a sample: a thread, and of threads 0 that of the CPU. NULL: out of memory. */
static struct graph_task *task_of(struct fold_graph *g, const struct ps_record *rec)
{
	const struct ps_sample *s = &rec->sample;
	uint64_t key = (uint64_t)rec->source << 33 | (s->tid ? s->tid : 1ull << 32 | s->cpu);
	uint32_t *slot = map64_put(&g->by_tid, key, NULL);
	struct graph_task *v;

	if (!slot)
		return NULL;
	if (!*slot) {
		v = array_widen(g->tasks, &g->cap, g->ntasks, 16, sizeof(*v));
		if (!v)
			return NULL;
		g->tasks = v;
		v[g->ntasks].depth = 0;
		memset(&v[g->ntasks].v[0], 0, sizeof(v->v[0]));
		*slot = ++g->ntasks;
	}
	return &g->tasks[*slot - 1];
}

/* The task is in calls down to `depth`: those that were not recorded have no name. */
static void reach(struct graph_task *t, uint32_t depth)
{
	for (; t->depth < depth; t->depth++)
		memset(&t->v[t->depth], 0, sizeof(t->v[0]));
	t->depth = depth;
}

/* How long a call took: as the tracer says, or between its two events. */
static uint64_t duration(const struct graph_event *e, const struct sreader *r,
			 const struct ps_record *rec, uint64_t start)
{
	uint64_t from, to;

	if (number(e, DURATION, r, rec, &to))
		return to;
	if (number(e, CALLTIME, r, rec, &from) && number(e, RETTIME, r, rec, &to) && from)
		return to > from ? to - from : 0;
	return start && rec->sample.time > start ? rec->sample.time - start : 0;
}

static int put_path(struct fold_graph *g, const struct graph_task *t, uint32_t depth,
		    uint32_t *path, size_t *n)
{
	uint32_t last = 0, name;
	int rc = 0;

	if (!g->unknown)
		rc = fold_name(g->fold, "[unknown]", 9, &g->unknown);
	for (uint32_t i = depth + 1; i-- && !rc; last = name) {
		name = t->v[i].name ? t->v[i].name : g->unknown;
		/* However many were not recorded. */
		if (name != g->unknown || last != name)
			path[(*n)++] = name;
	}
	return rc;
}

int fold_graph_call(struct fold_graph *g, const struct sreader *r, const struct ps_record *rec,
		    uint32_t *path, size_t *n, uint64_t *weight)
{
	const struct graph_event *e = &g->events[rec->sample.event];
	struct graph_task *t = task_of(g, rec);
	uint64_t depth, took;
	uint32_t name, at;
	int rc;

	*n = 0;
	if (!t)
		return PP_ENOMEM;
	if (!number(e, DEPTH, r, rec, &depth) || depth >= FOLD_GRAPH_DEPTH)
		return 0;
	at = (uint32_t)depth;
	rc = func_name(g, e, r, rec, &name);
	if (rc)
		return rc;
	if (e->what == CALL) {
		reach(t, at);
		memset(&t->v[at], 0, sizeof(t->v[0]));
		t->v[at].name = name;
		t->v[at].start = rec->sample.time;
		t->depth = at + 1;
		return 0;
	}
	if (t->depth <= at)
		reach(t, at + 1);
	t->depth = at + 1;
	/* Its beginning was not recorded, or is told with its end. */
	if (t->v[at].name != name)
		t->v[at].start = 0;
	t->v[at].name = name;
	took = duration(e, r, rec, t->v[at].start);
	*weight = took > t->v[at].in_them ? took - t->v[at].in_them : 0;
	rc = put_path(g, t, at, path, n);
	if (at && __builtin_add_overflow(t->v[at - 1].in_them, took, &t->v[at - 1].in_them))
		t->v[at - 1].in_them = UINT64_MAX;
	t->depth = at;
	return rc;
}
