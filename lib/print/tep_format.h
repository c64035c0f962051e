/*
 * The texts of event formats, as the kernel writes them. Private to lib/print.
 */
#ifndef PP_PRINT_TEP_FORMAT_H
#define PP_PRINT_TEP_FORMAT_H

#include "stream/stream.h"

/*
 * Whether the format of an event has the form that the kernel gives it
 * (Documentation/trace/events.rst), and all fields lie where a payload can be: up to
 * TEP_FIELD_END_MAX.
 */
bool tep_format_ok(const struct ps_event *e);

#endif
