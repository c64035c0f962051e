/* Rows of named columns as text, TSV or JSON lines; see named_rows.h. */
#include "table/named_rows.h"

#include "table/table.h"
#include "table/unit.h"

#define GAP 2 /* between the columns of text */

void records_titles(struct records *r, const char *first)
{
	if (r->form != TABLE_FORM_TSV)
		return;
	buf_adds(r->b, first);
	for (const struct record_column *c = r->columns + 1; c->name; c++) {
		buf_adds(r->b, c->json ? "" : "\t");
		buf_add_safe(r->b, c->name, c->json ? 0 : strlen(c->name));
	}
	buf_addc(r->b, '\n');
}

/* What comes before a cell. False: this form does not have the column. */
static bool begin_cell(struct records *r)
{
	const struct record_column *c = &r->columns[r->at];

	if (r->form == TABLE_FORM_JSON) {
		buf_addc(r->b, r->any ? ',' : '{');
		buf_add_json(r->b, c->name, strlen(c->name));
		buf_addc(r->b, ':');
	} else if (c->json) {
		r->at++;
		return false;
	} else if (r->form == TABLE_FORM_TSV && r->any) {
		buf_addc(r->b, '\t');
	}
	r->any = true;
	r->from = r->b->len;
	return true;
}

static void end_cell(struct records *r)
{
	const struct record_column *c = &r->columns[r->at++];
	uint32_t used, width = (uint32_t)c->width;

	if (r->form != TABLE_FORM_TEXT || !c[1].name)
		return;
	used = text_width(buf_str(r->b) + r->from, r->b->len - r->from);
	buf_fill(r->b, ' ', (used < width ? width - used : 0) + GAP);
}

void record_text(struct records *r, const char *s, size_t n)
{
	bool number = r->columns[r->at].number && n;

	if (!begin_cell(r))
		return;
	if (r->form == TABLE_FORM_JSON && !n && r->nulls)
		buf_adds(r->b, "null");
	else if (r->form == TABLE_FORM_JSON && !number)
		buf_add_json(r->b, s, n);
	else if (r->form == TABLE_FORM_TSV && r->exact)
		table_add_escaped(r->b, s, n, false);
	else
		buf_add_safe(r->b, s, n);
	end_cell(r);
}

void record_u64(struct records *r, uint64_t v)
{
	if (!begin_cell(r))
		return;
	buf_add_u64(r->b, v, 0, ' ');
	end_cell(r);
}

void record_hex(struct records *r, uint64_t v)
{
	const char *quote = r->form == TABLE_FORM_JSON ? "\"" : "";

	if (!begin_cell(r))
		return;
	buf_addf(r->b, "%s0x", quote);
	buf_add_hex(r->b, v, 0, ' ');
	buf_adds(r->b, quote);
	end_cell(r);
}

void record_number(struct records *r, const char *fmt, ...)
{
	va_list ap;

	if (!begin_cell(r))
		return;
	va_start(ap, fmt);
	buf_vaddf(r->b, fmt, ap);
	va_end(ap);
	end_cell(r);
}

void record_share(struct records *r, double percent)
{
	if (r->form == TABLE_FORM_JSON)
		record_number(r, "%.6f", percent / 100);
	else
		record_number(r, "%.4f", percent);
}

void record_none(struct records *r)
{
	if (r->form == TABLE_FORM_JSON && !r->nulls)
		r->at++;
	else
		record_text(r, "", 0);
}

void record_end(struct records *r)
{
	if (r->form == TABLE_FORM_JSON)
		buf_addc(r->b, '}');
	while (r->form == TABLE_FORM_TEXT && r->b->len && r->b->data[r->b->len - 1] == ' ')
		r->b->len--;
	buf_addc(r->b, '\n');
	r->at = 0;
	r->any = false;
}
