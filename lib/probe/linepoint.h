/*
 * The places of source lines. Private to lib/probe: a part of point.h.
 */
#ifndef PP_PROBE_LINEPOINT_H
#define PP_PROBE_LINEPOINT_H

#include "probe/point.h"

/* SPEC_SOURCE: a line of a file. */
int linepoints_source(struct points *p, struct binary *b, struct funcs *t, const struct spec *s,
		      struct buf *why);

/* SPEC_LINE, SPEC_PATTERN: lines of functions that were found. */
int linepoints_functions(struct points *p, const struct points *found, struct binary *b,
			 struct funcs *t, const struct spec *s, struct buf *why);

/* Leaves the functions that are declared in a file. */
void linepoints_keep_file(struct points *p, struct binary *b, const char *src);

#endif
