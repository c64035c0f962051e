/*
 * The tables of a report, in all forms of table/table.h; its trees as TSV and JSON, with a line for
 * each node, which says how deep it is; in Markdown trees are blocks of text.
 */
#include "base/err.h"
#include "report/parts.h"
#include "table/gate.h"
#include "table/unit.h"

#include <inttypes.h>
#include <stdlib.h>

#define TREE_WIDTH 120 /* columns, in Markdown */

/* An event of a report on its way out. */
struct data {
	const struct result *s;
	uint32_t event;
	enum table_form form;
	uint32_t width;	 /* of lines of text; 0: any */
	struct buf name; /* of the event, as it was recorded */
	const char *unit;
	uint32_t *rows; /* those that are shown */
	uint32_t nrows;
	bool children;		      /* the table has what functions have with their callees */
	uint8_t key[REPORT_KEYS_MAX]; /* of the report, by key of the table */
	struct buf *b;
	struct out *out;
};

/* The rows that are shown, in their order. 0 or PP_ENOMEM. */
static int choose_rows(struct data *x)
{
	const struct result *s = x->s;
	uint32_t from, to, top = s->r->o.top;

	result_event(s, x->event, &from, &to);
	x->rows = malloc(((size_t)to - from + 1) * sizeof(*x->rows));
	for (uint32_t i = from; x->rows && i < to && (!top || x->nrows < top); i++)
		if (result_shows(s, &s->rows[s->order[i]]))
			x->rows[x->nrows++] = s->order[i];
	return x->rows ? 0 : PP_ENOMEM;
}

/* ---- tables ---- */

/* Those of struct table_rows. */
static void add_key(const void *ctx, uint32_t row, uint32_t k, struct buf *b)
{
	const struct data *x = ctx;
	const struct report_row *of = &x->s->rows[x->rows[row]];

	(x->form == TABLE_FORM_TEXT ? report_cell : row_cell)(x->s, of, x->key[k], b);
}

static void get_numbers(const void *ctx, uint32_t row, uint32_t v, struct table_numbers *n)
{
	const struct data *x = ctx;
	const struct report_row *of = &x->s->rows[x->rows[row]];
	bool self = v >= x->children;

	n->count = self ? of->nself : of->nchildren;
	n->sum = self ? of->self : of->children;
	n->percent = report_share(self ? of->self : of->children, x->s->events[x->event].weight);
	n->share = n->percent / 100;
}

/* What called the functions of a row. */
static int add_callers(const void *ctx, uint32_t row, struct buf *b)
{
	const struct data *x = ctx;
	struct branches tree = {0};
	int rc = branches_callee(&tree, x->s, x->rows[row]);
	struct tree_draw t = {.r = x->s->r,
			      .b = &tree,
			      .whole = x->s->events[x->event].weight,
			      .width = x->width,
			      .indent = REPORT_TREE_LEFT};

	if (!rc && tree.v[0].first) {
		rc = tree_draw(&t, 0, b);
		buf_addc(b, '\n');
	}
	branches_release(&tree);
	return rc;
}

/* A column of a key of the report. */
static void add_column(struct data *x, struct table *t, unsigned k, enum table_key_kind kind)
{
	x->key[t->nkeys] = (uint8_t)k;
	t->keys[t->nkeys++] = (struct table_key){x->s->r->key[k].name, kind, 0};
}

static void add_values(const struct data *x, struct table *t)
{
	t->nvalues = x->children + 1u + (x->form == TABLE_FORM_TEXT && x->s->r->o.samples);
	t->values[t->nvalues - 1] = (struct table_value){"samples", TABLE_COUNT, "", 0};
	t->values[0] = (struct table_value){"children", TABLE_PART, x->unit, 0};
	t->values[x->children] = (struct table_value){"self", TABLE_PART, x->unit, 0};
}

static int write_table(struct data *x, struct tables *ts)
{
	const struct report *r = x->s->r;
	struct table_rows rows = {.n = x->nrows, .key = add_key, .numbers = get_numbers, .ctx = x};
	struct table t = {
		.name = buf_str(&x->name), .rows = &rows, .overlap = true, .other = TABLE_NO_ROW};
	struct table_opts o = {.form = x->form, .width = x->width};

	if (r->o.tree && x->form == TABLE_FORM_TEXT)
		rows.below = add_callers;
	/* Readers of TSV take keys as texts. */
	for (unsigned k = 0; k < r->nkeys; k++) {
		const struct report_key *key = &r->key[k];
		bool number = x->form == TABLE_FORM_JSON && key->number && !key->frame && !key->hex;

		if (report_has_key(r, k))
			add_column(x, &t, k, number ? TABLE_NUMBER : TABLE_TEXT);
	}
	add_values(x, &t);
	return table_write(ts, &t, &o, x->b, x->out);
}

/* A row that a table can have: there are no columns that include callees, or it has something. */
static bool counts(const struct data *x, uint32_t row)
{
	return x->children || x->s->rows[row].nself;
}

int report_write_table(const struct result *s, uint32_t event, uint32_t width, struct buf *b,
		       struct out *out)
{
	const struct report_opts *o = &s->r->o;
	struct data x = {.s = s, .event = event, .width = width, .b = b, .out = out, .unit = ""};
	struct tables ts = {0};
	uint32_t from, to, left = 0;
	int rc = choose_rows(&x);

	x.children = s->events[event].deep && !o->no_children && o->tree != REPORT_CALLEE;
	rc = rc ? rc : write_table(&x, &ts);
	result_event(s, event, &from, &to);
	while (from < to)
		left += counts(&x, s->order[from++]);
	for (uint32_t i = 0; i < x.nrows; i++)
		left -= counts(&x, x.rows[i]);
	free(x.rows);
	if (left)
		buf_addf(b, "(%u more %s not shown)\n", left, left == 1 ? "row is" : "rows are");
	return rc ? rc : out_take(out, b);
}

/* ---- gates ---- */

/* A table for conditions: with all keys, and sums of "self" alone. */
static void make_gate_table(struct data *x, struct table *t, const struct table_rows *rows)
{
	*t = (struct table){
		.name = "", .rows = rows, .nrows = rows->n, .no_sum = 1, .other = TABLE_NO_ROW};
	for (unsigned k = 0; k < x->s->r->nkeys; k++) {
		const struct report_key *key = &x->s->r->key[k];

		add_column(x, t, k, key->number && !key->frame ? TABLE_NUMBER : TABLE_TEXT);
	}
	x->form = TABLE_FORM_TSV;
	x->children = true;
	add_values(x, t);
}

int report_check_gates(const struct report *r)
{
	const struct result none = {.r = r};
	const struct table_rows rows = {0};
	struct data x = {.s = &none, .unit = ""};
	struct table t;
	struct tables ts = {.v = {&t}, .n = 1};

	make_gate_table(&x, &t, &rows);
	return gates_check(r->gates, &ts);
}

/* The only event with samples; REPORT_NONE: there are several. */
static uint32_t only_event(const struct result *s)
{
	uint32_t only = REPORT_NONE;

	for (uint32_t event = 0; event < s->nevents; event++) {
		if (!s->events[event].samples)
			continue;
		if (only != REPORT_NONE)
			return REPORT_NONE;
		only = event;
	}
	return only;
}

int report_judge(const struct result *s, gates_zero_fn *zero, void *ctx)
{
	const struct report *r = s->r;
	struct data x = {.s = s, .event = only_event(s), .unit = ""};
	struct table_rows rows = {.key = add_key, .numbers = get_numbers, .ctx = &x};
	struct table t;
	struct tables ts = {.v = {&t}, .n = 1};
	uint32_t from;
	size_t len;

	if (!r->gates)
		return 0;
	if (x.event == REPORT_NONE && s->nrows) {
		diag_error(r->d, NULL, -1,
			   "--fail-if: there are several events: choose one with --event");
		return PP_EUSAGE;
	}
	if (s->nrows) {
		const struct report_event *e = &s->events[x.event];

		x.unit = e->units ? "" : report_text_get(r, e->unit, &len);
		result_event(s, x.event, &from, &x.nrows);
		x.rows = s->order + from;
		rows.n = x.nrows - from;
	}
	make_gate_table(&x, &t, &rows);
	return gates_judge(r->gates, &ts, zero, ctx);
}

/* ---- trees ---- */

static const struct record_column tree_columns[] = {{"event"}, {"tree", 0, false, true},
						    {"depth"}, {"total"},
						    {"self"},  {"samples"},
						    {"share"}, {"dso"},
						    {"name"},  {0}};

static void add_tree_header(const struct data *x)
{
	struct records to = {.columns = tree_columns, .form = x->form, .b = x->b};
	const struct report *r = x->s->r;
	struct buf head = BUF_INIT;

	buf_addf(&head, "# tree=%s", r->o.tree == REPORT_CALLEE ? "callee" : "caller");
	if (r->account.lost)
		buf_addf(&head, " lost=%" PRIu64, r->account.lost);
	buf_adds(&head, r->partial ? " partial=1 unit=" : " unit=");
	table_add_escaped(&head, x->unit, strlen(x->unit), false);
	buf_adds(&head, " event=");
	table_add_escaped(&head, buf_str(&x->name), x->name.len, false);
	records_titles(&to, buf_str(&head));
	buf_inherit(x->b, &head);
	buf_release(&head);
}

/* A line of a tree. */
static int add_node(const struct data *x, const struct branch *v)
{
	const struct report *r = x->s->r;
	struct records to = {.columns = tree_columns, .form = x->form, .b = x->b, .exact = true};
	const struct report_call *c = report_call_get(r, v->call);
	struct buf name = BUF_INIT;
	const char *dso;
	size_t len;

	record_text(&to, buf_str(&x->name), x->name.len);
	record_number(&to, "\"%s\"", r->o.tree == REPORT_CALLEE ? "callee" : "caller");
	record_u64(&to, v->depth);
	record_u64(&to, v->total);
	record_u64(&to, v->self);
	record_u64(&to, v->samples);
	record_share(&to, report_share(v->total, x->s->events[x->event].weight));
	dso = report_text_get(r, c->flags & CALL_GROUP ? 0 : c->dso, &len);
	if (len)
		record_text(&to, dso, len);
	else
		record_none(&to);
	if (c->flags & CALL_GROUP)
		report_group_name(r, c, &name);
	else
		report_call_name(r, c, &name);
	record_text(&to, buf_str(&name), name.len);
	record_end(&to);
	buf_inherit(x->b, &name);
	buf_release(&name);
	return out_take(x->out, x->b);
}

/* All below the root, each before what is below it. */
static int add_below(const struct data *x, const struct branch *v)
{
	uint32_t at = v[0].first;
	int rc = 0;

	while (at && !rc) {
		rc = add_node(x, &v[at]);
		if (v[at].first) {
			at = v[at].first;
			continue;
		}
		while (at && !v[at].next)
			at = v[at].parent;
		at = at ? v[at].next : 0;
	}
	return rc;
}

/* The row that a callee's tree belongs to is its root, at depth 0. */
static int add_callee(const struct data *x, uint32_t row)
{
	struct branches tree = {0};
	int rc = branches_callee(&tree, x->s, row);

	if (!rc) {
		tree.v[0].call = x->s->rows[row].call;
		rc = add_node(x, &tree.v[0]);
	}
	if (!rc)
		rc = add_below(x, tree.v);
	branches_release(&tree);
	return rc;
}

static int write_tree(const struct data *x)
{
	struct branches tree = {0};
	int rc = 0;

	add_tree_header(x);
	for (uint32_t i = 0; i < x->nrows && !rc && x->s->r->o.tree == REPORT_CALLEE; i++)
		rc = add_callee(x, x->rows[i]);
	if (x->s->r->o.tree == REPORT_CALLER) {
		rc = branches_caller(&tree, x->s, x->event);
		if (!rc)
			rc = add_below(x, tree.v);
		branches_release(&tree);
	}
	return rc ? rc : out_take(x->out, x->b);
}

int report_write_event(const struct result *s, uint32_t event, uint32_t width, struct buf *b,
		       struct out *out)
{
	return s->r->o.tree == REPORT_CALLER ? report_write_tree(s, event, width, b, out)
					     : report_write_table(s, event, width, b, out);
}

int report_write_text(const struct result *s, uint32_t width, struct out *out)
{
	struct buf b = BUF_INIT;
	int rc = 0;

	for (uint32_t event = 0; event < s->nevents && !rc; event++) {
		if (!s->events[event].samples)
			continue;
		if (out->written || out->len)
			buf_addc(&b, '\n');
		report_head(s, event, &b);
		buf_adds(&b, "\n\n");
		rc = report_write_event(s, event, width, &b, out);
	}
	buf_release(&b);
	return rc;
}

/* ---- Markdown ---- */

static void add_head(const struct data *x)
{
	struct buf head = BUF_INIT;

	if (x->out->written || x->out->len)
		buf_addc(x->b, '\n');
	report_head(x->s, x->event, &head);
	buf_add_markup(x->b, buf_str(&head), head.len, MARKDOWN_MARKS);
	buf_adds(x->b, "\n\n");
	buf_inherit(x->b, &head);
	buf_release(&head);
}

static int write_block(const struct data *x)
{
	int rc;

	buf_adds(x->b, "```text\n");
	rc = report_write_event(x->s, x->event, TREE_WIDTH, x->b, x->out);
	buf_adds(x->b, "```\n");
	return rc ? rc : out_take(x->out, x->b);
}

/* ---- all ---- */

static int write_event(struct data *x, struct tables *ts)
{
	const struct report *r = x->s->r;
	const struct report_event *e = &x->s->events[x->event];
	bool markdown = x->form == TABLE_FORM_MARKDOWN;
	size_t len;
	const char *name = report_text_get(r, e->name, &len);
	int rc = choose_rows(x);

	buf_add(&x->name, name, len);
	if (e->number > 1)
		buf_addf(&x->name, " #%u", e->number);
	x->unit = e->units ? "" : report_text_get(r, e->unit, &len);
	x->children = !markdown || (e->deep && !r->o.no_children);
	if (markdown)
		add_head(x);
	if (!rc)
		rc = !r->o.tree ? write_table(x, ts) : markdown ? write_block(x) : write_tree(x);
	rc = rc ? rc : x->name.err;
	buf_release(&x->name);
	free(x->rows);
	return rc;
}

int report_write_data(const struct result *s, struct out *out)
{
	const struct report *r = s->r;
	struct tables ts = {.view = "bars", .lost = r->account.lost, .partial = r->partial};
	const struct table_opts o = {.form = r->o.form};
	struct buf b = BUF_INIT;
	int rc = 0;

	for (uint32_t event = 0; event < s->nevents && !rc; event++) {
		struct data x = {.s = s, .event = event, .form = r->o.form, .b = &b, .out = out};

		if (s->events[event].samples)
			rc = write_event(&x, &ts);
	}
	if (!rc)
		rc = tables_write_end(&ts, r->nevents, &o, &b, out);
	buf_release(&b);
	return rc;
}
