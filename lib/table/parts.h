/*
 * Private to lib/table/table*.c: what the forms of a table have in common.
 */
#ifndef PP_TABLE_PARTS_H
#define PP_TABLE_PARTS_H

#include "table/table.h"

const char *table_key_kind_name(enum table_key_kind kind);

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
