/*
 * The tables that show what can be probed: text, TSV or JSON lines on the standard output.
 *
 *	static const struct record_column columns[] = {{"name", 40}, {0}};
 *	sheet_begin(&s, columns, TABLE_FORM_TSV);
 *	sheet_text(&s, name);
 *	sheet_textf(&s, "0x%x", addr);
 *	sheet_end_row(&s);	(for each row)
 *	rc = sheet_finish(&s, rc, path, diag);
 */
#ifndef PP_PROBE_SHEET_H
#define PP_PROBE_SHEET_H

#include "base/diag.h"
#include "base/out.h"
#include "table/named_rows.h"

struct sheet {
	struct records cells;
	struct buf line;
	struct out out;
	uint64_t n; /* rows */
};

int sheet_begin(struct sheet *s, const struct record_column *columns, enum table_form form);
__attribute__((format(printf, 2, 3))) void sheet_textf(struct sheet *s, const char *fmt, ...);
int sheet_end_row(struct sheet *s);

static inline void sheet_text(struct sheet *s, const char *text)
{
	record_text(&s->cells, text, strlen(text));
}

/*
 * Ends a table whose rows came to rc, an error about `file` (NULL: none). Reports an error, that of
 * the output first: what was read for the table is not to blame for that. 0, or the error.
 */
int sheet_finish(struct sheet *s, int rc, const char *file, struct diag *d);

/* The same for a table of `what`, one without a row being an error. PP_EXIT_OK or PP_EXIT_FAIL. */
int sheet_status(struct sheet *s, int rc, const char *file, const char *what, struct diag *d);

#endif
