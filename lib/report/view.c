/* The lines of --view: which there are, what is below them. */
#include "report/view.h"

#include "base/array.h"
#include "base/err.h"
#include "table/unit.h"

#include <inttypes.h>
#include <stdlib.h>

#define KEY_MOST 36 /* columns of a key that is not the last */

/* ---- trees ---- */

/* The tree of a line, made if there is none yet. */
static int tree_of(struct view *v, struct view_line *l)
{
	bool root = l->row == REPORT_NONE;
	uint32_t *slot = root ? &v->root_of[l->event] : &v->tree_of[l->row];
	struct branches *t;
	int rc;

	if (!*slot) {
		t = array_widen(v->trees, &v->cap_trees, v->ntrees, 64, sizeof(*t));
		if (!t)
			return PP_ENOMEM;
		v->trees = t;
		t += v->ntrees;
		*t = (struct branches){0};
		rc = root ? branches_caller(t, v->s, l->event) : branches_callers(t, v->s, l->row);
		if (rc) {
			branches_release(t);
			return rc;
		}
		*slot = ++v->ntrees;
	}
	l->tree = *slot;
	return 0;
}

static const struct branch *branch_of(const struct view *v, const struct view_line *l)
{
	return &v->trees[l->tree - 1].v[l->node];
}

/* ---- opening ---- */

/* Makes room for `more` lines after a line. */
static int make_room(struct view *v, uint32_t line, uint32_t more)
{
	struct view_line *p;

	if (more > VIEW_LINES_MAX || v->n > VIEW_LINES_MAX - more)
		return PP_ELIMIT;
	p = array_widen(v->v, &v->cap, v->n + more, 256, sizeof(*p));
	if (!p)
		return PP_ENOMEM;
	v->v = p;
	memmove(p + line + 1 + more, p + line + 1, (v->n - line - 1) * sizeof(*p));
	v->n += more;
	return 0;
}

/* The rows of an event. */
static int open_table(struct view *v, uint32_t line)
{
	const struct result *s = v->s;
	uint32_t from, to, n = 0, top = s->r->o.top ? s->r->o.top : UINT32_MAX, event;
	int rc;

	event = v->v[line].event;
	result_event(s, event, &from, &to);
	for (uint32_t i = from; i < to; i++)
		n += n < top && result_shows(s, &s->rows[s->order[i]]);
	rc = make_room(v, line, n);
	for (uint32_t i = from; i < to && n && !rc; i++)
		if (result_shows(s, &s->rows[s->order[i]])) {
			v->v[++line] =
				(struct view_line){.event = event, .row = s->order[i], .depth = 1};
			n--;
		}
	return rc;
}

static int open_branch(struct view *v, uint32_t line)
{
	struct view_line l;
	const struct branch *b;
	uint32_t first, n = 0;
	int rc = tree_of(v, &v->v[line]);

	if (rc)
		return rc;
	l = v->v[line];
	b = v->trees[l.tree - 1].v;
	first = b[l.node].first;
	for (uint32_t i = first; i; i = b[i].next)
		n++;
	rc = make_room(v, line, n);
	/* What is the only way on is no step to the right. */
	l.indent += n > 1 || !l.node;
	l.depth++;
	l.open = false;
	for (uint32_t i = first; i && !rc; i = b[i].next) {
		l.node = i;
		v->v[++line] = l;
	}
	return rc;
}

/* Whether there is something below a line that can be opened. 0 or PP_ENOMEM. */
static int view_opens(struct view *v, uint32_t line, bool *yes)
{
	struct view_line *l = &v->v[line];
	int rc = 0;

	*yes = true;
	if (!l->depth && !v->roots)
		return 0;
	rc = tree_of(v, l);
	if (!rc)
		*yes = branch_of(v, l)->first != 0;
	return rc;
}

static int open_one(struct view *v, uint32_t line)
{
	bool yes;
	int rc;

	if (v->v[line].open)
		return 0;
	rc = view_opens(v, line, &yes);
	if (rc || !yes)
		return rc;
	rc = v->v[line].depth || v->roots ? open_branch(v, line) : open_table(v, line);
	if (!rc)
		v->v[line].open = true;
	return rc;
}

/* Whether a line has just one below it, which has all of its weight. */
static bool goes_on(const struct view *v, uint32_t line)
{
	const struct view_line *l = &v->v[line], *next = l + 1;

	return l->open && l->tree && line + 1 < v->n && next->depth > l->depth &&
	       !branch_of(v, next)->next && branch_of(v, next)->total == branch_of(v, l)->total;
}

int view_open(struct view *v, uint32_t line, bool all)
{
	uint32_t depth = v->v[line].depth;
	int rc = open_one(v, line);

	if (!all) {
		while (!rc && goes_on(v, line))
			rc = open_one(v, ++line);
		return rc;
	}
	while (!rc && ++line < v->n && v->v[line].depth > depth)
		rc = open_one(v, line);
	return rc;
}

void view_close(struct view *v, uint32_t line)
{
	uint32_t end = line + 1;

	while (end < v->n && v->v[end].depth > v->v[line].depth)
		end++;
	memmove(v->v + line + 1, v->v + end, (v->n - end) * sizeof(*v->v));
	v->n -= end - line - 1;
	v->v[line].open = false;
}

uint32_t view_parent(const struct view *v, uint32_t line)
{
	uint32_t at = line;

	while (at && v->v[at].depth >= v->v[line].depth)
		at--;
	return v->v[at].depth < v->v[line].depth ? at : line;
}

/* ---- text ---- */

static int measure(struct view *v)
{
	const struct report *r = v->s->r;
	struct buf cell = BUF_INIT;
	int rc;

	for (unsigned k = 0; k < r->nkeys; k++) {
		v->key[k] = (uint32_t)strlen(r->key[k].name);
		for (uint32_t i = 0; i < v->s->nrows; i++) {
			buf_reset(&cell);
			report_cell(v->s, &v->s->rows[i], k, &cell);
			if (text_width(buf_str(&cell), cell.len) > v->key[k])
				v->key[k] = text_width(buf_str(&cell), cell.len);
		}
		v->key[k] = v->key[k] > KEY_MOST ? KEY_MOST : v->key[k];
	}
	rc = cell.err;
	buf_release(&cell);
	return rc;
}

/* A key, filled up to its column's width unless it is the last. */
static void add_cell(const struct view *v, const struct buf *cell, unsigned k, struct buf *b)
{
	uint32_t n = text_width(buf_str(cell), cell->len);
	bool last = true;

	for (unsigned i = k + 1; i < v->s->r->nkeys; i++)
		last &= !report_has_key(v->s->r, i);
	buf_adds(b, "  ");
	buf_join(b, cell);
	if (!last && n < v->key[k])
		buf_fill(b, ' ', v->key[k] - n);
}

static void row_text(const struct view *v, const struct view_line *l, struct buf *b, double *share)
{
	const struct result *s = v->s;
	const struct report_row *row = &s->rows[l->row];
	uint64_t whole = s->events[l->event].weight;
	bool children = !s->r->o.no_children && s->events[l->event].deep;
	struct buf cell = BUF_INIT;

	*share = report_share(children ? row->children : row->self, whole);
	if (children)
		buf_addf(b, "%6.2f%% ", *share);
	buf_addf(b, "%6.2f%%", report_share(row->self, whole));
	if (s->r->o.samples)
		buf_addf(b, " %8" PRIu64, row->nself);
	for (unsigned k = 0; k < s->r->nkeys; k++) {
		if (!report_has_key(s->r, k))
			continue;
		buf_reset(&cell);
		report_cell(s, row, k, &cell);
		add_cell(v, &cell, k, b);
	}
	buf_inherit(b, &cell);
	buf_release(&cell);
}

static void branch_text(const struct view *v, const struct view_line *l, struct buf *b,
			double *share)
{
	const struct report *r = v->s->r;
	const struct branch *at = branch_of(v, l);
	const struct report_call *c = report_call_get(r, at->call);
	uint64_t whole = r->o.of_parent ? v->trees[l->tree - 1].v[at->parent].total
					: v->s->events[l->event].weight;

	*share = report_share(at->total, whole);
	buf_addf(b, "%6.2f%%  ", *share);
	if (c->flags & CALL_GROUP)
		report_group_name(r, c, b);
	else
		report_call_name(r, c, b);
}

int view_text(struct view *v, uint32_t line, struct buf *b, double *share)
{
	struct view_line *l = &v->v[line];
	bool yes;
	int rc = view_opens(v, line, &yes);

	if (rc)
		return rc;
	*share = 0;
	buf_fill(b, ' ', 2 * (size_t)(l->indent > 60 ? 60 : l->indent));
	buf_adds(b, !yes ? "  " : l->open ? "- " : "+ ");
	if (!l->depth)
		report_head(v->s, l->event, b);
	else if (l->node)
		branch_text(v, l, b, share);
	else
		row_text(v, l, b, share);
	return b->err;
}

void view_title(const struct view *v, struct buf *b)
{
	const struct report *r = v->s->r;
	bool deep = false;
	struct buf cell = BUF_INIT;

	for (uint32_t e = 0; e < v->s->nevents; e++)
		deep |= v->s->events[e].deep;
	if (v->roots) {
		buf_adds(b, "     total  calls starting at the root");
		return;
	}
	buf_adds(b, deep && !r->o.no_children ? "  children    self" : "     self");
	buf_adds(b, r->o.samples ? "  samples" : "");
	for (unsigned k = 0; k < r->nkeys; k++) {
		if (!report_has_key(r, k))
			continue;
		buf_reset(&cell);
		buf_add_safe(&cell, r->key[k].name, strlen(r->key[k].name));
		add_cell(v, &cell, k, b);
	}
	buf_inherit(b, &cell);
	buf_release(&cell);
}

const struct report_call *view_call(const struct view *v, uint32_t line)
{
	const struct view_line *l = &v->v[line];
	const struct report_call *c;

	if (!l->depth || (l->row == REPORT_NONE && !l->node))
		return NULL;
	c = report_call_get(v->s->r, l->node ? branch_of(v, l)->call : v->s->rows[l->row].call);
	return c && !(c->flags & CALL_GROUP) && c->sym ? c : NULL;
}

/* ---- all of it ---- */

int view_make(struct view *v, const struct result *s, bool roots)
{
	uint32_t n = s->nevents;
	int rc;

	*v = (struct view){.s = s, .roots = roots};
	v->tree_of = calloc((size_t)s->nrows + 1, sizeof(*v->tree_of));
	v->root_of = calloc((size_t)n + 1, sizeof(*v->root_of));
	v->v = calloc((size_t)n + 1, sizeof(*v->v));
	v->cap = n + 1;
	rc = v->tree_of && v->root_of && v->v ? measure(v) : PP_ENOMEM;
	for (uint32_t e = 0; e < n && !rc; e++)
		if (s->events[e].samples)
			v->v[v->n++] = (struct view_line){.event = e, .row = REPORT_NONE};
	for (uint32_t i = v->n; i-- > 0 && !rc;)
		rc = view_open(v, i, false);
	if (rc)
		view_release(v);
	return rc;
}

static uint32_t comm_of(const struct report *r, const uint32_t *keys)
{
	for (unsigned k = 0; k < r->nkeys; k++)
		if (r->key[k].comm)
			return keys[k];
	return 0;
}

uint32_t view_comm(const struct view *v, uint32_t line)
{
	const struct view_line *l = &v->v[line];
	const struct report *r = v->s->r;
	const struct branches *t = l->tree ? &v->trees[l->tree - 1] : NULL;

	if (l->row != REPORT_NONE)
		return comm_of(r, row_texts(v->s, &v->s->rows[l->row]));
	/* From the root on, a group is the first. */
	for (uint32_t i = t ? l->node : 0; i; i = t->v[i].parent) {
		const struct report_call *c = report_call_get(r, t->v[i].call);

		if (c->flags & CALL_GROUP)
			return comm_of(r, report_group_get(r, c)->key);
	}
	return 0;
}

uint32_t view_dso(const struct view *v, uint32_t line)
{
	const struct view_line *l = &v->v[line];
	const struct report_call *c;

	if (!l->depth || (l->row == REPORT_NONE && !l->node))
		return 0;
	c = report_call_get(v->s->r, l->node ? branch_of(v, l)->call : v->s->rows[l->row].call);
	return c && !(c->flags & CALL_GROUP) ? c->dso : 0;
}

/* ---- another result ---- */

/* Whether two lines are of the same event, row or call. */
static bool same_line(const struct view *a, uint32_t i, const struct view *b, uint32_t j)
{
	const struct view_line *x = &a->v[i], *y = &b->v[j];
	size_t n, m;
	const char *p, *q;

	if (x->event != y->event || x->depth != y->depth || !x->node != !y->node ||
	    (x->row == REPORT_NONE) != (y->row == REPORT_NONE))
		return false;
	if (x->node)
		return branch_of(a, x)->call == branch_of(b, y)->call;
	if (x->row == REPORT_NONE)
		return true;
	p = intern_get(&a->s->keys, a->s->rows[x->row].key, &n);
	q = intern_get(&b->s->keys, b->s->rows[y->row].key, &m);
	return n == m && !memcmp(p, q, n);
}

/* The line of v that is a line of `from`, below v's line `parent`; REPORT_NONE: there is none. */
static uint32_t find_line(const struct view *v, uint32_t parent, const struct view *from,
			  uint32_t i)
{
	uint32_t j = parent == REPORT_NONE ? 0 : parent + 1;

	for (; j < v->n; j++) {
		if (parent != REPORT_NONE && v->v[j].depth <= v->v[parent].depth)
			break;
		if (same_line(v, j, from, i))
			return j;
	}
	return REPORT_NONE;
}

/* As open or closed as the line is there. */
static int follow_line(struct view *v, uint32_t j, bool open)
{
	int rc = 0;

	if (open && !v->v[j].open)
		rc = open_one(v, j);
	else if (!open && v->v[j].open)
		view_close(v, j);
	return rc == PP_ELIMIT ? 0 : rc;
}

int view_follow(struct view *v, const struct view *from, uint32_t *at)
{
	uint32_t *to = calloc((size_t)from->n + 1, sizeof(*to)), cursor = REPORT_NONE;
	int rc = to ? 0 : PP_ENOMEM;

	for (uint32_t i = 0; i < from->n && !rc; i++) {
		uint32_t p = view_parent(from, i);

		to[i] = p == i		       ? find_line(v, REPORT_NONE, from, i)
			: to[p] == REPORT_NONE ? REPORT_NONE
					       : find_line(v, to[p], from, i);
		if (to[i] == REPORT_NONE)
			continue;
		/* What opens further up moves what was found before. */
		rc = follow_line(v, to[i], from->v[i].open);
	}
	for (uint32_t i = 0; i < from->n && !rc; i++) {
		uint32_t p = view_parent(from, i);

		to[i] = p == i		       ? find_line(v, REPORT_NONE, from, i)
			: to[p] == REPORT_NONE ? REPORT_NONE
					       : find_line(v, to[p], from, i);
		if (i == *at)
			cursor = to[i];
	}
	free(to);
	*at = cursor != REPORT_NONE ? cursor : *at < v->n ? *at : v->n ? v->n - 1 : 0;
	return rc;
}

void view_release(struct view *v)
{
	for (uint32_t i = 0; i < v->ntrees; i++)
		branches_release(&v->trees[i]);
	free(v->trees);
	free(v->tree_of);
	free(v->root_of);
	free(v->v);
	*v = (struct view){0};
}
