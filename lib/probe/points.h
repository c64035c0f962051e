/*
 * Lists of points, and where a probe may be put. Private to lib/probe: the lower half of point.h.
 */
#ifndef PP_PROBE_POINTS_H
#define PP_PROBE_POINTS_H

#include "probe/point.h"

/* 0, PP_ELIMIT or PP_ENOMEM. */
int points_add(struct points *p, const struct point *pt);

/* Whether a probe may be put at an address of a function: 0, or an error with its reason. */
int points_check(const struct binary *b, const struct func *f, uint64_t addr, struct buf *why);

#endif
