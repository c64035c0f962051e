/* The events that tell what threads do: which they are, and what they say. */
#include "wall/histories.h"

#include "base/array.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define STATES 512 /* of prev_state: those whose meaning is remembered */

#define HARDIRQ 8 /* of common_flags: TRACE_FLAG_HARDIRQ of the kernel */

enum { KNOWN_STATE = 1, RUNNABLE = 2, DEAD = 4 };

struct wall_event {
	enum wall_what what;
	struct payload fields;
	struct task_states states;
	uint8_t seen[STATES]; /* what a state means, once it was asked for */
};

static const struct {
	const char *name;
	enum wall_what what;
	uint32_t need; /* bits: fields without which it tells nothing */
	const char *fields[PAYLOAD_FIELDS];
} known[] = {
	{"sched:sched_switch",
	 WALL_SWITCH,
	 0x16,
	 {"prev_comm", "prev_pid", "prev_state", "next_comm", "next_pid"}},
	{"sched:sched_wakeup",
	 WALL_WAKEUP,
	 2,
	 {"comm", "pid", "success", "target_cpu", "common_flags"}},
	{"sched:sched_wakeup_new", WALL_WAKEUP_NEW, 2, {"comm", "pid", "success"}},
	{"sched:sched_waking", WALL_WAKING, 2, {"comm", "pid", "success", "", "common_flags"}},
	{"irq:irq_handler_entry", WALL_IRQ_IN, 0, {NULL}},
	{"irq:irq_handler_exit", WALL_IRQ_OUT, 0, {NULL}},
	{"irq:softirq_entry", WALL_IRQ_IN, 0, {NULL}},
	{"irq:softirq_exit", WALL_IRQ_OUT, 0, {NULL}},
	{"block:block_rq_complete", WALL_DISK, 1, {"dev", "sector", "nr_sector", "rwbs"}},
	{"net:netif_receive_skb", WALL_NETWORK, 1, {"name", "len"}},
	{"workqueue:workqueue_queue_work", WALL_QUEUED, 1, {"work"}},
	{"workqueue:workqueue_execute_start", WALL_WORK_BEGIN, 1, {"work"}},
	{"workqueue:workqueue_execute_end", WALL_WORK_END, 1, {"work"}},
};
#define KNOWN (sizeof(known) / sizeof(known[0]))

static void release(struct wall_event *e)
{
	if (e)
		payload_release(&e->fields);
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
	rc = payload_bind(&v->fields, e, known[k].fields);
	v->what = (v->fields.has & known[k].need) == known[k].need ? known[k].what : WALL_OTHER;
	w->switch_events |= v->what == WALL_SWITCH;
	if (v->what == WALL_SWITCH && e->format.len)
		task_states_parse(&v->states, e->format.p, e->format.len);
	else if (v->what == WALL_SWITCH)
		task_states_of_text(&v->states);
	w->waking |= v->what == WALL_WAKING;
	w->wakeups |= v->what == WALL_WAKING || v->what == WALL_WAKEUP;
	return rc;
}

/* What a prev_state means: bits. Its text, which tells, takes long to make. */
static unsigned state_of(struct wall_event *e, uint64_t state)
{
	char text[TASK_STATE_TEXT];
	unsigned bits = state < STATES ? e->seen[state] : 0;

	if (bits)
		return bits;
	bits = KNOWN_STATE | (task_state(&e->states, state, text) ? RUNNABLE : 0) |
	       (*text == 'X' || *text == 'Z' || *text == 'x' ? DEAD : 0);
	if (state < STATES)
		e->seen[state] = (uint8_t)bits;
	return bits;
}

/* A device's request, or work. */
static bool decode_request(const struct wall *w, const struct payload *f, struct wall_seen *v)
{
	if (v->what == WALL_NETWORK) {
		payload_text(f, 0, w->r, w->rec, &v->text);
		payload_number(f, 1, w->r, w->rec, &v->n);
		return true;
	}
	if (v->what == WALL_DISK) {
		payload_number(f, 1, w->r, w->rec, &v->sector);
		payload_number(f, 2, w->r, w->rec, &v->n);
		payload_text(f, 3, w->r, w->rec, &v->text);
	}
	return payload_number(f, 0, w->r, w->rec, &v->id);
}

bool wall_decode(struct wall *w, struct wall_seen *v)
{
	const struct ps_sample *s = &w->rec->sample;
	struct wall_event *e = s->event < w->nevents ? w->events[s->event] : NULL;
	unsigned state;
	uint64_t a, b, n;

	*v = (struct wall_seen){.what = e ? e->what : WALL_OTHER, .target = PS_NONE};
	if (!e)
		return false;
	switch (v->what) {
	case WALL_SWITCH:
		if (!payload_number(&e->fields, 1, w->r, w->rec, &a) ||
		    !payload_number(&e->fields, 2, w->r, w->rec, &n) ||
		    !payload_number(&e->fields, 4, w->r, w->rec, &b))
			return false;
		v->prev = (uint32_t)a;
		v->next = (uint32_t)b;
		payload_text(&e->fields, 0, w->r, w->rec, &v->prev_comm);
		payload_text(&e->fields, 3, w->r, w->rec, &v->next_comm);
		state = state_of(e, n);
		v->runnable = state & RUNNABLE;
		v->dead = state & DEAD;
		return true;
	case WALL_WAKEUP:
	case WALL_WAKEUP_NEW:
	case WALL_WAKING:
		if (!payload_number(&e->fields, 1, w->r, w->rec, &a))
			return false;
		v->next = (uint32_t)a;
		payload_text(&e->fields, 0, w->r, w->rec, &v->next_comm);
		v->target = payload_number(&e->fields, 3, w->r, w->rec, &n) ? (uint32_t)n : PS_NONE;
		v->hard = payload_number(&e->fields, 4, w->r, w->rec, &n) && n & HARDIRQ;
		/* Old kernels recorded wakeups of what was awake, too. */
		return !payload_number(&e->fields, 2, w->r, w->rec, &n) || n;
	case WALL_DISK:
	case WALL_NETWORK:
	case WALL_QUEUED:
	case WALL_WORK_BEGIN:
	case WALL_WORK_END: return decode_request(w, &e->fields, v);
	default: return v->what != WALL_OTHER;
	}
}
