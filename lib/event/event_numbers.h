/*
 * Numbers for events of one name, such as "-e cpu-clock -G web -e cpu-clock -G db" makes.
 *
 *	rc = event_numbers_define(&t, rec->source, &rec->event, NULL);	(of each PS_EVENT)
 *	if (event_number(&t, sample->event) > 1)
 *		... "cpu-clock #2" ...
 *	event_numbers_forget(&t);					(of each PS_HEADER)
 */
#ifndef PP_EVENT_EVENT_NUMBERS_H
#define PP_EVENT_EVENT_NUMBERS_H

#include "base/intern.h"
#include "stream/stream.h"

struct event_numbers {
	struct intern names; /* of source, buffer and event */
	struct event_number {
		uint32_t name, number;
	} * v;		  /* by descriptor */
	uint32_t *counts; /* by name: how many descriptors have it */
	uint32_t n, ncounts;
	bool any; /* there are events of one name */
	struct buf text;
};

/*
 * A descriptor. One that is defined once more under its name is the same event; *fresh (may be
 * NULL): it is not. 0 or PP_ENOMEM.
 */
int event_numbers_define(struct event_numbers *t, uint32_t source, const struct ps_event *e,
			 bool *fresh);

/* The number of a descriptor among those of its name, from 1; 0: it is not defined. */
static inline uint32_t event_number(const struct event_numbers *t, uint32_t id)
{
	return id < t->n ? t->v[id].number : 0;
}

void event_numbers_forget(struct event_numbers *t);
void event_numbers_release(struct event_numbers *t);

#endif
