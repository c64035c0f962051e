/*
 * Comparing latencies: the median and the 99th percentile of each row of plat's or phist's tables.
 * Private to lib/diff.
 *
 *	rc = latency_family(&c, &c.families[1], true);		(the 99th percentile)
 */
#ifndef PP_DIFF_LATENCY_H
#define PP_DIFF_LATENCY_H

#include "diff/compare.h"

/*
 * Tests a percentile of all units that both sides have in two recordings at least. A recording
 * counts once, however many values it has. 0 or PP_ENOMEM.
 */
int latency_family(struct compare *c, struct family *f, bool p99);

#endif
