/*
 * The scheduler's events, and the context records that tell the same: to changes of state
 * (sched.c).
 */
#include "interval/sched_parts.h"

#include <stdlib.h>
#include <string.h>

static struct sched_domain *domain_of(struct lat_domain *d)
{
	if (!d->sched)
		d->sched = calloc(1, sizeof(*d->sched));
	return d->sched;
}

/* A point at time 0 is none (sched_parts.h): what happens then is taken for a nanosecond later. */
static void settle_time(struct lat_point *p)
{
	p->time += !p->time;
}

static uint32_t get_u32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* The text of a prev_state, and whether the thread stays runnable. */
static int state_text(struct engine *en, struct sched_bind *b, const uint8_t *payload,
		      uint32_t *text, bool *runnable)
{
	char buf[TASK_STATE_TEXT];
	uint32_t *known = NULL;
	uint64_t v = 0;

	if (b->state_size == 8)
		memcpy(&v, payload + b->prev_state, 8);
	else
		v = get_u32(payload + b->prev_state);
	if (v < SCHED_STATES)
		known = &b->texts[v];
	if (known && *known) {
		*text = *known / 2;
		*runnable = *known & 1;
		return 0;
	}
	*runnable = task_state(&b->states, v, buf);
	if (engine_text(en, buf, strlen(buf), text))
		return PP_ENOMEM;
	if (known)
		*known = *text * 2 + *runnable;
	return 0;
}

static int on_switch(struct engine *en, struct lat_domain *d, struct sched_bind *b,
		     const struct ps_sample *s, const struct lat_point *p)
{
	const uint8_t *payload = (const uint8_t *)s->payload.p;
	struct sched_side prev = {get_u32(payload + b->pid), PS_NONE, payload + b->comm};
	struct sched_side next = {get_u32(payload + b->next_pid), PS_NONE, payload + b->next_comm};
	const struct lat_point *out = p, *in = p;
	struct lat_point other;
	uint32_t text;
	bool runnable;
	int rc = state_text(en, b, payload, &text, &runnable);

	d->sched->switches = true;
	if (prev.tid == s->tid) {
		prev.pid = s->pid;
		d->sched->same |= prev.tid != 0;
	} else if (s->tid != PS_NONE) {
		d->sched->other = true;
	}
	/*
	 * The filter is about one side: its mark does not apply to the other, nor to a CPU without
	 * thread.
	 */
	if (en->filter.sides == LAT_SIDE_OUT || en->filter.sides == LAT_SIDE_IN) {
		other = *p;
		other.mark = PS_MARK_NA;
		if (en->filter.sides == LAT_SIDE_OUT)
			in = &other;
		if (en->filter.sides == LAT_SIDE_IN || !prev.tid)
			out = &other;
	}
	if (!rc)
		rc = sched_cpu_out(en, d, &prev, out, text, runnable);
	return rc ? rc : sched_cpu_in(en, d, &next, in);
}

/* A thread is born. One of that tid is dead then, though its end was not recorded. */
static int renew(struct engine *en, struct lat_domain *d, const struct sched_side *side,
		 uint64_t now, uint32_t *index)
{
	struct sched_thread *t = &d->sched->v[*index];
	int rc = 0;

	if (t->any) {
		sched_thread_drop(en, t, LAT_RESTARTED);
		rc = sched_thread_end(en, d, *index, now);
		if (!rc)
			rc = sched_side_thread(en, d, NULL, side, index);
		if (rc || !*index)
			return rc;
		t = &d->sched->v[*index];
	}
	t->born = true;
	t->begin = t->since = now;
	return 0;
}

static const uint8_t *comm_of(const struct sched_bind *b, const uint8_t *payload)
{
	return b->comm == PS_NONE ? NULL : payload + b->comm;
}

/*
 * The waker that a sched_wakeup tells. It is raised where the thread was put on its queue: on the
 * thread's CPU, when that was idle. Then it is not known who did it; sched_waking would tell.
 */
static bool is_waker(const struct sched_bind *b, const uint8_t *payload, const struct ps_sample *s)
{
	return b->kind != SCHED_EV_WAKEUP || s->tid ||
	       (b->target && get_u32(payload + b->target) != s->cpu);
}

/* A thread was woken: *from is the wakeup, without its stack where that is not the waker's. */
static int wakeup_of(struct engine *en, struct lat_domain *d, const struct sched_bind *b,
		     const struct ps_sample *s, struct sched_thread *t, const struct lat_point *p,
		     struct lat_who waker)
{
	const uint8_t *payload = (const uint8_t *)s->payload.p;
	uint32_t cause = en->sched_names[t->born ? SCHED_NAME_NEW : SCHED_NAME_WOKEN];
	struct lat_point from = *p;

	if (!t->waking.time && t->state != SCHED_RUNNING && t->state != SCHED_RUNNABLE &&
	    !is_waker(b, payload, s)) {
		waker = (struct lat_who){PS_NONE, PS_NONE, en->sched_names[SCHED_NAME_NOT_KNOWN]};
		from.pid = PS_NONE;
		from.chain = from.stack = from.text = 0;
		en->unknown_wakers++;
	}
	return sched_become_runnable(en, d, t, &from, &waker, cause);
}

/* sched_wakeup, sched_wakeup_new, sched_waking. */
static int on_wakeup(struct engine *en, struct lat_domain *d, struct sched_bind *b,
		     const struct sreader *r, const struct ps_sample *s, const struct lat_point *p)
{
	const uint8_t *payload = (const uint8_t *)s->payload.p;
	struct sched_side side = {get_u32(payload + b->pid), PS_NONE, comm_of(b, payload)};
	struct lat_who waker = {s->pid, s->tid, 0};
	struct sched_thread *t;
	uint32_t index;
	int rc;

	if (!side.tid || (b->success && !get_u32(payload + b->success)))
		return 0;
	rc = sched_side_thread(en, d, NULL, &side, &index);
	if (!rc && index)
		rc = engine_string(en, r, s->comm, &waker.comm);
	if (rc || !index)
		return rc;
	t = &d->sched->v[index];
	d->sched->wakeups = true;
	sched_settle(en, d, t);
	if (b->kind == SCHED_EV_WAKING) {
		sched_set_aside(en, t, &t->waking, p, SCHED_WAKING);
		t->wakers = waker;
		return 0;
	}
	if (b->kind == SCHED_EV_WAKEUP_NEW) {
		rc = renew(en, d, &side, p->time, &index);
		if (rc || !index)
			return rc;
		t = &d->sched->v[index];
	}
	rc = wakeup_of(en, d, b, s, t, p, waker);
	return rc ? rc : sched_finish_point(en, d, t, SCHED_WAKING, &t->waking, p);
}

static int on_migrate(struct engine *en, struct lat_domain *d, struct sched_bind *b,
		      const struct ps_sample *s, const struct lat_point *p)
{
	const uint8_t *payload = (const uint8_t *)s->payload.p;
	struct sched_side side = {get_u32(payload + b->pid), PS_NONE, comm_of(b, payload)};
	struct sched_thread *t;
	uint32_t index;
	int rc = sched_side_thread(en, d, NULL, &side, &index);

	if (rc || !index)
		return rc;
	t = &d->sched->v[index];
	sched_settle(en, d, t);
	t->migrations++;
	sched_set_aside(en, t, &t->migrate, p, SCHED_MIGRATE);
	return 0;
}

int sched_sample(struct engine *en, struct lat_event *ev, const struct sreader *r,
		 const struct ps_record *rec)
{
	struct lat_domain *d = &en->domains[ev->domain];
	const struct ps_sample *s = &rec->sample;
	struct sched_bind *b = ev->sched;
	uint8_t payload[SCHED_LOOSE];
	struct ps_sample copy;
	struct lat_point p;
	int rc;

	if (b->loose) {
		if (!sched_loose_get(b, r, rec, payload))
			return 0;
		copy = *s;
		copy.payload = ps_str((const char *)payload, sizeof(payload));
		s = &copy;
	}
	if (s->payload.len < b->need)
		return 0;
	if (!domain_of(d))
		return PP_ENOMEM;
	rc = sched_see(en, d, s);
	if (!rc)
		rc = engine_point(en, r, rec, &p);
	if (!rc && en->by.n)
		rc = sched_values_of(en, r, rec, &p);
	if (rc)
		return rc;
	settle_time(&p);
	switch (b->kind) {
	case SCHED_EV_SWITCH: return on_switch(en, d, b, s, &p);
	case SCHED_EV_MIGRATE: return on_migrate(en, d, b, s, &p);
	default: return on_wakeup(en, d, b, r, s, &p);
	}
}

int sched_other_sample(struct engine *en, struct lat_domain *d, const struct ps_sample *s)
{
	return sched_see(en, d, s);
}

/* ---- context records ---- */

static int on_switch_record(struct engine *en, struct lat_domain *d, const struct ps_switch *s)
{
	struct sched_side side = {s->tid, s->pid, NULL};
	struct lat_point p = {.time = s->time, .cpu = s->cpu, .pid = s->pid};
	bool runnable = (s->flags & 2) != 0;

	settle_time(&p);
	/* The tracepoint tells the same, and more. */
	if (d->sched->switches || s->tid == PS_NONE)
		return 0;
	if (!d->first)
		d->first = s->time;
	if (s->time > d->last)
		d->last = s->time;
	if (s->flags & 1)
		return sched_cpu_out(en, d, &side, &p,
				     en->sched_names[runnable ? SCHED_NAME_OUT : SCHED_NAME_OFF],
				     runnable);
	return sched_cpu_in(en, d, &side, &p);
}

static int on_comm(struct engine *en, struct lat_domain *d, const struct sreader *r,
		   const struct ps_comm *c)
{
	struct sched_side side = {c->tid, c->pid, NULL};
	struct sched_thread *t;
	uint32_t index;
	int rc = sched_side_thread(en, d, NULL, &side, &index);

	if (rc || !index)
		return rc;
	t = &d->sched->v[index];
	t->raw[0] = t->raw[1] = 0;
	return engine_string(en, r, c->comm, &t->comm);
}

static int on_exit_record(struct engine *en, struct lat_domain *d, const struct ps_exit *e)
{
	uint32_t *index = map64_get(&d->sched->by_tid, e->tid);

	if (!index)
		return 0;
	/* It still has to be switched out, where switches are recorded. */
	if (d->sched->v[*index].any) {
		d->sched->v[*index].dying = true;
		return 0;
	}
	return sched_thread_end(en, d, *index, d->sched->v[*index].since);
}

int sched_context(struct engine *en, const struct sreader *r, const struct ps_record *rec)
{
	struct lat_domain *d;
	uint32_t n;

	if (rec->context.tid == PS_NONE)
		return 0;
	if (engine_domain(en, rec->source, "", 0, &n))
		return PP_ENOMEM;
	d = &en->domains[n];
	if (!domain_of(d))
		return PP_ENOMEM;
	switch (rec->type) {
	case PS_SWITCH: return on_switch_record(en, d, &rec->sw);
	case PS_COMM: return on_comm(en, d, r, &rec->comm);
	case PS_EXIT: return on_exit_record(en, d, &rec->exit);
	}
	return 0;
}
