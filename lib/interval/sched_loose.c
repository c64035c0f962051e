/*
 * Events of the scheduler whose fields do not lie as the kernel lays them out: those of ftrace
 * text. They are copied to where the others have them.
 */
#include "interval/sched_parts.h"

#include <stdlib.h>
#include <string.h>

enum { COMM = 0, PID = 16, TARGET = 20, STATE = 24, NEXT_COMM = 32, NEXT_PID = 48 };

static const struct {
	const char *name;
	uint32_t offset, size;
	bool text;
} of_switch[] = {{"prev_comm", COMM, SCHED_COMM, true},
		 {"prev_pid", PID, 4, false},
		 {"prev_state", STATE, 8, false},
		 {"next_comm", NEXT_COMM, SCHED_COMM, true},
		 {"next_pid", NEXT_PID, 4, false}},
  of_others[] = {{"comm", COMM, SCHED_COMM, true},
		 {"pid", PID, 4, false},
		 {"target_cpu", TARGET, 4, false}};
#define FIELDS_MAX (sizeof(of_switch) / sizeof(of_switch[0]))

struct sched_loose {
	struct field fields[FIELDS_MAX];
	uint32_t n, offset[FIELDS_MAX], size[FIELDS_MAX];
};

void sched_loose_free(struct sched_loose *loose)
{
	for (uint32_t i = 0; loose && i < loose->n; i++)
		field_release(&loose->fields[i]);
	free(loose);
}

int sched_loose_bind(struct sched_bind *b, const struct ps_event *e)
{
	bool is_switch = b->kind == SCHED_EV_SWITCH;
	size_t n = is_switch ? FIELDS_MAX : b->kind == SCHED_EV_WAKEUP ? 3 : 2;
	struct sched_loose *loose = calloc(1, sizeof(*loose));

	if (!loose)
		return PP_ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const char *name = is_switch ? of_switch[i].name : of_others[i].name;
		struct field *f = &loose->fields[i];
		int rc = field_resolve(f, e, name, strlen(name));

		loose->n += !rc;
		/* A field that every sample has is not the event's. */
		if (!rc &&
		    (f->id != FIELD_PAYLOAD ||
		     (f->kind == QV_STR) != (is_switch ? of_switch[i].text : of_others[i].text)))
			rc = PP_ENOENT;
		if (rc == PP_ENOENT && i == 2 && !is_switch) {
			/* It need not be there. */
			loose->n = 2;
			field_release(f);
			break;
		}
		if (rc) {
			sched_loose_free(loose);
			return rc;
		}
		loose->offset[i] = is_switch ? of_switch[i].offset : of_others[i].offset;
		loose->size[i] = is_switch ? of_switch[i].size : of_others[i].size;
	}
	b->loose = loose;
	b->comm = COMM;
	b->pid = PID;
	b->prev_state = STATE;
	b->state_size = 8;
	b->next_comm = NEXT_COMM;
	b->next_pid = NEXT_PID;
	b->success = 0;
	b->target = loose->n == 3 && !is_switch ? TARGET : 0;
	b->need = SCHED_LOOSE;
	task_states_of_text(&b->states);
	return 0;
}

bool sched_loose_get(const struct sched_bind *b, const struct sreader *r,
		     const struct ps_record *rec, uint8_t payload[SCHED_LOOSE])
{
	const struct sched_loose *loose = b->loose;
	struct qval v;

	memset(payload, 0, SCHED_LOOSE);
	for (uint32_t i = 0; i < loose->n; i++) {
		uint32_t size = loose->size[i];

		if (!field_get(&loose->fields[i], r, rec, &v))
			return false;
		if (v.kind == QV_STR)
			memcpy(payload + loose->offset[i], v.s, v.len < size ? v.len : size);
		else if (size == 8)
			memcpy(payload + loose->offset[i], &v.num, sizeof(v.num));
		else
			memcpy(payload + loose->offset[i], &(uint32_t){(uint32_t)v.num},
			       sizeof(uint32_t));
	}
	return true;
}
