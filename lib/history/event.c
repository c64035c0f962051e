/* The scheduler's events: which they are, and what they tell. */
#include "base/array.h"
#include "base/err.h"
#include "history/parts.h"

#include <string.h>

static const struct {
	const char *name;
	enum history_what what;
	const char *fields[HISTORY_FIELDS];
} known[] = {
	{"sched:sched_switch",
	 HISTORY_SWITCH,
	 {"prev_comm", "prev_pid", "next_comm", "next_pid", "prev_state"}},
	{"sched:sched_wakeup", HISTORY_WAKEUP, {"comm", "pid", "success", "target_cpu"}},
	{"sched:sched_wakeup_new", HISTORY_WAKEUP_NEW, {"comm", "pid", "success"}},
	{"sched:sched_waking", HISTORY_WAKING, {"comm", "pid"}},
	{"sched:sched_migrate_task", HISTORY_MIGRATE, {"comm", "pid", "orig_cpu", "dest_cpu"}},
};
#define KNOWN (sizeof(known) / sizeof(known[0]))

static void release(struct history_event *e)
{
	for (int i = 0; i < HISTORY_FIELDS; i++)
		if (e->nfields & 1u << i)
			field_release(&e->fields[i]);
	*e = (struct history_event){0};
}

void history_unbind(struct history *h)
{
	for (uint32_t i = 0; i < h->nevents; i++)
		release(&h->events[i]);
}

/* The states' letters as the reader of ftrace text numbers them, where there is no format text. */
static void set_states(struct task_states *t)
{
	static const char letters[][2] = {"S", "D", "T", "t", "X", "Z", "P", "I"};

	*t = (struct task_states){.preempted = 0x100};
	for (; t->flags.n < sizeof(letters) / sizeof(letters[0]); t->flags.n++) {
		t->flags.names[t->flags.n].value = UINT64_C(1) << t->flags.n;
		memcpy(t->flags.names[t->flags.n].text, letters[t->flags.n], 2);
	}
}

int history_bind(struct history *h, const struct ps_record *rec)
{
	const struct ps_event *e = &rec->event;
	struct history_event *v = array_widen(h->events, &h->nevents, e->id, 64, sizeof(*v));
	size_t k = 0;
	int rc;

	if (!v)
		return PP_ENOMEM;
	h->events = v;
	v += e->id;
	release(v);
	while (k < KNOWN && (strlen(known[k].name) != e->name.len ||
			     memcmp(known[k].name, e->name.p, e->name.len) != 0))
		k++;
	v->what = HISTORY_OTHER;
	if (k == KNOWN)
		return 0;
	for (int i = 0; i < HISTORY_FIELDS && known[k].fields[i]; i++) {
		const char *name = known[k].fields[i];

		rc = field_resolve(&v->fields[i], e, name, strlen(name));
		if (rc == PP_ENOMEM)
			return rc;
		/* A field that every sample has is not the event's. */
		if (!rc && v->fields[i].id == FIELD_PAYLOAD)
			v->nfields |= 1u << i;
		else if (!rc)
			field_release(&v->fields[i]);
	}
	rc = history_buffer(h, rec->source, &e->buffer, &v->buffer);
	if (rc)
		return rc;
	/* A switch without its five fields, or any other without the thread, tells nothing. */
	if (known[k].what == HISTORY_SWITCH ? v->nfields != (1u << HISTORY_FIELDS) - 1
					    : !(v->nfields & 1u << FIELD_A_PID))
		return 0;
	v->what = known[k].what;
	if (v->what == HISTORY_SWITCH && e->format.len)
		task_states_parse(&v->states, e->format.p, e->format.len);
	else if (v->what == HISTORY_SWITCH)
		set_states(&v->states);
	h->waking |= v->what == HISTORY_WAKING;
	return 0;
}

static bool number(const struct history *h, const struct history_event *e, int i, uint64_t *v)
{
	struct qval q;

	if (!(e->nfields & 1u << i) || !field_get(&e->fields[i], h->r, h->rec, &q) ||
	    q.kind != QV_INT)
		return false;
	*v = q.num;
	return true;
}

static void text(const struct history *h, const struct history_event *e, int i, struct qval *q)
{
	if (!(e->nfields & 1u << i) || !field_get(&e->fields[i], h->r, h->rec, q) ||
	    q->kind != QV_STR)
		*q = (struct qval){.kind = QV_NA};
}

bool history_decode(struct history *h)
{
	const struct ps_sample *s = &h->rec->sample;
	const struct history_event *e = s->event < h->nevents ? &h->events[s->event] : NULL;
	struct history_seen *v = &h->seen;
	uint64_t a, b = 0, c = 0, state = 0;

	if (!e || e->what <= HISTORY_OTHER || s->cpu == PS_NONE ||
	    s->flags & (PS_SAMPLE_NO_TIME | PS_SAMPLE_JOINED) || !number(h, e, FIELD_A_PID, &a))
		return false;
	v->what = e->what;
	v->mark = (enum ps_mark)(s->flags & PS_MARK_MASK);
	v->buffer = e->buffer;
	v->cpu = s->cpu;
	v->time = s->time;
	v->pid = s->pid;
	v->tid = s->tid;
	v->comm = (struct qval){.kind = QV_NA};
	if (s->comm && (v->comm.s = sreader_string(h->r, s->comm, &v->comm.len)))
		v->comm.kind = QV_STR;
	v->a = (uint32_t)a;
	text(h, e, FIELD_A_COMM, &v->a_comm);
	switch (v->what) {
	case HISTORY_SWITCH:
		text(h, e, FIELD_B, &v->b_comm);
		if (!number(h, e, FIELD_C, &b) || !number(h, e, FIELD_D, &state))
			return false;
		v->b = (uint32_t)b;
		v->runnable = task_state(&e->states, state, v->state);
		return true;
	case HISTORY_MIGRATE:
		if (!number(h, e, FIELD_B, &b) || !number(h, e, FIELD_C, &c))
			return false;
		v->from = (uint32_t)b;
		v->to = (uint32_t)c;
		return true;
	default:
		v->to = number(h, e, FIELD_C, &c) ? (uint32_t)c : PS_NONE;
		/* Old kernels recorded wakeups of what was awake, too. */
		return !number(h, e, FIELD_B, &b) || b;
	}
}
