/* Rows of named columns as text, TSV or JSON lines; see named_rows.h. */
#include "table/named_rows.h"

#include "table/table.h"
#include "table/unit.h"

#include <math.h>

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
	} else if (c->json || c->hidden) {
		r->at++;
		return false;
	} else if (r->form == TABLE_FORM_MARKDOWN) {
		buf_adds(r->b, "| ");
	} else if (r->form == TABLE_FORM_TSV && r->any) {
		buf_addc(r->b, '\t');
	} else if (r->form == TABLE_FORM_TEXT && r->any && !r->fit) {
		buf_fill(r->b, ' ', c->gap ? c->gap : GAP);
	}
	r->any = true;
	r->from = r->b->len;
	return true;
}

/* A cell of text is cut to its room, or moved within it. */
static void align(const struct records *r, const struct record_column *c)
{
	struct buf *b = r->b;
	uint32_t used, pad;
	size_t n;

	if (c->most && r->cut)
		buf_cut(b, r->from, c->most, r->cut);
	n = b->len - r->from;
	used = text_width(buf_str(b) + r->from, n);
	pad = used < c->width ? c->width - used : 0;
	buf_fill(b, ' ', pad);
	if (!c->right || !pad || b->err)
		return;
	memmove(b->data + r->from + pad, b->data + r->from, n);
	memset(b->data + r->from, ' ', pad);
}

/* Text that is kept: cells end with a NUL. */
static void keep_cell(struct records *r, struct record_column *c)
{
	uint32_t width = text_width(buf_str(r->b) + r->from, r->b->len - r->from);

	width = c->most && width > c->most ? c->most : width;
	c->width = width > c->width ? width : c->width;
	buf_addc(r->b, 0);
}

void record_close(struct records *r)
{
	unsigned at = r->at++;

	if (r->form == TABLE_FORM_MARKDOWN)
		buf_addc(r->b, ' ');
	if (r->form != TABLE_FORM_TEXT)
		return;
	if (r->fit)
		keep_cell(r, &r->fit[at]);
	else
		align(r, &r->columns[at]);
}

struct buf *record_open(struct records *r)
{
	return begin_cell(r) ? r->b : NULL;
}

void record_title(struct records *r, const char *s)
{
	if (!begin_cell(r))
		return;
	if (r->form == TABLE_FORM_MARKDOWN)
		buf_add_markup(r->b, s, strlen(s), MARKDOWN_MARKS);
	else
		buf_add_safe(r->b, s, strlen(s));
	record_close(r);
}

void records_rule(struct records *r)
{
	record_end(r);
	if (r->form != TABLE_FORM_MARKDOWN)
		return;
	buf_addc(r->b, '|');
	for (const struct record_column *c = r->columns; c->name; c++)
		buf_adds(r->b, c->center ? ":-:|" : c->right ? "--:|" : "---|");
	buf_addc(r->b, '\n');
}

void buf_add_code(struct buf *b, const char *s, size_t n)
{
	buf_adds(b, "<code>");
	buf_add_markup(b, s, n, MARKDOWN_MARKS);
	buf_adds(b, "</code>");
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
	else if (r->form == TABLE_FORM_MARKDOWN)
		buf_add_code(r->b, s, n);
	else
		buf_add_safe(r->b, s, n);
	record_close(r);
}

void record_u64(struct records *r, uint64_t v)
{
	if (!begin_cell(r))
		return;
	buf_add_u64(r->b, v, 0, ' ');
	record_close(r);
}

void record_hex(struct records *r, uint64_t v)
{
	const char *quote = r->form == TABLE_FORM_JSON ? "\"" : "";

	if (!begin_cell(r))
		return;
	buf_addf(r->b, "%s0x", quote);
	buf_add_hex(r->b, v, 0, ' ');
	buf_adds(r->b, quote);
	record_close(r);
}

void record_number(struct records *r, const char *fmt, ...)
{
	va_list ap;

	if (!begin_cell(r))
		return;
	va_start(ap, fmt);
	buf_vaddf(r->b, fmt, ap);
	va_end(ap);
	record_close(r);
}

void record_share(struct records *r, double percent)
{
	if (r->form == TABLE_FORM_JSON)
		record_number(r, "%.6f", percent / 100);
	else
		record_number(r, "%.4f", percent);
}

void record_real(struct records *r, double v)
{
	if (r->form == TABLE_FORM_JSON && !isfinite(v))
		record_number(r, "null");
	else
		record_number(r, "%.9g", v);
}

void record_none(struct records *r)
{
	if (r->form == TABLE_FORM_JSON && !r->nulls)
		r->at++;
	else
		record_text(r, "", 0);
}

static void trim(struct buf *b)
{
	while (b->len && b->data[b->len - 1] == ' ')
		b->len--;
}

void record_end(struct records *r)
{
	if (r->form == TABLE_FORM_JSON)
		buf_addc(r->b, '}');
	else if (r->form == TABLE_FORM_MARKDOWN)
		buf_addc(r->b, '|');
	else if (r->form == TABLE_FORM_TEXT && !r->fit)
		trim(r->b);
	if (!r->fit && !(r->list && r->form == TABLE_FORM_JSON))
		buf_addc(r->b, '\n');
	r->at = 0;
	r->any = false;
}

int records_print(struct records *r, record_below_fn *below, void *ctx, struct buf *b,
		  struct out *out)
{
	struct buf *kept = r->b;
	const char *s = buf_str(kept), *end = s + kept->len;
	int rc = kept->err;

	r->fit = NULL;
	r->b = b;
	for (uint32_t row = 0; s < end && !rc; row++) {
		size_t line = b->len;

		for (; r->columns[r->at].name; s += strlen(s) + 1)
			if (begin_cell(r)) {
				buf_adds(b, s);
				record_close(r);
			}
		trim(b);
		buf_cut(b, line, r->line, "..");
		record_end(r);
		rc = below ? below(ctx, row, b) : 0;
		rc = rc ? rc : out_take(out, b);
	}
	return rc;
}
