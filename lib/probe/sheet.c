/* Tables on the standard output: their rows, what is reported in the end. */
#include "probe/sheet.h"

#include "base/err.h"
#include "base/out_end.h"

#include <unistd.h>

int sheet_begin(struct sheet *s, const struct record_column *columns, enum table_form form)
{
	struct buf first = BUF_INIT;
	int rc;

	*s = (struct sheet){.cells = {.columns = columns, .form = form, .nulls = true}};
	s->cells.b = &s->line;
	rc = out_init(&s->out, STDOUT_FILENO);
	buf_addf(&first, "#%s", columns->name);
	records_titles(&s->cells, buf_str(&first));
	buf_inherit(&s->line, &first);
	buf_release(&first);
	return rc ? rc : out_take(&s->out, &s->line);
}

void sheet_textf(struct sheet *s, const char *fmt, ...)
{
	struct buf cell = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&cell, fmt, ap);
	va_end(ap);
	sheet_text(s, buf_str(&cell));
	buf_inherit(&s->line, &cell);
	buf_release(&cell);
}

int sheet_end_row(struct sheet *s)
{
	record_end(&s->cells);
	s->n++;
	return out_take(&s->out, &s->line);
}

int sheet_finish(struct sheet *s, int rc, const char *file, struct diag *d)
{
	int out = out_end(&s->out, s->line.err, d);

	if (!out && rc && rc != PP_EPIPE)
		diag_error(d, file, -1, "%s", pp_strerror(rc));
	buf_release(&s->line);
	return out ? out : rc;
}

int sheet_status(struct sheet *s, int rc, const char *file, const char *what, struct diag *d)
{
	uint64_t n = s->n;

	rc = sheet_finish(s, rc, file, d);
	if (!rc && !n)
		diag_error(d, file, -1, "no %s", what);
	return rc || !n ? PP_EXIT_FAIL : PP_EXIT_OK;
}
