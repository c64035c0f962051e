/*
 * The engine of the scheduler: how a switch or a wakeup changes the state of a thread, and what
 * ends with it.
 */
#include "interval/sched_parts.h"

#include <stdlib.h>
#include <string.h>

#define SWITCHING 1000000 /* ns: longer than any switch takes */

/* ---- helpers ---- */

static uint64_t *count(struct engine *en, enum sched_kind kind, enum lat_count what)
{
	return &en->kinds[kind].count[what];
}

/* Takes the count of what is given up, if a time was set, and clears it. */
static void give_up(struct engine *en, struct lat_point *p, enum sched_kind kind)
{
	*count(en, kind, LAT_RESTARTED) += p->time != 0;
	p->time = 0;
}

void sched_settle_lost(struct engine *en, const struct lat_domain *d, struct sched_thread *t)
{
	uint32_t cpu = t->state == SCHED_RUNNING ? t->cpu : PS_NONE;

	if (engine_lost_since(d, t->aside, PS_NONE)) {
		*count(en, SCHED_WAKING, LAT_LOST) += t->waking.time != 0;
		*count(en, SCHED_MIGRATE, LAT_LOST) += t->migrate.time != 0;
		t->waking.time = t->migrate.time = 0;
	}
	if (!engine_lost_since(d, t->number, cpu))
		return;
	sched_thread_drop(en, t, LAT_LOST);
	t->state = SCHED_UNKNOWN;
	t->off.time = t->wake.time = t->waking.time = t->migrate.time = 0;
}

/* Sets a point beside the state. */
void sched_set_aside(struct engine *en, struct sched_thread *t, struct lat_point *to,
		     const struct lat_point *p, enum sched_kind kind)
{
	give_up(en, to, kind);
	if (!t->waking.time && !t->migrate.time)
		t->aside = en->losses;
	*to = *p;
	++*count(en, kind, LAT_STARTS);
}

static void enter(struct engine *en, struct sched_thread *t, enum sched_state state,
		  const struct lat_point *p)
{
	static const enum sched_kind kinds[] = {[SCHED_RUNNING] = SCHED_ONCPU,
						[SCHED_RUNNABLE] = SCHED_RUNQ,
						[SCHED_SLEEPING] = SCHED_BLOCKED};

	sched_thread_account(t, p->time);
	t->any = true;
	t->state = (uint8_t)state;
	t->start = *p;
	t->number = en->losses;
	++*count(en, kinds[state], LAT_STARTS);
}

/* The state or the cause of an interval; 0: it has none. */
static uint32_t how(const struct sched_thread *t, enum sched_kind kind)
{
	if (kind == SCHED_OFFCPU || kind == SCHED_BLOCKED)
		return t->text;
	return kind == SCHED_RUNQ ? t->cause : 0;
}

void sched_interval(const struct lat_domain *d, const struct engine *en,
		    const struct sched_thread *t, enum sched_kind kind,
		    const struct lat_point *start, struct interval *iv)
{
	*iv = (struct interval){.kind = kind,
				.source = d->source,
				.domain = (uint32_t)(d - en->domains),
				.who = {t->pid, t->tid, t->comm},
				.waker = {PS_NONE, PS_NONE, 0},
				.start = *start,
				.key = t->tid,
				.name = t->comm};
	if (kind == SCHED_OFFCPU || kind == SCHED_BLOCKED)
		iv->state = t->text;
	if (kind == SCHED_RUNQ)
		iv->cause = t->cause;
}

/* What is not known of an end. Between two events of one time there is nothing. */
static void set_slack(const struct engine *en, struct interval *iv)
{
	iv->estimated = en->slack.on && (en->slack.less || en->slack.more);
	iv->less = en->slack.less;
	iv->more = en->slack.more;
}

__attribute__((noinline)) static int finish_whole(struct engine *en, const struct lat_domain *d,
						  const struct sched_thread *t,
						  enum sched_kind kind,
						  const struct lat_point *start,
						  const struct lat_point *end)
{
	struct interval iv;

	sched_interval(d, en, t, kind, start, &iv);
	iv.end = *end;
	if (t->wake.time && kind != SCHED_ONCPU && kind != SCHED_MIGRATE) {
		iv.wake = t->wake;
		iv.waker = t->waker;
	}
	set_slack(en, &iv);
	sched_values(en, &iv);
	return en->sink.interval(en->sink.ctx, &iv, start->time, end->time);
}

/* Most intervals of a recording are a duration for a row, and nothing else. */
static inline int finish(struct engine *en, const struct lat_domain *d,
			 const struct sched_thread *t, enum sched_kind kind,
			 const struct lat_point *start, const struct lat_point *end)
{
	if (en->kinds[kind].quick && !en->slack.on &&
	    en->sink.brief(en->sink.ctx, kind, lat_quick_key(t->comm, t->comm, how(t, kind)), start,
			   end))
		return 0;
	return finish_whole(en, d, t, kind, start, end);
}

/* The same where the start is cleared. */
int sched_finish_point(struct engine *en, struct lat_domain *d, const struct sched_thread *t,
		       enum sched_kind kind, struct lat_point *start, const struct lat_point *end)
{
	int rc = start->time ? finish(en, d, t, kind, start, end) : 0;

	start->time = 0;
	return rc;
}

/* ---- changes of state ---- */

/*
 * The first that is seen of a thread: with nothing lost, it has been in a state since the recording
 * began.
 */
static void infer(struct lat_domain *d, struct sched_thread *t, enum sched_state state,
		  uint64_t now)
{
	if (t->any || d->lost || now < t->since)
		return;
	t->total[state] += now - t->since;
	t->since = now;
}

/*
 * A wakeup at p. The event may be another CPU's, which puts the thread on its queue: the waker's
 * own is sched_waking.
 */
int sched_become_runnable(struct engine *en, struct lat_domain *d, struct sched_thread *t,
			  const struct lat_point *p, const struct lat_who *waker, uint32_t cause)
{
	int rc = 0;

	if (t->state == SCHED_RUNNING || t->state == SCHED_RUNNABLE)
		return 0;
	t->wake = t->waking.time ? t->waking : *p;
	t->waker = t->waking.time ? t->wakers : *waker;
	if (t->state == SCHED_SLEEPING) {
		rc = finish(en, d, t, SCHED_BLOCKED, &t->start, p);
	} else if (!t->born) {
		++*count(en, SCHED_BLOCKED, LAT_NO_START);
		infer(d, t, SCHED_SLEEPING, p->time);
	}
	t->cause = cause;
	enter(en, t, SCHED_RUNNABLE, p);
	return rc;
}

/* A thread runs, and no wakeup was seen: the sched_waking has to do. */
static int wake_late(struct engine *en, struct lat_domain *d, struct sched_thread *t)
{
	struct lat_point p = t->waking;
	int rc;

	/* It was being woken while it went to sleep. */
	if (t->state == SCHED_SLEEPING && p.time < t->start.time)
		p.time = t->start.time;
	rc = sched_become_runnable(en, d, t, &p, &t->wakers, en->sched_names[SCHED_NAME_WOKEN]);
	give_up(en, &t->waking, SCHED_WAKING);
	return rc;
}

/*
 * It slept, and now it runs: its wakeup is missing. Where wakeups are recorded, it is ended here at
 * the latest; else there is no telling.
 */
static int unwoken(struct engine *en, const struct lat_domain *d, const struct sched_thread *t,
		   const struct lat_point *p)
{
	const struct lat_slack slack = en->slack;
	int rc;

	if (!d->sched->wakeups) {
		++*count(en, SCHED_BLOCKED, LAT_RESTARTED);
		en->unwoken++;
		return 0;
	}
	en->slack = (struct lat_slack){true, p->time - t->start.time, slack.more};
	rc = finish(en, d, t, SCHED_BLOCKED, &t->start, p);
	en->slack = slack;
	return rc;
}

/* A thread runs: by a switch at p, or since it was seen. */
static int switch_in(struct engine *en, struct lat_domain *d, struct sched_thread *t,
		     const struct lat_point *p)
{
	int rc = 0;

	sched_settle(en, d, t);
	if ((t->state == SCHED_SLEEPING || t->state == SCHED_UNKNOWN) && t->waking.time)
		rc = wake_late(en, d, t);
	if (rc)
		return rc;
	if (t->state == SCHED_RUNNABLE) {
		rc = finish(en, d, t, SCHED_RUNQ, &t->start, p);
	} else {
		if (t->state == SCHED_SLEEPING)
			rc = unwoken(en, d, t, p);
		*count(en, SCHED_ONCPU, LAT_RESTARTED) += t->state == SCHED_RUNNING;
		++*count(en, SCHED_RUNQ, LAT_NO_START);
	}
	if (!t->off.time && !t->born)
		++*count(en, SCHED_OFFCPU, LAT_NO_START);
	if (!rc)
		rc = sched_finish_point(en, d, t, SCHED_OFFCPU, &t->off, p);
	if (!rc)
		rc = sched_finish_point(en, d, t, SCHED_MIGRATE, &t->migrate, p);
	give_up(en, &t->waking, SCHED_WAKING);
	t->born = t->guess.on = false;
	t->cpu = p->cpu;
	enter(en, t, SCHED_RUNNING, p);
	return rc;
}

/* The end of a run, whose beginning may be known about only. */
static int finish_run(struct engine *en, const struct lat_domain *d, const struct sched_thread *t,
		      const struct lat_point *p)
{
	int rc;

	if (t->guess.on)
		en->slack = t->guess;
	rc = finish(en, d, t, SCHED_ONCPU, &t->start, p);
	en->slack = (struct lat_slack){.on = false};
	return rc;
}

/* `text`: the state that it goes off with. */
static int switch_out(struct engine *en, struct lat_domain *d, uint32_t index,
		      const struct lat_point *p, uint32_t text, bool runnable, bool first)
{
	struct sched_thread *t = &d->sched->v[index];
	const char *state = engine_name(en, text, NULL);
	int rc = 0;

	sched_settle(en, d, t);
	if (t->state == SCHED_RUNNING && t->cpu == p->cpu) {
		rc = finish_run(en, d, t, p);
	} else {
		++*count(en, SCHED_ONCPU, LAT_NO_START);
		*count(en, SCHED_ONCPU, LAT_RESTARTED) += t->state == SCHED_RUNNING;
		*count(en, SCHED_RUNQ, LAT_RESTARTED) += t->state == SCHED_RUNNABLE;
		*count(en, SCHED_BLOCKED, LAT_RESTARTED) += t->state == SCHED_SLEEPING;
		give_up(en, &t->off, SCHED_OFFCPU);
		/*
		 * What moved it was for a run that is missing, and so was what woke it, or it ran
		 * all the time.
		 */
		give_up(en, &t->migrate, SCHED_MIGRATE);
		if (first && !t->any)
			infer(d, t, SCHED_RUNNING, p->time);
		else
			give_up(en, &t->waking, SCHED_WAKING);
	}
	if (rc)
		return rc;
	if (*state == 'X' || *state == 'Z' || *state == 'x' ||
	    (t->dying && text == en->sched_names[SCHED_NAME_OFF])) {
		sched_thread_account(t, p->time);
		t->any = true;
		give_up(en, &t->waking, SCHED_WAKING);
		give_up(en, &t->migrate, SCHED_MIGRATE);
		return sched_thread_end(en, d, index, p->time);
	}
	t->switches++;
	t->preempted += runnable;
	t->text = text;
	t->off = *p;
	t->wake.time = 0;
	++*count(en, SCHED_OFFCPU, LAT_STARTS);
	if (runnable)
		t->cause = en->sched_names[SCHED_NAME_PREEMPTED];
	enter(en, t, runnable ? SCHED_RUNNABLE : SCHED_SLEEPING, p);
	return 0;
}

/* ---- CPUs ---- */

/* A CPU was idle up to p. */
static int idle_out(struct engine *en, const struct lat_domain *d, struct sched_cpu *c,
		    const struct lat_point *p)
{
	struct interval iv = {.kind = SCHED_IDLE,
			      .source = d->source,
			      .domain = (uint32_t)(d - en->domains),
			      .who = {0, 0, en->sched_names[SCHED_NAME_IDLE]},
			      .waker = {PS_NONE, PS_NONE, 0},
			      .start = c->start,
			      .end = *p,
			      .key = p->cpu,
			      .name = en->sched_names[SCHED_NAME_IDLE]};

	if (!c->idle) {
		*count(en, SCHED_IDLE, LAT_NO_START) += 1;
		return 0;
	}
	c->idle = false;
	set_slack(en, &iv);
	sched_values(en, &iv);
	return en->sink.interval(en->sink.ctx, &iv, c->start.time, p->time);
}

/* The CPU of an event, after losses on it have been taken note of. NULL: none. */
static inline struct sched_cpu *cpu_of(struct engine *en, struct lat_domain *d, uint32_t cpu)
{
	struct sched_cpu *c = sched_cpu_get(d->sched, cpu);

	if (!c || !d->lost || !engine_lost_since(d, c->number, cpu))
		return c;
	if (c->idle)
		++*count(en, SCHED_IDLE, LAT_LOST);
	*c = (struct sched_cpu){.number = en->losses};
	return c;
}

int sched_rename(struct engine *en, struct sched_thread *t, const uint8_t *comm)
{
	memcpy(t->raw, comm, sizeof(t->raw));
	return engine_text(en, (const char *)comm, strnlen((const char *)comm, SCHED_COMM),
			   &t->comm);
}

/*
 * ---- threads that are seen to run although no switch to them was recorded ----
 *
 * Some kernels lose switches out of idle: what was thought to go on has ended before, at a time
 * that is known about.
 *
 * A sample tells which thread ran on its CPU. One that is thought to be off the CPU was switched in
 * between the last event of that CPU in which another ran, or idle, and this one; and not before it
 * was woken. Where the CPU was idle and the thread woken, it did not wait: it is taken for switched
 * in at the earliest; else at the latest.
 */

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
	rc = finish(en, d, t, SCHED_ONCPU, &t->start, &end);
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
	rc = switch_in(en, d, t, p);
	en->slack = (struct lat_slack){.on = false};
	t->guess = (struct lat_slack){true, late, early};
	return rc;
}

/*
 * At p the thread of this index (0: none that is known) runs on a CPU, which is not what we
 * thought: switches are missing. 0 or an error.
 */
static int found(struct engine *en, struct lat_domain *d, struct sched_cpu *c, uint32_t index,
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
		rc = wake_late(en, d, t);
	if (off) {
		low = later(later(low, t->start.time), t->migrate.time);
		if (idle && t->state == SCHED_RUNNABLE && low < high)
			at.time = low;
	}
	low = low < at.time ? low : at.time;
	if (!rc && idle) {
		en->slack = (struct lat_slack){true, at.time - low, high - at.time};
		rc = idle_out(en, d, c, &at);
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
	return found(en, d, c, index ? *index : 0, &p);
}

/* ---- the two halves of a switch ---- */

int sched_cpu_out(struct engine *en, struct lat_domain *d, const struct sched_side *prev,
		  const struct lat_point *p, uint32_t text, bool runnable)
{
	struct sched_cpu *c = cpu_of(en, d, p->cpu);
	uint32_t index;
	bool first;
	int rc;

	if (!c)
		return p->cpu < LAT_CPUS_MAX ? PP_ENOMEM : 0;
	first = !c->seen;
	en->cpus += first;
	c->seen = true;
	c->prev = prev->tid;
	if (!prev->tid) {
		rc = c->current ? found(en, d, c, 0, p) : 0;
		return rc ? rc : idle_out(en, d, c, p);
	}
	rc = sched_side_thread(en, d, c, prev, &index);
	if (rc || !index)
		return rc;
	if (c->current != index)
		rc = found(en, d, c, index, p);
	c->current = 0;
	return rc ? rc : switch_out(en, d, index, p, text, runnable, first);
}

int sched_cpu_in(struct engine *en, struct lat_domain *d, const struct sched_side *next,
		 const struct lat_point *p)
{
	struct sched_cpu *c = cpu_of(en, d, p->cpu);
	uint32_t index;
	int rc = 0;

	if (!c)
		return p->cpu < LAT_CPUS_MAX ? PP_ENOMEM : 0;
	en->cpus += !c->seen;
	c->seen = true;
	c->number = en->losses;
	c->at = p->time;
	if (c->current || c->idle)
		rc = found(en, d, c, 0, p);
	if (rc)
		return rc;
	if (!next->tid) {
		c->idle = true;
		c->start = *p;
		++*count(en, SCHED_IDLE, LAT_STARTS);
		return 0;
	}
	rc = sched_side_thread(en, d, NULL, next, &index);
	if (rc || !index)
		return rc;
	c->current = index;
	return switch_in(en, d, &d->sched->v[index], p);
}
