/* A report as text: for each event a line about it, and its table or its tree. */
#include "report/parts.h"

#include "base/err.h"
#include "stream/ends.h"
#include "table/unit.h"

#include <inttypes.h>

#define GAP	  2
#define KEY_MOST  40 /* columns that a key has at most, if it is not the last */
#define TREE_LEFT 9  /* columns before a tree below a row */

/* ---- the head ---- */

/* The stacks that are not whole, by their marks. A stack of folded text stands for many samples. */
static void add_ends(const struct report *r, const struct report_event *e, struct buf *b)
{
	bool file;

	for (uint32_t i = 0; i < PS_END_MAX; i++) {
		double share = e->ended[i] ? report_share(e->ended_weight[i], e->weight) : 0;

		if (e->ended[i] && r->text_only)
			buf_addf(b, ", %.1f %% [%s]", share, ps_end_mark(i, &file));
		else if (e->ended[i])
			buf_addf(b, ", %" PRIu64 " (%.1f %%) [%s]", e->ended[i], share,
				 ps_end_mark(i, &file));
	}
}

void report_head(const struct result *s, uint32_t event, struct buf *b)
{
	const struct report *r = s->r;
	const struct report_event *e = &s->events[event];
	size_t len;
	const char *unit;

	report_event_name(r, event, b);
	if (e->pmus)
		buf_addf(b, " (%s)", report_text_get(r, e->pmus, &len));
	unit = report_text_get(r, e->unit, &len);
	if (!r->text_only || e->told)
		buf_addf(b, ": %" PRIu64 " %s", r->text_only ? e->told : e->samples,
			 e->samples == 1 && !r->text_only ? "sample" : "samples");
	else
		buf_addf(b, ": %" PRIu64 " %s", e->samples, e->samples == 1 ? "stack" : "stacks");
	if (e->weight != e->samples) {
		buf_adds(b, ", ");
		unit_add(b, e->weight, e->units ? "" : unit);
		if (!e->units && *unit && !unit_known(unit)) {
			buf_addc(b, ' ');
			buf_add_safe(b, unit, len);
		}
	}
	add_ends(r, e, b);
	if (r->account.lost)
		buf_addf(b, "; the recording lost %" PRIu64 " events", r->account.lost);
	if (r->partial)
		buf_adds(b, "; the input was damaged or cut off");
}

/* ---- keys ---- */

/* The file of a path, which is enough for people. */
static void short_path(const char **s, size_t *len)
{
	const char *slash = memrchr(*s, '/', *len);

	if (!slash || slash + 1 == *s + *len)
		return;
	*len -= (size_t)(slash + 1 - *s);
	*s = slash + 1;
}

void report_cell(const struct result *s, const struct report_row *row, unsigned k, struct buf *b)
{
	const struct report_key *key = &s->r->key[k];
	struct buf cell = BUF_INIT;
	const char *text;
	size_t len;

	row_cell(s, row, k, &cell);
	text = buf_str(&cell);
	len = cell.len;
	if (key->frame && key->id == FIELD_DSO && !s->r->o.wide)
		short_path(&text, &len);
	buf_add_safe(b, text, len);
	buf_inherit(b, &cell);
	buf_release(&cell);
}

/* ---- the table ---- */

struct grid {
	const struct result *s;
	uint32_t width;
	bool children, samples; /* columns */
	uint32_t key[REPORT_KEYS_MAX];
	bool hidden[REPORT_KEYS_MAX];
	struct buf line, cell;
	struct buf *out;
};

static void measure(struct grid *g, uint32_t from, uint32_t to)
{
	const struct result *s = g->s;

	for (unsigned k = 0; k < s->r->nkeys; k++) {
		g->hidden[k] = !report_has_key(s->r, k);
		g->key[k] = text_width(s->r->key[k].name, strlen(s->r->key[k].name));
	}
	for (uint32_t i = from; i < to; i++) {
		const struct report_row *row = &s->rows[s->order[i]];

		for (unsigned k = 0; k < s->r->nkeys && result_shows(s, row); k++) {
			uint32_t w;

			buf_reset(&g->cell);
			report_cell(s, row, k, &g->cell);
			w = text_width(buf_str(&g->cell), g->cell.len);
			w = w > KEY_MOST ? KEY_MOST : w;
			if (w > g->key[k])
				g->key[k] = w;
		}
	}
}

/* Ends a line, which is cut where the terminal ends. */
static void end_line(struct grid *g)
{
	const char *s = buf_str(&g->line);
	size_t n = g->line.len;

	while (n && s[n - 1] == ' ')
		n--;
	buf_add_cut(g->out, s, n, g->width, "..");
	buf_addc(g->out, '\n');
	buf_inherit(g->out, &g->line);
	buf_reset(&g->line);
}

static void add_cell(struct grid *g, const char *text, size_t len, uint32_t width)
{
	uint32_t w = text_width(text, len);

	if (g->line.len)
		buf_fill(&g->line, ' ', GAP);
	buf_add(&g->line, text, len);
	buf_fill(&g->line, ' ', w < width ? width - w : 0);
}

static void add_head(struct grid *g)
{
	const struct report *r = g->s->r;

	if (g->children)
		buf_addf(&g->line, "%8s", "children");
	buf_addf(&g->line, "%*s", g->children ? 9 : 8, "self");
	if (g->samples)
		buf_addf(&g->line, "%10s", "samples");
	for (unsigned k = 0; k < r->nkeys; k++)
		if (!g->hidden[k])
			add_cell(g, r->key[k].name, strlen(r->key[k].name), g->key[k]);
	end_line(g);
}

static void add_row(struct grid *g, const struct report_row *row)
{
	const struct report *r = g->s->r;
	uint64_t whole = g->s->events[row->event].weight;

	if (g->children)
		buf_addf(&g->line, "%7.2f%%", report_share(row->children, whole));
	buf_addf(&g->line, "%*.2f%%", g->children ? 8 : 7, report_share(row->self, whole));
	if (g->samples)
		buf_addf(&g->line, "%10" PRIu64, row->nself);
	for (unsigned k = 0; k < r->nkeys; k++) {
		if (g->hidden[k])
			continue;
		buf_reset(&g->cell);
		report_cell(g->s, row, k, &g->cell);
		buf_inherit(g->out, &g->cell);
		add_cell(g, buf_str(&g->cell), g->cell.len, g->key[k]);
	}
	end_line(g);
}

/* What called the functions of a row, below it. */
static int add_callers(struct grid *g, uint32_t row)
{
	struct branches b = {0};
	int rc = branches_callee(&b, g->s, row);
	struct tree_draw t = {.r = g->s->r,
			      .b = &b,
			      .whole = g->s->events[g->s->rows[row].event].weight,
			      .width = g->width,
			      .indent = TREE_LEFT};

	if (!rc && b.v[0].first) {
		rc = tree_draw(&t, 0, g->out);
		buf_addc(g->out, '\n');
	}
	branches_release(&b);
	return rc;
}

static int write_table(struct grid *g, uint32_t from, uint32_t to, struct out *out)
{
	const struct report_opts *o = &g->s->r->o;
	uint32_t shown = 0, left = 0;
	int rc = 0;

	measure(g, from, to);
	add_head(g);
	for (uint32_t i = from; i < to && !rc; i++) {
		uint32_t row = g->s->order[i];

		if (!result_shows(g->s, &g->s->rows[row]) || (o->top && shown == o->top)) {
			left += !g->children && !g->s->rows[row].nself ? 0 : 1;
			continue;
		}
		shown++;
		add_row(g, &g->s->rows[row]);
		if (o->tree == REPORT_CALLEE)
			rc = add_callers(g, row);
		if (!rc)
			rc = out_take(out, g->out);
	}
	if (left)
		buf_addf(g->out, "(%u more %s not shown)\n", left,
			 left == 1 ? "row is" : "rows are");
	return rc ? rc : out_take(out, g->out);
}

/* ---- the caller's tree ---- */

static int write_tree(const struct result *s, uint32_t event, uint32_t width, struct buf *b,
		      struct out *out)
{
	struct branches tree = {0};
	int rc = branches_caller(&tree, s, event);
	struct tree_draw t = {.r = s->r, .b = &tree, .width = width, .indent = TREE_LEFT};

	if (!rc)
		t.whole = tree.v[0].total;
	for (uint32_t i = rc ? 0 : tree.v[0].first; i && !rc; i = tree.v[i].next) {
		buf_addf(b, "%7.2f%% ", report_share(tree.v[i].total, t.whole));
		report_group_name(s->r, report_call_get(s->r, tree.v[i].call), b);
		buf_addc(b, '\n');
		rc = tree_draw(&t, i, b);
		if (!rc)
			rc = out_take(out, b);
	}
	branches_release(&tree);
	return rc;
}

int report_write_event(const struct result *s, uint32_t event, uint32_t width, struct buf *b,
		       struct out *out)
{
	const struct report_opts *o = &s->r->o;
	struct grid g = {.s = s, .width = width, .out = b, .samples = o->samples};
	uint32_t from, to;
	int rc;

	g.children = s->events[event].deep && !o->no_children && o->tree != REPORT_CALLEE;
	result_event(s, event, &from, &to);
	rc = o->tree == REPORT_CALLER ? write_tree(s, event, width, b, out)
				      : write_table(&g, from, to, out);
	buf_release(&g.line);
	buf_release(&g.cell);
	return rc;
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
