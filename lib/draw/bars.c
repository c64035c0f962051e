/* Bars, one for each row, with the distribution of the row; and the histogram of one row. */
#include "draw/plot.h"

#include "base/err.h"
#include "table/unit.h"

#include <math.h>
#include <stdlib.h>

#define BAR_PART     0.45 /* of the width beside the names, where there is a distribution as well */
#define ROWS_SHORT   12	  /* rows that one scale is enough for */
#define BIN_WIDTH    3.0  /* pixels of a bin in a row's distribution */
#define HIST_BIN     7.0  /* and in the histogram of a single row */
#define MARKER_LINES 4	  /* of labels above it */
#define HIST_HIGH    22.0 /* height of that histogram in em */

struct bars {
	struct chart *c;
	const struct panel *p;
	const struct table_value *value;
	hist_int total;
	uint32_t n;		/* rows that are drawn */
	double name, row;	/* pixels: where names end, height of a row */
	struct scale bar, dist; /* dist.to is 0: there is none */
	double right;		/* where the numbers after the bars begin */
};

static void add_amount(struct buf *b, const struct table_numbers *n, enum table_stat stat,
		       const char *unit)
{
	double v = table_number(n, stat);

	if (stat == TABLE_STAT_COUNT)
		buf_add_u64(b, n->count, 0, ' ');
	else if (stat == TABLE_STAT_SHARE)
		buf_addf(b, "%.2f%%", v * 100);
	else if (stat == TABLE_STAT_MAX_TIME)
		plot_time(b, n->max_time);
	else if (stat == TABLE_STAT_MEAN)
		unit_add_mean(b, v, unit);
	else if (isnan(v))
		buf_addc(b, '-');
	else if (stat == TABLE_STAT_SUM)
		unit_add(b, n->sum, unit);
	else
		unit_add(b, (hist_int)v, unit);
}

/* All that is known of a row, a line each. */
static void add_tooltip(const struct bars *g, uint32_t row, const struct table_numbers *n)
{
	struct buf s = BUF_INIT, *b = &g->c->b;

	plot_row_name(g->p->t, row, &s);
	buf_adds(b, "<title>");
	plot_text(b, buf_str(&s), s.len);
	for (int i = 0; i < TABLE_NSTATS; i++) {
		enum table_stat stat = (enum table_stat)i;

		if (!table_has(g->value->kind, stat) || isnan(table_number(n, stat)))
			continue;
		buf_reset(&s);
		buf_addf(&s, "%s ", table_stat_title(stat));
		add_amount(&s, n, stat, g->value->unit);
		buf_addc(b, '\n');
		plot_text(b, buf_str(&s), s.len);
	}
	buf_adds(b, "</title>");
	b->err = b->err ? b->err : s.err;
	buf_release(&s);
}

/* The outline of a distribution between y and y + height, which the fullest bin reaches. */
static int add_outline(const struct bars *g, const struct hist *h, double y, double height)
{
	struct buf *b = &g->c->b;
	struct plot_bin *bins;
	double most = 0, at = -1;
	size_t n;
	int rc = plot_bins(h, &g->dist, BIN_WIDTH, &bins, &n);

	if (rc)
		return rc;
	/* Bins differ in width: their height is the count per pixel. */
	for (size_t i = 0; i < n; i++)
		most = fmax(most, (double)bins[i].count /
					  fmax(1, plot_at(&g->dist, bins[i].high) -
							  plot_at(&g->dist, bins[i].low)));
	buf_adds(b, "<path class=\"d\" d=\"");
	for (size_t i = 0; i < n; i++) {
		double from = plot_at(&g->dist, bins[i].low), to = plot_at(&g->dist, bins[i].high);
		double tall = (double)bins[i].count / fmax(1, to - from) / most * height;

		if (to - from < 1.5)
			to = from + 1.5;
		if (from < at)
			from = at;
		/* What is there is to be seen. */
		buf_addf(b, "M%.1f %.1fv%.1fh%.1fv%.1fz", from, y + height, -fmax(tall, 1),
			 to - from, fmax(tall, 1));
		at = to;
	}
	buf_adds(b, "\">");
	free(bins);
	return b->err;
}

static int add_distribution(const struct bars *g, uint32_t row, const struct table_numbers *n,
			    double y)
{
	const struct hist *h = table_cell(g->p->t, row, g->p->v);
	struct buf *b = &g->c->b;
	int rc = add_outline(g, h, y + 2, g->row - 4);

	if (rc)
		return rc;
	add_tooltip(g, row, n);
	buf_adds(b, "</path><path class=\"m\" d=\"");
	for (int i = 0; i < 3; i++)
		buf_addf(b, "M%.1f %.1fv%.1f", plot_at(&g->dist, (double)n->p[i]), y + g->row - 2,
			 i ? i == 1 ? -(g->row - 4) * 0.6 : -(g->row - 4) * 0.35 : -(g->row - 4));
	buf_adds(b, "\"/>\n");
	return b->err;
}

static int add_row(const struct bars *g, uint32_t row)
{
	struct chart *c = g->c;
	struct table_numbers n;
	struct buf s = BUF_INIT;
	double y = c->y, v, base = y + g->row / 2 + c->em * 0.35;
	int rc = 0;

	table_numbers(g->p->t, row, g->p->v, g->total, &n);
	v = table_number(&n, g->p->stat);
	plot_row_name(g->p->t, row, &s);
	if (!s.len)
		buf_adds(&s, g->p->t->nkeys ? "(empty)" : "all");
	plot_fit(c, &s, g->name - PLOT_MARGIN);
	plot_label(c, g->name, base, "end", "", buf_str(&s));
	if (!isnan(v)) {
		double from = plot_at(&g->bar, 0), to = plot_at(&g->bar, v);

		buf_addf(&c->b, "<rect class=\"b\" " PLOT_BOX ">", fmin(from, to), y + 2,
			 fmax(fabs(to - from), 0.5), g->row - 4);
		add_tooltip(g, row, &n);
		buf_adds(&c->b, "</rect>\n");
		buf_reset(&s);
		add_amount(&s, &n, g->p->stat, g->value->unit);
		if (!g->p->chosen && !isnan(n.share))
			buf_addf(&s, "  %.1f%%", n.percent);
		plot_label(c, fmax(from, to) + c->em * 0.5, base, "start", "", buf_str(&s));
	}
	if (g->dist.to > 0 && n.count)
		rc = add_distribution(g, row, &n, y);
	c->y += g->row;
	c->b.err = c->b.err ? c->b.err : s.err;
	buf_release(&s);
	return rc ? rc : c->b.err;
}

/* The widest name and number, the range of the bars, and that of all values. */
static void lay_out(struct bars *g)
{
	struct chart *c = g->c;
	double low = 0, high = 0, numbers = 0, name = c->em * 4, edge = c->o->width - PLOT_MARGIN;
	hist_int min = 0, max = 0;
	struct buf s = BUF_INIT;
	bool any = false, both;

	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t row = table_ordered(g->p->t, i);
		struct table_numbers n;
		double v;

		table_numbers(g->p->t, row, g->p->v, g->total, &n);
		v = table_number(&n, g->p->stat);
		low = v < low ? v : low;
		high = v > high ? v : high;
		if (n.count) {
			min = !any || n.min < min ? n.min : min;
			max = !any || n.max > max ? n.max : max;
			any = true;
		}
		buf_reset(&s);
		plot_row_name(g->p->t, row, &s);
		name = fmax(name, plot_width(c, buf_str(&s)));
		buf_reset(&s);
		add_amount(&s, &n, g->p->stat, g->value->unit);
		buf_adds(&s, g->p->chosen ? "" : "  100.0%");
		numbers = fmax(numbers, plot_width(c, buf_str(&s)));
	}
	both = g->value->kind == TABLE_HIST && !g->p->chosen && any;
	g->name = PLOT_MARGIN + fmin(name + 4, (c->o->width - 2 * PLOT_MARGIN) * 0.4);
	g->row = ceil(c->em * 1.6);
	edge -= g->name + c->em;
	g->bar =
		plot_scale(false, low, high > low ? high : low + 1, g->name + c->em * 0.5,
			   g->name + c->em * 0.5 + fmax(edge * (both ? BAR_PART : 1) - numbers, 40),
			   g->value->unit);
	if (both)
		g->dist = plot_scale(plot_wants_log(min, max), (double)min, (double)max + 1,
				     g->bar.to + numbers + c->em * 1.5,
				     c->o->width - PLOT_MARGIN - c->em * 1.5, g->value->unit);
	plot_stretches(c, &g->bar);
	if (both)
		plot_stretches(c, &g->dist);
	c->b.err = c->b.err ? c->b.err : s.err;
	buf_release(&s);
}

int chart_bars(struct chart *c, const struct panel *p)
{
	struct bars g = {.c = c, .p = p, .value = &p->t->values[p->v]};
	uint32_t rows = table_nordered(p->t);
	int rc = 0;

	g.total = table_total(p->t, p->v);
	g.n = rows < CHART_ROWS_MAX ? rows : CHART_ROWS_MAX;
	c->left_out += rows - g.n;
	lay_out(&g);
	plot_panel_head(c, p, table_stat_title(p->stat));
	/* Behind the bars; of a long list the scale is above it, too. */
	if (g.dist.to > 0) {
		if (g.n > ROWS_SHORT)
			plot_x_labels(c, &g.dist, c->y);
		c->y += g.n > ROWS_SHORT ? c->em * 0.5 : 0;
		plot_x_axis(c, &g.dist, c->y + g.row * g.n + 2, c->y,
			    "distribution; marks: p50, p90, p99");
	}
	for (uint32_t i = 0; i < g.n && !rc; i++)
		rc = add_row(&g, table_ordered(p->t, i));
	if (g.dist.to > 0)
		c->y += c->em * 3;
	return rc;
}

/* ---- the histogram of one row ---- */

/* A line for each percentile; labels that would lie on each other go to the line above. */
static void add_markers(struct chart *c, const struct scale *x, const struct table_numbers *n,
			double top, double bottom, const char *unit)
{
	static const char *const names[] = {"p50", "p90", "p99", "p99.9"};
	double taken[MARKER_LINES] = {0};
	struct buf s = BUF_INIT;

	for (int i = 0; i < 4; i++) {
		double at = plot_at(x, (double)n->p[i]), width, from;
		int line = 0;

		buf_reset(&s);
		buf_addf(&s, "%s ", names[i]);
		unit_add(&s, n->p[i], unit);
		width = plot_width(c, buf_str(&s)) * 0.9;
		from = fmin(at - width / 2, c->o->width - PLOT_MARGIN - width);
		while (line < MARKER_LINES && taken[line] > from)
			line++;
		if (line < MARKER_LINES) {
			plot_label(c, from + width / 2, top - c->em * (0.4 + 1.1 * line), "middle",
				   "p", buf_str(&s));
			taken[line] = from + width + c->em * 0.7;
		}
		buf_addf(&c->b,
			 "<path class=\"m\" stroke-dasharray=\"4 3\" d=\"M%.1f %.1fV%.1f\"/>\n", at,
			 top - c->em * 0.2, bottom);
	}
	c->b.err = c->b.err ? c->b.err : s.err;
	buf_release(&s);
}

static void add_columns(struct chart *c, const struct panel *p, const struct scale *x,
			const struct scale *y, const struct plot_bin *bins, size_t n)
{
	const char *unit = p->t->values[p->v].unit;
	uint64_t all = table_cell(p->t, table_ordered(p->t, 0), p->v)->count;
	struct buf s = BUF_INIT;

	for (size_t i = 0; i < n; i++) {
		double from = plot_at(x, bins[i].low), to = plot_at(x, bins[i].high);
		double tall = fmax(y->from - plot_at(y, (double)bins[i].count), 0.7);

		buf_reset(&s);
		unit_add(&s, (hist_int)bins[i].low, unit);
		if (bins[i].high - bins[i].low > 1) {
			buf_adds(&s, " to ");
			unit_add(&s, (hist_int)bins[i].high - !unit_known(unit), unit);
		}
		buf_addf(&s, ": %llu (%.2f%%)", (unsigned long long)bins[i].count,
			 (double)bins[i].count / (double)all * 100);
		buf_addf(&c->b, "<rect class=\"b\" " PLOT_BOX "><title>", from + 0.5,
			 y->from - tall, fmax(to - from - 1, 0.8), tall);
		plot_text(&c->b, buf_str(&s), s.len);
		buf_adds(&c->b, "</title></rect>\n");
	}
	c->b.err = c->b.err ? c->b.err : s.err;
	buf_release(&s);
}

/* "count 12, mean 3.4 us, ..." below the heading. */
static void add_summary(struct chart *c, const struct panel *p, const struct table_numbers *n)
{
	static const enum table_stat stats[] = {TABLE_STAT_COUNT, TABLE_STAT_SUM,
						TABLE_STAT_MIN,	  TABLE_STAT_MEAN,
						TABLE_STAT_MAX,	  TABLE_STAT_MAX_TIME};
	struct buf s = BUF_INIT;

	plot_row_name(p->t, table_ordered(p->t, 0), &s);
	for (size_t i = 0; i < sizeof(stats) / sizeof(stats[0]); i++) {
		buf_addf(&s, "%s%s ", s.len ? stats[i] == TABLE_STAT_MAX_TIME ? " " : ", " : "",
			 table_stat_title(stats[i]));
		add_amount(&s, n, stats[i], p->t->values[p->v].unit);
	}
	c->y += c->em * 0.5;
	plot_label(c, PLOT_MARGIN, c->y, "start", "t", buf_str(&s));
	c->b.err = c->b.err ? c->b.err : s.err;
	buf_release(&s);
}

int chart_hist(struct chart *c, const struct panel *p)
{
	const struct hist *h = table_cell(p->t, table_ordered(p->t, 0), p->v);
	const char *unit = p->t->values[p->v].unit;
	double left = PLOT_MARGIN + c->em * 5, top, bottom, most = 1;
	bool linear = h->step || !plot_wants_log(h->min, h->max);
	struct table_numbers n;
	struct plot_bin *bins;
	struct scale x, y;
	size_t nbins;
	int rc;

	table_numbers(p->t, table_ordered(p->t, 0), p->v, table_total(p->t, p->v), &n);
	plot_panel_head(c, p, "");
	add_summary(c, p, &n);
	top = c->y + c->em * (1.6 + 1.1 * (MARKER_LINES - 1));
	bottom = top + c->em * HIST_HIGH;
	x = plot_scale(!linear, (double)h->min, (double)h->max + 1, left,
		       c->o->width - PLOT_MARGIN - c->em * 2, unit);
	rc = plot_bins(h, &x, HIST_BIN, &bins, &nbins);
	if (rc)
		return rc;
	/* Whole bins: the ends of the scale are borders of bins. */
	if (nbins)
		x = plot_scale(!linear, bins[0].low, bins[nbins - 1].high, x.from, x.to, unit);
	for (size_t i = 0; i < nbins; i++)
		most = fmax(most, (double)bins[i].count);
	y = plot_scale(false, 0, most * 1.04, bottom, top, "");
	plot_stretches(c, &x);
	plot_y_axis(c, &y, left, x.to);
	add_columns(c, p, &x, &y, bins, nbins);
	plot_x_axis(c, &x, bottom, bottom, "");
	add_markers(c, &x, &n, top, bottom, unit);
	c->y = bottom + c->em * 2;
	free(bins);
	return c->b.err;
}
