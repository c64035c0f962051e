/*
 * Tracepoints of a stream: which one an event is, and where its fields are.
 *
 *	rc = tpoints_bind(&t, r, rec->event.id);			(of each EVENT)
 *	p = tpoints_of(&t, &rec->sample);			(NULL: no tracepoint)
 *	if (p && p->kind == POINT_SWITCH && point_num(p, POINT_NEXT_PID, r, rec, &pid))
 *		...
 *	tpoints_release(&t);
 */
#ifndef PP_CONV_TPOINTS_H
#define PP_CONV_TPOINTS_H

#include "event/field.h"

enum tpoint_kind {
	POINT_OTHER, /* none that has a meaning here: all of its fields are there */
	POINT_SWITCH,
	POINT_WAKING,
	POINT_WAKEUP,
	POINT_WAKEUP_NEW,
	POINT_IRQ,
	POINT_IRQ_EXIT,
	POINT_SOFTIRQ,
	POINT_SOFTIRQ_EXIT,
	POINT_FREQUENCY,
	POINT_IDLE,
	POINT_SYS_ENTER,
	POINT_SYS_EXIT,
	POINT_WORK,
	POINT_WORK_END,
	POINT_PRINT,
	POINT_KINDS
};

/* The places of fields of POINT_SWITCH, as tpoints.c lists them. */
enum {
	POINT_PREV_COMM,
	POINT_PREV_PID,
	POINT_PREV_PRIO,
	POINT_PREV_STATE,
	POINT_NEXT_COMM,
	POINT_NEXT_PID,
	POINT_NEXT_PRIO
};

struct tpoint_field {
	struct field f;
	uint32_t number; /* in Perfetto's message of this event */
	bool there;
};

struct tpoint {
	enum tpoint_kind kind;
	uint32_t message; /* Perfetto's number for this event */
	const char *name; /* NULL: not bound */
	bool chains;	  /* recorded with call chains */
	struct tpoint_field *fields;
	uint32_t n, cap;
};

struct tpoints {
	struct tpoint *v; /* by event */
	uint32_t n;
	bool waking; /* there is POINT_WAKING */
};

/* 0 or PP_ENOMEM. The result lives until the event is defined again. */
int tpoints_bind(struct tpoints *t, const struct sreader *r, uint32_t event);
void tpoints_forget(struct tpoints *t); /* a new stream begins */
void tpoints_release(struct tpoints *t);

/* NULL: the sample is of no tracepoint, or has none of its fields. */
const struct tpoint *tpoints_of(const struct tpoints *t, const struct ps_sample *s);

/* The value of a field; false: it is not there. */
static inline bool tpoint_value(const struct tpoint *p, uint32_t field, const struct sreader *r,
				const struct ps_record *rec, struct qval *v)
{
	return field < p->n && p->fields[field].there && field_get(&p->fields[field].f, r, rec, v);
}

#endif
