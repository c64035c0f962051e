/*
 * What psvg draws: inputs of any kind that it knows, found by their first bytes. Folded text and
 * event streams, which are folded, become a flame graph; the tables of phist and plat become
 * charts; what plat --timeline writes becomes a timeline.
 *
 *	struct picture *p;
 *	rc = picture_new(&p, false, diag);
 *	rc = picture_read(p, "-");
 *	status = picture_print(p, &opts, STDOUT_FILENO, false);
 *	picture_free(p);
 */
#ifndef PP_DRAW_PICTURE_H
#define PP_DRAW_PICTURE_H

#include "base/diag.h"
#include "draw/chart.h"
#include "draw/flame.h"
#include "draw/timeline.h"

struct picture;

struct picture_opts {
	struct flame_opts flame;
	struct chart_opts chart;
	struct timeline_opts timeline;
	bool timeline_svg; /* not a page */
	bool page;	   /* of a flame graph: HTML, not an SVG */
	double factor;	   /* all counts of stacks are multiplied by it */
};

#define PICTURE_OPTS_INIT \
	{ \
		.flame = FLAME_OPTS_INIT, .chart = CHART_OPTS_INIT, .factor = 1 \
	}

/* With reverse set, stacks begin with their leaf. 0 or PP_ENOMEM. The diag must outlive it. */
int picture_new(struct picture **p, bool reverse, struct diag *d);
void picture_free(struct picture *p); /* NULL is fine */

/*
 * A flame graph of two profiles: one file of text with two counts, or the base's and then the new
 * one's. 0 or PP_ENOMEM, which is reported.
 */
int picture_compare(struct picture *p);

/*
 * For stacks, only those of one event are drawn; the name outlives the picture. Before the first.
 */
void picture_choose(struct picture *p, const char *event);

/* Stacks come in time order, and are not sorted. Before the first one is read. */
void picture_chart(struct picture *p);

/* For a page: of event streams also the order of time is kept. Before the first one is read. */
void picture_times(struct picture *p);

/*
 * Reads a file, "-" is stdin. All files of a picture have to be of one sort: stacks or tables. 0,
 * or an error that was reported. Damage is reported and makes the picture partial.
 */
int picture_read(struct picture *p, const char *name);

/* What the picture is of, in bits, when all is read; *on: in words. */
enum { PICTURE_STACKS = 1, PICTURE_TABLES = 2, PICTURE_TIMELINE = 4 };
unsigned picture_kind(const struct picture *p, const char **on);

/* Writes the picture to a descriptor and closes it; says what fails, and with `stats` the account.
 * Returns the exit status. */
int picture_print(struct picture *p, const struct picture_opts *o, int fd, bool stats);

#endif
