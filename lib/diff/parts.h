/*
 * Private to lib/diff: a comparison as its writers see it.
 */
#ifndef PP_DIFF_PARTS_H
#define PP_DIFF_PARTS_H

#include "diff/compare.h"
#include "table/named_rows.h"

struct diff {
	struct diff_opts opts;
	struct diag *diag;
	struct runs runs;
	struct noise noise;
	struct compare compare;
	struct diff_result result;
};

/* ---- wording.c ---- */

const char *diff_verdict_name(enum diff_verdict verdict);
const char *diff_norm_name(enum diff_norm norm);

/* The name of a row: of its unit, or of the small ones together. */
const char *diff_row_name(const struct diff *d, const struct diff_row *r, size_t *len);

/* What a side has of a row, for people: percent of all samples, or an amount of time. */
void diff_add_value(const struct family *f, double v, struct buf *b);

/* "5 base and 5 new recordings; ..." and "verdict: 1 regressed, ...", without a newline. */
void diff_add_head(const struct diff *d, struct buf *b);
void diff_add_verdict(const struct diff *d, struct buf *b);

/* What has to be known besides the numbers, one per line, each after `before`; may be nothing. */
void diff_add_notes(const struct diff *d, const char *before, struct buf *b);

/* Sorts rows as people read them: by verdict, then by the size of the difference. */
void diff_sort(struct family *f);

/* ---- text_comparison.c ---- */

/* Rows of a family for people, as text or Markdown. */
struct diff_rows {
	const struct diff *d;
	const struct family *f;
	struct records to;
	struct record_column column[8];
};
void diff_rows_begin(struct diff_rows *x, const struct diff *d, const struct family *f,
		     enum table_form form, struct buf *b);
void diff_rows_add(struct diff_rows *x, const struct diff_row *r);

/* ---- the forms: text_, data_, markup_ and folded_comparison.c ---- */

int diff_write_text(struct diff *d, struct buf *b, struct out *out);
int diff_write_tsv(struct diff *d, struct buf *b, struct out *out);
int diff_write_json(struct diff *d, struct buf *b, struct out *out);
int diff_write_markdown(struct diff *d, struct buf *b, struct out *out);
int diff_write_junit(struct diff *d, struct buf *b, struct out *out);
int diff_write_folded(struct diff *d, struct buf *b, struct out *out);

#endif
