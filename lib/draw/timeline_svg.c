/* The static picture of a timeline, for documents: lanes of cells that show shares. */
#include "draw/timeline_parts.h"

#include "base/err.h"
#include "draw/flame_tree.h"
#include "table/unit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define GUTTER	 150.0
#define LANE	 14.0
#define TOP	 56.0
#define AXIS	 20.0 /* height of the time axis, below the lanes */
#define TICK_MIN 90.0 /* between two ticks, at least */
#define LEVELS	 14   /* heights of a share */
#define CPUS_MAX 256  /* lanes */

enum { RUN, WAIT, BLOCK, SLEEP, NCLASSES };

/* A lane has a share for each cell and class; which lane a thread or a CPU has. */
struct cells {
	const struct timeline *t;
	struct buf text; /* of numbers */
	struct out *out;
	uint32_t ncpus, ntasks, n; /* cells of a lane */
	uint32_t *lane_of_thread;  /* UINT32_MAX: none */
	uint64_t *run;		   /* by thread: ns */
	float *share;		   /* [lane][class][cell] */
	double cell;		   /* ns */
	uint8_t *base;		   /* by cell: how high the classes drawn so far are */
	uint8_t *is_d;		   /* by text: a state that begins with D */
	uint8_t *on_path;	   /* by thread */
};

static int learn(void *ctx, const struct timeline_interval *iv)
{
	struct cells *c = ctx;

	if (strcmp(c->t->kinds[iv->kind], "oncpu") != 0)
		return 0;
	if (iv->cpu != UINT32_MAX && iv->cpu >= c->ncpus)
		c->ncpus = iv->cpu + 1;
	if (!iv->open)
		c->run[iv->who] += iv->dur;
	return 0;
}

static void fill(struct cells *c, uint32_t lane, int class, const struct timeline_interval *iv)
{
	double from = (double)iv->start / c->cell, to = (double)(iv->start + iv->dur) / c->cell;
	float *v = c->share + ((size_t)lane * NCLASSES + (size_t) class) * c->n;

	for (uint32_t i = (uint32_t)from; i < c->n && i < to; i++) {
		double a = from > i ? from : i, b = to < i + 1 ? to : i + 1;

		v[i] += (float)(b - a);
	}
}

static int take(void *ctx, const struct timeline_interval *iv)
{
	struct cells *c = ctx;
	const char *kind = c->t->kinds[iv->kind];
	int class;

	if (iv->open || !timeline_is_thread(kind) || !strcmp(kind, "offcpu"))
		return 0;
	class = !strcmp(kind, "oncpu")	? RUN
		: !strcmp(kind, "runq") ? WAIT
		: c->is_d[iv->name]	? BLOCK
					: SLEEP;
	if (class == RUN && iv->cpu < c->ncpus)
		fill(c, iv->cpu, RUN, iv);
	if (c->lane_of_thread[iv->who] != UINT32_MAX)
		fill(c, c->lane_of_thread[iv->who], class, iv);
	return 0;
}

static int by_run(const void *a, const void *b, void *ctx)
{
	const struct cells *c = ctx;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	uint64_t x = c->run[i], y = c->run[k];

	if (c->on_path[i] != c->on_path[k])
		return c->on_path[i] ? -1 : 1;
	return x < y ? 1 : x > y ? -1 : 0;
}

static void addf(struct cells *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void addf(struct cells *c, const char *fmt, ...)
{
	va_list ap;

	buf_reset(&c->text);
	va_start(ap, fmt);
	buf_vaddf(&c->text, fmt, ap);
	va_end(ap);
	if (c->text.err)
		c->out->err = c->text.err;
	else
		out_add(c->out, c->text.data, c->text.len);
}

static void add_clean(struct cells *c, const char *s)
{
	buf_reset(&c->text);
	xml_clean(&c->text, s, strlen(s));
	xml_escape(c->out, buf_str(&c->text), c->text.len);
}

static int level_of(float share)
{
	int level = share > 0 ? (int)(share * LEVELS + 0.999F) : 0;

	return level > LEVELS ? LEVELS : level;
}

/*
 * One class of a lane, on those before it: cells that look the same are one rectangle. The number
 * of rectangles; without `out` they are not drawn.
 */
static uint32_t draw_class(struct cells *c, uint32_t lane, int class, double width)
{
	static const char names[] = "rwbs";
	const float *v = c->share + ((size_t)lane * NCLASSES + (size_t) class) * c->n;
	double y = TOP + lane * (LANE + 2), step = width / c->n;
	uint32_t rects = 0;

	for (uint32_t i = 0, k; i < c->n; i = k) {
		int base = c->base[i], level = level_of(v[i]);

		level = level > LEVELS - base ? LEVELS - base : level;
		for (k = i; k < c->n && c->base[k] == base; k++) {
			int other = level_of(v[k]);

			if ((other > LEVELS - base ? LEVELS - base : other) != level)
				break;
			c->base[k] = (uint8_t)(base + level);
		}
		if (!level)
			continue;
		rects++;
		if (c->out)
			addf(c,
			     "<rect class=\"%c\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
			     "height=\"%.1f\"/>\n",
			     names[class], GUTTER + i * step,
			     y + LANE - (base + level) * LANE / LEVELS, (k - i) * step,
			     level * LANE / LEVELS);
	}
	return rects;
}

static uint32_t draw_classes(struct cells *c, uint32_t lane, double width)
{
	uint32_t rects = 1;

	memset(c->base, 0, c->n);
	for (int class = 0; class < NCLASSES; class ++)
		rects += draw_class(c, lane, class, width);
	return rects;
}

static void draw_lane(struct cells *c, uint32_t lane, uint32_t thread, double width)
{
	double y = TOP + lane * (LANE + 2);

	addf(c, "<rect class=\"l\" x=\"%g\" y=\"%.1f\" width=\"%.1f\" height=\"%g\"/>\n", GUTTER, y,
	     width, LANE);
	addf(c, "<text x=\"%g\" y=\"%.1f\" text-anchor=\"end\">", GUTTER - 6, y + LANE - 3);
	if (lane < c->ncpus) {
		addf(c, "CPU %u", lane);
	} else {
		const char *name = timeline_text(c->t, c->t->threads[thread].name);
		int n = (int)strnlen(name, 16);

		while (n && ((uint8_t)name[n] & 0xc0) == 0x80)
			n--;
		buf_reset(&c->text);
		xml_clean(&c->text, name, (size_t)n);
		xml_escape(c->out, buf_str(&c->text), c->text.len);
		addf(c, " %u", c->t->threads[thread].tid);
	}
	addf(c, "</text>\n");
	draw_classes(c, lane, width);
}

static void add_head(struct cells *c, const struct timeline_opts *o, double width, double height)
{
	const char *title = o->title ? o->title : "Timeline";

	addf(c,
	     "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
	     "width=\"%g\" height=\"%.0f\" viewBox=\"0 0 %g %.0f\" "
	     "font-family=\"Verdana,DejaVu Sans,sans-serif\" font-size=\"11\">\n<title>",
	     width, height, width, height);
	add_clean(c, title);
	addf(c, "</title>\n");
	if (o->notes) {
		addf(c, "<desc>");
		add_clean(c, o->notes);
		addf(c, "</desc>\n");
	}
	addf(c,
	     "<style>\n:root { color-scheme: light dark; }\n"
	     "text { fill: #222; } #back { fill: #fff; } .l { fill: #f0f1f4; }\n"
	     ".a { stroke: #000; stroke-opacity: 0.25; fill: none; }\n"
	     ".p { fill: none; stroke: #aa1f9b; stroke-width: 2; stroke-linejoin: round; } "
	     ".r { fill: #4477aa; } .w { fill: #ddaa33; } .b { fill: #bb5566; } .s { fill: #d5d8dd; }\n"
	     "@media (prefers-color-scheme: dark) { text { fill: #ddd; } #back { fill: #1b1c1f; } "
	     ".l { fill: #24262b; } .a { stroke: #fff; stroke-opacity: 0.3; } .r { fill: #6fa3d8; } .w { fill: #e0b84e; } "
	     ".b { fill: #d2768a; } .s { fill: #3d4148; } .p { stroke: #ff8af0; } }\n</style>\n"
	     "<rect id=\"back\" width=\"100%%\" height=\"100%%\"/>\n"
	     "<text x=\"%g\" y=\"22\" font-size=\"16\" text-anchor=\"middle\">",
	     width / 2);
	add_clean(c, title);
	addf(c, "</text>\n<text x=\"%g\" y=\"42\">", GUTTER);
	add_clean(c, o->subtitle ? o->subtitle
				 : "running (blue), runnable (yellow), blocked in state D "
				   "(red), sleeping (grey); height: share of a cell's time");
	addf(c, "</text>\n");
}

/* The time between two ticks: 1, 2 or 5 of a power of ten. */
static double tick_step(double span, double width)
{
	static const double factors[] = {1, 2, 5};
	double least = span * TICK_MIN / width;

	for (double power = 1;; power *= 10)
		for (size_t i = 0; i < sizeof(factors) / sizeof(*factors); i++)
			if (factors[i] * power >= least)
				return factors[i] * power;
}

/* The time since the beginning: a line at each tick, with its time where there is room. */
static void add_axis(struct cells *c, double y, double width)
{
	double span = (double)(c->t->last - c->t->first);
	double step = tick_step(span > 1 ? span : 1, width);
	struct buf b = BUF_INIT;

	addf(c, "<path class=\"a\" d=\"M%g %.1fh%.1f\"/>\n", GUTTER, y, width);
	for (uint32_t i = 0; i * step <= span; i++) {
		double x = GUTTER + (span > 0 ? i * step / span * width : 0);

		buf_reset(&b);
		unit_add_short(&b, i * step, "ns");
		addf(c, "<path class=\"a\" d=\"M%.1f %gV%.1f\"/>\n", x, TOP - 2, y + 4);
		if (x + TICK_MIN / 2 > GUTTER + width)
			continue;
		addf(c, "<text class=\"t\" x=\"%.1f\" y=\"%.1f\"%s>%s</text>\n", x, y + 15,
		     i ? " text-anchor=\"middle\"" : "", i ? buf_str(&b) : "0");
	}
	if (b.err)
		c->out->err = b.err;
	buf_release(&b);
}

/* The longest critical path. */
static void add_path(struct cells *c, double width)
{
	double span = (double)(c->t->last - c->t->first);
	struct timeline_geometry g = {.lane_of_thread = c->lane_of_thread,
				      .x = GUTTER,
				      .per_ns = span > 0 ? width / span : 0,
				      .y = TOP + LANE / 2,
				      .height = LANE + 2};
	struct buf d = BUF_INIT;
	int rc = timeline_line(c->t, &g, &d);

	if (!rc && d.len)
		addf(c,
		     "<path class=\"p\" d=\"%s\"><title>the longest critical path</title></path>\n",
		     buf_str(&d));
	if (rc)
		c->out->err = rc;
	buf_release(&d);
}

static void add_foot(struct cells *c, uint32_t hidden, double y)
{
	struct buf b = BUF_INIT;

	unit_add_short(&b, (double)(c->t->last - c->t->first), "ns");
	addf(c,
	     "<text id=\"foot\" x=\"%g\" y=\"%.1f\">%s from %" PRIu64 ".%06" PRIu64
	     " s on; %" PRIu64 " intervals in cells of ",
	     GUTTER, y, buf_str(&b), c->t->first / 1000000000, c->t->first % 1000000000 / 1000,
	     c->t->account.intervals);
	buf_reset(&b);
	unit_add_short(&b, c->cell, "ns");
	addf(c, "%s", buf_str(&b));
	if (hidden)
		addf(c, "; not shown: %u threads that ran less", hidden);
	if (c->t->account.open)
		addf(c, "; left out: %" PRIu64 " unfinished", c->t->account.open);
	if (c->t->account.losses)
		addf(c, "; events were lost");
	if (c->t->account.partial)
		addf(c, "; partial: the input was damaged or cut off");
	addf(c, "</text>\n</svg>\n");
	if (b.err || c->text.err)
		c->out->err = PP_ENOMEM;
	buf_release(&b);
}

/* The threads on the path get lanes, then those that ran longest. */
static int choose(struct cells *c, uint32_t **order)
{
	const struct timeline *t = c->t;
	const char *text = buf_str(&t->texts);
	uint32_t n = t->nthreads;

	*order = malloc((n + 1) * sizeof(**order));
	c->lane_of_thread = malloc((n + 1) * sizeof(*c->lane_of_thread));
	c->is_d = calloc((size_t)t->ntexts + 1, 1);
	if (!*order || !c->lane_of_thread || !c->is_d)
		return PP_ENOMEM;
	for (uint32_t i = 1; i <= t->ntexts; i++, text += strlen(text) + 1)
		c->is_d[i] = *text == 'D';
	for (uint32_t i = 0; i < n; i++)
		(*order)[i] = i + 1;
	qsort_r(*order, n, sizeof(**order), by_run, c);
	c->ntasks = n < TIMELINE_TASKS_MAX ? n : TIMELINE_TASKS_MAX;
	memset(c->lane_of_thread, 0xff, (n + 1) * sizeof(*c->lane_of_thread));
	for (uint32_t i = 0; i < c->ntasks; i++)
		c->lane_of_thread[(*order)[i]] = c->ncpus + i;
	return 0;
}

/* Makes cells of a pixel, or of more until there are few enough rectangles. 0 or PP_ENOMEM. */
static int fit(struct cells *c, uint32_t lanes, double width)
{
	uint32_t rects;
	int rc;

	c->base = malloc((size_t)width + 1);
	c->share = malloc((size_t)lanes * NCLASSES * (size_t)width * sizeof(*c->share));
	if (!c->base || !c->share)
		return PP_ENOMEM;
	for (c->n = (uint32_t)width; c->n; c->n /= 2) {
		c->cell = (double)(c->t->last - c->t->first) / c->n;
		c->cell = c->cell > 0 ? c->cell : 1;
		memset(c->share, 0, (size_t)lanes * NCLASSES * c->n * sizeof(*c->share));
		rc = timeline_each(c->t, take, c);
		if (rc)
			return rc;
		rects = 0;
		for (uint32_t i = 0; i < lanes; i++)
			rects += draw_classes(c, i, width);
		if (rects < TIMELINE_RECTS_MAX)
			break;
	}
	return 0;
}

int timeline_svg(struct timeline *t, const struct timeline_opts *o, struct out *out)
{
	struct cells c = {.t = t};
	double width = o->width >= 300 ? o->width : 1200, inner = width - GUTTER - 10;
	uint32_t lanes, *order = NULL;
	int rc;

	if (!(t->account.intervals + t->account.open))
		return PP_END;
	c.run = calloc((size_t)t->nthreads + 1, sizeof(*c.run));
	c.on_path = calloc((size_t)t->nthreads + 1, 1);
	rc = c.run && c.on_path ? timeline_each(t, learn, &c) : PP_ENOMEM;
	if (!rc)
		rc = timeline_line_threads(t, c.on_path);
	c.ncpus = c.ncpus > CPUS_MAX ? CPUS_MAX : c.ncpus;
	if (!rc)
		rc = choose(&c, &order);
	lanes = c.ncpus + c.ntasks;
	if (!rc)
		rc = fit(&c, lanes, inner);
	c.out = out;
	if (!rc) {
		add_head(&c, o, width, TOP + lanes * (LANE + 2) + AXIS + 24);
		for (uint32_t i = 0; i < lanes; i++)
			draw_lane(&c, i, i < c.ncpus ? 0 : order[i - c.ncpus], inner);
		add_path(&c, inner);
		add_axis(&c, TOP + lanes * (LANE + 2), inner);
		add_foot(&c, t->nthreads - c.ntasks, TOP + lanes * (LANE + 2) + AXIS + 14);
		rc = out->err;
	}
	buf_release(&c.text);
	free(c.run);
	free(c.on_path);
	free(c.share);
	free(c.base);
	free(c.is_d);
	free(c.lane_of_thread);
	free(order);
	return rc;
}
