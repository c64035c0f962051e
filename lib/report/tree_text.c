/* Trees as text: a line for each frame, and a branch where a stack is not the only one. */
#include "report/parts.h"

#include "base/array.h"
#include "base/err.h"
#include "table/unit.h"

#include <stdlib.h>

#define ROOM_LEAST  24	/* columns that a name is to have: what has less room is not drawn */
#define INDENT_MOST 240 /* columns before a branch, however wide a line may be */

/* A branch that is being drawn: what its lines begin with ends at `prefix`. */
struct level {
	uint32_t next; /* the branch that comes next; 0: none */
	uint32_t prefix, columns;
};

struct drawing {
	const struct tree_draw *t;
	struct buf *out;
	struct buf prefix;
	struct level *levels;
	uint32_t n, cap;
};

/* What a line of a tree is made of. */
static const char *line_of(const struct drawing *d, const char *lines, const char *ascii)
{
	return d->t->r->o.ascii ? ascii : lines;
}

static void draw_name(struct drawing *d, uint32_t node, uint32_t columns)
{
	uint32_t width = d->t->width;
	size_t from = d->out->len;
	const struct report_call *c = report_call_get(d->t->r, d->t->b->v[node].call);

	if (c->flags & CALL_GROUP)
		report_group_name(d->t->r, c, d->out);
	else
		report_call_name(d->t->r, c, d->out);
	buf_cut(d->out, from, !width ? 0 : width > columns + 8 ? width - columns : 8, "..");
	buf_addc(d->out, '\n');
}

static void begin_line(struct drawing *d)
{
	buf_fill(d->out, ' ', d->t->indent);
	buf_add(d->out, d->prefix.data, d->prefix.len);
}

/* The frames that follow without a branch. The last of them. */
static uint32_t draw_chain(struct drawing *d, uint32_t node, uint32_t columns)
{
	const struct branch *v = d->t->b->v;

	while (v[node].first && !v[v[node].first].next && v[v[node].first].total == v[node].total) {
		node = v[node].first;
		begin_line(d);
		draw_name(d, node, d->t->indent + columns);
	}
	return node;
}

static int push(struct drawing *d, uint32_t node, uint32_t columns)
{
	struct level *v = array_widen(d->levels, &d->cap, d->n, 64, sizeof(*v));
	uint32_t width = d->t->width, at = d->t->indent + columns;

	if (!v)
		return PP_ENOMEM;
	d->levels = v;
	if (node && (at > INDENT_MOST || (width && at + ROOM_LEAST > width))) {
		begin_line(d);
		buf_adds(d->out, "... deeper than fits here\n");
		node = 0;
	}
	v[d->n++] = (struct level){node, (uint32_t)d->prefix.len, columns};
	return 0;
}

/* The next branch of the deepest level. */
static int draw_branch(struct drawing *d)
{
	const struct branch *v = d->t->b->v;
	struct level *l = &d->levels[d->n - 1];
	uint32_t node = l->next, columns = l->columns + 3;
	uint64_t whole = d->t->r->o.of_parent ? v[v[node].parent].total : d->t->whole;

	l->next = v[node].next;
	d->prefix.len = l->prefix;
	begin_line(d);
	buf_adds(d->out, l->next ? line_of(d, "├─", "|-") : line_of(d, "└─", "`-"));
	buf_addf(d->out, "%6.2f%% ", report_share(v[node].total, whole));
	draw_name(d, node, d->t->indent + columns + 7);
	buf_adds(&d->prefix, l->next ? line_of(d, "│  ", "|  ") : "   ");
	node = draw_chain(d, node, columns);
	return push(d, v[node].first, columns);
}

int tree_draw(const struct tree_draw *t, uint32_t node, struct buf *out)
{
	struct drawing d = {.t = t, .out = out};
	int rc = 0;

	node = draw_chain(&d, node, 0);
	if (t->b->v[node].first)
		rc = push(&d, t->b->v[node].first, 0);
	while (d.n && !rc) {
		if (d.levels[d.n - 1].next)
			rc = draw_branch(&d);
		else
			d.n--;
	}
	rc = rc ? rc : d.prefix.err ? d.prefix.err : out->err;
	buf_release(&d.prefix);
	free(d.levels);
	return rc;
}
