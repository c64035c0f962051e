/* Tracepoints of a stream: the ones with a meaning, and the fields of all. */
#include "conv/tpoints.h"

#include "base/array.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define FIELDS_MAX 8

/*
 * Numbers are those of perfetto's protos/perfetto/trace/ftrace: of the message in FtraceEvent, and
 * of the fields in it.
 */
static const struct known {
	const char *event; /* ends in '*': those that begin so */
	enum tpoint_kind kind;
	uint32_t message;
	struct {
		const char *name;
		uint32_t number;
	} fields[FIELDS_MAX];
} known[] = {
	{"sched:sched_switch",
	 POINT_SWITCH,
	 4,
	 {{"prev_comm", 1},
	  {"prev_pid", 2},
	  {"prev_prio", 3},
	  {"prev_state", 4},
	  {"next_comm", 5},
	  {"next_pid", 6},
	  {"next_prio", 7}}},
	{"sched:sched_waking",
	 POINT_WAKING,
	 20,
	 {{"comm", 1}, {"pid", 2}, {"prio", 3}, {"success", 4}, {"target_cpu", 5}}},
	{"sched:sched_wakeup",
	 POINT_WAKEUP,
	 17,
	 {{"comm", 1}, {"pid", 2}, {"prio", 3}, {"success", 4}, {"target_cpu", 5}}},
	{"sched:sched_wakeup_new",
	 POINT_WAKEUP_NEW,
	 114,
	 {{"comm", 1}, {"pid", 2}, {"prio", 3}, {"success", 4}, {"target_cpu", 5}}},
	{"irq:irq_handler_entry", POINT_IRQ, 36, {{"irq", 1}, {"name", 2}}},
	{"irq:irq_handler_exit", POINT_IRQ_EXIT, 37, {{"irq", 1}, {"ret", 2}}},
	{"irq:softirq_entry", POINT_SOFTIRQ, 24, {{"vec", 1}}},
	{"irq:softirq_exit", POINT_SOFTIRQ_EXIT, 25, {{"vec", 1}}},
	{"power:cpu_frequency", POINT_FREQUENCY, 11, {{"state", 1}, {"cpu_id", 2}}},
	{"power:cpu_idle", POINT_IDLE, 13, {{"state", 1}, {"cpu_id", 2}}},
	{"raw_syscalls:sys_enter", POINT_SYS_ENTER, 329, {{"id", 1}, {"args", 2}}},
	{"raw_syscalls:sys_exit", POINT_SYS_EXIT, 330, {{"id", 1}, {"ret", 2}}},
	{"syscalls:sys_enter_*", POINT_SYS_ENTER, 329, {{"__syscall_nr", 1}}},
	{"syscalls:sys_exit_*", POINT_SYS_EXIT, 330, {{"__syscall_nr", 1}, {"ret", 2}}},
	{"workqueue:workqueue_execute_start", POINT_WORK, 58, {{"work", 1}, {"function", 2}}},
	{"workqueue:workqueue_execute_end", POINT_WORK_END, 57, {{"work", 1}, {"function", 2}}},
	{"ftrace:print", POINT_PRINT, 3, {{"ip", 1}, {"buf", 2}}},
};
#define GENERIC 327

static void unbind(struct tpoint *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (p->fields[i].there)
			field_release(&p->fields[i].f);
	p->n = 0;
	p->name = NULL;
}

static bool is_event(const struct ps_event *e, const char *name)
{
	size_t n = strlen(name);

	return name[n - 1] == '*' ? e->name.len >= n && !memcmp(e->name.p, name, n - 1)
				  : e->name.len == n && !memcmp(e->name.p, name, n);
}

static int add_field(struct tpoint *p, const struct ps_event *e, struct ps_str name,
		     uint32_t number)
{
	struct tpoint_field *v = array_widen(p->fields, &p->cap, p->n, FIELDS_MAX, sizeof(*v));
	char own[256] = FIELD_OWN;
	size_t at = sizeof(FIELD_OWN) - 1;
	int rc;

	if (!v)
		return PP_ENOMEM;
	p->fields = v;
	v[p->n] = (struct tpoint_field){.number = number};
	if (name.len >= sizeof(own) - at)
		return 0;
	memcpy(own + at, name.p, name.len);
	rc = field_resolve(&v[p->n].f, e, own, at + name.len);
	v[p->n++].there = !rc;
	return rc == PP_ENOENT ? 0 : rc;
}

/* All fields but those that every tracepoint has. */
static int bind_other(struct tpoint *p, const struct ps_event *e)
{
	struct ps_event_field f;
	size_t pos = 0;
	int rc = 0;

	while (!rc && !ps_event_field_next(e, &pos, &f))
		if (f.name.len < 7 || memcmp(f.name.p, "common_", 7) != 0)
			rc = add_field(p, e, f.name, 0);
	return rc;
}

int tpoints_bind(struct tpoints *t, const struct sreader *r, uint32_t event)
{
	const struct ps_event *e = sreader_event(r, event);
	struct tpoint *p = array_widen(t->v, &t->n, event, 64, sizeof(*p));
	int rc = 0;

	if (!p)
		return PP_ENOMEM;
	t->v = p;
	p += event;
	unbind(p);
	if (!e || !e->fields.len)
		return 0;
	p->name = e->name.p;
	p->chains = e->flags & PS_EVENT_CHAINS;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const struct known *k = &known[i];

		if (!is_event(e, k->event))
			continue;
		p->kind = k->kind;
		p->message = k->message;
		t->waking |= k->kind == POINT_WAKING;
		for (size_t j = 0; j < FIELDS_MAX && k->fields[j].name && !rc; j++)
			rc = add_field(p, e, ps_str(k->fields[j].name, strlen(k->fields[j].name)),
				       k->fields[j].number);
		return rc;
	}
	p->kind = POINT_OTHER;
	p->message = GENERIC;
	return bind_other(p, e);
}

void tpoints_forget(struct tpoints *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		unbind(&t->v[i]);
	t->waking = false;
}

void tpoints_release(struct tpoints *t)
{
	tpoints_forget(t);
	for (uint32_t i = 0; i < t->n; i++)
		free(t->v[i].fields);
	free(t->v);
}

const struct tpoint *tpoints_of(const struct tpoints *t, const struct ps_sample *s)
{
	if (s->event >= t->n || !t->v[s->event].name || !ps_sample_has(s, payload))
		return NULL;
	return &t->v[s->event];
}
