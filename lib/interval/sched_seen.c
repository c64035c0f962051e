/*
 * Threads that run although no switch to them was recorded, as some kernels lose switches out of
 * idle: what was thought to go on has ended before, at a time that is known about.
 *
 * A sample tells which thread ran on its CPU. One that is thought to be off the CPU was switched in
 * between the last event of that CPU in which another ran, or idle, and this one; and not before it
 * was woken. Where the CPU was idle and the thread woken, it did not wait: it is taken for switched
 * in at the earliest; else at the latest.
 */
#include "interval/sched_parts.h"

#define SWITCHING 1000000 /* ns: longer than any switch takes */

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* A point that no event is for: its mark is that of no event, too, where there was a filter. */
static struct lat_point made(const struct engine *en, const struct lat_point *p, uint64_t time)
{
	return (struct lat_point){.time = time,
				  .cpu = p->cpu,
				  .pid = PS_NONE,
				  .mark = en->filter.any ? PS_MARK_NA : p->mark};
}

/* The thread that was thought to run on the CPU has left it by p. */
static int left(struct engine *en, const struct lat_domain *d, const struct sched_cpu *c,
		const struct lat_point *p)
{
	struct sched_domain *sd = d->sched;
	struct sched_thread *t = &sd->v[c->current];
	struct lat_point end = made(en, p, p->time);
	uint64_t low;
	int rc;

	if (!c->current || t->tid == PS_NONE || t->state != SCHED_RUNNING || t->cpu >= sd->ncpus ||
	    &sd->cpus[t->cpu] != c)
		return 0;
	low = later(c->at, t->start.time);
	en->slack = (struct lat_slack){.on = true, .less = p->time > low ? p->time - low : 0};
	if (t->guess.on) {
		en->slack.less += t->guess.less;
		en->slack.more = t->guess.more;
	}
	rc = sched_finish(en, d, t, SCHED_ONCPU, &t->start, &end);
	en->slack = (struct lat_slack){.on = false};
	sched_thread_account(t, low);
	t->state = SCHED_UNKNOWN;
	en->kinds[SCHED_WAKING].count[LAT_RESTARTED] += t->waking.time != 0;
	en->kinds[SCHED_MIGRATE].count[LAT_RESTARTED] += t->migrate.time != 0;
	en->kinds[SCHED_OFFCPU].count[LAT_RESTARTED] += t->off.time != 0;
	t->off.time = t->waking.time = t->migrate.time = 0;
	return rc;
}

/* The thread was switched in between low and high, about at p. */
static int came(struct engine *en, struct lat_domain *d, struct sched_thread *t,
		const struct lat_point *p, uint64_t low, uint64_t high)
{
	uint64_t early = p->time - low, late = high - p->time;
	int rc;

	en->slack = (struct lat_slack){true, early, late};
	rc = sched_switch_in(en, d, t, p);
	en->slack = (struct lat_slack){.on = false};
	t->guess = (struct lat_slack){true, late, early};
	return rc;
}

int sched_found(struct engine *en, struct lat_domain *d, struct sched_cpu *c, uint32_t index,
		const struct lat_point *p)
{
	struct sched_thread *t = index ? &d->sched->v[index] : NULL;
	uint64_t low = c->at, high = p->time;
	struct lat_point at = made(en, p, high);
	bool idle = c->idle, off;
	int rc = left(en, d, c, p);

	c->current = 0;
	if (t)
		sched_settle(en, d, t);
	/* At the first event of a CPU nothing is missing: its events begin with it. */
	off = t && low && (t->state == SCHED_SLEEPING || t->state == SCHED_RUNNABLE);
	if (!rc && off && t->state == SCHED_SLEEPING && t->waking.time)
		rc = sched_wake_late(en, d, t);
	if (off) {
		low = later(later(low, t->start.time), t->migrate.time);
		if (idle && t->state == SCHED_RUNNABLE && low < high)
			at.time = low;
	}
	low = low < at.time ? low : at.time;
	if (!rc && idle) {
		en->slack = (struct lat_slack){true, at.time - low, high - at.time};
		rc = sched_idle_out(en, d, c, &at);
		en->slack = (struct lat_slack){.on = false};
	}
	c->idle = false;
	if (!rc && off) {
		rc = came(en, d, t, &at, low, high);
		c->current = index;
	}
	c->at = high;
	return rc;
}

int sched_surprise(struct engine *en, struct lat_domain *d, struct sched_cpu *c,
		   const struct ps_sample *s)
{
	const struct lat_point p = {
		.time = s->time, .cpu = s->cpu, .pid = s->pid, .mark = s->flags & PS_MARK_MASK};
	struct sched_domain *sd = d->sched;
	const uint32_t *index;

	if (!sd->same || sd->other || s->tid == PS_NONE ||
	    (d->lost && engine_lost_since(d, c->number, s->cpu)))
		return 0;
	/* sched_switch comes before the switch: up to that the thread is the one before. */
	if (s->tid == c->prev && s->time - c->at < SWITCHING)
		return 0;
	index = s->tid ? map64_get(&sd->by_tid, s->tid) : NULL;
	return sched_found(en, d, c, index ? *index : 0, &p);
}
