/* A report as Markdown, for a comment on a change: tables, and trees as blocks of text. */
#include "report/parts.h"

#include "base/err.h"

#include <inttypes.h>

#define TREE_WIDTH 120

/* Text between tags, in which no character has a meaning. */
static void add_plain(struct buf *b, const struct buf *text)
{
	for (size_t i = 0; i < text->len; i++) {
		char c = (char)text->data[i];

		if (c && strchr("|&<>`*_[]~\\@#!", c))
			buf_addf(b, "&#%d;", c);
		else
			buf_addc(b, c);
	}
	buf_inherit(b, text);
}

static void add_safe(struct buf *b, const struct buf *text)
{
	struct buf safe = BUF_INIT;

	buf_add_safe(&safe, buf_str(text), text->len);
	add_plain(b, &safe);
	buf_inherit(b, text);
	buf_release(&safe);
}

static void add_titles(const struct report *r, bool children, struct buf *b)
{
	struct buf name = BUF_INIT;

	buf_adds(b, children ? "| children | self |" : "| self |");
	for (unsigned k = 0; k < r->nkeys; k++) {
		if (!report_has_key(r, k))
			continue;
		buf_reset(&name);
		buf_adds(&name, r->key[k].name);
		buf_addc(b, ' ');
		add_safe(b, &name);
		buf_adds(b, " |");
	}
	buf_adds(b, children ? "\n|--:|--:|" : "\n|--:|");
	for (unsigned k = 0; k < r->nkeys; k++)
		buf_adds(b, report_has_key(r, k) ? "---|" : "");
	buf_addc(b, '\n');
	buf_inherit(b, &name);
	buf_release(&name);
}

static void add_row(const struct result *s, const struct row *row, bool children, struct buf *b)
{
	uint64_t whole = s->events[row->event].weight;
	struct buf cell = BUF_INIT;

	if (children)
		buf_addf(b, "| %.2f%% ", report_share(row->children, whole));
	buf_addf(b, "| %.2f%% |", report_share(row->self, whole));
	for (unsigned k = 0; k < s->r->nkeys; k++) {
		if (!report_has_key(s->r, k))
			continue;
		buf_reset(&cell);
		row_cell(s, row, k, &cell);
		buf_adds(b, " <code>");
		add_safe(b, &cell);
		buf_adds(b, "</code> |");
	}
	buf_addc(b, '\n');
	buf_release(&cell);
}

static int write_table(const struct result *s, uint32_t event, struct buf *b, struct out *out)
{
	const struct report_opts *o = &s->r->o;
	bool children = s->events[event].deep && !o->no_children;
	uint32_t from, to, rows = 0;
	int rc = 0;

	add_titles(s->r, children, b);
	result_event(s, event, &from, &to);
	for (uint32_t i = from; i < to && !rc && (!o->top || rows < o->top); i++) {
		if (!result_shows(s, &s->rows[s->order[i]]))
			continue;
		rows++;
		add_row(s, &s->rows[s->order[i]], children, b);
		rc = out_take(out, b);
	}
	return rc;
}

int report_write_markdown(const struct result *s, struct out *out)
{
	const struct report *r = s->r;
	struct buf b = BUF_INIT, head = BUF_INIT;
	int rc = 0;

	for (uint32_t event = 0; event < r->nevents && !rc; event++) {
		if (!r->events[event].samples)
			continue;
		if (out->written || out->len)
			buf_addc(&b, '\n');
		buf_reset(&head);
		report_head(s, event, &head);
		add_plain(&b, &head);
		buf_adds(&b, "\n\n");
		if (r->o.tree) {
			buf_adds(&b, "```text\n");
			rc = report_write_event(s, event, TREE_WIDTH, &b, out);
			buf_adds(&b, "```\n");
		} else {
			rc = write_table(s, event, &b, out);
		}
		if (!rc)
			rc = out_take(out, &b);
	}
	buf_release(&b);
	buf_release(&head);
	return rc;
}
