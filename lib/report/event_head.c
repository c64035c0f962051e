/* Of an event, as text: the line about it, the cells of its keys, the tree of callers. */
#include "report/parts.h"

#include "base/err.h"
#include "stream/ends.h"
#include "table/unit.h"

#include <inttypes.h>

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

/* ---- the caller's tree ---- */

int report_write_tree(const struct result *s, uint32_t event, uint32_t width, struct buf *b,
		      struct out *out)
{
	struct branches tree = {0};
	int rc = branches_caller(&tree, s, event);
	struct tree_draw t = {.r = s->r, .b = &tree, .width = width, .indent = REPORT_TREE_LEFT};

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
