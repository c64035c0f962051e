/*
 * Rows of named columns, as text, TSV, JSON lines or Markdown. Tables of keys and values (table.h)
 * are such rows in text and Markdown.
 *
 *	static const struct record_column columns[] = {{"name", 40}, {"address", 12}, {0}};
 *	struct records r = {.columns = columns, .form = TABLE_FORM_TSV, .b = &b};
 *
 *	records_titles(&r, "# name");
 *	record_text(&r, name, strlen(name));
 *	record_hex(&r, addr);
 *	record_end(&r);		(for each row)
 *
 * A row has a call for each column, in their order. Errors stay in the buffer.
 *
 * Text whose columns are to be as wide as their widest cell is written when all rows are there:
 *
 *	struct records r = {.columns = columns, .fit = columns, .b = &kept, .cut = TEXT_CUT};
 *	... (rows, the first with record_title)
 *	rc = records_print(&r, NULL, NULL, &b, &out);
 */
#ifndef PP_TABLE_NAMED_ROWS_H
#define PP_TABLE_NAMED_ROWS_H

#include "base/buf.h"
#include "base/out.h"

#include <stdbool.h>

/* Records have the first four. */
enum table_form {
	TABLE_FORM_TEXT,
	TABLE_FORM_TSV,
	TABLE_FORM_JSON,
	TABLE_FORM_MARKDOWN,
	TABLE_FORM_HTML
};

struct record_column {
	const char *name;
	uint32_t width; /* in text, at least */
	bool number;	/* its texts are numbers, which JSON does not quote */
	bool json;	/* only JSON has it */
	bool right;	/* in text on the right of its room; in Markdown no code */
	bool center;	/* in Markdown */
	bool hidden;	/* the form does not have it */
	uint32_t gap;	/* in text: blanks before it; 0: two */
	uint32_t most;	/* in text: what is wider is cut (r->cut); 0: nothing is */
};

struct records {
	const struct record_column *columns; /* until one without a name */
	struct record_column *fit; /* the same: text stays in b until records_print; or NULL */
	enum table_form form;
	struct buf *b;
	const char *cut; /* ends what is cut; NULL: nothing is */
	uint32_t line;	 /* kept text: what lines are cut to; 0: nothing */
	bool exact;	 /* cells of TSV are escaped so that all bytes come back */
	bool nulls;	 /* JSON has empty cells, as null */
	bool list;	 /* JSON has no ends of lines */
	unsigned at;	 /* of the row: the next column */
	bool any;	 /* and whether one was written */
	size_t from;	 /* where its cell begins */
};

/* The first line of TSV: `first` takes the place of the first column's name. */
void records_titles(struct records *r, const char *first);

/* The title of a column of text or Markdown. After the last: the row ends, Markdown has a rule. */
void record_title(struct records *r, const char *s);
void records_rule(struct records *r);

/* Untrusted text. */
void record_text(struct records *r, const char *s, size_t n);
void record_u64(struct records *r, uint64_t v);
void record_hex(struct records *r, uint64_t v);	      /* with 0x; JSON has it as a text */
void record_share(struct records *r, double percent); /* JSON: a part of 1 */
void record_real(struct records *r, double v);	      /* JSON has no infinity: null */
__attribute__((format(printf, 2, 3))) void record_number(struct records *r, const char *fmt, ...);

/* A cell that is put together in the buffer, of trusted text; NULL: this form does not have it. */
struct buf *record_open(struct records *r);
void record_close(struct records *r);

/* Untrusted text as code, as Markdown has texts. */
void buf_add_code(struct buf *b, const char *s, size_t n);

/* The row does not have it: JSON leaves it out, or says null. */
void record_none(struct records *r);

void record_end(struct records *r);

/*
 * Writes the rows of text that are in r->b, with the widths that their cells need. `below`, or
 * NULL, adds what is below a row to b; row 0 is the titles. b is used on the way. 0 or an error.
 */
typedef int record_below_fn(void *ctx, uint32_t row, struct buf *b);
int records_print(struct records *r, record_below_fn *below, void *ctx, struct buf *b,
		  struct out *out);

/*
 * A name or key as the TSV form has it: what would break a cell is written as \xHH, with `colon`
 * also the colon. For other writers of that form.
 */
void table_add_escaped(struct buf *b, const char *s, size_t n, bool colon);

#endif
