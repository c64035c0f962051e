/*
 * Private to lib/draw: what the panels of a chart are made with.
 *
 * Everything is written to a buffer, from y = 0 on; a panel moves `y` down by its height. The head
 * comes last, when the height of the whole is known.
 */
#ifndef PP_DRAW_PLOT_H
#define PP_DRAW_PLOT_H

#include "base/buf.h"
#include "draw/chart.h"

#define PLOT_MARGIN 14.0 /* around everything */
#define PLOT_TICKS  48

/* A rectangle's attributes, for printf: four doubles. */
#define PLOT_BOX "x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\""

struct chart {
	const struct chart_opts *o;
	struct buf b;
	double y; /* where the next panel begins */
	double em;
	bool titled;	   /* the heading is the name of the only table */
	uint64_t left_out; /* rows that had no room */
	struct buf
		flex; /* the ranges of x of the panel that stretch with the window: "from to ..." */
};

/* A panel's data: one value of a table. */
struct panel {
	struct table *t;
	uint32_t v;
	enum table_stat stat;
	bool chosen; /* the user asked for this statistic */
};

int chart_bars(struct chart *c, const struct panel *p);
int chart_hist(struct chart *c, const struct panel *p);
int chart_lines(struct chart *c, const struct panel *p);
int chart_heat(struct chart *c, const struct panel *p);

/* ---- text ---- */

/* Any bytes as text of the SVG. */
void plot_text(struct buf *b, const char *s, size_t n);

/* A text element: class is one of the style's, anchor "start", "middle" or "end". */
void plot_label(struct chart *c, double x, double y, const char *anchor, const char *class,
		const char *s);

/* The estimated width of a text in pixels. */
double plot_width(const struct chart *c, const char *s);

/* Shortens a text to a width, with dots after it. */
void plot_fit(const struct chart *c, struct buf *s, double width);

/* "comm, cpu" of a row; the window of time is left out. */
void plot_row_name(const struct table *t, uint32_t row, struct buf *b);

/* "bytes_req by comm: bytes_req, total", the heading of a panel. */
void plot_panel_head(struct chart *c, const struct panel *p, const char *what);

/* ns of the recording as seconds. */
void plot_time(struct buf *b, uint64_t ns);

/* ---- scales ---- */

/*
 * A linear scale, or one that is logarithmic on both sides of zero: 0, 1, 2, 4, 8 are as far from
 * each other, and so are 0, -1, -2, -4.
 */
struct scale {
	bool log;
	double low, high; /* positions, not values */
	double from, to;  /* pixels */
	const char *unit;
};

/* Where a scale is, its panel becomes wider or narrower with the window. */
void plot_stretches(struct chart *c, const struct scale *s);

struct scale plot_scale(bool log, double low, double high, double from, double to,
			const char *unit);
double plot_at(const struct scale *s, double v);

/*
 * An axis below y, with grid lines up to `top`; its labels alone; and one to the left of x, with
 * grid lines to `right`.
 */
void plot_x_axis(struct chart *c, const struct scale *s, double y, double top, const char *title);
void plot_x_labels(struct chart *c, const struct scale *s, double y);
void plot_y_axis(struct chart *c, const struct scale *s, double x, double right);

/* ---- distributions ---- */

/* A bin from low on, up to but not including high. */
struct plot_bin {
	double low, high;
	uint64_t count;
};

/*
 * The bins of a histogram on a scale, none narrower than `least` pixels where buckets allow it. The
 * caller frees them. Linear scales use the linear buckets, if there are some.
 */
int plot_bins(const struct hist *h, const struct scale *s, double least, struct plot_bin **bins,
	      size_t *n);

/* The bin that a bucket is in, for the same scale. */
void plot_bin_range(const struct scale *s, double least, hist_int v, double *low, double *high);

/* Whether values from min to max want a logarithmic scale. */
bool plot_wants_log(hist_int min, hist_int max);

/* Colours of lines, and of heat from 0 to 1. */
const char *plot_colour(uint32_t i);
void plot_heat(double v, char colour[8]);

#endif
