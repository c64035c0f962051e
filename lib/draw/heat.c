/* Heat maps: time from left to right, values from the bottom to the top, counts as colours. */
#include "draw/plot.h"

#include "base/err.h"
#include "table/unit.h"

#include <math.h>
#include <stdlib.h>

#define HEAT_HIGH    30.0 /* height of the map in em */
#define CELL_HIGH    6.0  /* pixels of a cell, at least */
#define COLUMNS_MAX  240
#define HEAT_COLOURS 16

struct heat {
	struct chart *c;
	const struct panel *p;
	const char *unit;
	uint32_t window_key;
	uint64_t width, first; /* of a column, ns */
	uint32_t ncolumns;
	struct hist *columns;
	hist_int min, max;
	uint64_t most; /* of a cell */
	struct scale x, y;
};

/* Rows of the same time are put together, whatever their other keys, and so are windows. */
static int find_columns(struct heat *g)
{
	const struct table *t = g->p->t;
	uint64_t last = 0, n;
	int rc = 0;

	while (t->keys[g->window_key].kind != TABLE_WINDOW)
		g->window_key++;
	g->width = t->keys[g->window_key].window;
	g->first = UINT64_MAX;
	for (uint32_t i = 0; i < t->nordered; i++) {
		uint64_t w = t->key[(size_t)t->order[i] * t->nkeys + g->window_key];

		g->first = w < g->first ? w : g->first;
		last = w > last ? w : last;
	}
	if (!t->nordered)
		return PP_END;
	n = (last - g->first) / g->width;
	g->width *= n / COLUMNS_MAX + 1;
	g->ncolumns = (uint32_t)((last - g->first) / g->width + 1);
	g->columns = calloc(g->ncolumns, sizeof(*g->columns));
	if (!g->columns)
		return PP_ENOMEM;
	for (uint32_t i = 0; i < t->nordered && !rc; i++) {
		uint64_t w = t->key[(size_t)t->order[i] * t->nkeys + g->window_key];

		rc = hist_merge(&g->columns[(w - g->first) / g->width],
				table_cell(t, t->order[i], g->p->v));
	}
	return rc;
}

static void find_range(struct heat *g)
{
	bool any = false;

	for (uint32_t i = 0; i < g->ncolumns; i++) {
		const struct hist *h = &g->columns[i];

		if (!h->count)
			continue;
		g->min = !any || h->min < g->min ? h->min : g->min;
		g->max = !any || h->max > g->max ? h->max : g->max;
		any = true;
	}
}

/* Calls for each cell; the first pass finds the greatest count, the second draws. */
static int each_cell(struct heat *g,
		     void (*fn)(struct heat *g, uint32_t column, const struct plot_bin *bin))
{
	int rc = 0;

	for (uint32_t i = 0; i < g->ncolumns && !rc; i++) {
		struct plot_bin *bins;
		size_t n;

		rc = plot_bins(&g->columns[i], &g->y, CELL_HIGH, &bins, &n);
		for (size_t k = 0; k < n && !rc; k++)
			fn(g, i, &bins[k]);
		free(bins);
	}
	return rc;
}

static void see_cell(struct heat *g, uint32_t column, const struct plot_bin *bin)
{
	(void)column;
	g->most = bin->count > g->most ? bin->count : g->most;
}

/* Counts as colours: by their logarithm, so that a few are to be seen beside many. */
static double heat_of(const struct heat *g, double count)
{
	return g->most > 1 ? log(count) / log((double)g->most) : 1;
}

static void add_range(struct buf *b, const struct plot_bin *bin, const char *unit)
{
	unit_add(b, (hist_int)bin->low, unit);
	if (bin->high - bin->low > 1) {
		buf_adds(b, " to ");
		unit_add(b, (hist_int)bin->high - !unit_known(unit), unit);
	}
}

static void draw_cell(struct heat *g, uint32_t column, const struct plot_bin *bin)
{
	struct buf *b = &g->c->b, s = BUF_INIT;
	/* Whole pixels: neighbours touch, and no line is seen between them. */
	double x = round(plot_at(&g->x, (double)column * (double)g->width));
	double right = round(plot_at(&g->x, (column + 1.0) * (double)g->width));
	double top = round(plot_at(&g->y, bin->high)), bottom = round(plot_at(&g->y, bin->low));

	buf_addf(b, "<path class=\"k%d\" d=\"M%.0f %.0fH%.0fV%.0fH%.0fz\"><title>",
		 (int)(heat_of(g, (double)bin->count) * (HEAT_COLOURS - 1) + 0.5), x, top,
		 fmax(right, x + 1), fmax(bottom, top + 1), x);
	buf_addf(&s, "%llu: ", (unsigned long long)bin->count);
	add_range(&s, bin, g->unit);
	buf_adds(&s, " at ");
	plot_time(&s, g->first + column * g->width);
	plot_text(b, buf_str(&s), s.len);
	buf_adds(b, "</title></path>\n");
	b->err = b->err ? b->err : s.err;
	buf_release(&s);
}

/* The colours as classes, and what they mean, at the right end of the line above the map. */
static void add_legend(const struct heat *g)
{
	struct chart *c = g->c;
	double w = c->em, x = g->x.to - w * HEAT_COLOURS - c->em * 5, y = c->y - c->em * 1.9;
	struct buf s = BUF_INIT;
	char colour[8];

	buf_adds(&c->b, "<style>");
	for (int i = 0; i < HEAT_COLOURS; i++) {
		plot_heat((double)i / (HEAT_COLOURS - 1), colour);
		buf_addf(&c->b, ".k%d{fill:%s}", i, colour);
	}
	/* On a dark ground more is brighter, and the least is not as dark as the ground. */
	buf_adds(&c->b, "\n@media (prefers-color-scheme: dark) {");
	for (int i = 0; i < HEAT_COLOURS; i++) {
		plot_heat(0.85 * (1 - (double)i / (HEAT_COLOURS - 1)), colour);
		buf_addf(&c->b, ".k%d{fill:%s}", i, colour);
	}
	buf_adds(&c->b, "}</style>\n<g class=\"r\">\n");
	for (int i = 0; i < HEAT_COLOURS; i++)
		buf_addf(&c->b, "<rect class=\"k%d\" " PLOT_BOX "/>\n", i, x + i * w, y, w, c->em);
	plot_label(c, x - c->em * 0.5, y + c->em * 0.85, "end", "t", "count 1");
	unit_add_short(&s, (double)g->most, "");
	plot_label(c, x + HEAT_COLOURS * w + c->em * 0.5, y + c->em * 0.85, "start", "t",
		   buf_str(&s));
	buf_adds(&c->b, "</g>\n");
	c->b.err = c->b.err ? c->b.err : s.err;
	buf_release(&s);
}

static int add_map(struct heat *g)
{
	struct chart *c = g->c;
	double left = PLOT_MARGIN + c->em * 5.5, top = c->y + c->em * 0.6, low, high, unused;
	double bottom = top + c->em * HEAT_HIGH;
	bool log = plot_wants_log(g->min, g->max);
	struct buf s = BUF_INIT;
	int rc;

	g->x = plot_scale(false, 0, (double)g->width * g->ncolumns, left,
			  c->o->width - PLOT_MARGIN - c->em * 2, "ns");
	g->y = plot_scale(log, (double)g->min, (double)g->max + 1, bottom, top, g->unit);
	/* The ends are borders of cells, so that all cells lie inside. */
	plot_bin_range(&g->y, CELL_HIGH, g->min, &low, &unused);
	plot_bin_range(&g->y, CELL_HIGH, g->max, &unused, &high);
	g->y = plot_scale(log, low, high, bottom, top, g->unit);
	rc = each_cell(g, see_cell);
	if (rc)
		return rc;
	add_legend(g);
	buf_adds(&s, "time since ");
	plot_time(&s, g->first);
	buf_addf(&s, "; each column ");
	unit_add_short(&s, (double)g->width, "ns");
	plot_stretches(c, &g->x);
	plot_y_axis(c, &g->y, left, g->x.to);
	plot_x_axis(c, &g->x, bottom, top, buf_str(&s));
	buf_adds(&c->b, "<g class=\"c\" shape-rendering=\"crispEdges\">\n");
	rc = each_cell(g, draw_cell);
	buf_adds(&c->b, "</g>\n");
	c->y = bottom + c->em * 3;
	c->b.err = c->b.err ? c->b.err : s.err;
	buf_release(&s);
	return rc ? rc : c->b.err;
}

int chart_heat(struct chart *c, const struct panel *p)
{
	struct heat g = {.c = c, .p = p, .unit = p->t->values[p->v].unit};
	int rc = find_columns(&g);

	if (!rc) {
		find_range(&g);
		plot_panel_head(c, p, "");
		rc = add_map(&g);
	}
	for (uint32_t i = 0; g.columns && i < g.ncolumns; i++)
		hist_release(&g.columns[i]);
	free(g.columns);
	return rc == PP_END ? 0 : rc;
}
