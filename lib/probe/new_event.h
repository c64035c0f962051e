/*
 * Events that are being defined. Private to lib/probe: the lower half of define.h.
 */
#ifndef PP_PROBE_NEW_EVENT_H
#define PP_PROBE_NEW_EVENT_H

#include "probe/define.h"

/* Ends a line with its arguments, "NAME=TEXT:TYPE" each. */
void event_args(struct event *e, const struct fetches *f);

#endif
