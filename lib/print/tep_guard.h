/*
 * What libtraceevent would do with a print format and a payload, found out before it does: it
 * divides by what a field holds, prints as many elements as a payload claims to have, and takes
 * widths out of it. Private to lib/print.
 *
 *	risk = tep_guard_event(event);
 *	...
 *	if (risk == TEP_LOOK)
 *		risk = tep_guard_payload(event, data, size);
 *	if (risk == TEP_SAFE)
 *		tep_print_event(...);
 */
#ifndef PP_PRINT_TEP_GUARD_H
#define PP_PRINT_TEP_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tep_event;

enum tep_risk {
	TEP_SAFE,  /* prints */
	TEP_LOOK,  /* it depends on the payload: tep_guard_payload */
	TEP_TRIAL, /* it cannot be told: a child has to try */
	TEP_HARM,  /* crashes, or takes memory or time out of proportion */
};

/* Of an event that libtraceevent has parsed; not TEP_HARM. */
enum tep_risk tep_guard_event(const struct tep_event *te);

/*
 * Of one payload, after which TEP_PADDING zeroes lie, of an event for which tep_guard_event has
 * returned TEP_LOOK; not TEP_LOOK.
 */
enum tep_risk tep_guard_payload(const struct tep_event *te, const uint8_t *data, size_t size);

/* Whether a format of printf has only conversions that are printed without harm, and no stars. */
bool tep_guard_plain(const char *format);

#endif
