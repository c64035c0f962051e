/*
 * Counts as rows of result tables, for the TSV and JSON forms that other filters read.
 *
 *	tables_init(&ts);
 *	rc = count_table_add(&ts, &c, 0, 0);	(after counts_sum; once for each run or interval)
 *
 * Events whose counts have the same unit share a table of that name, "events" if they are
 * numbers. Its keys are the event, the cgroup if there are any, and what counts are summed up by;
 * of intervals also the time at which they began. Values are the count and the percentage of the
 * time during which the event was counted. Clocks are in ns, other units in millionths, since
 * values are whole. What was not counted, or is not supported, has a row without values.
 */
#ifndef PP_TABLE_COUNT_TABLE_H
#define PP_TABLE_COUNT_TABLE_H

#include "count/count.h"
#include "table/table.h"

/* interval and elapsed in ns: length and end of an interval; interval 0: there are none. */
int count_table_add(struct tables *ts, const struct counts *c, uint64_t interval, uint64_t elapsed);

#endif
