/* --dump of a perf.data: the sink that prints each record. Private to lib/perfdata. */
#ifndef PP_PERFDATA_DUMP_RECORDS_H
#define PP_PERFDATA_DUMP_RECORDS_H

#include "base/out.h"
#include "perfdata/perf_file.h"

#define PERF_MISC_PREEMPT (1 << 14) /* PERF_RECORD_MISC_SWITCH_OUT_PREEMPT */

struct perf_dumper {
	struct perf_reader r;
	struct out *out;
	struct buf text; /* of the record that is being printed */
	struct intern names;
	struct perf_threads threads; /* ids in names */
	struct blocks blocks;
};

/* ---- dump_sample.c ---- */

/* What follows the header of a sample; the line begins with its CPU and time. */
void perf_dump_sample(struct perf_dumper *p, struct cursor *c, const struct perf_raw *raw);

/* ---- dump_own.c ---- */

/* What follows the name of one of perf's own records. */
void perf_dump_own(const struct perf_info *p, struct buf *b, struct cursor *c, uint32_t type,
		   uint16_t misc);

/* ---- dump_records.c ---- */

/* perf_describe with PERF_DESCRIBE_DUMP. */
int perf_dump(struct src *s, struct out *o, struct diag *d);

#endif
