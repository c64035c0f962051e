/* The command line of psvg. */
#include "draw/psvg_options.h"

#include "base/err.h"

#include <strings.h>

/* clang-format off */
enum { OPT_SUBTITLE = OPT_NO_SHORT, OPT_WIDTH, OPT_FRAME_HEIGHT, OPT_MIN_WIDTH, OPT_FONT_SIZE,
       OPT_COUNT_NAME, OPT_HASH, OPT_NOTES, OPT_STATS, OPT_VIEW, OPT_VALUE, OPT_STAT,
       OPT_TIMELINE, OPT_DIFF, OPT_LEAF, OPT_RAW, OPT_GONE,
       OPT_NEGATE, OPT_HTML, OPT_FONT, OPT_BACK, OPT_NAME_TYPE, OPT_TOTAL, OPT_FACTOR, OPT_CHART,
       OPT_ENCODING };
/* clang-format on */

const struct opt picture_options[] = {
	{'t', "title", "TEXT", "heading (default \"Flame Graph\")"},
	{OPT_SUBTITLE, "subtitle", "TEXT", "second line of the heading"},
	{'i', "inverted", NULL, "icicle graph: the root is at the top"},
	{'r', "reverse", NULL, "merge stacks starting at the leaf"},
	{'c', "colors", "PALETTE",
	 "hot (default), mem, io, red, green, blue, aqua, yellow, purple, orange, wakeup, chain, "
	 "java, js, perl; kind or safe: kernel, inlined, JIT, C++, others; wall: states"},
	{OPT_HASH, "hash", NULL, "colours depend only on the name: always on"},
	{OPT_HASH, "cp", NULL, "a name has one colour in all graphs: always on"},
	{OPT_BACK, "bgcolors", "COLOUR", "background: #rrggbb, yellow, blue, green, grey, white"},
	{'s', "search", "REGEX", "highlight matches when the graph is opened"},
	{OPT_WIDTH, "width", "PIXELS", "fixed width (default: the window's, otherwise 1200)"},
	{OPT_FRAME_HEIGHT, "frame-height", "PIXELS", "height of a frame (default 16)"},
	{OPT_FRAME_HEIGHT, "height", "PIXELS", "the same as --frame-height"},
	{OPT_FONT_SIZE, "font-size", "PIXELS", "size of the text (default 12)"},
	{OPT_FONT_SIZE, "fontsize", "PIXELS", "the same as --font-size"},
	{OPT_FONT, "font", "NAME", "font of the text"},
	{OPT_FONT, "fonttype", "NAME", "the same as --font"},
	{OPT_ENCODING, "encoding", "NAME", "utf-8 (the only one written)"},
	{OPT_MIN_WIDTH, "min-width", "PIXELS",
	 "leave out narrower frames (default 0.1); or NUMBER%"},
	{OPT_MIN_WIDTH, "minwidth", "PIXELS", "the same as --min-width"},
	{OPT_COUNT_NAME, "count-name", "TEXT", "what is counted: samples, ns, ..."},
	{OPT_COUNT_NAME, "countname", "TEXT", "the same as --count-name"},
	{OPT_NAME_TYPE, "nametype", "TEXT", "text before a name in the details"},
	{'e', "event", "EVENT", "draw the samples of EVENT; all: each event is a root"},
	{OPT_FACTOR, "factor", "NUMBER", "multiply all counts"},
	{OPT_TOTAL, "total", "NUMBER", "value of the root, if more than the sum of counts"},
	{OPT_CHART, "flamechart", NULL, "stacks are in time order: keep it"},
	{OPT_HTML, "html", NULL, "a page: views, table of functions, sandwich, hiding"},
	{OPT_VIEW, "view", "VIEW", "for a table: bars, hist, lines, heat (default: by the table)"},
	{OPT_VALUE, "value", "NAME", "for a table: only this value"},
	{OPT_STAT, "stat", "NAME", "for a table: draw count, sum, mean, p99, ..."},
	{OPT_TIMELINE, "timeline", "[FORM]", "for plat --timeline: html (default) or a static svg"},
	{OPT_DIFF, "diff", NULL, "BASE NEW, or text with two counts: colour the difference"},
	{OPT_GONE, "gone", NULL, "with --diff: draw the frames that are gone"},
	{OPT_LEAF, "leaf", NULL, "with --diff: colour frames without their callees' difference"},
	{OPT_RAW, "raw", NULL, "with --diff: do not scale the base to the same total"},
	{OPT_NEGATE, "negate", NULL, "with --diff: red is less, blue is more"},
	{OPT_NOTES, "notes", "TEXT", "put TEXT into the description inside the SVG"},
	{OPT_STATS, "stats", NULL, "print a summary of what was read and drawn"},
	{0},
};

const struct opt_rule picture_rules[] = {
	{"diff", "flamechart total factor", NULL},
	{"html", "timeline", NULL},
	{0},
};

const struct opt_effect picture_effects[] = {
	{"inverted reverse colors hash cp bgcolors search frame-height height font fonttype "
	 "min-width minwidth count-name countname nametype event factor total flamechart html "
	 "diff gone leaf raw negate",
	 PICTURE_STACKS},
	{"font-size fontsize", PICTURE_STACKS | PICTURE_TABLES},
	{"view value stat", PICTURE_TABLES},
	{"timeline", PICTURE_TIMELINE},
	{0},
};

static int number_option(struct picture_command *c, int id, const char *arg, struct buf *why)
{
	struct flame_opts *f = &c->o.flame;
	struct timeline_opts *line = &c->o.timeline;
	struct chart_opts *t = &c->o.chart;
	double total;
	int rc = 0;

	switch (id) {
	case OPT_WIDTH:
		f->fixed = t->fixed = true;
		rc = opt_double("width", arg, 100, 100000, &f->width, NULL, why);
		t->width = line->width = f->width;
		break;
	case OPT_FRAME_HEIGHT:
		return opt_double("frame-height", arg, 4, 200, &f->frame_height, NULL, why);
	case OPT_FONT_SIZE:
		rc = opt_double("font-size", arg, 4, 100, &f->font_size, NULL, why);
		t->font_size = f->font_size;
		break;
	case OPT_MIN_WIDTH:
		return opt_double("min-width", arg, 0, 100, &f->min_width, &f->min_percent, why);
	case OPT_FACTOR: return opt_double("factor", arg, 1e-12, 1e12, &c->o.factor, NULL, why);
	case OPT_TOTAL:
		rc = opt_double("total", arg, 0, 1e24, &total, NULL, why);
		f->total = (long double)total;
		break;
	case OPT_ENCODING:
		if (!strcasecmp(arg, "utf-8") || !strcasecmp(arg, "utf8"))
			break;
		buf_adds(why, "--encoding: the output is always UTF-8");
		return PP_EUSAGE;
	}
	return rc;
}

int picture_option(void *ctx, int id, const char *arg, struct buf *why)
{
	struct picture_command *c = ctx;
	struct flame_opts *f = &c->o.flame;
	struct timeline_opts *line = &c->o.timeline;
	struct chart_opts *t = &c->o.chart;

	switch (id) {
	case 't': f->title = t->title = line->title = arg; break;
	case OPT_SUBTITLE: f->subtitle = t->subtitle = line->subtitle = arg; break;
	case 'i': f->inverted = true; break;
	case 'r': c->reverse = f->reverse = true; break;
	case 'c': f->coloured = true; return flame_palette_option(arg, &f->palette, why);
	case 's': f->search = arg; break;
	case 'e': c->event = arg; break;
	case OPT_COUNT_NAME: f->count_name = arg; break;
	case OPT_NOTES: f->notes = t->notes = line->notes = arg; break;
	case OPT_VIEW: return chart_view_option(arg, &t->view, why);
	case OPT_VALUE: t->value = arg; break;
	case OPT_STAT: t->stat = arg; break;
	case OPT_TIMELINE: return timeline_form(arg, &c->o.timeline_svg, why);
	case OPT_DIFF: c->diff = true; break;
	case OPT_GONE: c->diff = f->gone = true; break;
	case OPT_LEAF: c->diff = f->leaf = true; break;
	case OPT_RAW: c->diff = f->raw = true; break;
	case OPT_NEGATE: c->diff = f->negate = true; break;
	case OPT_STATS: c->stats = true; break;
	case OPT_HTML: c->o.page = true; break;
	case OPT_CHART: c->chart = true; break;
	case OPT_FONT: f->font = arg; break;
	case OPT_NAME_TYPE: f->name_type = arg; break;
	case OPT_BACK: return flame_back_option(arg, f->back, why);
	default: return number_option(c, id, arg, why);
	}
	return 0;
}
