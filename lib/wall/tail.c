/*
 * plat --tail: what slow spans have more of than ordinary ones. Each share of the paths is compared
 * by Welch's test, with the false discovery rate of all of them; what may be chance is one row.
 */
#include "wall/parts.h"

#include "base/array.h"
#include "base/err.h"
#include "diff/statistics.h"
#include "table/unit.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELLS_MAX (1u << 24) /* shares of all spans, of 16 bytes */
#define SPANS_MAX (1u << 22)
#define LEAST	  3    /* slow spans, and ordinary ones */
#define RATE	  .05  /* of false discoveries */
#define SMALLEST  .005 /* part of the difference that matters */
#define CHANCE	  "(may be chance)"

enum side { ORDINARY, SLOW, SIDES };

struct cell {
	uint64_t ns;
	uint32_t share;
};

struct span {
	uint64_t ns;
	uint32_t first, n; /* cells */
};

struct wall_tail {
	struct span *spans;
	struct cell *cells;
	uint32_t *at; /* by share: its cell of the last span, if it is one of it */
	uint32_t nspans, cap_spans, ncells, cap_cells, cap_at;
};

struct wall_tail *wall_tail_new(void)
{
	return calloc(1, sizeof(struct wall_tail));
}

void wall_tail_free(struct wall_tail *t)
{
	if (!t)
		return;
	free(t->spans);
	free(t->cells);
	free(t->at);
	free(t);
}

/* ---- spans ---- */

static int add_cell(struct wall_tail *t, const struct span *span, uint32_t share, uint64_t ns)
{
	uint32_t *at = array_widen(t->at, &t->cap_at, share, 256, sizeof(*at));
	struct cell *v;

	if (!at)
		return PP_ENOMEM;
	t->at = at;
	if (at[share] >= span->first && at[share] < t->ncells &&
	    t->cells[at[share]].share == share) {
		t->cells[at[share]].ns += ns;
		return 0;
	}
	if (t->ncells >= CELLS_MAX)
		return PP_ELIMIT;
	v = array_widen(t->cells, &t->cap_cells, t->ncells, 1024, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	t->cells = v;
	at[share] = t->ncells;
	v[t->ncells++] = (struct cell){ns, share};
	return 0;
}

int wall_tail_add(struct wall_tail *t, struct wall_shares *s, struct wall *w,
		  const struct wall_span *span)
{
	struct span *v, new = {.ns = span->end - span->begin, .first = t->ncells};
	int rc = t->nspans < SPANS_MAX ? 0 : PP_ELIMIT;

	for (uint32_t i = 0; i < span->path->n && !rc; i++) {
		const struct wall_step *step = &span->path->v[i];
		uint32_t share;

		rc = wall_share_of(s, w, span->path, i, &share);
		if (!rc)
			rc = add_cell(t, &new, share, step->end - step->begin);
	}
	if (rc) {
		t->ncells = new.first;
		return rc;
	}
	v = array_widen(t->spans, &t->cap_spans, t->nspans, 256, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	t->spans = v;
	new.n = t->ncells - new.first;
	v[t->nspans++] = new;
	return 0;
}

/* ---- sides ---- */

/* Which spans are slow, and which are ordinary. */
struct limits {
	uint64_t slow;	    /* ns: from here on */
	uint64_t low, high; /* ordinary: from, to */
};

struct sums {
	double sum, square; /* ns, of the spans of a side */
};

struct comparison {
	struct limits limits;
	double n[SIDES], ns[SIDES]; /* spans, and what they take together */
	struct sums *v[SIDES];	    /* by share */
	double *p, *q;		    /* likewise */
	uint32_t nshares;
};

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int find_limits(const struct wall_tail *t, double p, struct limits *l)
{
	uint64_t *v = calloc(t->nspans ? t->nspans : 1, sizeof(*v));
	uint32_t n = t->nspans, at;

	if (!v)
		return PP_ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		v[i] = t->spans[i].ns;
	qsort(v, n, sizeof(*v), by_size);
	if (n) {
		/* Within rounding: p90 of 100 spans leaves ten. */
		at = (uint32_t)floor(p / 100 * n + 1e-9);
		*l = (struct limits){v[at < n ? at : n - 1], v[n / 4], v[n - 1 - n / 4]};
	}
	free(v);
	return 0;
}

static enum side side_of(const struct limits *l, uint64_t ns)
{
	if (ns >= l->slow)
		return SLOW;
	return ns >= l->low && ns <= l->high ? ORDINARY : SIDES;
}

static void add_up(struct comparison *c, const struct wall_tail *t)
{
	for (uint32_t i = 0; i < t->nspans; i++) {
		const struct span *span = &t->spans[i];
		enum side side = side_of(&c->limits, span->ns);

		if (side == SIDES)
			continue;
		c->n[side]++;
		c->ns[side] += (double)span->ns;
		for (uint32_t k = span->first; k < span->first + span->n; k++) {
			struct sums *s = &c->v[side][t->cells[k].share - 1];
			double ns = (double)t->cells[k].ns;

			s->sum += ns;
			s->square += ns * ns;
		}
	}
}

static double mean(const struct comparison *c, enum side side, uint32_t share)
{
	return c->v[side][share].sum / c->n[side];
}

/* The square of the error of a mean. */
static double error(const struct comparison *c, enum side side, uint32_t share)
{
	double m = mean(c, side, share), n = c->n[side];
	double v = (c->v[side][share].square - n * m * m) / (n - 1);

	return v > 0 ? v / n : 0;
}

/* Welch's test of a difference of means. */
static double test(const struct comparison *c, uint32_t share)
{
	double more = mean(c, SLOW, share) - mean(c, ORDINARY, share);
	double a = error(c, SLOW, share), b = error(c, ORDINARY, share);

	if (a + b <= 0)
		return fabs(more) > 0 ? 0 : 1;
	return stat_t_p(more / sqrt(a + b),
			(a + b) * (a + b) /
				(a * a / (c->n[SLOW] - 1) + b * b / (c->n[ORDINARY] - 1)));
}

static void release(struct comparison *c)
{
	free(c->v[SLOW]);
	free(c->v[ORDINARY]);
	free(c->p);
	free(c->q);
}

static int compare(struct comparison *c, const struct wall_tail *t, uint32_t nshares, double p)
{
	size_t n = nshares ? nshares : 1;
	int rc = find_limits(t, p, &c->limits);

	c->nshares = nshares;
	c->v[SLOW] = calloc(n, sizeof(*c->v[0]));
	c->v[ORDINARY] = calloc(n, sizeof(*c->v[0]));
	c->p = calloc(n, sizeof(*c->p));
	c->q = calloc(n, sizeof(*c->q));
	if (rc || !c->v[SLOW] || !c->v[ORDINARY] || !c->p || !c->q)
		return PP_ENOMEM;
	add_up(c, t);
	if (c->n[SLOW] < LEAST || c->n[ORDINARY] < LEAST)
		return PP_ENOENT;
	for (uint32_t i = 0; i < nshares; i++)
		c->p[i] = test(c, i);
	return stat_fdr(c->p, c->q, nshares, false);
}

/* ---- results ---- */

static int add_row(const struct wall_shares *s, uint32_t share, const double ns[SIDES],
		   struct table *to)
{
	uint64_t key[WALL_SHARE_NTEXTS];
	hist_int slow = llround(ns[SLOW]), ordinary = llround(ns[ORDINARY]);
	uint32_t row;
	int rc = 0;

	for (int i = 0; i < WALL_SHARE_NTEXTS && !rc; i++) {
		size_t len = i ? 0 : strlen(CHANCE);
		const char *text = i ? "" : CHANCE;

		if (share)
			text = wall_share_text(s, share, (enum wall_share_text)i, &len);
		rc = table_text(to, text, len, &key[i]);
	}
	if (!rc)
		rc = table_row(to, key, &row);
	if (!rc)
		rc = table_add(to, row, 0, slow - ordinary, 0);
	if (!rc)
		rc = table_add(to, row, 1, slow, 0);
	return rc ? rc : table_add(to, row, 2, ordinary, 0);
}

static int add_rows(const struct comparison *c, const struct wall_shares *s, struct table *to)
{
	double whole = c->ns[SLOW] / c->n[SLOW] - c->ns[ORDINARY] / c->n[ORDINARY];
	double chance[SIDES] = {0};
	int rc = 0;

	for (uint32_t i = 0; i < c->nshares && !rc; i++) {
		double ns[SIDES] = {mean(c, ORDINARY, i), mean(c, SLOW, i)};

		if (c->q[i] <= RATE && fabs(ns[SLOW] - ns[ORDINARY]) >= SMALLEST * whole) {
			rc = add_row(s, i + 1, ns, to);
			continue;
		}
		chance[SLOW] += ns[SLOW];
		chance[ORDINARY] += ns[ORDINARY];
	}
	return rc || chance[SLOW] + chance[ORDINARY] <= 0 ? rc : add_row(s, 0, chance, to);
}

/* A line for each share: its thread, stack and state, and what ordinary and slow spans have. */
static void add_lines(const struct comparison *c, const struct wall_shares *s, struct buf *b)
{
	for (uint32_t i = 0; i < c->nshares; i++) {
		long long slow = llround(mean(c, SLOW, i)),
			  ordinary = llround(mean(c, ORDINARY, i));
		const char *text[WALL_SHARE_NTEXTS];
		size_t len[WALL_SHARE_NTEXTS];

		if (!slow && !ordinary)
			continue;
		for (int k = 0; k < WALL_SHARE_NTEXTS; k++)
			text[k] = wall_share_text(s, i + 1, (enum wall_share_text)k, &len[k]);
		buf_add_safe(b, text[WALL_SHARE_THREAD], len[WALL_SHARE_THREAD]);
		if (len[WALL_SHARE_WHERE]) {
			buf_addc(b, ';');
			buf_add_safe(b, text[WALL_SHARE_WHERE], len[WALL_SHARE_WHERE]);
		}
		if (*text[WALL_SHARE_STATE] == '[') {
			buf_addc(b, ';');
			buf_add_safe(b, text[WALL_SHARE_STATE], len[WALL_SHARE_STATE]);
		}
		buf_addf(b, " %lld %lld\n", ordinary, slow);
	}
}

static void add_title(const struct comparison *c, double p, const struct wall_tail *t,
		      struct buf *b)
{
	double slow = c->ns[SLOW] / c->n[SLOW], ordinary = c->ns[ORDINARY] / c->n[ORDINARY];

	buf_addf(b, "of %" PRIu32 " spans: the slow %.0f, p%g and more, take ", t->nspans,
		 c->n[SLOW], p);
	unit_add(b, llround(slow), "ns");
	buf_addf(b, ", ");
	unit_add(b, llround(slow - ordinary), "ns");
	buf_addf(b, " more than the %.0f in the middle", c->n[ORDINARY]);
}

int wall_tail_compare(struct wall_tail *t, const struct wall_shares *s, double p, struct table *to,
		      struct buf *b, struct buf *title)
{
	struct comparison c = {.nshares = 0};
	int rc = compare(&c, t, s->shares.n, p);

	if (!rc && to)
		rc = add_rows(&c, s, to);
	else if (!rc)
		add_lines(&c, s, b);
	if (!rc)
		add_title(&c, p, t, title);
	release(&c);
	return rc ? rc : b->err;
}
