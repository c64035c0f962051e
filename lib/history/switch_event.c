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

void history_unbind(struct history *h)
{
	for (uint32_t i = 0; i < h->nevents; i++)
		payload_release(&h->events[i].fields);
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
	payload_release(&v->fields);
	*v = (struct history_event){.what = HISTORY_OTHER};
	while (k < KNOWN && (strlen(known[k].name) != e->name.len ||
			     memcmp(known[k].name, e->name.p, e->name.len) != 0))
		k++;
	if (k == KNOWN)
		return 0;
	rc = payload_bind(&v->fields, e, known[k].fields);
	if (!rc)
		rc = history_buffer(h, rec->source, &e->buffer, &v->buffer);
	if (rc)
		return rc;
	/* A switch without its five fields, or any other without the thread, tells nothing. */
	if (known[k].what == HISTORY_SWITCH ? v->fields.has != (1u << HISTORY_FIELDS) - 1
					    : !(v->fields.has & 1u << FIELD_A_PID))
		return 0;
	v->what = known[k].what;
	if (v->what == HISTORY_SWITCH && e->format.len)
		task_states_parse(&v->states, e->format.p, e->format.len);
	else if (v->what == HISTORY_SWITCH)
		task_states_of_text(&v->states);
	h->waking |= v->what == HISTORY_WAKING;
	return 0;
}

bool history_decode(struct history *h)
{
	const struct ps_sample *s = &h->rec->sample;
	const struct history_event *e = s->event < h->nevents ? &h->events[s->event] : NULL;
	struct history_seen *v = &h->seen;
	uint64_t a, b = 0, c = 0, state = 0;

	if (!e || e->what <= HISTORY_OTHER || s->cpu == PS_NONE ||
	    s->flags & (PS_SAMPLE_NO_TIME | PS_SAMPLE_JOINED) ||
	    !payload_number(&e->fields, FIELD_A_PID, h->r, h->rec, &a))
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
	payload_text(&e->fields, FIELD_A_COMM, h->r, h->rec, &v->a_comm);
	switch (v->what) {
	case HISTORY_SWITCH:
		payload_text(&e->fields, FIELD_B, h->r, h->rec, &v->b_comm);
		if (!payload_number(&e->fields, FIELD_C, h->r, h->rec, &b) ||
		    !payload_number(&e->fields, FIELD_D, h->r, h->rec, &state))
			return false;
		v->b = (uint32_t)b;
		v->runnable = task_state(&e->states, state, v->state);
		return true;
	case HISTORY_MIGRATE:
		if (!payload_number(&e->fields, FIELD_B, h->r, h->rec, &b) ||
		    !payload_number(&e->fields, FIELD_C, h->r, h->rec, &c))
			return false;
		v->from = (uint32_t)b;
		v->to = (uint32_t)c;
		return true;
	default:
		v->to = payload_number(&e->fields, FIELD_C, h->r, h->rec, &c) ? (uint32_t)c
									      : PS_NONE;
		/* Old kernels recorded wakeups of what was awake, too. */
		return !payload_number(&e->fields, FIELD_B, h->r, h->rec, &b) || b;
	}
}
