/* The page of a flame graph: the whole tree as columns of numbers, from which its script draws. */
#include "draw/layout.h"
#include "draw/page.h"

#include "base/err.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Names that are none; those of functions follow. */
enum { NAME_MERGED, NAME_SELF, NAMES };

#define SCHEMES_MAX 16
#define INTEGER_MAX 9007199254740992.0L /* integers up to here are exact in a script */

/*
 * A number for each node, callers before callees, from left to right: how many levels it is above
 * the one that follows the node before, its name, and what it counts itself.
 */
struct columns {
	struct layout *l;
	struct buf up, name, self, base, verdict;
	struct buf when, threads;  /* samples, if their times are known */
	uint32_t *page_node;	   /* by node: its number in the page; NULL: not needed */
	struct buf names, classes; /* by name: text, ended by a NUL; its class in each scheme */
	uint32_t *number;	   /* by name of the tree: that of the page, or 0 */
	uint32_t n, nnames, depth; /* of the node before */
	uint32_t merged;	   /* frames that are too narrow, and wait */
	long double merged_total, merged_base;
	unsigned schemes[SCHEMES_MAX], nschemes;
	bool integers;
};

static void release(struct columns *c)
{
	buf_release(&c->up);
	buf_release(&c->name);
	buf_release(&c->self);
	buf_release(&c->base);
	buf_release(&c->verdict);
	buf_release(&c->when);
	buf_release(&c->threads);
	free(c->page_node);
	buf_release(&c->names);
	buf_release(&c->classes);
	free(c->number);
}

static bool is_integer(long double v)
{
	return v <= INTEGER_MAX && v == floorl(v);
}

static void add_value(struct columns *c, struct buf *b, long double v)
{
	double x = (double)v;

	if (c->integers) {
		page_number(b, (uint64_t)v);
		return;
	}
	for (unsigned i = 0; i < 8; i++) {
		uint64_t bits;

		memcpy(&bits, &x, sizeof(bits));
		buf_addc(b, (char)(bits >> 8 * i));
	}
}

static uint32_t name_of(struct columns *c, uint32_t name)
{
	size_t len;
	const char *s = intern_get(&c->l->f->names, name, &len);

	if (c->number[name])
		return c->number[name];
	if (len)
		xml_clean(&c->names, s, len);
	else
		buf_adds(&c->names, "(no name)");
	buf_addc(&c->names, 0);
	for (unsigned i = 0; i < c->nschemes; i++)
		buf_addc(&c->classes, (char)palette_class(c->schemes[i], s, len));
	return c->number[name] = c->nnames++;
}

static void put(struct columns *c, uint32_t depth, uint32_t name, long double self,
		long double base)
{
	page_number(&c->up, c->depth + 1 - depth);
	page_number(&c->name, name);
	add_value(c, &c->self, self);
	if (c->l->f->diff)
		add_value(c, &c->base, base);
	c->depth = depth;
	c->n++;
}

static void put_merged(struct columns *c, uint32_t depth)
{
	if (c->merged && (c->merged_total > 0 || c->merged_base > 0)) {
		put(c, depth, NAME_MERGED, c->merged_total, c->merged_base);
		if (c->l->f->diff)
			buf_addc(&c->verdict, 0);
	}
	c->merged = 0;
	c->merged_total = c->merged_base = 0;
}

static void put_node(struct columns *c, uint32_t node)
{
	const struct flame *f = c->l->f;
	uint32_t depth = paths_depth(&f->paths, node), name = paths_name(&f->paths, node);

	put_merged(c, depth);
	put(c, depth, name ? name_of(c, name) : NAME_SELF, flame_self(f, node),
	    f->diff ? flame_base(f, node) : 0);
	if (f->diff)
		buf_addc(&c->verdict, (char)(flame_diff_verdict(f, node) + 1));
}

static int put_nodes(struct columns *c)
{
	const struct layout *l = c->l;
	const struct flame_links *links = l->links; /* they are turned around */
	const struct paths *p = &l->f->paths;
	uint32_t node = links[FLAME_ROOT].last;

	while (node != FLAME_ROOT) {
		bool drawn = layout_draws(l, node);

		if (drawn || (!paths_name(p, node) && layout_total(l, node) > 0)) {
			put_node(c, node);
			if (c->page_node)
				c->page_node[node] = c->n;
		} else {
			c->merged++;
			c->merged_total += layout_total(l, node);
			c->merged_base += l->f->diff ? layout_base(l, node) : 0;
		}
		if (drawn && links[node].last != FLAME_ROOT) {
			node = links[node].last;
			continue;
		}
		while (node != FLAME_ROOT && links[node].before == FLAME_ROOT) {
			put_merged(c, paths_depth(p, node));
			node = paths_parent(p, node);
		}
		node = node == FLAME_ROOT ? node : links[node].before;
	}
	buf_inherit(&c->up, &c->name);
	buf_inherit(&c->up, &c->self);
	buf_inherit(&c->up, &c->base);
	buf_inherit(&c->up, &c->verdict);
	buf_inherit(&c->up, &c->names);
	buf_inherit(&c->up, &c->classes);
	return c->up.err;
}

/* What is below a frame that is merged counts for the frame below that is not. */
static int put_times(struct columns *c)
{
	struct flame *f = c->l->f;
	struct buf when = BUF_INIT, threads = BUF_INIT;
	int rc;

	for (uint32_t i = 1; i < f->paths.n; i++)
		if (!c->page_node[i])
			c->page_node[i] = c->page_node[paths_parent(&f->paths, i)];
	rc = flame_times_column(f, c->page_node, &when, &threads);
	c->when = when;
	c->threads = threads;
	return rc;
}

static int make_columns(struct columns *c)
{
	struct layout *l = c->l;
	const struct flame *f = l->f;
	uint8_t range[6];
	int rc;

	c->nnames = NAMES;
	c->number = calloc((size_t)f->names.n + 1, sizeof(*c->number));
	if (!c->number)
		return PP_ENOMEM;
	c->integers = true;
	for (uint32_t i = 0; i < f->counts.n; i++)
		c->integers = c->integers && is_integer(f->counts.v[i]);
	for (uint32_t i = 0; f->diff && i < f->diff->base.n; i++)
		c->integers = c->integers && is_integer(f->diff->base.v[i]);
	c->integers = c->integers && l->all <= INTEGER_MAX;
	for (unsigned i = 0; flame_palette_name(i) && c->nschemes < SCHEMES_MAX; i++)
		if (palette_range(i, range) && !memcmp(range, "\0\0\0\0\0", 6))
			c->schemes[c->nschemes++] = i;
	if (flame_times_whole(f)) {
		c->page_node = calloc(f->paths.n, sizeof(*c->page_node));
		if (!c->page_node)
			return PP_ENOMEM;
	}
	layout_turn(l);
	rc = put_nodes(c);
	layout_turn(l);
	return rc || !c->page_node ? rc : put_times(c);
}

/* ---- what the script is told ---- */

static void add_string(struct buf *b, const char *key, const char *value)
{
	buf_addf(b, ",\"%s\":", key);
	buf_add_json(b, value, strlen(value));
}

static void add_palettes(const struct columns *c, struct buf *b)
{
	uint8_t v[6];
	unsigned class;
	const char *what;

	buf_adds(b, ",\"palettes\":[");
	for (unsigned i = 0; flame_palette_name(i); i++) {
		buf_adds(b, i ? "," : "");
		buf_add_json(b, flame_palette_name(i), strlen(flame_palette_name(i)));
	}
	buf_adds(b, "],\"schemes\":[");
	for (unsigned i = 0; i < c->nschemes; i++)
		buf_addf(b, "%s%u", i ? "," : "", c->schemes[i]);
	buf_adds(b, "],\"ranges\":[");
	for (unsigned i = 0; palette_range(i, v); i++)
		buf_addf(b, "%s[%u,%u,%u,%u,%u,%u]", i ? "," : "", v[0], v[1], v[2], v[3], v[4],
			 v[5]);
	buf_addf(b, "],\"unknown\":%u,\"cold\":%u", palette_class(0, "", 0),
		 palette_mostly_waits(palette_class(palette_wall(), "f", 1)));
	buf_adds(b, ",\"states\":[");
	for (size_t i = 0; palette_legend(i, &class, &what); i++) {
		buf_addf(b, "%s[%u,", i ? "," : "", class);
		buf_add_json(b, what, strlen(what));
		buf_addc(b, ']');
	}
	buf_addc(b, ']');
}

static const char *yes(bool v)
{
	return v ? "true" : "false";
}

static int add_about(const struct columns *c, const struct flame_opts *o, struct out *out)
{
	const struct layout *l = c->l;
	const struct flame_diff *d = l->f->diff;
	struct buf b = BUF_INIT;
	int rc;

	buf_addf(&b, "{\"n\":%u,\"integers\":%s,\"self\":%.17Lg,\"all\":%.17Lg", c->n,
		 yes(c->integers), flame_self(l->f, FLAME_ROOT), l->all);
	add_string(&b, "title", layout_title(l));
	add_string(&b, "unit", l->unit);
	add_string(&b, "search", o->search ? o->search : "");
	add_string(&b, "font", o->font ? o->font : "");
	add_string(&b, "nametype", o->name_type ? o->name_type : "");
	add_string(&b, "back", o->back);
	buf_addf(&b, ",\"row\":%.17g,\"size\":%.17g,\"width\":%.17g", o->frame_height, o->font_size,
		 o->fixed ? o->width : 0);
	buf_addf(&b, ",\"inverted\":%s,\"reverse\":%s,\"chart\":%s,\"palette\":%u",
		 yes(o->inverted), yes(o->reverse), yes(l->f->chart), l->palette);
	add_palettes(c, &b);
	if (c->page_node)
		buf_addf(&b,
			 ",\"times\":%u,\"begin\":\"%" PRIu64
			 "\",\"factor\":%.17g,\"threads\":[%s]",
			 l->f->ntimes, l->f->times[0].time, l->f->factor, buf_str(&c->threads));
	if (d)
		buf_addf(&b,
			 ",\"diff\":{\"self\":%.17Lg,\"most\":%.17Lg,\"judged\":%s,\"leaf\":%s,"
			 "\"negate\":%s,\"gone\":%s}",
			 flame_base(l->f, FLAME_ROOT), d->most, yes(d->judged), yes(o->leaf),
			 yes(o->negate), yes(o->gone));
	buf_adds(&b, "}");
	rc = page_json(out, "about", &b);
	buf_release(&b);
	return rc;
}

static int write_columns(const struct columns *c, struct out *out)
{
	const struct {
		const char *id;
		const struct buf *b;
	} v[] = {{"names", &c->names},	  {"classes", &c->classes}, {"up", &c->up},
		 {"name", &c->name},	  {"self", &c->self},	    {"base", &c->base},
		 {"verdict", &c->verdict}};
	int rc = 0;

	for (size_t i = 0; i < sizeof(v) / sizeof(*v) && !rc; i++)
		if (i < 5 || c->l->f->diff)
			rc = page_column(out, v[i].id, v[i].b);
	if (!rc && c->page_node)
		rc = page_column(out, "when", &c->when);
	return rc;
}

int flame_page(struct flame *f, const struct flame_opts *o, struct out *out)
{
	/* The page has all of both profiles: what is gone is a view of it. */
	struct flame_opts both = *o;
	struct layout l = {.f = f, .o = &both, .out = out, .page = true};
	struct columns c = {.l = &l};
	int rc;
	const struct page page = {
		.title = layout_title(&l),
		.subtitle = o->subtitle,
		.notes = o->notes,
		.script = draw_page_script,
		.script_sha256 = draw_page_script_sha256,
		.style = draw_page_style,
		.style_sha256 = draw_page_style_sha256,
		.instead = "psvg",
	};

	both.gone = false;
	rc = layout_init(&l, FLAME_PAGE_MAX, 0);
	if (!rc && o->gone && !f->diff->gone)
		rc = PP_END;
	if (!rc)
		rc = make_columns(&c);
	if (!rc) {
		page_begin(&page, out);
		layout_add(&l, "<p id=\"account\">");
		layout_add_account(&l);
		if (layout_judged(&l)) {
			layout_add(&l, "<br>");
			layout_add_ends(&l);
		}
		if (layout_recorded(&l)) {
			layout_add(&l, "<br>");
			layout_add_chains(&l);
		}
		layout_add(&l, "</p>\n");
		rc = add_about(&c, o, out);
	}
	if (!rc)
		rc = write_columns(&c, out);
	if (!rc)
		rc = page_end(&page, out);
	release(&c);
	layout_release(&l);
	return rc;
}
