/* --dump of a perf.data. Private to lib/perfdata. */
#ifndef PP_PERFDATA_DUMP_H
#define PP_PERFDATA_DUMP_H

#include "perfdata/parts.h"

#define PERF_MISC_PREEMPT (1 << 14) /* PERF_RECORD_MISC_SWITCH_OUT_PREEMPT */

/* ---- dump_sample.c ---- */

/* What follows the header of a sample; the line begins with its CPU and time. */
void perf_dump_sample(struct perf *p, struct cursor *c, uint64_t offset, uint16_t misc,
		      size_t size);

/* ---- dump_own.c ---- */

/* What follows the name of one of perf's own records. */
void perf_dump_own(struct perf *p, struct cursor *c, uint32_t type, uint16_t misc);

#endif
