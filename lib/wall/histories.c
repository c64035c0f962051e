/* The histories of threads: what each event changes. */
#include "wall/requests.h"
#include "wall/wall.h"

#include "base/array.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define SWITCHING      1000000 /* ns: longer than any switch takes */
#define LOSSES_MAX     4096    /* that are kept apart */
#define LOSSES_OF_WAIT 16

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* ---- threads and CPUs ---- */

/* The thread of a number, made when it is new; *i 0: there is no room, or it is none. */
static int thread_of(struct wall *w, uint32_t source, uint32_t tid, uint32_t *i)
{
	uint64_t key = (uint64_t)source << 32 | tid;
	uint32_t *slot = tid && tid != PS_NONE ? map64_put(&w->by_tid, key, NULL) : NULL;
	struct wall_thread *v;

	*i = slot ? *slot : 0;
	if (!tid || tid == PS_NONE || *i)
		return 0;
	if (!slot)
		return PP_ENOMEM;
	if (w->nthreads >= WALL_THREADS_MAX) {
		w->account.no_room++;
		return 0;
	}
	v = array_widen(w->threads, &w->cap_threads, w->nthreads + 1, 256, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	w->threads = v;
	*i = *slot = ++w->nthreads;
	v[*i] = (struct wall_thread){.source = source,
				     .tid = tid,
				     .pid = PS_NONE,
				     .cpu = PS_NONE,
				     .begin = w->begin,
				     .since = w->begin};
	return 0;
}

static int cpu_of(struct wall *w, uint32_t source, uint32_t cpu, struct wall_cpu **c)
{
	uint32_t *slot;
	struct wall_cpu *v;

	*c = NULL;
	if (cpu >= WALL_CPUS_MAX)
		return 0;
	slot = map64_put(&w->by_cpu, (uint64_t)source << 32 | cpu, NULL);
	if (!slot)
		return PP_ENOMEM;
	if (!*slot) {
		v = array_widen(w->cpus, &w->cap_cpus, w->ncpus + 1, 16, sizeof(*v));
		if (!v)
			return PP_ENOMEM;
		w->cpus = v;
		*slot = ++w->ncpus;
		v[*slot].source = source;
		v[*slot].cpu = cpu;
	}
	*c = &w->cpus[*slot];
	return 0;
}

struct wall_cpu *wall_cpu(struct wall *w, uint32_t source, uint32_t cpu)
{
	const uint32_t *slot = map64_get(&w->by_cpu, (uint64_t)source << 32 | cpu);

	return slot && *slot ? &w->cpus[*slot] : NULL;
}

static int rename_thread(struct wall *w, uint32_t i, const struct qval *name)
{
	if (!i || name->kind != QV_STR)
		return 0;
	return intern_again(&w->texts, name->s, name->len, &w->threads[i].comm);
}

/* ---- segments ---- */

/* Threads may be known before the first event has told when the recording began. */
static struct wall_thread *begun(struct wall *w, uint32_t i)
{
	struct wall_thread *t = &w->threads[i];

	t->begin = later(t->begin, w->begin);
	t->since = later(t->since, w->begin);
	return t;
}

/* A segment, of which all but who wakes is set. */
static int put_segment(struct wall *w, struct wall_thread *t, struct wall_segment *s)
{
	t->since = s->end;
	if (!wall_is_ours(w, t))
		return 0;
	w->account.total += s->end - s->begin;
	w->account.unknown += s->state == WALL_UNKNOWN ? s->end - s->begin : 0;
	return w->segment(w->ctx, w, s);
}

/* The first loss that ends after this. */
static uint32_t losses_after(const struct wall *w, uint64_t time)
{
	uint32_t lo = 0, hi = w->nlosses;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (w->losses[mid].to <= time)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/*
 * While events were lost, nobody knows what a thread did that did not run. Of a wait, so many times
 * are told apart; what comes after them is one, up to the end of the last loss in it.
 */
static int put_losses(struct wall *w, uint32_t i, enum wall_state state, uint64_t now)
{
	struct wall_thread *t = &w->threads[i];
	struct wall_segment s = {.thread = i, .cpu = t->cpu};
	uint32_t k = losses_after(w, t->since), n = 0;
	int rc = 0;

	for (; k < w->nlosses && w->losses[k].from < now && !rc; k++) {
		const struct wall_loss *l = &w->losses[k];
		if (l->source != t->source && l->source != PS_NONE)
			continue;
		if (l->from > t->since) {
			s.begin = t->since;
			s.end = l->from;
			s.state = (uint8_t)state;
			s.stack = t->stack;
			s.wake = (struct wall_wake){.unknown = true};
			rc = put_segment(w, t, &s);
		}
		if (++n == LOSSES_OF_WAIT) {
			k = losses_after(w, now);
			k -= k == w->nlosses || w->losses[k].from >= now;
			l = &w->losses[k];
		}
		s.begin = t->since;
		s.end = l->to < now ? l->to : now;
		s.state = WALL_UNKNOWN;
		s.stack = 0;
		s.wake = (struct wall_wake){0};
		if (!rc && s.end > s.begin)
			rc = put_segment(w, t, &s);
	}
	return rc;
}

/*
 * Up to `now` thread i was in this state; what follows has to be set. sampled: a sample shows where
 * it ran to, with its stack `stack`; otherwise the switch from it does, if there is one.
 */
static int close_with(struct wall *w, uint32_t i, enum wall_state state, uint64_t now, bool sampled,
		      uint32_t stack)
{
	struct wall_thread *t = begun(w, i);
	int rc = w->nlosses && (state == WALL_RUNNABLE || state == WALL_BLOCKED)
			 ? put_losses(w, i, state, now)
			 : 0;
	struct wall_segment s = {.begin = t->since,
				 .end = now,
				 .thread = i,
				 .cpu = t->cpu,
				 .stack = stack,
				 .state = (uint8_t)state,
				 .sampled = sampled};

	if (rc || (now <= t->since && !sampled))
		return rc;
	if (state == WALL_RUNNING) {
		s.interrupted = t->interrupted < now - t->since ? t->interrupted : now - t->since;
		t->interrupted = 0;
	}
	if (state == WALL_BLOCKED)
		s.wake = t->wake;
	return put_segment(w, t, &s);
}

static int close_as(struct wall *w, uint32_t i, enum wall_state state, uint64_t now)
{
	return close_with(w, i, state, now, false, state == WALL_UNKNOWN ? 0 : w->threads[i].stack);
}

static int close_now(struct wall *w, uint32_t i, uint64_t now)
{
	return close_as(w, i, w->threads[i].state, now);
}

static void enter(struct wall *w, uint32_t i, enum wall_state state)
{
	w->threads[i].state = (uint8_t)state;
	w->threads[i].seen = true;
	if (state == WALL_RUNNING)
		w->threads[i].stack = 0;
}

/* A thread has ended. */
static int finish(struct wall *w, uint32_t i, uint64_t now, bool open)
{
	struct wall_thread *t = &w->threads[i];
	int rc;

	if (t->dead)
		return 0;
	rc = close_now(w, i, now);
	t->dead = true;
	t->gone = !open;
	if (!open)
		map64_del(&w->by_tid, (uint64_t)t->source << 32 | t->tid);
	return rc || !w->end || !wall_is_ours(w, t) ? rc : w->end(w->ctx, w, t);
}

/* ---- what is missing ---- */

/* What ran on a CPU has left it, nobody knows when since its last event there. */
static int leave(struct wall *w, struct wall_cpu *c)
{
	uint32_t i = c->known ? c->current : 0;
	struct wall_thread *t = &w->threads[i];
	int rc;

	c->current = 0;
	if (!i || t->dead || t->state != WALL_RUNNING)
		return 0;
	if (t->exiting)
		return finish(w, i, later(t->exit, t->since), false);
	rc = close_now(w, i, c->at);
	enter(w, i, WALL_UNKNOWN);
	return rc;
}

/* A thread runs, and nobody knows since when; it did not before the CPU's last event. */
static int come(struct wall *w, const struct wall_cpu *c, uint32_t i, uint64_t now)
{
	struct wall_thread *t = &w->threads[i];
	struct wall_cpu *other = NULL;
	uint64_t at = c->at;
	int rc = 0;

	/* The first event of a CPU: it has run since the recording began. */
	if (!t->seen && !c->seen) {
		t->state = WALL_RUNNING;
		return 0;
	}
	if (t->state == WALL_RUNNING) {
		other = wall_cpu(w, t->source, t->cpu);
		if (other && other->current == i)
			rc = leave(w, other);
	} else if (t->state != WALL_UNKNOWN) {
		rc = close_now(w, i, at < now ? at : now);
	}
	return rc ? rc : close_as(w, i, WALL_UNKNOWN, now);
}

/* At `now` thread i (0: none, it is idle) runs on a CPU. */
static int observe(struct wall *w, uint32_t source, uint32_t cpu, uint32_t i, uint64_t now)
{
	struct wall_cpu *c;
	int rc = cpu_of(w, source, cpu, &c);

	if (rc || !c)
		return rc;
	if (!c->known || c->current != i) {
		/* sched_switch comes before the switch: up to that, what ran before is current. */
		if (c->known && now - c->at < SWITCHING && (i ? w->threads[i].tid : 0) == c->before)
			return 0;
		w->account.missing += c->known;
		rc = leave(w, c);
		if (!rc && i)
			rc = come(w, c, i, now);
		if (rc)
			return rc;
		c->before = PS_NONE;
		c->current = i;
		if (i) {
			w->threads[i].cpu = cpu;
			enter(w, i, WALL_RUNNING);
		}
	}
	c->known = c->seen = true;
	c->at = now;
	return 0;
}

/* Keeps when events were lost; where there are many, what is between two of them counts as well. */
static int keep_loss(struct wall *w, uint32_t source, uint64_t from, uint64_t to)
{
	struct wall_loss *v = w->losses, *last = v && w->nlosses ? &v[w->nlosses - 1] : NULL;

	if (last && last->source == source && from <= last->to) {
		last->to = later(last->to, to);
		return 0;
	}
	if (last && w->nlosses == LOSSES_MAX) {
		w->nlosses /= 2;
		for (uint32_t k = 0; k < w->nlosses; k++) {
			struct wall_loss a = v[2 * k], b = v[2 * k + 1];

			v[k] = (struct wall_loss){.source =
							  a.source == b.source ? a.source : PS_NONE,
						  .from = a.from < b.from ? a.from : b.from,
						  .to = b.to};
		}
	}
	v = array_widen(v, &w->cap_losses, w->nlosses, 16, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	w->losses = v;
	to = w->nlosses ? later(to, v[w->nlosses - 1].to) : to;
	v[w->nlosses++] = (struct wall_loss){.source = source, .from = from, .to = to};
	return 0;
}

/* Events of a CPU (PS_NONE: of any) were lost since its last one: up to `now` nobody knows more. */
static int lost_until(struct wall *w, uint32_t source, uint32_t cpu, uint64_t now)
{
	uint64_t from = now;
	bool any = false;
	int rc = 0;

	for (uint32_t k = 1; w->cpus && k <= w->ncpus && !rc; k++) {
		struct wall_cpu *c = &w->cpus[k];
		uint32_t i = c->known ? c->current : 0;

		if (c->source != source || (cpu != PS_NONE && c->cpu != cpu))
			continue;
		any |= c->seen;
		from = c->seen && c->at < from ? c->at : from;
		c->depth = 0;
		c->losing = false;
		if (!i || w->threads[i].dead || w->threads[i].state != WALL_RUNNING)
			continue;
		rc = close_now(w, i, c->at < now ? c->at : now);
		if (!rc)
			rc = close_as(w, i, WALL_UNKNOWN, now);
	}
	from = any ? from : w->begin;
	return rc ? rc : keep_loss(w, source, from < now ? from : now, now);
}

/* Without a time, they were lost up to the next event of the CPU. */
static int on_lost(struct wall *w, const struct ps_record *rec)
{
	const struct ps_lost *l = &rec->lost;
	struct wall_cpu *c = NULL;
	int rc = 0;

	w->account.lost += l->count;
	if (!l->time && l->cpu != PS_NONE)
		rc = cpu_of(w, rec->source, l->cpu, &c);
	if (rc || !c)
		return rc ? rc : lost_until(w, rec->source, l->cpu, l->time ? l->time : w->now);
	w->losing = c->losing = true;
	return 0;
}

/* The next event of CPUs of which events were lost; now 0: there is none. */
static int lost_before(struct wall *w, uint32_t source, uint32_t cpu, uint64_t now)
{
	struct wall_cpu *c = wall_cpu(w, source, cpu);
	int rc = c && c->losing ? lost_until(w, source, cpu, now) : 0;

	w->losing = false;
	for (uint32_t k = 1; w->cpus && k <= w->ncpus && !rc; k++) {
		c = &w->cpus[k];
		if (c->losing && !now)
			rc = lost_until(w, c->source, c->cpu, w->now);
		w->losing |= c->losing;
	}
	return rc;
}

/* ---- switches and wakeups ---- */

static int switch_in(struct wall *w, struct wall_cpu *c, uint32_t cpu, uint32_t i, uint64_t now)
{
	struct wall_thread *t = &w->threads[i];
	struct wall_cpu *other;
	enum wall_state was = t->state;
	int rc = 0;

	c->current = i;
	if (!i)
		return 0;
	if (was == WALL_RUNNING) {
		other = wall_cpu(w, t->source, t->cpu);
		if (other && other != c && other->current == i)
			rc = leave(w, other);
		was = t->state == WALL_RUNNING ? WALL_RUNNING : WALL_UNKNOWN;
	}
	if (was == WALL_BLOCKED && t->early)
		was = WALL_RUNNABLE;
	/* In recordings of a command, the last wakeup of a process, of who made it, is missing. */
	if (was == WALL_BLOCKED && t->child.thread && t->child_exit >= t->since) {
		t->wake = t->child;
		rc = close_as(w, i, was, t->child_exit);
		was = WALL_RUNNABLE;
	}
	if (was == WALL_BLOCKED) {
		w->account.unwoken += w->wakeups;
		t->wake = (struct wall_wake){.unknown = true};
	}
	t->early = false;
	t->cpu = cpu;
	if (!rc)
		rc = close_as(w, i, was, now);
	enter(w, i, WALL_RUNNING);
	return rc;
}

/* Thread i, which ran, leaves the CPU. */
static int switch_out(struct wall *w, uint32_t i, const struct wall_seen *v, uint32_t stack,
		      uint64_t now)
{
	struct wall_thread *t = &w->threads[i];
	int rc;

	if (!i)
		return 0;
	t->stack = stack;
	rc = close_now(w, i, now);
	if (rc)
		return rc;
	/* After `exit` it may still be preempted, and end the wait of who made it later. */
	if (v->dead || (t->exiting && !v->runnable))
		return finish(w, i, now, false);
	if (!t->early)
		t->wake = (struct wall_wake){.unknown = true};
	enter(w, i, v->runnable ? WALL_RUNNABLE : WALL_BLOCKED);
	return 0;
}

static int on_switch(struct wall *w, const struct wall_seen *v, uint32_t stack)
{
	const struct ps_sample *s = &w->rec->sample;
	uint32_t source = w->rec->source, prev, next;
	struct wall_cpu *c;
	int rc = thread_of(w, source, v->prev, &prev);

	w->account.switches++;
	if (!rc)
		rc = thread_of(w, source, v->next, &next);
	if (!rc)
		rc = rename_thread(w, prev, &v->prev_comm);
	if (!rc)
		rc = rename_thread(w, next, &v->next_comm);
	if (!rc)
		rc = cpu_of(w, source, s->cpu, &c);
	if (rc || !c)
		return rc;
	/* No event comes between a switch and what it switches to. */
	c->before = PS_NONE;
	rc = observe(w, source, s->cpu, prev, s->time);
	if (prev && s->tid == v->prev && s->pid != PS_NONE)
		w->threads[prev].pid = s->pid;
	w->other_tids |= s->tid != PS_NONE && s->tid != v->prev;
	if (!rc)
		rc = switch_out(w, prev, v, stack, s->time);
	if (rc)
		return rc;
	c->before = v->prev;
	c->request = 0;
	return switch_in(w, c, s->cpu, next, s->time);
}

/* sched_wakeup is raised on the CPU of the thread, if that was idle: then it tells no waker. */
static bool is_waker(const struct wall *w, const struct wall_seen *v)
{
	const struct ps_sample *s = &w->rec->sample;

	return v->what != WALL_WAKEUP || s->tid || (v->target != PS_NONE && v->target != s->cpu);
}

/* Who does something for another thread here. */
static struct wall_wake waker(const struct wall *w, const struct wall_cpu *c, uint32_t stack)
{
	uint32_t i = w->other_tids ? 0 : w->here;

	return (struct wall_wake){.thread = i,
				  .stack = stack,
				  .last = w->threads[i].last,
				  .work = w->threads[i].work,
				  .request = wall_done_on(w, c),
				  .within = c && c->depth};
}

static int on_wakeup(struct wall *w, const struct wall_seen *v, uint32_t stack)
{
	const struct ps_sample *s = &w->rec->sample;
	struct wall_wake wake = waker(w, wall_cpu(w, w->rec->source, s->cpu), stack);
	struct wall_thread *t;
	uint32_t i;
	int rc = thread_of(w, w->rec->source, v->next, &i);

	if (!rc)
		rc = rename_thread(w, i, &v->next_comm);
	if (rc || !i)
		return rc;
	t = &w->threads[i];
	if (v->what != WALL_WAKEUP_NEW &&
	    (t->state == WALL_RUNNABLE || (t->state == WALL_RUNNING && t->early)))
		return 0;
	wake.unknown = !is_waker(w, v);
	wake.hard = v->hard;
	w->account.unknown_wakers += wake.unknown;
	t->wake = wake;
	if (v->what == WALL_WAKEUP_NEW) {
		t->made = wake;
		t->inner |= !t->fresh && w->threads[wake.thread].fresh;
		t->fresh = true;
		t->begin = t->since = t->seen ? t->since : s->time;
		enter(w, i, WALL_RUNNABLE);
		return 0;
	}
	if (t->state == WALL_RUNNING) {
		t->early = true;
		return 0;
	}
	/* The first that is seen of it: it has slept since the recording began. */
	if (t->state == WALL_UNKNOWN && !t->seen && !w->account.lost)
		t->state = WALL_BLOCKED;
	rc = close_now(w, i, s->time);
	t->early = false;
	enter(w, i, WALL_RUNNABLE);
	return rc;
}

/* Interrupts nest; the time of the outermost is that of all of them. */
static int on_interrupt(struct wall *w, bool in)
{
	const struct ps_sample *s = &w->rec->sample;
	struct wall_thread *t;
	struct wall_cpu *c;
	int rc = cpu_of(w, w->rec->source, s->cpu, &c);

	if (rc || !c)
		return rc;
	if (in) {
		if (!c->depth++)
			c->interrupt = s->time;
		return 0;
	}
	if (!c->depth || --c->depth)
		return 0;
	t = &w->threads[c->known ? c->current : 0];
	if (c->known && c->current && t->state == WALL_RUNNING) {
		uint64_t from = later(c->interrupt, t->since);

		t->interrupted += s->time > from ? s->time - from : 0;
	}
	return 0;
}

/* ---- samples ---- */

static int stack_of(struct wall *w, uint32_t *stack)
{
	const struct ps_sample *s = &w->rec->sample;
	struct lat_point p = {.time = s->time};
	int rc = lat_stacks_keep(w->kept, w->r, s, &p);

	w->account.nameless += !s->stack && s->chain;
	*stack = p.stack;
	return rc;
}

/* A sample of a busy CPU: what ran up to it ran there. */
static int on_clock(struct wall *w)
{
	struct wall_thread *t = begun(w, w->here);
	uint32_t stack;
	int rc;

	if (!w->here || t->state != WALL_RUNNING)
		return 0;
	w->account.cpu_samples++;
	rc = stack_of(w, &stack);
	return rc ? rc
		  : close_with(w, w->here, WALL_RUNNING, later(w->rec->sample.time, t->since), true,
			       stack);
}

/* Of devices' requests and kernel threads' work. */
static int on_request(struct wall *w, const struct wall_seen *v)
{
	const struct ps_sample *s = &w->rec->sample;
	struct wall_wake by;
	struct wall_cpu *c;
	uint32_t stack;
	int rc = cpu_of(w, w->rec->source, s->cpu, &c);

	if (rc || !c)
		return rc;
	switch (v->what) {
	case WALL_DISK:
	case WALL_NETWORK: return wall_on_done(w, v, c);
	case WALL_QUEUED:
		rc = stack_of(w, &stack);
		by = waker(w, c, stack);
		return rc ? rc : wall_on_queued(w, v, &by);
	default:
		if (w->here)
			w->threads[w->here].work =
				v->what == WALL_WORK_BEGIN ? wall_on_begun(w, v) : 0;
		return 0;
	}
}

/* What any sample tells of the thread that it was recorded in. */
static int know(struct wall *w, struct wall_thread *t)
{
	const struct ps_sample *s = &w->rec->sample;
	size_t len;
	const char *name = t->comm ? NULL : sreader_string(w->r, s->comm, &len);

	t->pid = s->pid != PS_NONE ? s->pid : t->pid;
	return name && len ? intern_again(&w->texts, name, len, &t->comm) : 0;
}

static int on_sample(struct wall *w)
{
	const struct ps_sample *s = &w->rec->sample;
	struct wall_seen v;
	uint32_t stack = 0;
	bool tells;
	int rc = 0;

	w->here = 0;
	w->account.samples++;
	if (s->flags & (PS_SAMPLE_NO_TIME | PS_SAMPLE_JOINED) || s->cpu == PS_NONE)
		return 0;
	w->now = later(w->now, s->time);
	if (!w->begin)
		w->begin = s->time;
	if (w->losing)
		rc = lost_before(w, w->rec->source, s->cpu, s->time);
	tells = wall_decode(w, &v);
	if (!rc && !w->other_tids && s->tid != PS_NONE) {
		rc = thread_of(w, w->rec->source, s->tid, &w->here);
		if (!rc && (v.what != WALL_SWITCH || !tells))
			rc = observe(w, w->rec->source, s->cpu, w->here, s->time);
		if (!rc && w->here)
			rc = know(w, &w->threads[w->here]);
	}
	if (rc || !tells)
		return rc;
	if (v.what == WALL_CPU_SAMPLE)
		return on_clock(w);
	if (v.what == WALL_IRQ_IN || v.what == WALL_IRQ_OUT)
		return on_interrupt(w, v.what == WALL_IRQ_IN);
	if (v.what >= WALL_DISK)
		return on_request(w, &v);
	rc = stack_of(w, &stack);
	if (rc)
		return rc;
	return v.what == WALL_SWITCH ? on_switch(w, &v, stack) : on_wakeup(w, &v, stack);
}

/* ---- context records ---- */

static int on_fork(struct wall *w, const struct ps_record *rec)
{
	const struct ps_fork *f = &rec->fork;
	uint32_t i, parent;
	int rc = thread_of(w, rec->source, f->tid, &i);
	bool born = !(f->flags & 1) && f->time;

	w->tasks = true;
	if (rc || !i)
		return rc;
	if (born && w->threads[i].seen) {
		rc = finish(w, i, w->threads[i].since, false);
		if (!rc)
			rc = thread_of(w, rec->source, f->tid, &i);
		if (rc || !i)
			return rc;
	}
	rc = thread_of(w, rec->source, f->ptid, &parent);
	w->threads[i].task = true;
	w->threads[i].pid = f->pid;
	if (rc || !born)
		return rc;
	w->threads[i].comm = parent ? w->threads[parent].comm : 0;
	w->threads[i].made = (struct wall_wake){.thread = parent, .last = w->threads[parent].last};
	w->threads[i].inner = w->threads[parent].fresh;
	w->threads[i].fresh = true;
	w->threads[i].begin = w->threads[i].since = f->time;
	/* One that was born before the first event may have slept since. */
	if (w->begin)
		enter(w, i, WALL_RUNNABLE);
	return 0;
}

static int on_comm(struct wall *w, const struct ps_record *rec)
{
	struct qval name = {.kind = QV_STR};
	uint32_t i;
	int rc = thread_of(w, rec->source, rec->comm.tid, &i);

	if (rc || !i)
		return rc;
	w->tasks = w->threads[i].task = true;
	/* Of what was there before the recording, names are told without a time. */
	w->threads[i].fresh |= rec->context.time != 0;
	if (rec->comm.pid != PS_NONE)
		w->threads[i].pid = rec->comm.pid;
	name.s = sreader_string(w->r, rec->comm.comm, &name.len);
	return name.s ? rename_thread(w, i, &name) : 0;
}

static int on_exit_record(struct wall *w, const struct ps_record *rec)
{
	const uint32_t *i = map64_get(&w->by_tid, (uint64_t)rec->source << 32 | rec->exit.tid);
	const uint32_t *by = map64_get(&w->by_tid, (uint64_t)rec->source << 32 | rec->exit.ptid);
	struct wall_thread *t = i && *i ? &w->threads[*i] : NULL;
	int rc = 0;

	if (!t)
		return 0;
	/* It has written this itself: it runs, even if the switch to it is missing. */
	if (t->state != WALL_RUNNING && rec->context.tid == rec->exit.tid)
		rc = observe(w, rec->source, rec->context.cpu, *i, rec->exit.time);
	if (rc)
		return rc;
	t->exiting = true;
	t->exit = rec->exit.time;
	if (by && *by && rec->exit.pid == rec->exit.tid) {
		w->threads[*by].child = (struct wall_wake){.thread = *i, .last = t->last};
		w->threads[*by].child_exit = rec->exit.time;
	}
	return t->state == WALL_RUNNING ? 0 : finish(w, *i, later(t->exit, t->since), false);
}

/* Of recordings of some threads only, it is these records that tell when they come back. */
static int on_switch_record(struct wall *w, const struct ps_record *rec)
{
	const struct ps_switch *s = &rec->sw;
	struct wall_seen v = {.runnable = (s->flags & 2) != 0};
	struct wall_cpu *c;
	uint32_t i;
	int rc = thread_of(w, rec->source, s->tid, &i);

	if (!rc)
		rc = cpu_of(w, rec->source, s->cpu, &c);
	if (rc || !c || s->tid == PS_NONE || (s->flags & 1 && w->switch_events))
		return rc;
	if (c->known && c->current == i && !(s->flags & 1))
		return 0;
	w->account.switches += !w->switch_events;
	if (!(s->flags & 1)) {
		/* The thread that it was switched to before may be none of ours. */
		rc = leave(w, c);
		c->known = c->seen = true;
		c->before = PS_NONE;
		c->at = s->time;
		return rc ? rc : switch_in(w, c, s->cpu, i, s->time);
	}
	rc = observe(w, rec->source, s->cpu, i, s->time);
	if (!rc)
		rc = switch_out(w, i, &v, 0, s->time);
	c->current = 0;
	return rc;
}

static int on_context(struct wall *w, const struct ps_record *rec)
{
	switch (rec->type) {
	case PS_COMM:
	case PS_FORK:
	case PS_EXIT:
	case PS_SWITCH: break;
	default: return 0;
	}
	if (rec->context.tid == PS_NONE)
		return 0;
	/* A thread's end or turn before the first sample is the recording's beginning. */
	if (!w->begin && (rec->type == PS_EXIT || rec->type == PS_SWITCH))
		w->begin = rec->context.time;
	w->now = later(w->now, w->begin ? rec->context.time : 0);
	switch (rec->type) {
	case PS_COMM: return on_comm(w, rec);
	case PS_FORK: return on_fork(w, rec);
	case PS_EXIT: return on_exit_record(w, rec);
	default: return on_switch_record(w, rec);
	}
}

/* ---- the whole ---- */

int wall_engine_init(struct wall *w, const struct wall_opts *o, struct diag *d)
{
	w->o = o;
	w->d = d;
	w->kept = lat_stacks_new(0);
	w->cpus = calloc(1, sizeof(*w->cpus));
	w->threads = calloc(1, sizeof(*w->threads));
	w->cap_cpus = w->cap_threads = 1;
	return w->kept && w->cpus && w->threads ? 0 : PP_ENOMEM;
}

void wall_engine_release(struct wall *w)
{
	wall_unbind(w);
	lat_stacks_free(w->kept);
	intern_release(&w->texts);
	map64_release(&w->by_tid);
	map64_release(&w->by_cpu);
	map64_release(&w->kinds);
	wall_requests_release(&w->requests);
	free(w->threads);
	free(w->cpus);
	free(w->losses);
}

int wall_engine_end(struct wall *w)
{
	int rc = w->losing ? lost_before(w, PS_NONE, PS_NONE, 0) : 0;

	for (uint32_t i = 1; i <= w->nthreads && !rc; i++) {
		struct wall_thread *t = &w->threads[i];
		bool gone = t->exiting;

		/* One of which nothing is known but that it is there has slept all the time. */
		if (!t->seen && !t->dead && !w->account.lost)
			t->state = WALL_BLOCKED;
		t->wake = (struct wall_wake){.unknown = true};
		rc = finish(w, i, gone ? later(t->exit, t->since) : w->now, !gone);
	}
	w->nthreads = w->ncpus = w->nlosses = 0;
	memset(w->cpus, 0, w->cap_cpus * sizeof(*w->cpus));
	map64_clear(&w->by_tid);
	map64_clear(&w->by_cpu);
	map64_clear(&w->kinds);
	wall_requests_clear(w);
	w->begin = w->now = 0;
	w->here = 0;
	w->losing = w->switch_events = w->wakeups = w->waking = w->tasks = w->other_tids = false;
	return rc;
}

int wall_move(struct wall *w, uint32_t *stack)
{
	struct lat_point p = {.stack = *stack};
	int rc = lat_stacks_move(w->kept, &p);

	*stack = p.stack;
	return rc;
}

/* Lets go the stacks that nothing refers to. */
static int sweep(struct wall *w)
{
	int rc = lat_stacks_sweep(w->kept);

	for (uint32_t i = 1; i <= w->nthreads && !rc; i++) {
		struct wall_thread *t = &w->threads[i];

		rc = wall_move(w, &t->stack);
		if (!rc)
			rc = wall_move(w, &t->wake.stack);
		if (!rc)
			rc = wall_move(w, &t->made.stack);
		if (!rc)
			rc = wall_move(w, &t->pending_stack);
	}
	for (uint32_t i = 0; i < w->requests.cap && !rc; i++)
		rc = wall_move(w, &w->requests.v[i].by.stack);
	map64_clear(&w->kinds);
	if (!rc && w->moved)
		rc = w->moved(w->ctx, w);
	lat_stacks_swept(w->kept);
	return rc;
}

int wall_engine_record(struct wall *w, const struct sreader *r, const struct ps_record *rec)
{
	int rc = lat_stacks_full(w->kept) ? sweep(w) : 0;

	w->r = r;
	w->rec = rec;
	if (rc)
		return rc;
	if (rec->type != PS_SAMPLE && w->o->see)
		w->o->see(w->o->spans->symbol_ctx, rec);
	if (rec->type != PS_SAMPLE && rec->type != PS_HEADER)
		lat_stacks_see(w->kept, rec);
	switch (rec->type) {
	case PS_HEADER:
		rc = wall_engine_end(w);
		wall_unbind(w);
		lat_stacks_see(w->kept, rec);
		return rc;
	case PS_EVENT: return wall_bind(w, rec);
	case PS_LOST: return on_lost(w, rec);
	case PS_SAMPLE: return on_sample(w);
	default: return on_context(w, rec);
	}
}
