/*
 * Gates: conditions on the tables of a result, which can stop a build.
 * perfpipe-table(5) is the manual of their language.
 *
 *	struct gate_texts texts = {.v = {"p99(runq, comm == nginx) > 10ms"}, .n = 1};
 *	struct gates *g;
 *
 *	rc = gates_new(&g, &texts, diag);
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

/* The option: its row, and what its argument is added with. 0 or PP_EUSAGE. */
#define GATE_OPTION(id, example) \
	{ \
		id, "fail-if", "COND", "exit with 3 if COND holds, such as '" example "'" \
	}
int gate_texts_add(struct gate_texts *texts, const char *arg, struct buf *why);

/*
 * Parses the conditions, whose texts must outlive it. Of none (texts may be NULL), *g is NULL: the
 * functions below take it, and then do nothing. 0; PP_EUSAGE (reported, with line and caret);
 * PP_ENOMEM (reported).
 */
int gates_new(struct gates **g, const struct gate_texts *texts, struct diag *d);
void gates_free(struct gates *g);

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
 * 0; PP_EUSAGE (a name that is not there), PP_ENOMEM; both are reported.
 */
int gates_judge(struct gates *g, const struct tables *ts, gates_zero_fn *zero, void *ctx);

/*
 * Reports what was decided, and returns the overall exit status: PP_EXIT_WORSE if a condition
 * holds; `status`, if that is not PP_EXIT_OK; PP_EXIT_UNSURE if one cannot be decided.
 */
int gates_status(const struct gates *g, int status);

#endif
