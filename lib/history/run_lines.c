/* A line for each time that a thread ran. */
#include "base/err.h"
#include "history/parts.h"

#include <inttypes.h>
#include <string.h>

/* The head of the lines; once. */
static void history_head(struct history *h)
{
	struct buf *b = &h->b;
	int rule = (int)h->ncpus;

	if (h->titled)
		return;
	h->titled = true;
	buf_addf(b, "%15s %6s ", "time", "cpu");
	if (h->o.cpus) {
		buf_addc(b, ' ');
		for (uint32_t i = 0; i < h->ncpus; i++)
			buf_addf(b, "%x", i & 15);
		buf_addc(b, ' ');
	}
	buf_addf(b, " %-*s  %9s  %9s  %9s%s\n", h->width, "task name", "wait time", "sch delay",
		 "run time", h->o.state ? "  state" : "");
	buf_addf(b, "%15s %-6s ", "", "");
	if (h->o.cpus)
		buf_addf(b, " %*s ", rule, "");
	buf_addf(b, " %-*s  %9s  %9s  %9s%s\n", h->width, "[tid/pid]", "(msec)", "(msec)", "(msec)",
		 h->o.state ? "       " : "");
	buf_fill(b, '-', 15);
	buf_addc(b, ' ');
	buf_fill(b, '-', 6);
	buf_addc(b, ' ');
	if (h->o.cpus) {
		buf_addc(b, ' ');
		buf_fill(b, '-', h->ncpus);
		buf_addc(b, ' ');
	}
	buf_addc(b, ' ');
	buf_fill(b, '-', (size_t)h->width);
	buf_adds(b, "  ---------  ---------  ---------");
	buf_adds(b, h->o.state ? "  -----\n" : "\n");
}

/* The thread in its column, which gets as wide as the widest. */
static void put_task(struct history *h, const struct history_thread *t)
{
	size_t at = h->b.len;
	int n;

	history_task(h, t, &h->b);
	n = (int)(h->b.len - at);
	if (n > h->width)
		h->width = n;
	buf_fill(&h->b, ' ', (size_t)(h->width - n));
}

/* How a line begins. c: what the column of its CPU has. */
static void begin(struct history *h, char c)
{
	const struct history_seen *v = &h->seen;

	history_head(h);
	h->shown++;
	history_time(&h->b, v->time, 15);
	buf_adds(&h->b, " [");
	buf_add_u64(&h->b, v->cpu, 4, '0');
	buf_adds(&h->b, "] ");
	if (!h->o.cpus)
		return;
	buf_addc(&h->b, ' ');
	for (uint32_t i = 0; i < h->ncpus; i++)
		buf_addc(&h->b, i == v->cpu ? c : ' ');
	buf_addc(&h->b, ' ');
}

/* The line of a wakeup or a move: who did it (negative: not known), and to whom. */
static void put_event(struct history *h, char c, const char *what, int64_t by, int64_t whom)
{
	begin(h, c);
	buf_addc(&h->b, ' ');
	if (by < 0)
		buf_addf(&h->b, "%-*s", h->width, "[not known]");
	else
		put_task(h, &h->threads[by]);
	buf_fill(&h->b, ' ', 1 + 3 * 11);
	buf_addc(&h->b, ' ');
	buf_adds(&h->b, what);
	history_task(h, &h->threads[whom], &h->b);
}

/* The thread that an event was recorded in. */
static int64_t recorded_in(struct history *h)
{
	const struct history_seen *v = &h->seen;
	int64_t by = history_thread(h, v->buffer, v->tid);
	struct history_thread *t = by < 0 ? NULL : &h->threads[by];

	if (!t)
		return by;
	if (t->pid == PS_NONE)
		t->pid = v->pid;
	return t->comm || !history_rename(h, t, &v->comm) ? by : PP_ENOMEM;
}

/*
 * sched_wakeup is raised on the CPU of the thread that wakes up, where that was idle: then it does
 * not tell who did it.
 */
static bool is_waker(const struct history_seen *v)
{
	return v->what != HISTORY_WAKEUP || v->tid || (v->to != PS_NONE && v->to != v->cpu);
}

static int on_wakeup(struct history *h)
{
	const struct history_seen *v = &h->seen;
	int64_t by, whom;
	struct history_thread *t;

	if (h->waking && v->what == HISTORY_WAKEUP)
		return 0;
	whom = history_thread(h, v->buffer, v->a);
	if (whom < 0)
		return (int)whom;
	t = &h->threads[whom];
	if (history_rename(h, t, &v->a_comm))
		return PP_ENOMEM;
	if (t->running)
		t->early = v->time;
	else if (!t->ready)
		t->ready = v->time;
	if (!h->o.wakeups || v->mark == PS_MARK_FAIL)
		return 0;
	by = is_waker(v) ? recorded_in(h) : -1;
	if (by < 0 && is_waker(v))
		return (int)by;
	h->unknown_wakers += by < 0;
	put_event(h, ' ', "awakened: ", by, whom);
	buf_addc(&h->b, '\n');
	return history_write(h);
}

static int on_migrate(struct history *h)
{
	const struct history_seen *v = &h->seen;
	int64_t by, whom = history_thread(h, v->buffer, v->a);

	if (whom < 0)
		return (int)whom;
	if (history_rename(h, &h->threads[whom], &v->a_comm))
		return PP_ENOMEM;
	h->threads[whom].migrations++;
	if (!h->o.migrations || v->mark == PS_MARK_FAIL)
		return 0;
	by = recorded_in(h);
	if (by < 0)
		return (int)by;
	put_event(h, 'm', "migrated: ", by, whom);
	buf_addf(&h->b, " cpu %" PRIu32 " => %" PRIu32 "\n", v->from, v->to);
	return history_write(h);
}

/* ---- switches ---- */

/* What a thread did, up to now: it ran from `since` on, if that is known (not 0). */
static void account(const struct history *h, struct history_thread *t, uint64_t since)
{
	uint64_t now = h->seen.time;

	t->run = t->delay = t->wait = 0;
	if (since) {
		t->run = now > since ? now - since : 0;
		if (t->ready > h->lost_at && t->ready <= since)
			t->delay = since - t->ready;
		if (t->last > h->lost_at && t->last <= since)
			t->wait = since - t->last;
	}
	history_count(&t->runs, t->run);
	t->delays += t->delay;
	if (t->last_state == 'R')
		t->preempted += t->wait;
	else if (t->last_state == 'D')
		t->disk += t->wait;
	else
		t->sleep += t->wait;
}

/* The innermost functions of the stack, without those of the scheduler itself. */
static void put_stack(struct history *h)
{
	static const char *const own[] = {"schedule", "__schedule", "preempt_schedule"};
	uint64_t max = (h->o.max_stack ? h->o.max_stack : HISTORY_STACK) + 2;
	const struct ps_sample *s = &h->rec->sample;
	bool first = true;
	struct qval q;

	if (!ps_sample_has(s, stack)) {
		h->nameless += ps_sample_has(s, chain);
		return;
	}
	buf_adds(&h->b, "  ");
	for (uint32_t i = 0; i < max && field_frame(h->r, s, i, &q); i++) {
		bool skip = false;

		for (size_t k = 0; k < sizeof(own) / sizeof(own[0]); k++)
			skip |= q.len == strlen(own[k]) && !memcmp(q.s, own[k], q.len);
		if (skip)
			continue;
		buf_adds(&h->b, first ? " " : " <- ");
		buf_add_safe(&h->b, q.s, q.len);
		first = false;
	}
}

static void put_next(struct history *h)
{
	const struct history_seen *v = &h->seen;
	size_t at = h->b.len, n;

	buf_adds(&h->b, "next: ");
	if (v->b_comm.kind == QV_STR)
		buf_add_safe(&h->b, v->b_comm.s, v->b_comm.len);
	buf_addf(&h->b, "[%" PRIu32 "]", v->b);
	n = h->b.len - at;
	if (n < (size_t)h->width)
		buf_fill(&h->b, ' ', (size_t)h->width - n);
}

static int put_switch(struct history *h, const struct history_thread *t)
{
	begin(h, t->idle ? 'i' : 's');
	buf_addc(&h->b, ' ');
	put_task(h, t);
	buf_addc(&h->b, ' ');
	history_ms(&h->b, t->wait, 6);
	history_ms(&h->b, t->delay, 6);
	history_ms(&h->b, t->run, 6);
	if (h->o.state)
		buf_addf(&h->b, " %5c ", t->idle ? 'I' : h->seen.state[0]);
	if (h->o.next) {
		buf_addc(&h->b, ' ');
		put_next(h);
	}
	if (h->o.wakeups && !h->o.next)
		buf_fill(&h->b, ' ', 2 + (size_t)h->width);
	if (!t->idle && !h->o.no_stack)
		put_stack(h);
	buf_addc(&h->b, '\n');
	return history_write(h);
}

/* The thread that a CPU switches from, with what the event tells of it. Its index or an error. */
static int64_t previous(struct history *h)
{
	const struct history_seen *v = &h->seen;
	struct history_thread *t;
	int64_t i;

	if (!v->a) {
		t = history_idle(h, v->cpu);
		return t ? t - h->threads : PP_ENOMEM;
	}
	i = history_thread(h, v->buffer, v->a);
	if (i < 0)
		return i;
	t = &h->threads[i];
	if (v->tid == v->a && v->pid != PS_NONE)
		t->pid = v->pid;
	return history_rename(h, t, &v->a_comm) ? PP_ENOMEM : i;
}

/* A CPU switches to a thread. */
static int enter(struct history *h)
{
	const struct history_seen *v = &h->seen;
	struct history_thread *t;
	int64_t i;

	if (!v->b) {
		t = history_idle(h, v->cpu);
		if (!t)
			return PP_ENOMEM;
		h->cpus[v->cpu].current = (uint32_t)(t - h->threads) + 1;
		return 0;
	}
	i = history_thread(h, v->buffer, v->b);
	if (i < 0)
		return (int)i;
	t = &h->threads[i];
	/* It was being woken while it went to sleep. */
	if (!t->ready && t->early)
		t->ready = t->last;
	t->early = 0;
	t->running = true;
	h->cpus[v->cpu].current = (uint32_t)i + 1;
	return history_rename(h, t, &v->b_comm);
}

/* With --idle-hist, the time that a CPU was idle counts for the thread that ran there before. */
static void count_idle(struct history *h, struct history_cpu *c, uint64_t since)
{
	if (c->before && since) {
		history_count(&h->threads[c->before - 1].runs, h->seen.time - since);
		c->before = 0;
	}
}

static int on_switch(struct history *h)
{
	const struct history_seen *v = &h->seen;
	struct history_cpu *c = history_cpu(h, v->cpu);
	struct history_thread *t;
	uint64_t since;
	int64_t i;
	int rc = 0;

	if (!c)
		return v->cpu < HISTORY_CPUS_MAX ? PP_ENOMEM : 0;
	i = previous(h);
	if (i < 0)
		return (int)i;
	t = &h->threads[i];
	since = c->last > h->lost_at ? c->last : 0;
	if (since && c->current && c->current != (uint32_t)i + 1) {
		h->missing++;
		h->threads[c->current - 1].running = false;
		since = 0;
	}
	h->switches++;
	h->first = h->first ? h->first : v->time;
	h->end = v->time;
	if (v->mark == PS_MARK_FAIL) {
		h->skipped = true;
	} else if (!h->o.idle || t->idle) {
		account(h, t, since);
		if (h->o.idle)
			count_idle(h, c, since);
		if (h->o.summary != HISTORY_SUMMARY)
			rc = put_switch(h, t);
		h->shown++;
	}
	if (!t->idle)
		c->before = (uint32_t)i + 1;
	t->last = c->last = v->time;
	t->last_state = v->runnable ? 'R' : v->state[0];
	t->ready = v->runnable && !h->o.woken && !t->idle ? v->time : 0;
	t->running = false;
	/* Not every recording has a record of its end. */
	t->ended |= !t->idle && (t->last_state == 'X' || t->last_state == 'Z');
	return rc ? rc : enter(h);
}

int history_times(struct history *h)
{
	switch (h->seen.what) {
	case HISTORY_SWITCH: return on_switch(h);
	case HISTORY_MIGRATE: return on_migrate(h);
	default: return on_wakeup(h);
	}
}

int history_lost(struct history *h, const struct ps_lost *l)
{
	h->lost_at = l->time > h->lost_at ? l->time : h->lost_at;
	if (h->o.form != HISTORY_TIMES || h->o.summary == HISTORY_SUMMARY)
		return 0;
	history_head(h);
	history_time(&h->b, l->time, 15);
	if (l->flags & 1)
		buf_adds(&h->b, " lost events");
	else
		buf_addf(&h->b, " lost %" PRIu64 " events", l->count);
	if (l->cpu != PS_NONE)
		buf_addf(&h->b, " on cpu %" PRIu32, l->cpu);
	buf_addc(&h->b, '\n');
	return history_write(h);
}
