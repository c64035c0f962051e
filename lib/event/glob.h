/*
 * Shell patterns: * any text, ? one byte, [a-z] [!a-z] one of a set, \ takes the next as it is.
 *
 *	if (glob_match("sched_*", 7, name, len))
 */
#ifndef PP_EVENT_GLOB_H
#define PP_EVENT_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the whole text matches; takes time in the product of both lengths at most. */
bool glob_match(const char *pattern, size_t pattern_len, const char *text, size_t len);

#endif
