#include "interval/sched_parts.h"

#include <stdlib.h>
#include <string.h>

static struct sched_domain *domain_of(struct lat_domain *d)
{
	if (!d->sched)
		d->sched = calloc(1, sizeof(*d->sched));
	return d->sched;
}

static uint32_t get_u32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* The text of a prev_state, and whether the thread stays runnable. */
static int state_text(struct lat *l, struct sched_bind *b, const uint8_t *payload, uint32_t *text,
		      bool *runnable)
{
	char buf[TASK_STATE_TEXT];
	uint32_t *known = NULL;
	uint64_t v = 0;

	if (b->state_size == 8)
		memcpy(&v, payload + b->prev_state, 8);
	else
		memcpy(&v, payload + b->prev_state, b->state_size);
	if (v < SCHED_STATES)
		known = &b->texts[v];
	if (known && *known) {
		*text = *known / 2;
		*runnable = *known & 1;
		return 0;
	}
	*runnable = task_state(&b->states, v, buf);
	if (lat_text(l, buf, strlen(buf), text))
		return PP_ENOMEM;
	if (known)
		*known = *text * 2 + *runnable;
	return 0;
}

/* A side of a switch, with its own mark: the filter may be about the other side. */
static struct lat_point side_point(const struct lat *l, const struct lat_point *p, unsigned side)
{
	struct lat_point out = *p;

	if (l->filter.sides == (LAT_SIDE_OUT | LAT_SIDE_IN) - side)
		out.mark = PS_MARK_NA;
	return out;
}

static int on_switch(struct lat *l, struct lat_domain *d, struct sched_bind *b,
		     const struct ps_sample *s, const struct lat_point *p)
{
	const uint8_t *payload = (const uint8_t *)s->payload.p;
	struct sched_side prev = {get_u32(payload + b->pid), PS_NONE, payload + b->comm};
	struct sched_side next = {get_u32(payload + b->next_pid), PS_NONE, payload + b->next_comm};
	struct lat_point out = side_point(l, p, LAT_SIDE_OUT), in = side_point(l, p, LAT_SIDE_IN);
	uint32_t text;
	bool runnable;
	int rc = state_text(l, b, payload, &text, &runnable);

	d->sched->switches = true;
	if (prev.tid == s->tid)
		prev.pid = s->pid;
	/* What holds for threads is not about a CPU that has none. */
	if (!prev.tid && l->filter.sides == LAT_SIDE_OUT)
		out.mark = PS_MARK_NA;
	if (!rc)
		rc = sched_cpu_out(l, d, &prev, &out, text, runnable);
	return rc ? rc : sched_cpu_in(l, d, &next, &in);
}

/* A thread is born. One of that tid is dead then, though its end was not recorded. */
static int renew(struct lat *l, struct lat_domain *d, const struct sched_side *side, uint64_t now,
		 uint32_t *index)
{
	struct sched_thread *t = &d->sched->v[*index];
	int rc = 0;

	if (t->any) {
		sched_thread_drop(l, t, LAT_RESTARTED);
		rc = sched_thread_end(l, d, *index, now);
		if (!rc)
			rc = sched_side_thread(l, d, NULL, side, index);
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

/* sched_wakeup, sched_wakeup_new, sched_waking. */
static int on_wakeup(struct lat *l, struct lat_domain *d, struct sched_bind *b,
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
	rc = sched_side_thread(l, d, NULL, &side, &index);
	if (!rc && index)
		rc = lat_string(l, r, s->comm, &waker.comm);
	if (rc || !index)
		return rc;
	t = &d->sched->v[index];
	sched_settle(l, d, t);
	if (b->kind == SCHED_EV_WAKING) {
		sched_set_aside(l, t, &t->waking, p, SCHED_WAKING);
		t->wakers = waker;
		return 0;
	}
	if (b->kind == SCHED_EV_WAKEUP_NEW) {
		rc = renew(l, d, &side, p->time, &index);
		if (rc || !index)
			return rc;
		t = &d->sched->v[index];
	}
	rc = sched_become_runnable(l, d, t, p, &waker,
				   l->sched_names[t->born ? SCHED_NAME_NEW : SCHED_NAME_WOKEN]);
	return rc ? rc : sched_finish_point(l, d, t, SCHED_WAKING, &t->waking, p);
}

static int on_migrate(struct lat *l, struct lat_domain *d, struct sched_bind *b,
		      const struct ps_sample *s, const struct lat_point *p)
{
	const uint8_t *payload = (const uint8_t *)s->payload.p;
	struct sched_side side = {get_u32(payload + b->pid), PS_NONE, comm_of(b, payload)};
	struct sched_thread *t;
	uint32_t index;
	int rc = sched_side_thread(l, d, NULL, &side, &index);

	if (rc || !index)
		return rc;
	t = &d->sched->v[index];
	sched_settle(l, d, t);
	t->migrations++;
	sched_set_aside(l, t, &t->migrate, p, SCHED_MIGRATE);
	return 0;
}

int sched_sample(struct lat *l, struct lat_event *ev, const struct sreader *r,
		 const struct ps_record *rec)
{
	struct lat_domain *d = &l->domains[ev->domain];
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
	rc = lat_point(l, r, rec, &p);
	if (!rc && l->nby)
		rc = sched_values_of(l, r, rec, &p);
	if (rc)
		return rc;
	switch (b->kind) {
	case SCHED_EV_SWITCH: return on_switch(l, d, b, s, &p);
	case SCHED_EV_MIGRATE: return on_migrate(l, d, b, s, &p);
	default: return on_wakeup(l, d, b, r, s, &p);
	}
}

/* ---- context records ---- */

static int on_switch_record(struct lat *l, struct lat_domain *d, const struct ps_switch *s)
{
	struct sched_side side = {s->tid, s->pid, NULL};
	struct lat_point p = {.time = s->time, .cpu = s->cpu, .pid = s->pid};
	bool runnable = (s->flags & 2) != 0;

	/* The tracepoint tells the same, and more. */
	if (d->sched->switches || s->tid == PS_NONE)
		return 0;
	if (!d->first)
		d->first = s->time;
	if (s->time > d->last)
		d->last = s->time;
	if (s->flags & 1)
		return sched_cpu_out(l, d, &side, &p,
				     l->sched_names[runnable ? SCHED_NAME_OUT : SCHED_NAME_OFF],
				     runnable);
	return sched_cpu_in(l, d, &side, &p);
}

static int on_comm(struct lat *l, struct lat_domain *d, const struct sreader *r,
		   const struct ps_comm *c)
{
	struct sched_side side = {c->tid, c->pid, NULL};
	struct sched_thread *t;
	uint32_t index;
	int rc = sched_side_thread(l, d, NULL, &side, &index);

	if (rc || !index)
		return rc;
	t = &d->sched->v[index];
	t->raw[0] = t->raw[1] = 0;
	return lat_string(l, r, c->comm, &t->comm);
}

static int on_exit_record(struct lat *l, struct lat_domain *d, const struct ps_exit *e)
{
	uint32_t *index = map64_get(&d->sched->by_tid, e->tid);

	if (!index)
		return 0;
	/* It still has to be switched out, where switches are recorded. */
	if (d->sched->v[*index].any) {
		d->sched->v[*index].dying = true;
		return 0;
	}
	return sched_thread_end(l, d, *index, d->sched->v[*index].since);
}

int sched_context(struct lat *l, const struct sreader *r, const struct ps_record *rec)
{
	struct lat_domain *d;
	uint32_t n;

	if (rec->context.tid == PS_NONE)
		return 0;
	if (lat_domain_of(l, rec->source, "", 0, &n))
		return PP_ENOMEM;
	d = &l->domains[n];
	if (!domain_of(d))
		return PP_ENOMEM;
	switch (rec->type) {
	case PS_SWITCH: return on_switch_record(l, d, &rec->sw);
	case PS_COMM: return on_comm(l, d, r, &rec->comm);
	case PS_EXIT: return on_exit_record(l, d, &rec->exit);
	}
	return 0;
}

/* ---- binding ---- */

int sched_new(struct lat *l)
{
	static const char *const texts[] = {
#define N(name, text) text,
		SCHED_NAMES(N)
#undef N
	};
	int rc = 0;

	for (int i = 0; i < SCHED_NNAMES && !rc; i++)
		rc = lat_text(l, texts[i], strlen(texts[i]), &l->sched_names[i]);
	return rc;
}

void sched_unbind(struct lat_event *ev)
{
	if (ev->sched)
		sched_loose_free(ev->sched->loose);
	free(ev->sched);
	ev->sched = NULL;
}

/* A field of fixed size; false: the event has none of that name and those sizes. */
static bool place(struct sched_bind *b, const struct ps_event *e, const char *name, uint32_t least,
		  uint32_t most, uint32_t *offset, uint32_t *size)
{
	struct ps_event_field f;

	if (!ps_event_field_find(e, name, strlen(name), &f) || f.size < least || f.size > most ||
	    f.flags & PS_FIELD_DYNAMIC || f.offset > UINT32_MAX - f.size)
		return false;
	*offset = f.offset;
	if (size)
		*size = f.size;
	if (f.offset + f.size > b->need)
		b->need = f.offset + f.size;
	return true;
}

static bool place_all(struct sched_bind *b, const struct ps_event *e)
{
	uint32_t need;

	switch (b->kind) {
	case SCHED_EV_SWITCH:
		return place(b, e, "prev_comm", SCHED_COMM, SCHED_COMM, &b->comm, NULL) &&
		       place(b, e, "prev_pid", 4, 4, &b->pid, NULL) &&
		       place(b, e, "prev_state", 4, 8, &b->prev_state, &b->state_size) &&
		       place(b, e, "next_comm", SCHED_COMM, SCHED_COMM, &b->next_comm, NULL) &&
		       place(b, e, "next_pid", 4, 4, &b->next_pid, NULL);
	default:
		if (!place(b, e, "comm", SCHED_COMM, SCHED_COMM, &b->comm, NULL))
			b->comm = PS_NONE;
		if (!place(b, e, "pid", 4, 4, &b->pid, NULL))
			return false;
		/* Of kernels that also recorded wakeups of what was awake. */
		need = b->need;
		if (b->kind == SCHED_EV_WAKEUP && !place(b, e, "success", 4, 4, &b->success, NULL))
			b->need = need;
		return true;
	}
}

int sched_bind(struct lat *l, const struct ps_event *e, struct lat_event *ev)
{
	static const char *const names[] = {[SCHED_EV_SWITCH] = "sched:sched_switch",
					    [SCHED_EV_WAKEUP] = "sched:sched_wakeup",
					    [SCHED_EV_WAKEUP_NEW] = "sched:sched_wakeup_new",
					    [SCHED_EV_WAKING] = "sched:sched_waking",
					    [SCHED_EV_MIGRATE] = "sched:sched_migrate_task"};
	struct sched_bind *b;

	(void)l;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (e->name.len != strlen(names[i]) || memcmp(e->name.p, names[i], e->name.len))
			continue;
		b = calloc(1, sizeof(*b));
		if (!b)
			return PP_ENOMEM;
		b->kind = (enum sched_kind_of_event)i;
		if (!place_all(b, e)) {
			int rc = sched_loose_bind(b, e);

			if (rc) {
				free(b);
				return rc == PP_ENOENT ? 0 : rc;
			}
		}
		if (!b->loose || e->format.len)
			task_states_parse(&b->states, e->format.p, e->format.len);
		ev->sched = b;
		return 0;
	}
	return 0;
}

/* ---- the end ---- */

static int end_thread(struct lat *l, struct lat_domain *d, uint32_t index)
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
		sched_interval(d, l, t, all[i].kind, all[i].p, &iv);
		sched_values(l, &iv);
		rc = lat_open(l, &iv, all[i].p->time, d->last);
	}
	return rc ? rc : sched_thread_end(l, d, index, d->last);
}

static int use_point(struct lat *l, lat_point_fn *fn, struct lat_point *p, bool used)
{
	if (used)
		return fn(l->stacks_kept, p);
	p->chain = p->stack = 0;
	return 0;
}

static int thread_points(struct lat *l, lat_point_fn *fn, struct sched_thread *t)
{
	struct lat_point *aside[] = {&t->off, &t->wake, &t->waking, &t->migrate};
	bool there = t->tid != PS_NONE;
	int rc = use_point(l, fn, &t->start, there && t->state != SCHED_UNKNOWN);

	for (size_t i = 0; i < sizeof(aside) / sizeof(aside[0]) && !rc; i++)
		rc = use_point(l, fn, aside[i], there && aside[i]->time);
	return rc;
}

int sched_points(struct lat *l, lat_point_fn *fn)
{
	int rc = 0;

	for (uint32_t k = 0; k < l->ndomains && !rc; k++) {
		struct sched_domain *sd = l->domains[k].sched;

		for (uint32_t c = 0; sd && c < sd->ncpus && !rc; c++)
			rc = use_point(l, fn, &sd->cpus[c].start, sd->cpus[c].idle);
		for (uint32_t i = 1; sd && i <= sd->n && !rc; i++)
			rc = thread_points(l, fn, &sd->v[i]);
	}
	return rc;
}

int sched_end(struct lat *l)
{
	int rc = 0;

	for (uint32_t k = 0; k < l->ndomains && !rc; k++) {
		struct lat_domain *d = &l->domains[k];

		if (!d->sched)
			continue;
		for (uint32_t c = 0; c < d->sched->ncpus; c++)
			if (d->sched->cpus[c].idle)
				l->kinds[SCHED_IDLE].count[LAT_OPEN]++;
		for (uint32_t i = 1; i <= d->sched->n && !rc; i++) {
			if (d->sched->v[i].tid == PS_NONE)
				continue;
			sched_settle(l, d, &d->sched->v[i]);
			rc = end_thread(l, d, i);
		}
	}
	return rc;
}
