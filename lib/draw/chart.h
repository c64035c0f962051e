/*
 * Charts: the tables of phist and plat become one self-contained SVG.
 *
 *	struct chart_opts o = CHART_OPTS_INIT;
 *	rc = chart_svg(&tables, &o, &out);
 *
 * Each value of each table is a panel, one below another:
 *	bars	a bar for each row, and next to it the distribution of the row
 *	hist	the histogram of a table's only row
 *	lines	over time: how often, or how large
 *	heat	time from left to right, values from the bottom to the top, counts as colours
 * Which one is drawn follows from the table: rows of windows of time are lines, or what the table
 * says; one row with a distribution is a histogram; all else is bars.
 *
 * Every mark has a tooltip with its exact numbers. A script fits the picture to the width of the
 * window; without one it is as wide as the options say.
 */
#ifndef PP_DRAW_CHART_H
#define PP_DRAW_CHART_H

#include "base/out.h"
#include "table/table.h"

#define CHART_ROWS_MAX	 60 /* rows of a panel; those after them are counted in its foot */
#define CHART_LINES_MAX	 10 /* lines of a panel */
#define CHART_PANELS_MAX 64

enum chart_view { CHART_AUTO, CHART_BARS, CHART_HIST, CHART_LINES, CHART_HEAT };

struct chart_opts {
	const char *title;    /* NULL: the name of the first table */
	const char *subtitle; /* NULL: none */
	const char *notes;    /* NULL: none; go into the SVG's description */
	const char *value;    /* draw this one only; NULL: all */
	const char *stat;     /* what is drawn of it: count, sum, p99 ...; NULL: what fits */
	double width;	      /* pixels */
	bool fixed;	      /* of any window: without the script that fits it */
	double font_size;     /* pixels */
	enum chart_view view;
};

#define CHART_OPTS_INIT \
	{ \
		.width = 1200, .font_size = 12 \
	}

/*
 * The number of a view, from an option's argument: PP_EUSAGE with the names that there are in
 * `why`.
 */
int chart_view_option(const char *name, enum chart_view *view, struct buf *why);

/*
 * Writes the SVG; tables that are not sorted, in the order of their rows. 0; PP_END: there is
 * nothing to draw (no rows, no such value): nothing is written; PP_ENOENT: there is no such
 * statistic; PP_ENOMEM, or the error of the output.
 */
int chart_svg(struct tables *ts, const struct chart_opts *o, struct out *out);

#endif
