/* Lines over time: how often, or how large, window by window. */
#include "draw/plot.h"

#include "base/err.h"
#include "table/unit.h"

#include <math.h>
#include <stdlib.h>

#define LINES_HIGH 20.0 /* height of the plot in em */
#define POINTS_MAX 4096 /* windows that are drawn; more are put together */

/* One line: the rows of one key, or one percentile of all. */
struct line {
	uint32_t row; /* one with the key; TABLE_NO_ROW: all others */
	enum table_stat stat;
	double weight;
};

struct lines {
	struct chart *c;
	const struct panel *p;
	const struct table_value *value;
	uint32_t window_key;
	uint64_t width, first; /* of the windows, ns */
	uint32_t nwindows;
	struct line line[CHART_LINES_MAX];
	uint32_t nlines;
	double *v; /* line * nwindows + window; NaN: there is none */
	struct scale x, y;
};

static uint64_t window_of(const struct lines *g, uint32_t row)
{
	return g->p->t->key[(size_t)row * g->p->t->nkeys + g->window_key];
}

static bool same_key(const struct lines *g, uint32_t a, uint32_t b)
{
	const struct table *t = g->p->t;

	for (uint32_t k = 0; k < t->nkeys; k++)
		if (k != g->window_key &&
		    t->key[(size_t)a * t->nkeys + k] != t->key[(size_t)b * t->nkeys + k])
			return false;
	return true;
}

/* The windows from the first to the last. */
static int find_windows(struct lines *g)
{
	const struct table *t = g->p->t;
	uint64_t last = 0, n;

	while (t->keys[g->window_key].kind != TABLE_WINDOW)
		g->window_key++;
	g->width = t->keys[g->window_key].window;
	g->first = UINT64_MAX;
	for (uint32_t i = 0; i < t->nordered; i++) {
		uint64_t w = window_of(g, t->order[i]);

		g->first = w < g->first ? w : g->first;
		last = w > last ? w : last;
	}
	if (!t->nordered)
		return PP_END;
	while ((n = (last - g->first) / g->width) >= POINTS_MAX)
		g->width *= 2;
	g->nwindows = (uint32_t)n + 1;
	return 0;
}

static int by_weight(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return (x->row > y->row) - (x->row < y->row);
}

/* The keys with the greatest counts or sums. A table has few keys, or else only some are drawn. */
static int find_keys(struct lines *g)
{
	const struct table *t = g->p->t;
	struct line *all = NULL;
	size_t n = 0, cap = 0;

	for (uint32_t i = 0; i < t->nordered; i++) {
		const struct hist *h = table_cell(t, t->order[i], g->p->v);
		size_t k = 0;

		while (k < n && !same_key(g, all[k].row, t->order[i]))
			k++;
		if (k == n && n == cap) {
			size_t more = cap ? cap * 2 : 32;
			struct line *v = more > 4096 ? NULL : realloc(all, more * sizeof(*v));

			if (!v && more <= 4096) {
				free(all);
				return PP_ENOMEM;
			}
			if (!v)
				continue;
			all = v;
			cap = more;
		}
		if (k == n)
			all[n++] = (struct line){.row = t->order[i], .stat = g->p->stat};
		all[k].weight += (double)h->count;
	}
	if (n)
		qsort(all, n, sizeof(*all), by_weight);
	g->nlines = n < CHART_LINES_MAX ? (uint32_t)n : CHART_LINES_MAX;
	if (n)
		memcpy(g->line, all, g->nlines * sizeof(*all));
	g->c->left_out += n - g->nlines;
	free(all);
	return 0;
}

/* Without further keys the lines are percentiles, or what was asked for. */
static int find_lines(struct lines *g)
{
	static const enum table_stat stats[] = {TABLE_STAT_P50, TABLE_STAT_P90, TABLE_STAT_P99,
						TABLE_STAT_MAX};

	if (g->p->t->nkeys > 1)
		return find_keys(g);
	g->nlines = g->value->kind == TABLE_HIST && !g->p->chosen ? 4 : 1;
	for (uint32_t i = 0; i < g->nlines; i++)
		g->line[i] = (struct line){.row = TABLE_NO_ROW,
					   .stat = g->nlines == 1 ? g->p->stat : stats[i]};
	return 0;
}

static bool adds_up(enum table_stat stat)
{
	return stat == TABLE_STAT_COUNT || stat == TABLE_STAT_SUM || stat == TABLE_STAT_SHARE;
}

/* The points of all lines: where nothing was, sums are 0 and percentiles are not there. */
static int find_points(struct lines *g)
{
	const struct table *t = g->p->t;
	hist_int total = table_total(t, g->p->v);
	size_t n = (size_t)g->nlines * g->nwindows;

	g->v = calloc(n ? n : 1, sizeof(*g->v));
	if (!g->v)
		return PP_ENOMEM;
	for (size_t i = 0; i < n; i++)
		g->v[i] = adds_up(g->line[i / g->nwindows].stat) ? 0 : NAN;
	for (uint32_t i = 0; i < t->nordered; i++) {
		uint32_t row = t->order[i];
		size_t w = (size_t)((window_of(g, row) - g->first) / g->width);
		struct table_numbers numbers;

		table_numbers(t, row, g->p->v, total, &numbers);
		for (uint32_t l = 0; l < g->nlines; l++) {
			double *v = &g->v[l * (size_t)g->nwindows + w];
			double more = table_number(&numbers, g->line[l].stat);

			if ((g->line[l].row != TABLE_NO_ROW && !same_key(g, g->line[l].row, row)) ||
			    isnan(more))
				continue;
			if (adds_up(g->line[l].stat))
				*v += more;
			else
				*v = isnan(*v) ? more : fmax(*v, more);
		}
	}
	return 0;
}

static const char *line_unit(const struct lines *g)
{
	return g->line[0].stat == TABLE_STAT_COUNT ? "" : g->value->unit;
}

static void set_scales(struct lines *g, double left, double top, double bottom)
{
	double low = INFINITY, high = -INFINITY;
	size_t n = (size_t)g->nlines * g->nwindows;
	bool log;

	for (size_t i = 0; i < n; i++) {
		low = fmin(low, g->v[i]);
		high = fmax(high, g->v[i]);
	}
	if (!(low <= high))
		low = high = 0;
	log = !adds_up(g->line[0].stat) && low >= 0 &&
	      plot_wants_log((hist_int)low, (hist_int)high);
	if (!log)
		low = fmin(low, 0);
	g->x = plot_scale(false, 0, (double)g->width * g->nwindows, left,
			  g->c->o->width - PLOT_MARGIN - g->c->em * 2, "ns");
	g->y = plot_scale(log, low, high > low ? high + (log ? 0 : (high - low) * 0.05) : low + 1,
			  bottom, top, line_unit(g));
}

/* Steps, because a value is that of the whole window. */
static void add_line(const struct lines *g, uint32_t l)
{
	struct buf *b = &g->c->b;
	bool pen = false;

	buf_addf(b, "<path class=\"l\" stroke=\"%s\" d=\"", plot_colour(l));
	for (uint32_t w = 0; w < g->nwindows; w++) {
		double v = g->v[l * (size_t)g->nwindows + w];

		if (isnan(v)) {
			pen = false;
			continue;
		}
		if (!pen)
			buf_addf(b, "M%.1f %.1f", plot_at(&g->x, (double)w * (double)g->width),
				 plot_at(&g->y, v));
		else
			buf_addf(b, "V%.1f", plot_at(&g->y, v));
		buf_addf(b, "H%.1f", plot_at(&g->x, (w + 1.0) * (double)g->width));
		pen = true;
	}
	buf_adds(b, "\"/>\n");
}

static void line_name(const struct lines *g, uint32_t l, struct buf *s)
{
	if (g->line[l].row == TABLE_NO_ROW)
		buf_adds(s, table_stat_title(g->line[l].stat));
	else
		plot_row_name(g->p->t, g->line[l].row, s);
}

/* What all lines are at in each window, to be read where the mouse is. */
static void add_tooltips(const struct lines *g, double top, double bottom)
{
	struct buf s = BUF_INIT, *b = &g->c->b;

	for (uint32_t w = 0; w < g->nwindows; w++) {
		double from = plot_at(&g->x, (double)w * (double)g->width);
		double to = plot_at(&g->x, (w + 1.0) * (double)g->width);
		bool any = false;

		buf_reset(&s);
		plot_time(&s, g->first + w * g->width);
		for (uint32_t l = 0; l < g->nlines; l++) {
			double v = g->v[l * (size_t)g->nwindows + w];

			if (isnan(v) || (v == 0 && g->nlines > 1))
				continue;
			any = true;
			buf_adds(&s, "; ");
			line_name(g, l, &s);
			buf_addc(&s, ' ');
			unit_add_short(&s, v, line_unit(g));
		}
		if (!any)
			continue;
		buf_addf(b, "<rect class=\"o\" " PLOT_BOX "><title>", from, top,
			 fmax(to - from, 0.5), bottom - top);
		plot_text(b, buf_str(&s), s.len);
		buf_adds(b, "</title></rect>\n");
	}
	b->err = b->err ? b->err : s.err;
	buf_release(&s);
}

/* A row of coloured names above the plot; as many rows as they need. */
static void add_legend(const struct lines *g)
{
	struct chart *c = g->c;
	double x = PLOT_MARGIN + c->em * 5;
	struct buf s = BUF_INIT;

	c->y += c->em * 0.6;
	buf_adds(&c->b, "<g class=\"x w\">\n");
	for (uint32_t l = 0; l < g->nlines; l++) {
		double width;

		buf_reset(&s);
		line_name(g, l, &s);
		plot_fit(c, &s, c->em * 24);
		width = plot_width(c, buf_str(&s)) + c->em * 3;
		if (x + width > c->o->width - PLOT_MARGIN && x > PLOT_MARGIN + c->em * 5) {
			x = PLOT_MARGIN + c->em * 5;
			c->y += c->em * 1.5;
		}
		buf_addf(&c->b, "<rect " PLOT_BOX " fill=\"%s\"/>\n", x, c->y - c->em * 0.75,
			 c->em * 0.9, c->em * 0.9, plot_colour(l));
		plot_label(c, x + c->em * 1.3, c->y, "start", "", buf_str(&s));
		x += width;
	}
	buf_adds(&c->b, "</g>\n");
	c->b.err = c->b.err ? c->b.err : s.err;
	buf_release(&s);
}

static void add_plot(struct lines *g)
{
	struct chart *c = g->c;
	double left = PLOT_MARGIN + c->em * 5, top = c->y + c->em * 0.9;
	double bottom = top + c->em * LINES_HIGH;
	struct buf s = BUF_INIT;

	set_scales(g, left, top, bottom);
	plot_stretches(c, &g->x);
	plot_y_axis(c, &g->y, left, g->x.to);
	buf_adds(&s, "time since ");
	plot_time(&s, g->first);
	plot_x_axis(c, &g->x, bottom, top, buf_str(&s));
	/* The heaviest one on top. */
	for (uint32_t l = g->nlines; l--;)
		add_line(g, l);
	add_tooltips(g, top, bottom);
	c->y = bottom + c->em * 3;
	c->b.err = c->b.err ? c->b.err : s.err;
	buf_release(&s);
}

int chart_lines(struct chart *c, const struct panel *p)
{
	struct lines g = {.c = c, .p = p, .value = &p->t->values[p->v]};
	struct buf what = BUF_INIT;
	int rc = find_windows(&g);

	if (!rc)
		rc = find_lines(&g);
	if (!rc)
		rc = find_points(&g);
	if (!rc) {
		if (g.nlines && (p->t->nkeys > 1 || g.nlines == 1))
			buf_addf(&what, "%s ", table_stat_title(g.line[0].stat));
		buf_adds(&what, "per ");
		unit_add_short(&what, (double)g.width, "ns");
		plot_panel_head(c, p, buf_str(&what));
		if (g.nlines > 1 || p->t->nkeys > 1)
			add_legend(&g);
		add_plot(&g);
		rc = c->b.err ? c->b.err : what.err;
	}
	buf_release(&what);
	free(g.v);
	return rc == PP_END ? 0 : rc;
}
