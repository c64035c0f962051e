/* What all panels of a chart need: text, scales, axes, bins of histograms, colours. */
#include "draw/plot.h"

#include "base/err.h"
#include "draw/flame_tree.h"
#include "table/unit.h"

#include <math.h>
#include <stdlib.h>

#define NANO 1000000000

/* ---- text ---- */

void plot_text(struct buf *b, const char *s, size_t n)
{
	struct buf clean = BUF_INIT;

	xml_clean(&clean, s, n);
	for (size_t i = 0; i < clean.len; i++) {
		switch (clean.data[i]) {
		case '&': buf_adds(b, "&amp;"); break;
		case '<': buf_adds(b, "&lt;"); break;
		case '>': buf_adds(b, "&gt;"); break;
		case '"': buf_adds(b, "&quot;"); break;
		default: buf_addc(b, (char)clean.data[i]);
		}
	}
	b->err = b->err ? b->err : clean.err;
	buf_release(&clean);
}

void plot_label(struct chart *c, double x, double y, const char *anchor, const char *class,
		const char *s)
{
	buf_addf(&c->b, "<text x=\"%.1f\" y=\"%.1f\"", x, y);
	if (strcmp(anchor, "start") != 0)
		buf_addf(&c->b, " text-anchor=\"%s\"", anchor);
	if (*class)
		buf_addf(&c->b, " class=\"%s\"", class);
	buf_addc(&c->b, '>');
	plot_text(&c->b, s, strlen(s));
	buf_adds(&c->b, "</text>\n");
}

/* What a text takes, and how much of it fits. */
static size_t measure(const struct chart *c, const char *s, double room, double *width)
{
	struct arena arena = ARENA_INIT;
	struct label l = {0};
	size_t fits = 0;

	*width = 0;
	if (*s && !label_make(&l, s, strlen(s), 0, &arena)) {
		*width = (double)l.em * c->em;
		fits = label_fit(&l, room, c->em);
	}
	arena_release(&arena);
	return fits;
}

double plot_width(const struct chart *c, const char *s)
{
	double width;

	measure(c, s, 0, &width);
	return width;
}

void plot_fit(const struct chart *c, struct buf *s, double width)
{
	struct buf clean = BUF_INIT;
	double all;
	size_t fits;

	/* The measure is of clean text: what is shortened has to be that. */
	xml_clean(&clean, buf_str(s), s->len);
	fits = measure(c, buf_str(&clean), width, &all);
	if (all > width) {
		buf_reset(s);
		buf_add(s, buf_str(&clean), fits);
		buf_adds(s, "..");
	}
	s->err = s->err ? s->err : clean.err;
	buf_release(&clean);
}

void plot_row_name(const struct table *t, uint32_t row, struct buf *b)
{
	bool first = true;

	for (uint32_t k = 0; k < t->nkeys; k++) {
		if (t->keys[k].kind == TABLE_WINDOW)
			continue;
		if (row == t->other && !first)
			break;
		buf_adds(b, first ? "" : ", ");
		table_key_add(t, row, k, b);
		first = false;
	}
}

void plot_time(struct buf *b, uint64_t ns)
{
	buf_addf(b, "%llu.%06u s", (unsigned long long)(ns / NANO), (unsigned)(ns % NANO / 1000));
}

void plot_panel_head(struct chart *c, const struct panel *p, const char *what)
{
	const struct table_value *v = &p->t->values[p->v];
	struct buf s = BUF_INIT;

	c->y += c->em * 1.3;
	if (*p->t->name && !c->titled && strcmp(p->t->name, v->name) != 0)
		buf_addf(&s, "%s: ", p->t->name);
	buf_addf(&s, "%s%s%s", v->name, *what ? ", " : "", what);
	if (*v->unit && !unit_known(v->unit) && p->stat != TABLE_STAT_COUNT)
		buf_addf(&s, " (%s)", v->unit);
	plot_fit(c, &s, c->o->width - 2 * PLOT_MARGIN);
	plot_label(c, PLOT_MARGIN, c->y, "start", "h", buf_str(&s));
	c->y += c->em * 0.9;
	c->b.err = c->b.err ? c->b.err : s.err;
	buf_release(&s);
}

/* ---- scales ---- */

static double position(const struct scale *s, double v)
{
	if (!s->log)
		return v;
	if (v < 0)
		return v > -1 ? v : -1 - log2(-v);
	return v < 1 ? v : 1 + log2(v);
}

struct scale plot_scale(bool log, double low, double high, double from, double to, const char *unit)
{
	struct scale s = {.log = log, .from = from, .to = to, .unit = unit};

	s.low = position(&s, low);
	s.high = position(&s, high);
	if (s.high - s.low < 1e-9)
		s.high = s.low + 1;
	return s;
}

void plot_stretches(struct chart *c, const struct scale *s)
{
	buf_addf(&c->flex, "%s%.1f %.1f", c->flex.len ? " " : "", s->from, s->to);
}

double plot_at(const struct scale *s, double v)
{
	return s->from + (position(s, v) - s->low) / (s->high - s->low) * (s->to - s->from);
}

static size_t linear_ticks(const struct scale *s, double least_gap, double *ticks)
{
	double gap = (s->high - s->low) / (fabs(s->to - s->from) / least_gap);
	double step = pow(10, floor(log10(gap))), first;
	size_t n = 0;

	if (step < gap)
		step *= gap <= 2 * step ? 2 : gap <= 5 * step ? 5 : 10;
	first = ceil(s->low / step - 1e-9) * step;
	for (int i = 0; n < PLOT_TICKS && first + i * step <= s->high + step * 1e-9; i++)
		ticks[n++] = first + i * step;
	return n;
}

static void add_tick(const struct scale *s, double v, double least_gap, double *ticks, size_t *n)
{
	double at = plot_at(s, v);

	if (position(s, v) < s->low - 1e-9 || position(s, v) > s->high + 1e-9 || *n == PLOT_TICKS ||
	    (*n && fabs(at - plot_at(s, ticks[*n - 1])) < least_gap))
		return;
	ticks[(*n)++] = v;
}

/* 1, 10, 100 ...; 2 and 5 in between where there is room; powers of 4 for bytes. */
static size_t log_ticks(const struct scale *s, double least_gap, double *ticks)
{
	bool bytes = !strcmp(s->unit, "bytes");
	double base = bytes ? 4 : 10, octave = fabs(s->to - s->from) / (s->high - s->low);
	bool fine = !bytes && octave > least_gap;
	int most = bytes ? 32 : 20;
	size_t n = 0;

	for (int i = most; i >= 0; i--)
		add_tick(s, -pow(base, i), least_gap, ticks, &n);
	add_tick(s, 0, least_gap, ticks, &n);
	for (int i = 0; i < most; i++) {
		add_tick(s, pow(base, i), least_gap, ticks, &n);
		if (fine) {
			add_tick(s, 2 * pow(base, i), least_gap, ticks, &n);
			add_tick(s, 5 * pow(base, i), least_gap, ticks, &n);
		}
	}
	return n;
}

/* Values for ticks, ascending; the number of them, at most PLOT_TICKS. */
static size_t make_ticks(const struct scale *s, double least_gap, double ticks[PLOT_TICKS])
{
	size_t n = s->log ? log_ticks(s, least_gap, ticks) : 0;

	if (n >= 2 || (s->log && n))
		return n;
	return linear_ticks(s, least_gap, ticks);
}

void plot_x_labels(struct chart *c, const struct scale *s, double y)
{
	double ticks[PLOT_TICKS];
	size_t n = make_ticks(s, c->em * 6, ticks);
	struct buf t = BUF_INIT;

	for (size_t i = 0; i < n; i++) {
		buf_reset(&t);
		unit_add_short(&t, ticks[i], s->unit);
		plot_label(c, plot_at(s, ticks[i]), y, "middle", "t", buf_str(&t));
	}
	c->b.err = c->b.err ? c->b.err : t.err;
	buf_release(&t);
}

void plot_x_axis(struct chart *c, const struct scale *s, double y, double top, const char *title)
{
	double ticks[PLOT_TICKS];
	size_t n = make_ticks(s, c->em * 6, ticks);

	buf_adds(&c->b, "<path class=\"g\" d=\"");
	for (size_t i = 0; i < n; i++)
		buf_addf(&c->b, "M%.1f %.1fV%.1f", plot_at(s, ticks[i]), top, y);
	buf_addf(&c->b, "\"/><path class=\"a\" d=\"M%.1f %.1fH%.1f\"/>\n", s->from, y, s->to);
	plot_x_labels(c, s, y + c->em * 1.25);
	if (*title)
		plot_label(c, (s->from + s->to) / 2, y + c->em * 2.6, "middle", "t", title);
}

void plot_y_axis(struct chart *c, const struct scale *s, double x, double right)
{
	double ticks[PLOT_TICKS];
	size_t n = make_ticks(s, c->em * 2.2, ticks);
	struct buf t = BUF_INIT;

	buf_adds(&c->b, "<path class=\"g\" d=\"");
	for (size_t i = 0; i < n; i++)
		buf_addf(&c->b, "M%.1f %.1fH%.1f", x, plot_at(s, ticks[i]), right);
	buf_addf(&c->b, "\"/><path class=\"a\" d=\"M%.1f %.1fV%.1f\"/>\n", x, s->from, s->to);
	for (size_t i = 0; i < n; i++) {
		buf_reset(&t);
		unit_add_short(&t, ticks[i], s->unit);
		plot_label(c, x - c->em * 0.5, plot_at(s, ticks[i]) + c->em * 0.35, "end", "t",
			   buf_str(&t));
	}
	c->b.err = c->b.err ? c->b.err : t.err;
	buf_release(&t);
}

bool plot_wants_log(hist_int min, hist_int max)
{
	return min < 0 ? max - min > 64 : max > 64 && max / 8 > min;
}

/* ---- distributions ---- */

/* Parts of a power of two, so that each has the least width: 1, 2, 4 ... 256. */
static double parts_of(const struct scale *s, double least)
{
	double octave = fabs(s->to - s->from) / (s->high - s->low), parts = 1;

	while (parts < 256 && octave / (parts * 2) >= least)
		parts *= 2;
	return parts;
}

void plot_bin_range(const struct scale *s, double least, hist_int v, double *low, double *high)
{
	double m = fabs((double)v), from, width;

	if (!s->log) {
		double step = (s->high - s->low) / (fabs(s->to - s->from) / least);

		/* Whole numbers have whole bins. */
		width = step < 1 ? 1 : ceil(step);
		*low = floor((double)v / width) * width;
		*high = *low + width;
		return;
	}
	if (m < 1) {
		*low = 0;
		*high = 1;
		return;
	}
	from = exp2(floor(log2(m) + 1e-12));
	width = from / parts_of(s, least);
	if (width < 1)
		width = 1;
	from += floor((m - from) / width) * width;
	*low = v < 0 ? -(from + width - 1) : from;
	*high = v < 0 ? -from + 1 : from + width;
}

static int add_bin(struct plot_bin **bins, size_t *n, size_t *cap, double low, double high,
		   uint64_t count)
{
	if (*n && (*bins)[*n - 1].low >= low) {
		(*bins)[*n - 1].count += count;
		return 0;
	}
	if (*n == *cap) {
		size_t more = *cap ? *cap * 2 : 64;
		struct plot_bin *v = realloc(*bins, more * sizeof(*v));

		if (!v)
			return PP_ENOMEM;
		*bins = v;
		*cap = more;
	}
	(*bins)[(*n)++] = (struct plot_bin){low, high, count};
	return 0;
}

int plot_bins(const struct hist *h, const struct scale *s, double least, struct plot_bin **bins,
	      size_t *n)
{
	bool linear = !s->log && h->step;
	const struct hist_buckets *from = linear ? &h->linear : &h->fine;
	uint64_t count;
	size_t cap = 0;
	int rc = 0;

	*bins = NULL;
	*n = 0;
	for (int32_t i = INT32_MIN; hist_next(from, &i, &count) && !rc;) {
		double low = (double)i * (double)h->step, high = low + (double)h->step;

		if (!linear)
			plot_bin_range(s, least, hist_bucket_name(i), &low, &high);
		rc = add_bin(bins, n, &cap, low, high, count);
	}
	if (rc) {
		free(*bins);
		*bins = NULL;
		*n = 0;
	}
	return rc;
}

/* ---- colours ---- */

const char *plot_colour(uint32_t i)
{
	static const char *const colours[] = {"#3b7dd8", "#e4572e", "#2a9d5c", "#b5179e",
					      "#e09f1f", "#1b9aaa", "#7a5195", "#8a5a44",
					      "#d1495b", "#6b8e23"};

	return colours[i % (sizeof(colours) / sizeof(colours[0]))];
}

/* From a light yellow over red to a dark violet: lighter is less, in print, too. */
void plot_heat(double v, char colour[8])
{
	static const uint8_t stops[][3] = {{255, 241, 178}, {254, 204, 92}, {253, 141, 60},
					   {227, 60, 47},   {160, 16, 74},  {77, 10, 82}};
	static const char digits[] = "0123456789abcdef";
	const int last = sizeof(stops) / sizeof(stops[0]) - 1;
	double at = (v < 0 ? 0 : v > 1 ? 1 : v) * last;
	int i = at >= last ? last - 1 : (int)at;

	colour[0] = '#';
	for (int k = 0; k < 3; k++) {
		int c = (int)(stops[i][k] + (at - i) * (stops[i + 1][k] - stops[i][k]) + 0.5);

		colour[1 + 2 * k] = digits[c >> 4 & 15];
		colour[2 + 2 * k] = digits[c & 15];
	}
	colour[7] = 0;
}
