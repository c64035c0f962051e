/*
 * A report as tab-separated values: tables in the form of perfpipe-table(5), trees with a line for
 * each node, which says how deep it is.
 */
#include "report/parts.h"

#include "base/err.h"

#include <inttypes.h>

/* The name of an event, as it was recorded. */
static void add_name(const struct report *r, uint32_t event, struct buf *b)
{
	const struct report_event *e = &r->events[event];
	size_t len;
	const char *s = report_text_get(r, e->name, &len);

	table_add_escaped(b, s, len, false);
	if (e->number > 1)
		buf_addf(b, " #%u", e->number);
}

static const char *unit_of(const struct report *r, uint32_t event)
{
	const struct report_event *e = &r->events[event];
	size_t len;

	return e->units ? "" : report_text_get(r, e->unit, &len);
}

/* ---- tables ---- */

static void add_value(const struct report *r, uint32_t event, const char *name, struct buf *b)
{
	const char *unit = unit_of(r, event);

	buf_addf(b, "\t%s:count\t%s:sum", name, name);
	if (*unit) {
		buf_addc(b, ':');
		table_add_escaped(b, unit, strlen(unit), true);
	}
	buf_addf(b, "\t%s:share:%%", name);
}

static void add_header(const struct report *r, uint32_t event, uint32_t rows, struct buf *b)
{
	buf_addf(b, TABLE_MAGIC " rows=%u view=bars", rows);
	if (r->account.lost)
		buf_addf(b, " lost=%" PRIu64, r->account.lost);
	if (r->partial)
		buf_adds(b, " partial=1");
	buf_adds(b, " overlap=1 name=");
	add_name(r, event, b);
	for (unsigned k = 0; k < r->nkeys; k++) {
		if (!report_has_key(r, k))
			continue;
		buf_addc(b, '\t');
		table_add_escaped(b, r->key[k].name, strlen(r->key[k].name), true);
		buf_adds(b, ":key");
	}
	add_value(r, event, "children", b);
	add_value(r, event, "self", b);
	buf_addc(b, '\n');
}

static void add_numbers(uint64_t count, uint64_t sum, uint64_t whole, struct buf *b)
{
	buf_addf(b, "\t%" PRIu64 "\t", count);
	if (count)
		buf_addf(b, "%" PRIu64 "\t%.4f", sum, report_share(sum, whole));
	else
		buf_addc(b, '\t');
}

static void add_row(const struct result *s, const struct row *row, struct buf *b)
{
	uint64_t whole = s->events[row->event].weight;
	struct buf cell = BUF_INIT;

	add_name(s->r, row->event, b);
	for (unsigned k = 0; k < s->r->nkeys; k++) {
		if (!report_has_key(s->r, k))
			continue;
		buf_reset(&cell);
		row_cell(s, row, k, &cell);
		buf_addc(b, '\t');
		table_add_escaped(b, buf_str(&cell), cell.len, false);
	}
	add_numbers(row->nchildren, row->children, whole, b);
	add_numbers(row->nself, row->self, whole, b);
	buf_addc(b, '\n');
	buf_inherit(b, &cell);
	buf_release(&cell);
}

static int write_table(const struct result *s, uint32_t event, struct buf *b, struct out *out)
{
	uint32_t from, to, rows = 0;
	int rc = 0;

	result_event(s, event, &from, &to);
	for (uint32_t i = from; i < to && (!s->r->o.top || rows < s->r->o.top); i++)
		rows += result_shows(s, &s->rows[s->order[i]]);
	add_header(s->r, event, rows, b);
	for (uint32_t i = from; i < to && rows && !rc; i++) {
		if (!result_shows(s, &s->rows[s->order[i]]))
			continue;
		add_row(s, &s->rows[s->order[i]], b);
		rc = out_take(out, b);
		rows--;
	}
	return rc ? rc : out_take(out, b);
}

/* ---- trees ---- */

static void add_tree_header(const struct report *r, uint32_t event, struct buf *b)
{
	buf_adds(b, "# tree=");
	buf_adds(b, r->o.tree == REPORT_CALLEE ? "callee" : "caller");
	if (r->account.lost)
		buf_addf(b, " lost=%" PRIu64, r->account.lost);
	if (r->partial)
		buf_adds(b, " partial=1");
	buf_adds(b, " unit=");
	table_add_escaped(b, unit_of(r, event), strlen(unit_of(r, event)), false);
	buf_adds(b, " event=");
	add_name(r, event, b);
	buf_adds(b, "\tdepth\ttotal\tself\tsamples\tshare\tdso\tname\n");
}

struct tree {
	const struct result *s;
	const struct branches *b;
	uint32_t event;
	uint64_t whole;
};

static void add_node(const struct tree *t, uint32_t node, uint32_t depth, struct buf *b)
{
	const struct branch *v = &t->b->v[node];
	const struct report *r = t->s->r;
	const struct call *c = report_call_get(r, v->call);
	struct buf name = BUF_INIT;
	size_t len;
	const char *dso = report_text_get(r, c->flags & CALL_GROUP ? 0 : c->dso, &len);

	add_name(r, t->event, b);
	buf_addf(b, "\t%u\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%.4f\t", depth, v->total, v->self,
		 v->samples, report_share(v->total, t->whole));
	table_add_escaped(b, dso, len, false);
	buf_addc(b, '\t');
	if (c->flags & CALL_GROUP)
		report_group_name(r, c, &name);
	else
		report_call_name(r, c, &name);
	buf_join(b, &name);
	buf_addc(b, '\n');
	buf_release(&name);
}

/* All below a node, each before what is below it. */
static int add_below(const struct tree *t, uint32_t top, struct buf *b, struct out *out)
{
	const struct branch *v = t->b->v;
	uint32_t at = v[top].first;
	int rc = 0;

	while (at && !rc) {
		add_node(t, at, v[at].depth, b);
		rc = out_take(out, b);
		if (v[at].first) {
			at = v[at].first;
			continue;
		}
		while (at != top && !v[at].next)
			at = v[at].parent;
		at = at == top ? 0 : v[at].next;
	}
	return rc;
}

/* The row that a callee's tree belongs to is its root, at depth 0. */
static int add_callee(const struct result *s, uint32_t row, struct buf *b, struct out *out)
{
	struct branches tree = {0};
	uint32_t event = s->rows[row].event;
	struct tree t = {s, &tree, event, s->events[event].weight};
	int rc = branches_callee(&tree, s, row);

	if (!rc) {
		tree.v[0].call = s->rows[row].call;
		add_node(&t, 0, 0, b);
		rc = add_below(&t, 0, b, out);
	}
	branches_release(&tree);
	return rc ? rc : out_take(out, b);
}

static int write_tree(const struct result *s, uint32_t event, struct buf *b, struct out *out)
{
	struct branches tree = {0};
	struct tree t = {s, &tree, event, s->events[event].weight};
	uint32_t from, to, rows = 0;
	int rc = 0;

	add_tree_header(s->r, event, b);
	if (s->r->o.tree == REPORT_CALLER) {
		rc = branches_caller(&tree, s, event);
		if (!rc)
			rc = add_below(&t, 0, b, out);
		branches_release(&tree);
		return rc ? rc : out_take(out, b);
	}
	result_event(s, event, &from, &to);
	for (uint32_t i = from; i < to && !rc && (!s->r->o.top || rows < s->r->o.top); i++) {
		if (!result_shows(s, &s->rows[s->order[i]]))
			continue;
		rows++;
		rc = add_callee(s, s->order[i], b, out);
	}
	return rc ? rc : out_take(out, b);
}

int report_write_tsv(const struct result *s, struct out *out)
{
	struct buf b = BUF_INIT;
	int rc = 0;

	for (uint32_t event = 0; event < s->nevents && !rc; event++) {
		if (!s->events[event].samples)
			continue;
		rc = s->r->o.tree ? write_tree(s, event, &b, out) : write_table(s, event, &b, out);
	}
	buf_release(&b);
	return rc;
}
