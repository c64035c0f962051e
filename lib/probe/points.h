/*
 * Lists of points, and where a probe may be put. Private to lib/probe: what point.c and linepoint.c
 * share.
 */
#ifndef PP_PROBE_POINTS_H
#define PP_PROBE_POINTS_H

#include "probe/point.h"

/* 0, PP_ELIMIT or PP_ENOMEM. */
int points_add(struct points *p, const struct point *pt);

/* Whether a probe may be put at an address of a function: 0, or an error with its reason. */
int points_check(const struct binary *b, const struct func *f, uint64_t addr, struct buf *why);

/* ---- linepoint.c: the places of source lines ---- */

/* SPEC_SOURCE: a line of a file. */
int linepoints_source(struct points *p, struct binary *b, struct funcs *t, const struct spec *s,
		      struct buf *why);

/* SPEC_LINE, SPEC_PATTERN: lines of functions that were found. */
int linepoints_functions(struct points *p, const struct points *found, struct binary *b,
			 struct funcs *t, const struct spec *s, struct buf *why);

/* Leaves the functions that are declared in a file. */
void linepoints_keep_file(struct points *p, struct binary *b, const char *src);

#endif
