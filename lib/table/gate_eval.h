/*
 * Private to lib/table/gate*.c: a condition while it is decided.
 */
#ifndef PP_TABLE_GATE_EVAL_H
#define PP_TABLE_GATE_EVAL_H

#include "table/gate_parts.h"

struct gate_eval {
	struct gate *g;
	const struct tables *ts;
	const struct table *table; /* of any(): only its `row` counts; else NULL */
	uint32_t row;
	gates_zero_fn *zero; /* or NULL */
	void *ctx;
	const struct table *summed; /* whose value `summed_value` has the sum `sum` */
	int summed_value;
	hist_int sum;
	struct buf *why; /* gets the first reason for which something is not known */
	struct buf text; /* of a key */
	int err;
};

struct gate_number {
	bool known;
	bool rough;   /* more rows may be meant than were counted */
	bool percent; /* a part of 1 */
	double v;
	const char *unit;
};

/* ---- gate_rows.c ---- */

/* What a statistic is; of one row within any(). */
struct gate_number gate_number(struct gate_eval *e, const struct gate_node *n);

/* Whether a comparison of a key holds for a row. */
bool gate_key_holds(struct gate_eval *e, const struct table *t, uint32_t row,
		    const struct gate_node *n);

#endif
