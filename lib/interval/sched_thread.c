#include "interval/sched_parts.h"

#include <stdlib.h>
#include <string.h>

#define SCHED_NAME_WAIT 64 /* CPUs, threads: what a table begins with */

struct sched_cpu *sched_cpu_new(struct sched_domain *sd, uint32_t cpu)
{
	uint32_t n = cpu < LAT_CPUS_MAX - SCHED_NAME_WAIT ? cpu + SCHED_NAME_WAIT : LAT_CPUS_MAX;
	struct sched_cpu *v = cpu < LAT_CPUS_MAX ? realloc(sd->cpus, n * sizeof(*v)) : NULL;

	if (!v)
		return NULL;
	memset(v + sd->ncpus, 0, (n - sd->ncpus) * sizeof(*v));
	sd->cpus = v;
	sd->ncpus = n;
	return &sd->cpus[cpu];
}

/* The number of a free place; 0: out of memory. */
static uint32_t take(struct sched_domain *sd)
{
	uint32_t i = sd->free;

	if (i) {
		sd->free = sd->v[i].next_free;
		return i;
	}
	if (sd->n + 1 >= sd->cap) {
		uint32_t cap = sd->cap ? sd->cap * 2 : SCHED_NAME_WAIT;
		struct sched_thread *v = realloc(sd->v, cap * sizeof(*v));

		if (!v)
			return 0;
		sd->v = v;
		sd->cap = cap;
	}
	return ++sd->n;
}

int sched_thread_new(struct lat *l, struct lat_domain *d, uint32_t tid, uint32_t *index)
{
	struct sched_domain *sd = d->sched;
	uint32_t *known;

	*index = 0;
	if (sd->by_tid.n >= LAT_THREADS_MAX) {
		if (!sd->no_room)
			diag_warn(l->d, NULL, -1,
				  "more than %u threads at a time: the others are left out",
				  LAT_THREADS_MAX);
		sd->no_room = true;
		return 0;
	}
	*index = take(sd);
	known = *index ? map64_put(&sd->by_tid, tid, NULL) : NULL;
	if (!known)
		return PP_ENOMEM;
	*known = *index;
	sd->v[*index] = (struct sched_thread){.tid = tid,
					      .pid = PS_NONE,
					      .begin = d->first,
					      .since = d->first,
					      .number = l->losses,
					      .waker = {PS_NONE, PS_NONE, 0}};
	return 0;
}

void sched_thread_drop(struct lat *l, const struct sched_thread *t, enum lat_count as)
{
	switch (t->state) {
	case SCHED_RUNNING: l->kinds[SCHED_ONCPU].count[as]++; break;
	case SCHED_RUNNABLE: l->kinds[SCHED_RUNQ].count[as]++; break;
	case SCHED_SLEEPING: l->kinds[SCHED_BLOCKED].count[as]++; break;
	}
	l->kinds[SCHED_OFFCPU].count[as] += t->off.time != 0;
	l->kinds[SCHED_WAKING].count[as] += t->waking.time != 0;
	l->kinds[SCHED_MIGRATE].count[as] += t->migrate.time != 0;
}

/* ---- the table of threads ---- */

static int make_table(struct lat *l)
{
	static const struct table_key keys[] = {
		{"comm", TABLE_TEXT, 0}, {"pid", TABLE_SIGNED, 0}, {"tid", TABLE_SIGNED, 0}};
	const struct table_value values[] = {
		{"wall", TABLE_SUM, l->unit, 0},     {"run", TABLE_SUM, l->unit, 0},
		{"runnable", TABLE_SUM, l->unit, 0}, {"blocked", TABLE_SUM, l->unit, 0},
		{"unknown", TABLE_SUM, l->unit, 0},  {"switches", TABLE_SUM, "", 0},
		{"preempted", TABLE_SUM, "", 0},     {"migrations", TABLE_SUM, "", 0},
	};

	return tables_add(&l->tables, "threads", keys, 3, values, 8, &l->threads);
}

static int add_row(struct lat *l, const struct sched_thread *t, uint64_t now)
{
	const uint64_t values[] = {now > t->begin ? now - t->begin : 0,
				   t->total[SCHED_RUNNING],
				   t->total[SCHED_RUNNABLE],
				   t->total[SCHED_SLEEPING],
				   t->total[SCHED_UNKNOWN],
				   t->switches,
				   t->preempted,
				   t->migrations};
	uint64_t key[3] = {0, t->pid == PS_NONE ? UINT64_MAX : t->pid, t->tid};
	uint32_t row;
	size_t len;
	const char *name = lat_name(l, t->comm, &len);
	int rc = l->threads ? 0 : make_table(l);

	if (!rc)
		rc = table_text(l->threads, name, len, &key[0]);
	if (!rc)
		rc = table_row(l->threads, key, &row);
	for (uint32_t i = 0; i < 8 && !rc; i++)
		rc = table_add(l->threads, row, i, (hist_int)values[i], t->begin);
	return rc;
}

int sched_thread_end(struct lat *l, struct lat_domain *d, uint32_t index, uint64_t now)
{
	struct sched_domain *sd = d->sched;
	struct sched_thread *t = &sd->v[index];
	int rc = 0;

	sched_thread_account(t, now);
	if (l->o->threads && t->any)
		rc = add_row(l, t, now);
	map64_del(&sd->by_tid, t->tid);
	t->next_free = sd->free;
	t->tid = PS_NONE;
	sd->free = index;
	return rc;
}

void sched_release(struct lat_domain *d)
{
	if (!d->sched)
		return;
	free(d->sched->v);
	free(d->sched->cpus);
	map64_release(&d->sched->by_tid);
	free(d->sched);
	d->sched = NULL;
}
