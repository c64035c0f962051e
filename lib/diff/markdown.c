/* A comparison as Markdown, for a comment on a change: what was found, the rest folded away. */
#include "diff/parts.h"

#define SIZE_MAX_BYTES 60000 /* GitHub takes 65,536 characters */
#define TAIL	       200   /* bytes that the end needs */

/* A name as code inside a table's cell. */
static void add_name(const struct diff *d, const struct diff_row *r, struct buf *b)
{
	struct buf safe = BUF_INIT;
	size_t len;
	const char *name = diff_row_name(d, r, &len);

	buf_add_safe(&safe, name, len);
	buf_adds(b, "<code>");
	for (size_t i = 0; i < safe.len; i++) {
		char c = (char)safe.data[i];

		if (strchr("|&<>`*_[]~\\@#!", c) && c)
			buf_addf(b, "&#%d;", c);
		else
			buf_addc(b, c);
	}
	buf_adds(b, "</code>");
	b->err = b->err ? b->err : safe.err;
	buf_release(&safe);
}

static void add_row(const struct diff *d, const struct diff_row *r, struct buf *b)
{
	bool bold = r->verdict < DIFF_UNCLEAR;

	buf_addf(b, "| %s%s%s | %.2f | %.2f | %+.2f | %+.2f .. %+.2f | %.4f | ", bold ? "**" : "",
		 diff_verdict_name(r->verdict), bold ? "**" : "", r->share[0] * 100,
		 r->share[1] * 100, r->diff * 100, r->low * 100, r->high * 100, r->q);
	add_name(d, r, b);
	buf_adds(b, " |\n");
}

/* The rows with a verdict, or those without; false: not all of them had room. */
static bool add_rows(const struct diff *d, const struct family *f, bool found, struct buf *b)
{
	bool any = false;

	for (size_t i = 0; i < f->n; i++) {
		const struct diff_row *r = &f->rows[i];
		size_t before = b->len;

		if ((r->verdict < DIFF_UNCLEAR) != found || r->verdict == DIFF_SMALL)
			continue;
		if (!any)
			buf_adds(b, "\n| verdict | base % | new % | change | 95 % interval "
				    "| q | name |\n"
				    "|---|--:|--:|--:|:-:|--:|---|\n");
		any = true;
		add_row(d, r, b);
		if (b->len > SIZE_MAX_BYTES - TAIL) {
			b->len = before;
			return false;
		}
	}
	return true;
}

int diff_write_markdown(struct diff *d, struct buf *b, struct out *out)
{
	const struct compare *c = &d->compare;
	const struct family *f = &c->families[d->opts.total && c->nfamilies > 1];
	bool whole;

	(void)out;
	buf_adds(b, "**pdiff:** ");
	diff_add_verdict(d, b);
	buf_adds(b, "\n\n");
	diff_add_head(d, b);
	diff_add_notes(d, "\n\n", b);
	buf_addc(b, '\n');
	whole = add_rows(d, f, true, b);
	buf_adds(b, "\n<details><summary>All others</summary>\n");
	whole = whole && add_rows(d, f, false, b);
	if (!whole)
		buf_adds(b, "\nThere are more rows than have room here.\n");
	buf_adds(b, "\n</details>\n");
	return b->err;
}
