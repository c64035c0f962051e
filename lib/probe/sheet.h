/*
 * The tables that tell what can be probed: text, TSV or JSON lines.
 *
 *	static const struct sheet_column columns[] = {{"name", 40, false}, {0}};
 *	sheet_begin(&s, columns, SHEET_TSV);
 *	sheet_text(&r, name);
 *	sheet_textf(&r, "0x%x", addr);
 *	sheet_end_row(&r);	(for each row)
 *	rc = sheet_finish(&r, rc, path, diag);
 *
 * Texts are escaped as each form needs it.
 */
#ifndef PP_PROBE_SHEET_H
#define PP_PROBE_SHEET_H

#include "base/buf.h"
#include "base/diag.h"
#include "base/out.h"

#include <stdbool.h>

enum sheet_form { SHEET_TEXT, SHEET_TSV, SHEET_JSON };

struct sheet_column {
	const char *name;
	int width;   /* in text */
	bool number; /* in JSON */
};

struct sheet {
	const struct sheet_column *columns;
	enum sheet_form form;
	unsigned at;
	struct buf line, cell;
	struct out out;
	uint64_t n;
};

int sheet_begin(struct sheet *r, const struct sheet_column *columns, enum sheet_form form);
void sheet_text(struct sheet *r, const char *text);
__attribute__((format(printf, 2, 3))) void sheet_textf(struct sheet *r, const char *fmt, ...);
void sheet_hex(struct sheet *r, uint64_t v); /* with 0x */
void sheet_number(struct sheet *r, uint64_t v);
int sheet_end_row(struct sheet *r);

/* Writes what is left, and closes the standard output. 0, or the first error of all. */
/*
 * Ends a table whose rows came to rc, an error about `file` (NULL: none). Reports an error, that of
 * the output first: what was read for the table is not to blame for that. 0, or the error.
 */
int sheet_finish(struct sheet *r, int rc, const char *file, struct diag *d);

/* The same for a table of `what`, one without a row being an error. PP_EXIT_OK or PP_EXIT_FAIL. */
int sheet_status(struct sheet *r, int rc, const char *file, const char *what, struct diag *d);

#endif
