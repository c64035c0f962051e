/*
 * Some fields of an event by their names, for those who look for events that they know:
 *
 *	static const char *const names[PAYLOAD_FIELDS] = {"comm", "pid", "target_cpu"};
 *	rc = payload_bind(&p, e, names);
 *	if (payload_number(&p, 1, r, rec, &pid)) ...
 *	payload_release(&p);
 *
 * Fields that every sample has are not the event's: one of their names is not found.
 */
#ifndef PP_EVENT_OWN_FIELDS_H
#define PP_EVENT_OWN_FIELDS_H

#include "event/field.h"

#define PAYLOAD_FIELDS 5

struct payload {
	uint32_t has; /* bits: those that the event has */
	struct field fields[PAYLOAD_FIELDS];
};

/* names: NULL ends them. 0 or PP_ENOMEM. */
int payload_bind(struct payload *p, const struct ps_event *e, const char *const *names);
void payload_release(struct payload *p);

/* Field i of a sample; false: it has none, or it is not a number. */
bool payload_number(const struct payload *p, int i, const struct sreader *r,
		    const struct ps_record *rec, uint64_t *v);
/* The same for a text, which is not terminated; QV_NA: it has none. */
void payload_text(const struct payload *p, int i, const struct sreader *r,
		  const struct ps_record *rec, struct qval *q);

#endif
