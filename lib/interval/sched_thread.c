/* The threads and CPUs that the scheduler's events are about: made, dropped, ended. */
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

int sched_thread_new(struct engine *en, struct lat_domain *d, uint32_t tid, uint32_t *index)
{
	struct sched_domain *sd = d->sched;
	uint32_t *known;

	*index = 0;
	if (sd->by_tid.n >= LAT_THREADS_MAX) {
		if (!sd->no_room)
			diag_warn(en->d, NULL, -1,
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
					      .number = en->losses,
					      .waker = {PS_NONE, PS_NONE, 0}};
	return 0;
}

void sched_thread_drop(struct engine *en, const struct sched_thread *t, enum lat_count as)
{
	switch (t->state) {
	case SCHED_RUNNING: en->kinds[SCHED_ONCPU].count[as]++; break;
	case SCHED_RUNNABLE: en->kinds[SCHED_RUNQ].count[as]++; break;
	case SCHED_SLEEPING: en->kinds[SCHED_BLOCKED].count[as]++; break;
	}
	en->kinds[SCHED_OFFCPU].count[as] += t->off.time != 0;
	en->kinds[SCHED_WAKING].count[as] += t->waking.time != 0;
	en->kinds[SCHED_MIGRATE].count[as] += t->migrate.time != 0;
}

static int tell_end(struct engine *en, const struct sched_thread *t, uint64_t now)
{
	const struct lat_thread times = {.pid = t->pid,
					 .tid = t->tid,
					 .comm = t->comm,
					 .begin = t->begin,
					 .wall = now > t->begin ? now - t->begin : 0,
					 .run = t->total[SCHED_RUNNING],
					 .runnable = t->total[SCHED_RUNNABLE],
					 .blocked = t->total[SCHED_SLEEPING],
					 .unknown = t->total[SCHED_UNKNOWN],
					 .switches = t->switches,
					 .preempted = t->preempted,
					 .migrations = t->migrations};

	return en->sink.thread(en->sink.ctx, &times);
}

int sched_thread_end(struct engine *en, struct lat_domain *d, uint32_t index, uint64_t now)
{
	struct sched_domain *sd = d->sched;
	struct sched_thread *t = &sd->v[index];
	int rc = 0;

	sched_thread_account(t, now);
	if (en->sink.thread && t->any)
		rc = tell_end(en, t, now);
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
