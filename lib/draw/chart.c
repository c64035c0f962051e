/* Charts: which view a table gets, the style, the head and the foot around the panels. */
#include "draw/chart.h"

#include "base/err.h"
#include "draw/plot.h"
#include "draw/flame_tree.h"

#include <math.h>
#include <string.h>

/* clang-format off */
static const char style[] =
	":root { color-scheme: light dark; }\n"
	"text { fill: #333; }\n"
	".h { font-weight: bold; fill: #111; }\n"
	".t, .f { fill: #666; font-size: 90%; }\n"
	".e { text-anchor: end; }\n"
	".a { stroke: #999; fill: none; }\n"
	".g { stroke: #000; stroke-opacity: .09; fill: none; }\n"
	".b { fill: #3b7dd8; }\n"
	".d { fill: #3b7dd8; fill-opacity: .55; }\n"
	".m { stroke: #d1361f; fill: none; stroke-width: 1.5; }\n"
	".p { fill: #d1361f; font-size: 90%; }\n"
	".l { fill: none; stroke-width: 1.6; stroke-linejoin: round; }\n"
	".o { fill: #000; fill-opacity: 0; }\n"
	".o:hover { fill-opacity: .07; }\n"
	".b:hover, .d:hover { fill: #f28e2b; fill-opacity: 1; }\n"
	".c path:hover { stroke: #000; }\n"
	"@media (prefers-color-scheme: dark) {\n"
	"#back { fill: #1b1c1f; }\n"
	"text { fill: #ddd; }\n"
	".h { fill: #fff; }\n"
	".t, .f { fill: #aaa; }\n"
	".a { stroke: #777; }\n"
	".g { stroke: #fff; stroke-opacity: .13; }\n"
	".o { fill: #fff; }\n"
	".m { stroke: #ff7a5c; }\n"
	".p { fill: #ff7a5c; }\n"
	".c path:hover { stroke: #fff; }\n"
	"}\n";
/* clang-format on */

static const char *const views[] = {
	[CHART_AUTO] = "auto",	 [CHART_BARS] = "bars", [CHART_HIST] = "hist",
	[CHART_LINES] = "lines", [CHART_HEAT] = "heat",
};

int chart_view_option(const char *name, enum chart_view *view, struct buf *why)
{
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		if (!strcmp(name, views[i])) {
			*view = (enum chart_view)i;
			return 0;
		}
	}
	buf_adds(why, "--view: no view ");
	buf_add_safe(why, name, strlen(name));
	buf_adds(why, "; there are: auto bars hist lines heat");
	return PP_EUSAGE;
}

static bool has_window(const struct table *t)
{
	for (uint32_t k = 0; k < t->nkeys; k++)
		if (t->keys[k].kind == TABLE_WINDOW)
			return true;
	return false;
}

/* What a panel is drawn as: a view that it has no data for becomes another one. */
static enum chart_view view_of(const struct tables *ts, const struct chart_opts *o,
			       const struct panel *p)
{
	bool hist = p->t->values[p->v].kind == TABLE_HIST;
	enum chart_view view = o->view;

	if (view == CHART_AUTO && has_window(p->t))
		view = hist && !strcmp(ts->view, "heat") ? CHART_HEAT : CHART_LINES;
	if ((view == CHART_HEAT && !hist) || (view == CHART_HEAT && !has_window(p->t)))
		view = CHART_LINES;
	if (view == CHART_LINES && !has_window(p->t))
		view = CHART_AUTO;
	if (view == CHART_AUTO)
		view = hist && table_total(p->t, p->v) != 0 && p->t->nordered < 2 && !p->chosen
			       ? CHART_HIST
			       : CHART_BARS;
	return view == CHART_HIST && !hist ? CHART_BARS : view;
}

static int draw_view(struct chart *c, const struct tables *ts, const struct panel *p)
{
	switch (view_of(ts, c->o, p)) {
	case CHART_HIST: return chart_hist(c, p);
	case CHART_LINES: return chart_lines(c, p);
	case CHART_HEAT: return chart_heat(c, p);
	case CHART_AUTO:
	case CHART_BARS: break;
	}
	return chart_bars(c, p);
}

/* A panel is a group that tells the script what of it stretches. */
static int draw_panel(struct chart *c, const struct tables *ts, const struct panel *p)
{
	struct buf before = c->b;
	int rc;

	c->b = (struct buf)BUF_INIT;
	buf_reset(&c->flex);
	rc = draw_view(c, ts, p);
	buf_addf(&before, "<g data-flex=\"%s\">\n", buf_str(&c->flex));
	buf_add(&before, c->b.data, c->b.len);
	buf_adds(&before, "</g>\n");
	before.err = before.err ? before.err : c->b.err ? c->b.err : c->flex.err;
	buf_release(&c->b);
	c->b = before;
	return rc;
}

/* Which statistic is drawn: the one asked for, if the value has it. */
static int choose_stat(const struct chart_opts *o, struct panel *p)
{
	enum table_value_kind kind = p->t->values[p->v].kind;

	p->stat = kind == TABLE_COUNT ? TABLE_STAT_COUNT : TABLE_STAT_SUM;
	if (!o->stat)
		return 0;
	for (int i = 0; i < TABLE_NSTATS; i++) {
		if (!strcmp(o->stat, table_stat_name((enum table_stat)i)) &&
		    table_has(kind, (enum table_stat)i)) {
			p->stat = (enum table_stat)i;
			p->chosen = true;
			return 0;
		}
	}
	return PP_ENOENT;
}

static int draw_table(struct chart *c, const struct tables *ts, struct table *t, uint32_t *panels)
{
	int rc = t->sorted ? 0 : table_keep_order(t);

	for (uint32_t v = 0; v < t->nvalues && !rc; v++) {
		struct panel p = {.t = t, .v = v};

		if ((c->o->value && strcmp(c->o->value, t->values[v].name) != 0) ||
		    !table_nordered(t) || *panels >= CHART_PANELS_MAX)
			continue;
		rc = choose_stat(c->o, &p);
		if (!rc)
			rc = draw_panel(c, ts, &p);
		c->y += c->em * 0.8;
		++*panels;
	}
	return rc;
}

/* What the picture lacks. */
static void add_foot(struct chart *c, const struct tables *ts)
{
	struct buf s = BUF_INIT;
	uint64_t folded = 0;

	for (uint32_t i = 0; i < ts->n; i++)
		folded += ts->v[i]->folded;
	if (c->left_out)
		buf_addf(&s, "; not drawn: %llu rows", (unsigned long long)c->left_out);
	if (folded)
		buf_addf(&s, "; %llu rare rows are in " TABLE_OTHER, (unsigned long long)folded);
	if (ts->lost)
		buf_addf(&s, "; the recording lost %llu events", (unsigned long long)ts->lost);
	if (ts->partial)
		buf_adds(&s, "; partial: the input was damaged or cut off");
	if (s.len) {
		c->y += c->em;
		plot_label(c, PLOT_MARGIN, c->y, "start", "f", buf_str(&s) + 2);
		c->y += c->em * 0.5;
	}
	c->b.err = c->b.err ? c->b.err : s.err;
	buf_release(&s);
}

static void add_head(const struct chart *c, const char *title, double top, struct buf *b)
{
	const struct chart_opts *o = c->o;
	double height = ceil(top + c->y + PLOT_MARGIN);

	buf_addf(b,
		 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%.0f\" "
		 "viewBox=\"0 0 %g %.0f\" font-family=\"Verdana,DejaVu Sans,sans-serif\" "
		 "font-size=\"%g\">\n<title>",
		 o->width, height, o->width, height, o->font_size);
	plot_text(b, title, strlen(title));
	buf_adds(b, "</title>\n");
	if (o->notes) {
		buf_adds(b, "<desc>");
		plot_text(b, o->notes, strlen(o->notes));
		buf_adds(b, "</desc>\n");
	}
	buf_addf(b,
		 "<style>\n%s</style>\n"
		 "<rect id=\"back\" width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
		 "<text x=\"%g\" y=\"%g\" font-size=\"%g\" text-anchor=\"middle\" class=\"h\">",
		 style, o->width / 2, o->font_size * 1.4 + 10, o->font_size * 1.4);
	plot_text(b, title, strlen(title));
	buf_adds(b, "</text>\n");
	if (o->subtitle) {
		buf_addf(b, "<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">", o->width / 2,
			 o->font_size * 2.9 + 10);
		plot_text(b, o->subtitle, strlen(o->subtitle));
		buf_adds(b, "</text>\n");
	}
	buf_addf(b, "<g transform=\"translate(0 %.0f)\">\n", top);
}

/* The name of the only table, or of the first two and how many there are more. */
static void add_title(const struct tables *ts, const struct chart_opts *o, struct buf *b)
{
	if (o->title) {
		buf_adds(b, o->title);
		return;
	}
	for (uint32_t i = 0; i < ts->n && i < 2; i++)
		buf_addf(b, "%s%s", !i ? "" : ts->n > 2 ? ", " : " and ", ts->v[i]->name);
	if (ts->n > 2)
		buf_addf(b, " and %u more", ts->n - 2);
}

int chart_svg(struct tables *ts, const struct chart_opts *o, struct out *out)
{
	struct chart_opts fitted = *o;
	struct chart c = {.o = &fitted, .em = o->font_size};
	double top = ceil(o->font_size * (o->subtitle ? 3.6 : 1.9) + 10);
	struct buf head = BUF_INIT, title = BUF_INIT;
	uint32_t panels = 0;
	int rc = 0;

	/* Names and numbers need some room beside what is drawn. */
	fitted.width = fmax(o->width, o->font_size * 40);
	c.titled = !o->title && ts->n == 1;
	for (uint32_t i = 0; i < ts->n && !rc; i++)
		rc = draw_table(&c, ts, ts->v[i], &panels);
	if (!rc && !panels)
		rc = PP_END;
	if (!rc) {
		add_foot(&c, ts);
		add_title(ts, o, &title);
		add_head(&c, buf_str(&title), top, &head);
		rc = c.b.err ? c.b.err : title.err ? title.err : head.err;
	}
	if (!rc) {
		out_add(out, buf_str(&head), head.len);
		out_add(out, buf_str(&c.b), c.b.len);
		out_add(out, "</g>\n", 5);
		if (!o->fixed) {
			out_add(out, "<script><![CDATA[\n", 18);
			out_add(out, draw_chart_script, strlen(draw_chart_script));
			out_add(out, "]]></script>\n", 13);
		}
		rc = out_add(out, "</svg>\n", 7);
	}
	buf_release(&head);
	buf_release(&title);
	buf_release(&c.b);
	buf_release(&c.flex);
	return rc;
}
