/* Where the fields of the scheduler's events lie. */
#include "interval/sched_parts.h"

#include <stdlib.h>

int sched_new(struct engine *en)
{
	static const char *const texts[] = {
#define N(name, text) text,
		SCHED_NAMES(N)
#undef N
	};
	int rc = 0;

	for (int i = 0; i < SCHED_NNAMES && !rc; i++)
		rc = engine_text(en, texts[i], strlen(texts[i]), &en->sched_names[i]);
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
		if (b->kind == SCHED_EV_WAKEUP)
			place(b, e, "target_cpu", 4, 4, &b->target, NULL);
		return true;
	}
}

int sched_bind(struct engine *en, const struct ps_event *e, struct lat_event *ev)
{
	static const char *const names[] = {[SCHED_EV_SWITCH] = "sched:sched_switch",
					    [SCHED_EV_WAKEUP] = "sched:sched_wakeup",
					    [SCHED_EV_WAKEUP_NEW] = "sched:sched_wakeup_new",
					    [SCHED_EV_WAKING] = "sched:sched_waking",
					    [SCHED_EV_MIGRATE] = "sched:sched_migrate_task"};
	struct sched_bind *b;

	(void)en;
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
