/*
 * Private to lib/query/table*.c: what the forms of a table have in common.
 */
#ifndef PP_QUERY_TABLE_PARTS_H
#define PP_QUERY_TABLE_PARTS_H

#include "query/table.h"

#define TABLE_NO_ROW UINT32_MAX

/* The statistics of a cell as numbers: which ones there are depends on the kind and the count. */
struct table_numbers {
	uint64_t count, max_time;
	hist_int sum, min, max;
	hist_int p[4];	    /* 50, 90, 99, 99.9 */
	double mean, share; /* NaN: there is none */
};

void table_numbers(const struct table *t, uint32_t row, uint32_t v, hist_int total,
		   struct table_numbers *n);

/* Whether values of a kind have a statistic. */
bool table_has(enum table_value_kind kind, enum table_stat stat);
const char *table_stat_name(enum table_stat stat);
const char *table_stat_title(enum table_stat stat);
const char *table_key_kind_name(enum table_key_kind kind);

/* The i-th row in the order of output, TABLE_OTHER last; TABLE_NO_ROW behind it. */
uint32_t table_ordered(const struct table *t, uint32_t i);
uint32_t table_nordered(const struct table *t);

/* Makes the row TABLE_OTHER if there is none. 0 or PP_ENOMEM. */
int table_make_other(struct table *t);

/* Adds a row to another one, and empties it. 0 or PP_ENOMEM. */
int table_merge_row(struct table *t, uint32_t to, uint32_t from);

/* The greatest count of a row's values: what decides which rows are kept. */
uint64_t table_weight(const struct table *t, uint32_t row);

/* The table of that name, NULL if there is none. */
struct table *tables_find(const struct tables *ts, const char *name, size_t len);

int table_write_tsv(const struct tables *ts, const struct table *t, struct buf *b, struct out *out);
int table_write_json(const struct table *t, struct buf *b, struct out *out);
int table_write_text(const struct tables *ts, const struct table *t, const struct table_opts *o,
		     struct buf *b, struct out *out);

/* Writes what is in b and empties it. */
int table_flush(struct buf *b, struct out *out);

#endif
