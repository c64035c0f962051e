/* A report as JSON: an object a row, in the form of phist's; of trees an object a node. */
#include "report/parts.h"

#include "base/err.h"

#include <inttypes.h>

static void add_event(const struct report *r, uint32_t event, struct buf *b)
{
	const struct report_event *e = &r->events[event];
	struct buf name = BUF_INIT;
	size_t len;
	const char *s = report_text_get(r, e->name, &len);

	buf_add(&name, s, len);
	if (e->number > 1)
		buf_addf(&name, " #%u", e->number);
	buf_add_json(b, buf_str(&name), name.len);
	buf_inherit(b, &name);
	buf_release(&name);
}

static void add_value(const struct report *r, uint32_t event, const char *name, uint64_t count,
		      uint64_t sum, struct buf *b)
{
	const struct report_event *e = &r->events[event];
	size_t len = 0;
	const char *unit = report_text_get(r, e->units ? 0 : e->unit, &len);

	buf_addf(b, "\"%s\":{\"count\":%" PRIu64 ",\"share\":%.6f,\"unit\":", name, count,
		 report_share(sum, e->weight) / 100);
	buf_add_json(b, unit, len);
	buf_addf(b, ",\"sum\":%" PRIu64 "}", sum);
}

static void add_row(const struct result *s, const struct row *row, struct buf *b)
{
	const struct report *r = s->r;
	struct buf cell = BUF_INIT;
	bool first = true;

	buf_adds(b, "{\"table\":");
	add_event(r, row->event, b);
	buf_adds(b, ",\"keys\":{");
	for (unsigned k = 0; k < r->nkeys; k++) {
		if (!report_has_key(r, k))
			continue;
		buf_adds(b, first ? "" : ",");
		first = false;
		buf_add_json(b, r->key[k].name, strlen(r->key[k].name));
		buf_addc(b, ':');
		buf_reset(&cell);
		row_cell(s, row, k, &cell);
		if (r->key[k].number && !r->key[k].frame && !r->key[k].hex)
			buf_join(b, &cell);
		else
			buf_add_json(b, buf_str(&cell), cell.len);
	}
	buf_adds(b, "},\"values\":{");
	add_value(r, row->event, "children", row->nchildren, row->children, b);
	buf_addc(b, ',');
	add_value(r, row->event, "self", row->nself, row->self, b);
	buf_adds(b, "}}\n");
	buf_inherit(b, &cell);
	buf_release(&cell);
}

/* ---- trees ---- */

struct tree {
	const struct result *s;
	const struct branches *b;
	uint32_t event, row;
};

static void add_node(const struct tree *t, uint32_t node, struct buf *b)
{
	const struct branch *v = &t->b->v[node];
	const struct report *r = t->s->r;
	const struct call *c = report_call_get(r, v->call);
	struct buf name = BUF_INIT;
	size_t len;
	const char *dso = report_text_get(r, c->flags & CALL_GROUP ? 0 : c->dso, &len);

	buf_adds(b, "{\"event\":");
	add_event(r, t->event, b);
	buf_addf(b, ",\"tree\":\"%s\",\"depth\":%u,\"name\":",
		 r->o.tree == REPORT_CALLEE ? "callee" : "caller", v->depth);
	if (c->flags & CALL_GROUP)
		report_group_name(r, c, &name);
	else
		report_call_name(r, c, &name);
	buf_add_json(b, buf_str(&name), name.len);
	if (len) {
		buf_adds(b, ",\"dso\":");
		buf_add_json(b, dso, len);
	}
	buf_addf(b,
		 ",\"total\":%" PRIu64 ",\"self\":%" PRIu64 ",\"samples\":%" PRIu64
		 ",\"share\":%.6f}\n",
		 v->total, v->self, v->samples,
		 report_share(v->total, r->events[t->event].weight) / 100);
	buf_inherit(b, &name);
	buf_release(&name);
}

static int add_below(const struct tree *t, struct buf *b, struct out *out)
{
	const struct branch *v = t->b->v;
	uint32_t at = v[0].first;
	int rc = 0;

	while (at && !rc) {
		add_node(t, at, b);
		rc = out_take(out, b);
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

static int write_rows(const struct result *s, uint32_t event, struct buf *b, struct out *out)
{
	uint32_t from, to, rows = 0;
	int rc = 0;

	result_event(s, event, &from, &to);
	for (uint32_t i = from; i < to && !rc && (!s->r->o.top || rows < s->r->o.top); i++) {
		struct branches tree = {0};
		struct tree t = {s, &tree, event, s->order[i]};

		if (!result_shows(s, &s->rows[s->order[i]]))
			continue;
		rows++;
		if (s->r->o.tree == REPORT_CALLEE) {
			rc = branches_callee(&tree, s, s->order[i]);
			if (!rc) {
				tree.v[0].call = s->rows[s->order[i]].call;
				add_node(&t, 0, b);
				rc = add_below(&t, b, out);
			}
			branches_release(&tree);
		} else {
			add_row(s, &s->rows[s->order[i]], b);
		}
		if (!rc)
			rc = out_take(out, b);
	}
	return rc;
}

int report_write_json(const struct result *s, struct out *out)
{
	struct buf b = BUF_INIT;
	int rc = 0;

	for (uint32_t event = 0; event < s->nevents && !rc; event++) {
		struct branches tree = {0};
		struct tree t = {s, &tree, event, 0};

		if (!s->events[event].samples)
			continue;
		if (s->r->o.tree != REPORT_CALLER) {
			rc = write_rows(s, event, &b, out);
			continue;
		}
		rc = branches_caller(&tree, s, event);
		if (!rc)
			rc = add_below(&t, &b, out);
		branches_release(&tree);
	}
	buf_addf(&b, "{\"end\":{\"tables\":%u,\"lost\":%" PRIu64 ",\"partial\":%s}}\n",
		 s->r->nevents, s->r->account.lost, s->r->partial ? "true" : "false");
	if (!rc)
		rc = out_take(out, &b);
	buf_release(&b);
	return rc;
}
