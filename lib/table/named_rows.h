/*
 * Rows of named columns without statistics, as text, TSV or JSON lines; for what is not a table of
 * keys and values (table.h).
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
 */
#ifndef PP_TABLE_NAMED_ROWS_H
#define PP_TABLE_NAMED_ROWS_H

#include "base/buf.h"

#include <stdbool.h>

/* Records have the first three. */
enum table_form {
	TABLE_FORM_TEXT,
	TABLE_FORM_TSV,
	TABLE_FORM_JSON,
	TABLE_FORM_MARKDOWN,
	TABLE_FORM_HTML
};

struct record_column {
	const char *name;
	int width;   /* in text */
	bool number; /* its texts are numbers, which JSON does not quote */
	bool json;   /* only JSON has it */
};

struct records {
	const struct record_column *columns; /* until one without a name */
	enum table_form form;
	struct buf *b;
	bool exact;  /* cells of TSV are escaped so that all bytes come back */
	bool nulls;  /* JSON has empty cells, as null */
	unsigned at; /* of the row: the next column */
	bool any;    /* and whether one was written */
	size_t from; /* where its cell begins */
};

/* The first line of TSV: `first` takes the place of the first column's name. */
void records_titles(struct records *r, const char *first);

/* Untrusted text. */
void record_text(struct records *r, const char *s, size_t n);
void record_u64(struct records *r, uint64_t v);
void record_hex(struct records *r, uint64_t v);	      /* with 0x; JSON has it as a text */
void record_share(struct records *r, double percent); /* JSON: a part of 1 */
__attribute__((format(printf, 2, 3))) void record_number(struct records *r, const char *fmt, ...);

/* The row does not have it: JSON leaves it out, or says null. */
void record_none(struct records *r);

void record_end(struct records *r);

/*
 * A name or key as the TSV form has it: what would break a cell is written as \xHH, with `colon`
 * also the colon. For other writers of that form.
 */
void table_add_escaped(struct buf *b, const char *s, size_t n, bool colon);

#endif
