/* Tables as text, TSV or JSON lines. */
#include "probe/sheet.h"

#include "base/err.h"

#include <stdarg.h>
#include <unistd.h>

int sheet_begin(struct sheet *r, const struct sheet_column *columns, enum sheet_form form)
{
	int rc;

	memset(r, 0, sizeof(*r));
	r->columns = columns;
	r->form = form;
	rc = out_init(&r->out, STDOUT_FILENO);
	if (rc || form != SHEET_TSV)
		return rc;
	buf_addc(&r->line, '#');
	for (const struct sheet_column *c = columns; c->name; c++)
		buf_addf(&r->line, "%s%s", c == columns ? "" : "\t", c->name);
	buf_addc(&r->line, '\n');
	rc = r->line.err ? r->line.err : out_add(&r->out, r->line.data, r->line.len);
	buf_reset(&r->line);
	return rc;
}

/* Columns of characters that a UTF-8 text takes, about. */
static int width(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

void sheet_text(struct sheet *r, const char *text)
{
	const struct sheet_column *c = &r->columns[r->at++];
	size_t had = r->line.len;
	int pad;

	switch (r->form) {
	case SHEET_JSON:
		buf_addc(&r->line, had ? ',' : '{');
		buf_add_json(&r->line, c->name, strlen(c->name));
		buf_addc(&r->line, ':');
		if (c->number && *text)
			buf_adds(&r->line, text);
		else if (!*text)
			buf_adds(&r->line, "null");
		else
			buf_add_json(&r->line, text, strlen(text));
		break;
	case SHEET_TSV:
		if (had)
			buf_addc(&r->line, '\t');
		buf_add_safe(&r->line, text, strlen(text));
		break;
	case SHEET_TEXT:
		buf_add_safe(&r->line, text, strlen(text));
		pad = c->width - width(text);
		if (c[1].name)
			buf_fill(&r->line, ' ', pad > 0 ? (size_t)pad + 2 : 2);
		break;
	}
}

static void put_cell(struct sheet *r)
{
	buf_inherit(&r->line, &r->cell);
	sheet_text(r, buf_str(&r->cell));
}

void sheet_textf(struct sheet *r, const char *fmt, ...)
{
	va_list ap;

	buf_reset(&r->cell);
	va_start(ap, fmt);
	buf_vaddf(&r->cell, fmt, ap);
	va_end(ap);
	put_cell(r);
}

void sheet_hex(struct sheet *r, uint64_t v)
{
	buf_reset(&r->cell);
	buf_adds(&r->cell, "0x");
	buf_add_hex(&r->cell, v, 0, ' ');
	put_cell(r);
}

void sheet_number(struct sheet *r, uint64_t v)
{
	buf_reset(&r->cell);
	buf_add_u64(&r->cell, v, 0, ' ');
	put_cell(r);
}

int sheet_end_row(struct sheet *r)
{
	if (r->form == SHEET_JSON)
		buf_addc(&r->line, '}');
	while (r->form == SHEET_TEXT && r->line.len && r->line.data[r->line.len - 1] == ' ')
		r->line.len--;
	buf_addc(&r->line, '\n');
	r->at = 0;
	r->n++;
	if (!r->line.err)
		out_add(&r->out, r->line.data, r->line.len);
	r->line.len = 0;
	return r->line.err ? r->line.err : r->out.err;
}

int sheet_finish(struct sheet *r, int rc, const char *file, struct diag *d)
{
	int out = out_close(&r->out);

	out = r->line.err ? r->line.err : out;
	if (out && out != PP_EPIPE)
		diag_error(d, NULL, -1, "cannot write the output: %s", pp_strerror(out));
	else if (rc && rc != PP_EPIPE)
		diag_error(d, file, -1, "%s", pp_strerror(rc));
	buf_release(&r->line);
	buf_release(&r->cell);
	return out ? out : rc;
}

int sheet_status(struct sheet *r, int rc, const char *file, const char *what, struct diag *d)
{
	uint64_t n = r->n;

	rc = sheet_finish(r, rc, file, d);
	if (!rc && !n)
		diag_error(d, file, -1, "no %s", what);
	return rc || !n ? PP_EXIT_FAIL : PP_EXIT_OK;
}
