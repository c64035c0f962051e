/* The table of counts: events, CPUs, threads, and a cell for each combination. */
#include "count/count.h"

#include "base/array.h"
#include "base/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST 8 /* entries of a new list */

void counts_init(struct counts *c, enum count_by by)
{
	*c = (struct counts){.by = by};
}

void counts_release(struct counts *c)
{
	free(c->events);
	free(c->cpus);
	free(c->threads);
	free(c->groups);
	free(c->cells);
	free(c->before);
	free(c->rows);
	arena_release(&c->arena);
	*c = (struct counts){0};
}

const char *count_by_name(enum count_by by)
{
	static const char *const names[] = {
#define B(name, text) text,
		COUNT_BYS(B)
#undef B
	};

	return (unsigned)by < sizeof(names) / sizeof(names[0]) ? names[by] : "";
}

static const char *keep(struct counts *c, const char *s)
{
	return arena_dup(&c->arena, s ? s : "", s ? strlen(s) : 0);
}

int counts_add_event(struct counts *c, const struct count_event *e)
{
	struct count_event *v =
		array_widen(c->events, &c->cap_events, c->n_events, FIRST, sizeof(*v));

	if (!v)
		return PP_ENOMEM;
	c->events = v;
	v += c->n_events;
	*v = *e;
	v->name = keep(c, e->name);
	v->unit = keep(c, e->unit);
	v->role = count_role(e);
	v->cgroup = e->cgroup ? keep(c, e->cgroup) : NULL;
	if (!v->name || !v->unit || (e->cgroup && !v->cgroup))
		return PP_ENOMEM;
	c->n_events++;
	return 0;
}

int counts_add_cpu(struct counts *c, const struct count_cpu *cpu)
{
	struct count_cpu *v = array_widen(c->cpus, &c->cap_cpus, c->n_cpus, FIRST, sizeof(*v));

	if (!v)
		return PP_ENOMEM;
	c->cpus = v;
	v[c->n_cpus++] = *cpu;
	return 0;
}

int counts_add_thread(struct counts *c, int64_t tid, const char *comm)
{
	struct count_thread *v =
		array_widen(c->threads, &c->cap_threads, c->n_threads, FIRST, sizeof(*v));

	if (!v)
		return PP_ENOMEM;
	c->threads = v;
	v += c->n_threads;
	v->tid = tid;
	v->comm = keep(c, comm);
	if (!v->comm)
		return PP_ENOMEM;
	c->n_threads++;
	return 0;
}

/* ---- groups ---- */

/* What a CPU belongs to. */
static struct count_group group_of(const struct counts *c, const struct count_cpu *cpu)
{
	struct count_group g = {-1, -1, -1, -1, -1, -1};

	switch (c->by) {
	case COUNT_BY_CPU: g.cpu = cpu->cpu; break;
	case COUNT_BY_CORE: g.core = cpu->core; /* fall through */
	case COUNT_BY_DIE: g.die = cpu->die;	/* fall through */
	case COUNT_BY_SOCKET: g.socket = cpu->socket; break;
	case COUNT_BY_NODE: g.node = cpu->node; break;
	case COUNT_BY_ALL:
	case COUNT_BY_THREAD: break;
	}
	return g;
}

static int compare(const void *pa, const void *pb)
{
	const struct count_group *a = pa, *b = pb;
	const int64_t by[][2] = {{a->node, b->node}, {a->socket, b->socket},
				 {a->die, b->die},   {a->core, b->core},
				 {a->cpu, b->cpu},   {a->thread, b->thread}};

	for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++)
		if (by[i][0] != by[i][1])
			return by[i][0] < by[i][1] ? -1 : 1;
	return 0;
}

static int make_groups(struct counts *c)
{
	bool threads = c->by == COUNT_BY_THREAD;
	uint32_t n = threads ? c->n_threads : c->n_cpus, kept = 0;
	struct count_group *g = calloc(n, sizeof(*g));

	if (!g)
		return PP_ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		g[i] = threads ? (struct count_group){-1, -1, -1, -1, -1, i}
			       : group_of(c, &c->cpus[i]);
	}
	/* CPUs as they come, their parts in order. */
	if (c->by != COUNT_BY_CPU)
		qsort(g, n, sizeof(*g), compare);
	for (uint32_t i = 0; i < n; i++)
		if (!kept || compare(&g[kept - 1], &g[i]))
			g[kept++] = g[i];
	c->groups = g;
	c->n_groups = kept;
	return 0;
}

int counts_lay_out(struct counts *c)
{
	const struct count_cpu any = {-1, -1, -1, -1, -1};
	uint64_t n;
	int rc = c->n_cpus ? 0 : counts_add_cpu(c, &any);

	if (!rc && !c->n_threads)
		rc = counts_add_thread(c, -1, "");
	if (rc)
		return rc;
	n = (uint64_t)c->n_cpus * c->n_threads;
	if (n > COUNT_CELLS_MAX || n * c->n_events > COUNT_CELLS_MAX)
		return PP_ELIMIT;
	n *= c->n_events;
	rc = make_groups(c);
	if (rc)
		return rc;
	c->cells = calloc(n ? n : 1, sizeof(*c->cells));
	c->before = calloc(n ? n : 1, sizeof(*c->before));
	c->rows = calloc((size_t)c->n_events * c->n_groups + 1, sizeof(*c->rows));
	if (!c->cells || !c->before || !c->rows)
		return PP_ENOMEM;
	c->laid_out = true;
	return 0;
}

/* Rows of new groups, with what those of the old ones have. */
static int keep_rows(struct counts *c, const struct count_group *old, uint32_t n_old)
{
	struct count_row *rows = calloc((size_t)c->n_events * c->n_groups + 1, sizeof(*rows));

	if (!rows)
		return PP_ENOMEM;
	for (uint32_t g = 0; g < c->n_groups; g++)
		for (uint32_t o = 0; o < n_old; o++)
			for (uint32_t e = 0; e < c->n_events && !compare(&c->groups[g], &old[o]);
			     e++)
				rows[(size_t)e * c->n_groups + g] = c->rows[(size_t)e * n_old + o];
	free(c->rows);
	c->rows = rows;
	return 0;
}

int counts_move_cpu(struct counts *c, uint32_t cpu, const struct count_cpu *place)
{
	struct count_group *old = c->groups;
	uint32_t n_old = c->n_groups;
	int rc;

	c->cpus[cpu] = *place;
	rc = make_groups(c);
	if (rc)
		return rc;
	rc = keep_rows(c, old, n_old);
	if (rc) { /* as it was */
		free(c->groups);
		c->groups = old;
		c->n_groups = n_old;
		return rc;
	}
	free(old);
	return 0;
}

unsigned counts_unit_width(const struct counts *c)
{
	size_t width = strlen("unit");

	for (uint32_t e = 0; e < c->n_events; e++)
		if (c->events[e].supported && strlen(c->events[e].unit) > width)
			width = strlen(c->events[e].unit);
	return (unsigned)width;
}

void counts_clear(struct counts *c)
{
	size_t n = (size_t)c->n_events * c->n_cpus * c->n_threads;

	memset(c->cells, 0, n * sizeof(*c->cells));
	memset(c->before, 0, n * sizeof(*c->before));
}

/* ---- sums ---- */

/* A value that was counted for a part of the time only, as it would have been for all of it. */
static double count_scaled(const struct count_value *v)
{
	if (!v->running)
		return 0;
	if (v->running >= v->enabled)
		return (double)v->value;
	/* As a whole number, like all counts. */
	return (double)(uint64_t)((double)v->value * (double)v->enabled / (double)v->running);
}

static bool belongs(const struct counts *c, const struct count_group *g, uint32_t cpu,
		    uint32_t thread)
{
	struct count_group of;

	if (c->by == COUNT_BY_ALL)
		return true;
	if (c->by == COUNT_BY_THREAD)
		return g->thread == thread;
	of = group_of(c, &c->cpus[cpu]);
	return !compare(&of, g);
}

/* A counter that was absent before begins with 0. */
static struct count_value since(const struct counts *c, size_t at, bool delta)
{
	struct count_value v = c->cells[at];

	if (delta && c->before[at].running != COUNT_ABSENT) {
		v.value -= c->before[at].value;
		v.enabled -= c->before[at].enabled;
		v.running -= c->before[at].running;
	}
	return v;
}

static double scaled(const struct counts *c, const struct count_value *v)
{
	return c->no_scale ? (double)v->value : count_scaled(v);
}

/*
 * The sum of an event in a group. The whole is scaled as one; parts are scaled before they are
 * added up, and one that was not counted leaves its group without a count.
 */
static double sum(const struct counts *c, uint32_t event, const struct count_group *g, bool delta,
		  struct count_row *row)
{
	struct count_value total = {0};
	double value = 0;
	bool parts = c->by != COUNT_BY_ALL && c->by != COUNT_BY_THREAD, bad = false;
	uint32_t away = 0;

	row->cpus = 0;
	for (uint32_t p = 0; p < c->n_cpus && !bad; p++) {
		bool counted = false;

		for (uint32_t t = 0; t < c->n_threads; t++) {
			size_t at = ((size_t)event * c->n_cpus + p) * c->n_threads + t;
			struct count_value v;

			if (c->cells[at].running == COUNT_ABSENT || !belongs(c, g, p, t))
				continue;
			v = since(c, at, delta);
			if (delta && parts && !v.enabled && c->before[at].enabled) {
				away++; /* its CPU was offline */
				continue;
			}
			total.value += v.value;
			total.enabled += v.enabled;
			total.running += v.running;
			value += scaled(c, &v);
			bad |= parts && !v.running;
			counted = true;
		}
		row->cpus += counted;
	}
	row->cpus += row->cpus ? 0 : away;
	if (bad)
		total.enabled = total.running = 0;
	row->state = !c->events[event].supported ? COUNT_NOT_SUPPORTED
		     : total.running		 ? COUNT_COUNTED
						 : COUNT_NOT_COUNTED;
	row->enabled += total.enabled;
	row->running += total.running;
	return c->by == COUNT_BY_ALL ? scaled(c, &total) : value;
}

/* One more run: the mean moves (Welford's method). */
static void add_run(struct count_row *row, double value)
{
	double from_old = value - row->value;

	row->runs++;
	row->value += from_old / row->runs;
	row->squares += from_old * (value - row->value);
}

void counts_sum(struct counts *c, enum count_span span)
{
	size_t n = (size_t)c->n_events * c->n_cpus * c->n_threads;

	for (uint32_t e = 0; e < c->n_events; e++) {
		for (uint32_t g = 0; g < c->n_groups; g++) {
			struct count_row *row = &c->rows[(size_t)e * c->n_groups + g];
			enum count_state state = row->state;

			if (span != COUNT_WHOLE)
				*row = (struct count_row){0};
			add_run(row, sum(c, e, &c->groups[g], span == COUNT_INTERVAL, row));
			/* Counted in one run is counted. */
			if (row->runs > 1 && state == COUNT_COUNTED)
				row->state = state;
		}
	}
	if (span == COUNT_INTERVAL)
		memcpy(c->before, c->cells, n * sizeof(*c->cells));
}

double count_error(double squares, uint32_t n)
{
	return n < 2 ? 0 : sqrt(squares / (n - 1) / n);
}

/* ---- order of threads ---- */

struct place {
	double value;
	uint32_t group;
};

static int by_value(const void *pa, const void *pb)
{
	const struct place *a = pa, *b = pb;

	if (a->value != b->value)
		return a->value > b->value ? -1 : 1;
	return (a->group > b->group) - (a->group < b->group);
}

uint32_t counts_order(const struct counts *c, uint32_t event, bool no_zeros, uint32_t *order)
{
	struct place *v = calloc(c->n_groups, sizeof(*v));
	uint32_t n = 0;

	for (uint32_t g = 0; g < c->n_groups; g++) {
		double value = counts_row(c, event, g)->value;

		if (no_zeros && value == 0)
			continue;
		if (v)
			v[n] = (struct place){value, g};
		order[n++] = g;
	}
	if (v && c->by == COUNT_BY_THREAD) {
		qsort(v, n, sizeof(*v), by_value);
		for (uint32_t i = 0; i < n; i++)
			order[i] = v[i].group;
	}
	free(v);
	return n;
}
