/* The end of a stream, for threads and CPUs: what is open; and their points in the meantime. */
#include "interval/sched_parts.h"

static int end_thread(struct engine *en, struct lat_domain *d, uint32_t index)
{
	struct sched_thread *t = &d->sched->v[index];
	struct {
		const struct lat_point *p;
		enum sched_kind kind;
		bool open;
	} all[] = {
		{&t->start, SCHED_ONCPU, t->state == SCHED_RUNNING},
		{&t->start, SCHED_RUNQ, t->state == SCHED_RUNNABLE},
		{&t->start, SCHED_BLOCKED, t->state == SCHED_SLEEPING},
		{&t->off, SCHED_OFFCPU, t->off.time != 0},
		{&t->waking, SCHED_WAKING, t->waking.time != 0},
		{&t->migrate, SCHED_MIGRATE, t->migrate.time != 0},
	};
	int rc = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && !rc; i++) {
		struct interval iv;

		if (!all[i].open)
			continue;
		sched_interval(d, en, t, all[i].kind, all[i].p, &iv);
		sched_values(en, &iv);
		rc = en->sink.open(en->sink.ctx, &iv, all[i].p->time, d->last);
	}
	return rc ? rc : sched_thread_end(en, d, index, d->last);
}

static int use_point(struct engine *en, lat_point_fn *fn, struct lat_point *p, bool used)
{
	if (used)
		return fn(en->stacks_kept, p);
	p->chain = p->stack = 0;
	return 0;
}

static int thread_points(struct engine *en, lat_point_fn *fn, struct sched_thread *t)
{
	struct lat_point *aside[] = {&t->off, &t->wake, &t->waking, &t->migrate};
	bool there = t->tid != PS_NONE;
	int rc = use_point(en, fn, &t->start, there && t->state != SCHED_UNKNOWN);

	for (size_t i = 0; i < sizeof(aside) / sizeof(aside[0]) && !rc; i++)
		rc = use_point(en, fn, aside[i], there && aside[i]->time);
	return rc;
}

int sched_points(struct engine *en, lat_point_fn *fn)
{
	int rc = 0;

	for (uint32_t k = 0; k < en->ndomains && !rc; k++) {
		struct sched_domain *sd = en->domains[k].sched;

		for (uint32_t c = 0; sd && c < sd->ncpus && !rc; c++)
			rc = use_point(en, fn, &sd->cpus[c].start, sd->cpus[c].idle);
		for (uint32_t i = 1; sd && i <= sd->n && !rc; i++)
			rc = thread_points(en, fn, &sd->v[i]);
	}
	return rc;
}

int sched_end(struct engine *en)
{
	int rc = 0;

	for (uint32_t k = 0; k < en->ndomains && !rc; k++) {
		struct lat_domain *d = &en->domains[k];

		if (!d->sched)
			continue;
		for (uint32_t c = 0; c < d->sched->ncpus; c++)
			if (d->sched->cpus[c].idle)
				en->kinds[SCHED_IDLE].count[LAT_OPEN]++;
		for (uint32_t i = 1; i <= d->sched->n && !rc; i++) {
			if (d->sched->v[i].tid == PS_NONE)
				continue;
			sched_settle(en, d, &d->sched->v[i]);
			rc = end_thread(en, d, i);
		}
	}
	return rc;
}
