/* The events that tell what threads do: which they are, and what they say. */
#include "wall/engine.h"

#include "base/array.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define FIELDS_MAX 5

struct wall_event {
	enum wall_what what;
	bool has[FIELDS_MAX];
	struct field fields[FIELDS_MAX];
	struct task_states states;
};

static const struct {
	const char *name;
	enum wall_what what;
	uint32_t need; /* bits: fields without which it tells nothing */
	const char *fields[FIELDS_MAX];
} known[] = {
	{"sched:sched_switch",
	 WALL_SWITCH,
	 0x16,
	 {"prev_comm", "prev_pid", "prev_state", "next_comm", "next_pid"}},
	{"sched:sched_wakeup", WALL_WAKEUP, 2, {"comm", "pid", "success", "target_cpu"}},
	{"sched:sched_wakeup_new", WALL_WAKEUP_NEW, 2, {"comm", "pid", "success"}},
	{"sched:sched_waking", WALL_WAKING, 2, {"comm", "pid"}},
	{"irq:irq_handler_entry", WALL_IRQ_IN, 0, {NULL}},
	{"irq:irq_handler_exit", WALL_IRQ_OUT, 0, {NULL}},
	{"irq:softirq_entry", WALL_IRQ_IN, 0, {NULL}},
	{"irq:softirq_exit", WALL_IRQ_OUT, 0, {NULL}},
};
#define KNOWN (sizeof(known) / sizeof(known[0]))

static void release(struct wall_event *e)
{
	if (!e)
		return;
	for (int i = 0; i < FIELDS_MAX; i++)
		if (e->has[i])
			field_release(&e->fields[i]);
	free(e);
}

void wall_unbind(struct wall *w)
{
	for (uint32_t i = 0; i < w->nevents; i++)
		release(w->events[i]);
	free(w->events);
	w->events = NULL;
	w->nevents = 0;
}

/* Whether its samples come at even distances of time that a CPU was busy: cycles, cpu-clock. */
static bool is_clock(const struct ps_event *e)
{
	if (e->fields.len || !(e->flags & PS_EVENT_SAMPLED) || e->flags & PS_EVENT_HELPER)
		return false;
	switch (e->perf_type) {
	case 0: return (e->config & UINT32_MAX) == 0 || e->config == 9;
	case 1: return e->config <= 1;
	case 4: return true;
	default: return e->perf_type >= 6 && e->perf_type != PS_TYPE_MADE;
	}
}

/* The states' letters as the reader of ftrace text numbers them, where there is no format text. */
static void set_states(struct task_states *t, const struct ps_event *e)
{
	static const char letters[][2] = {"S", "D", "T", "t", "X", "Z", "P", "I"};

	if (e->format.len) {
		task_states_parse(t, e->format.p, e->format.len);
		return;
	}
	t->preempted = 0x100;
	for (; t->flags.n < sizeof(letters) / sizeof(letters[0]); t->flags.n++) {
		t->flags.names[t->flags.n].value = UINT64_C(1) << t->flags.n;
		memcpy(t->flags.names[t->flags.n].text, letters[t->flags.n], 2);
	}
}

static int bind_fields(struct wall_event *v, const struct ps_event *e, size_t k)
{
	uint32_t got = 0;

	for (int i = 0; i < FIELDS_MAX && known[k].fields[i]; i++) {
		const char *name = known[k].fields[i];
		int rc = field_resolve(&v->fields[i], e, name, strlen(name));

		if (rc == PP_ENOMEM)
			return rc;
		/* A field that every sample has is not the event's. */
		v->has[i] = !rc && v->fields[i].id == FIELD_PAYLOAD;
		if (v->has[i])
			got |= 1u << i;
		else if (!rc)
			field_release(&v->fields[i]);
	}
	if ((got & known[k].need) == known[k].need)
		v->what = known[k].what;
	return 0;
}

int wall_bind(struct wall *w, const struct ps_record *rec)
{
	const struct ps_event *e = &rec->event;
	struct wall_event **list = array_widen(w->events, &w->nevents, e->id, 64, sizeof(*list));
	struct wall_event *v;
	size_t k = 0;
	int rc;

	if (!list)
		return PP_ENOMEM;
	w->events = list;
	release(list[e->id]);
	list[e->id] = NULL;
	while (k < KNOWN && (strlen(known[k].name) != e->name.len ||
			     memcmp(known[k].name, e->name.p, e->name.len) != 0))
		k++;
	if (k == KNOWN && !is_clock(e))
		return 0;
	/* Another trace buffer has the same switches once more. */
	if (e->buffer.len) {
		w->account.other_buffers++;
		return 0;
	}
	v = calloc(1, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	list[e->id] = v;
	v->what = WALL_CPU_SAMPLE;
	if (k == KNOWN)
		return 0;
	v->what = WALL_OTHER;
	rc = bind_fields(v, e, k);
	if (v->what == WALL_SWITCH) {
		w->switch_events = true;
		set_states(&v->states, e);
	}
	w->waking |= v->what == WALL_WAKING;
	w->wakeups |= v->what == WALL_WAKING || v->what == WALL_WAKEUP;
	return rc;
}

static bool number(const struct wall *w, const struct wall_event *e, int i, uint64_t *v)
{
	struct qval q;

	if (!e->has[i] || !field_get(&e->fields[i], w->r, w->rec, &q) || q.kind != QV_INT)
		return false;
	*v = q.num;
	return true;
}

static void text(const struct wall *w, const struct wall_event *e, int i, struct qval *q)
{
	if (!e->has[i] || !field_get(&e->fields[i], w->r, w->rec, q) || q->kind != QV_STR)
		*q = (struct qval){.kind = QV_NA};
}

bool wall_decode(struct wall *w, struct wall_seen *v)
{
	const struct ps_sample *s = &w->rec->sample;
	const struct wall_event *e = s->event < w->nevents ? w->events[s->event] : NULL;
	char state[TASK_STATE_TEXT];
	uint64_t a, b, n;

	*v = (struct wall_seen){.what = e ? e->what : WALL_OTHER, .target = PS_NONE};
	if (!e)
		return false;
	switch (v->what) {
	case WALL_SWITCH:
		if (!number(w, e, 1, &a) || !number(w, e, 2, &n) || !number(w, e, 4, &b))
			return false;
		v->prev = (uint32_t)a;
		v->next = (uint32_t)b;
		text(w, e, 0, &v->prev_comm);
		text(w, e, 3, &v->next_comm);
		v->runnable = task_state(&e->states, n, state);
		v->dead = *state == 'X' || *state == 'Z' || *state == 'x';
		return true;
	case WALL_WAKEUP:
	case WALL_WAKEUP_NEW:
	case WALL_WAKING:
		if (!number(w, e, 1, &a))
			return false;
		v->next = (uint32_t)a;
		text(w, e, 0, &v->next_comm);
		v->target = number(w, e, 3, &n) ? (uint32_t)n : PS_NONE;
		/* Old kernels recorded wakeups of what was awake, too. */
		return !number(w, e, 2, &n) || n;
	default: return v->what != WALL_OTHER;
	}
}
