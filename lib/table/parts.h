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

/* Leaves its columns alone. */
void table_clear(struct table *t);
void table_free(struct table *t);

/* As tables_merge, but with those that are derived, into tables that have none yet. */
int tables_copy(struct tables *to, const struct tables *from);

/*
 * Sorts all, and leaves the first rows of those that are not derived. 0, PP_ENOMEM or PP_EUSAGE (no
 * table has the column to sort by), which is reported.
 */
int tables_arrange(struct tables *ts, const struct table_opts *o, struct diag *d);

/* The table of that name, NULL if there is none. */
struct table *tables_find(const struct tables *ts, const char *name, size_t len);

/* A form at work on a table. */
struct table_writer {
	struct tables *ts;
	const struct table *t;
	const struct table_opts *o;
	uint32_t shown;	       /* the statistics for people: bits */
	struct buf *b;	       /* what goes out next */
	struct buf text, cell; /* scratch; their errors become that of b */
	struct out *out;
	struct grid *grid; /* for people */
	bool values_first; /* before the keys */
};

/* What a form does with a row: NULL for nothing. */
struct table_walk {
	void (*begin)(struct table_writer *x);
	void (*key)(struct table_writer *x, uint32_t row, uint32_t k);
	void (*middle)(struct table_writer *x); /* between the keys and the values */
	void (*value)(struct table_writer *x, uint32_t row, uint32_t v,
		      const struct table_numbers *n);
	void (*end)(struct table_writer *x);
};

/* Goes through all rows, in the order of output. 0, or the error of a buffer or the output. */
int table_each_row(struct table_writer *x, const struct table_walk *w);

typedef int table_form_fn(struct table_writer *x);
table_form_fn table_write_people, table_write_tsv, table_write_json; /* people: text, Markdown */
/* All tables as one, with plain columns. `source` may be NULL. */
int tables_write_plain(const struct tables *ts, const char *source, struct buf *b, struct out *out);

/*
 * Cells of the TSV forms, with the tab before them: LOW:COUNT of each bucket, LOW being its bound
 * nearer to zero, or the multiple of the step; a statistic.
 */
void table_add_buckets(struct buf *b, const struct hist_buckets *buckets, uint64_t step);
void table_add_stat(struct buf *b, const struct table_numbers *n, enum table_stat stat);

#endif
