/*
 * Gates: conditions on the tables of a result, which can stop a build.
 * perfpipe-table(5) is the manual of their language.
 *
 *	static const char *const texts[] = {"p99(runq, comm == nginx) > 10ms"};
 *	struct gates *g;
 *
 *	rc = gates_new(&g, texts, 1, diag);
 *	rc = gates_check(g, &schema);	(tables without rows: what names there will be)
 *	...
 *	rc = gates_judge(g, &tables, NULL, NULL);
 *	status = gates_status(g, status);
 *	gates_free(g);
 *
 * A condition holds, does not hold, or cannot be decided: of a percentile of nothing, nothing is
 * known. Statistics are of all matching rows, taken together; any(...) asks each row.
 */
#ifndef PP_TABLE_GATE_H
#define PP_TABLE_GATE_H

#include "table/table.h"

struct gates;

/*
 * Parses n conditions; the texts must outlive it. 0; PP_EUSAGE (reported, with line and caret);
 * PP_ENOMEM (reported).
 */
int gates_new(struct gates **g, const char *const *texts, unsigned n, struct diag *d);
void gates_free(struct gates *g); /* NULL is fine */

/*
 * Whether tables with these names, keys and values have what is named; rows are not looked at. 0 or
 * PP_EUSAGE, which is reported.
 */
int gates_check(struct gates *g, const struct tables *ts);

/*
 * Whether it is known that a value of which there is no row was counted 0 times: all that has it
 * was left out by a filter.
 */
typedef bool gates_zero_fn(void *ctx, const char *value, size_t len);

/*
 * Decides all conditions by whole tables: before table_top. Names are checked if gates_check has
 * not done that. `zero` may be NULL: nothing is known.
 * 0; PP_EUSAGE (a name that is not there; reported), PP_ENOMEM.
 */
int gates_judge(struct gates *g, const struct tables *ts, gates_zero_fn *zero, void *ctx);

/*
 * Reports what was decided, and returns the overall exit status: PP_EXIT_WORSE if a condition
 * holds; `status`, if that is not PP_EXIT_OK; PP_EXIT_UNSURE if one cannot be decided.
 */
int gates_status(const struct gates *g, int status);

#endif
