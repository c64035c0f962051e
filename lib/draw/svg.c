/* The SVG of a flame graph: places of frames, texts, tooltips, head and foot. */
#include "draw/layout.h"

#include "base/err.h"

#include <math.h>
#include <stdlib.h>

#define TEXT_PAD   3.0	/* left and right in a frame */
#define ROW_HEIGHT 28.0 /* the script's line of controls */

/* A coordinate of 0 or more, in tenths of a pixel. */
static void add_tenths(struct layout *l, int64_t tenths)
{
	char text[24], *p = text + sizeof(text);

	if (tenths % 10) {
		*--p = (char)('0' + tenths % 10);
		*--p = '.';
	}
	p = put_digits(p, (uint64_t)tenths / 10);
	out_add(l->out, p, (size_t)(text + sizeof(text) - p));
}

/* What the script needs to know, and what it cannot see in the frames. */
static void add_group(struct layout *l)
{
	const struct flame_opts *o = l->o;

	layout_add(l, "<g id=\"frames\" data-unit=\"");
	layout_add_text(l, l->unit);
	layout_addf(l, "\" data-pad=\"%g\" data-textpad=\"%g\" data-row=\"%g\"%s%s", PAD, TEXT_PAD,
		    l->top - ROW_HEIGHT, o->fixed ? " data-fixed=\"1\"" : "",
		    o->inverted ? " data-inverted=\"1\"" : "");
	if (o->name_type) {
		layout_add(l, " data-nametype=\"");
		layout_add_text(l, o->name_type);
		layout_add(l, "\"");
	}
	if (o->search) {
		layout_add(l, " data-search=\"");
		layout_add_text(l, o->search);
		layout_add(l, "\"");
	}
	layout_add(l, ">\n");
}

/* The lines below the frames, of which the second is the legend of a difference. */
static unsigned foot_lines(const struct layout *l)
{
	return 1 + (l->f->diff || layout_judged(l)) + layout_recorded(l) + (l->waiting != NULL);
}

/* How far below the frames the text of a line stands; the first is 1. */
static double foot_line(const struct layout *l, unsigned line)
{
	return l->o->font_size * 1.5 * line;
}

static void add_head(struct layout *l)
{
	const struct flame_opts *o = l->o;
	double title = o->font_size * 1.4, y = title + 10, middle = o->width / 2;
	const char *back = *o->back ? o->back : "#fff";

	l->top = ceil(y + 8 + (o->subtitle ? o->font_size * 1.5 : 0) + ROW_HEIGHT);
	l->bottom = l->top + (l->depth + 1) * o->frame_height;
	l->height = ceil(l->bottom + foot_line(l, foot_lines(l)) + o->font_size * 0.5 + 6);
	layout_add(l, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	layout_addf(l,
		    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%.0f\" "
		    "viewBox=\"0 0 %g %.0f\" font-family=\"",
		    o->width, l->height, o->width, l->height);
	if (o->font) {
		layout_add_text(l, o->font);
		layout_add(l, ",");
	}
	layout_addf(l, "Verdana,DejaVu Sans,sans-serif\" font-size=\"%g\"%s>\n<title>",
		    o->font_size, *o->back ? " class=\"light\"" : "");
	layout_add_text(l, layout_title(l));
	layout_add(l, "</title>\n<desc>");
	layout_add_account(l);
	if (layout_judged(l)) {
		layout_add(l, "\n");
		layout_add_ends(l);
	}
	if (layout_recorded(l)) {
		layout_add(l, "\n");
		layout_add_chains(l);
	}
	if (o->notes) {
		layout_add(l, "\n");
		layout_add_text(l, o->notes);
	}
	layout_add(l, "</desc>\n<style>\n");
	layout_add(l, draw_style);
	layout_addf(l,
		    "</style>\n<rect id=\"back\" width=\"100%%\" height=\"100%%\" fill=\"%s\"/>\n"
		    "<g id=\"head\"><rect id=\"cover\" width=\"100%%\" height=\"%g\" fill=\"%s\"/>"
		    "<text x=\"%g\" y=\"%g\" font-size=\"%g\" text-anchor=\"middle\">",
		    back, l->top - 2, back, middle, y, title);
	layout_add_text(l, layout_title(l));
	layout_add(l, "</text>");
	if (o->subtitle) {
		layout_addf(l, "<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">", middle,
			    y + o->font_size * 1.5);
		layout_add_text(l, o->subtitle);
		layout_add(l, "</text>");
	}
	layout_add(l, "</g>\n");
	add_group(l);
}

static void add_name(struct layout *l, const struct label *label, size_t n)
{
	if (label->plain)
		out_add(l->out, label->full, n);
	else
		xml_escape(l->out, label->full, n);
}

static int add_frame(struct layout *l, uint32_t node, long double start, long double gap)
{
	const struct flame_opts *o = l->o;
	uint32_t depth = paths_depth(&l->f->paths, node);
	long double total = layout_total(l, node);
	double y = l->top + (o->inverted ? depth : l->depth - depth) * o->frame_height;
	double left = (double)start * l->scale, width = (double)total * l->scale;
	/* Both edges are rounded, so that frames that touch still do. */
	int64_t x = llround((PAD + left) * 10), w = llround((PAD + left + width) * 10) - x;
	struct label *label;
	char fill[8];
	size_t fit;
	int rc = layout_label(l, node, &label);

	if (rc)
		return rc;
	layout_add(l, "<rect x=\"");
	add_tenths(l, x);
	layout_add(l, "\" y=\"");
	add_tenths(l, llround(y * 10));
	layout_add(l, "\" width=\"");
	add_tenths(l, w > 0 ? w : 1);
	layout_add(l, "\" height=\"");
	add_tenths(l, llround((o->frame_height - 1) * 10));
	layout_add(l, "\" fill=\"#");
	if (l->f->diff)
		flame_diff_fill(l->f, o, node, &l->sums, fill);
	else if (l->waiting && 2 * l->waiting[node] > total)
		palette_fill(palette_mostly_waits(
				     palette_class(l->palette, label->full, label->full_len)),
			     label->full, label->full_len, fill);
	else
		memcpy(fill, label->fill, sizeof(label->fill));
	layout_add(l, fill);
	if (gap > 0)
		layout_addf(l,
			    gap < 0x1p64L && gap == floorl(gap) ? "\" data-gap=\"%.0Lf"
								: "\" data-gap=\"%.12Lg",
			    gap);
	layout_add(l, "\"><title>");
	add_name(l, label, label->full_len);
	layout_add(l, " (");
	layout_add_amount(l, total);
	layout_add(l, ", ");
	layout_add_percent(l, total);
	if (l->f->diff) {
		struct buf b = BUF_INIT;

		flame_diff_words(l->f, o, node, &l->sums, &b);
		layout_add_buf(l, &b);
	}
	layout_add(l, ")</title></rect>\n");
	fit = label_fit(label, (double)w / 10 - 2 * TEXT_PAD, o->font_size);
	if (fit) {
		layout_add(l, "<text x=\"");
		add_tenths(l, x + (int64_t)(TEXT_PAD * 10));
		layout_add(l, "\" y=\"");
		add_tenths(l, llround(y + (o->frame_height - 1) / 2 + o->font_size * 0.35) * 10);
		layout_add(l, "\">");
		add_name(l, label, fit);
		layout_add(l, fit < label->text_len ? "..</text>\n" : "</text>\n");
	}
	return l->out->err;
}

/*
 * Callers before callees, siblings from the right to the left: the right edge of a frame is then
 * that of its caller, or the left edge of the sibling drawn before. Only where frames in between
 * are not drawn, the script needs to be told how much they are ("data-gap").
 */
static int add_frames(struct layout *l)
{
	const struct paths *p = &l->f->paths;
	uint32_t node = FLAME_ROOT;
	int rc;

	l->right[0] = l->all;
	do {
		uint32_t d = paths_depth(p, node), down = FLAME_ROOT;

		if (layout_draws(l, node)) {
			long double end = l->right[d];

			l->right[d] = end - layout_total(l, node);
			rc = add_frame(l, node, l->right[d], l->gap[d]);
			if (rc)
				return rc;
			l->gap[d] = l->gap[d + 1] = 0;
			l->right[d + 1] = end;
			if (node == FLAME_ROOT) {
				/* Of --total, what was not counted is to the right. */
				l->gap[1] = l->all - l->f->account.total;
				l->right[1] -= l->gap[1];
			}
			down = l->links[node].last;
		} else {
			l->right[d] -= layout_total(l, node);
			l->gap[d] += layout_total(l, node);
		}
		if (down == FLAME_ROOT) {
			while (node != FLAME_ROOT && l->links[node].before == FLAME_ROOT)
				node = paths_parent(p, node);
			down = l->links[node].before;
		}
		node = down;
	} while (node != FLAME_ROOT);
	return 0;
}

static void add_legend(struct layout *l)
{
	struct buf b = BUF_INIT;

	flame_diff_legend(l->f, l->o, PAD, l->bottom + l->o->font_size * 2, &b);
	layout_add_buf(l, &b);
}

static void add_foot_line(struct layout *l, const char *id, unsigned line,
			  void (*add)(struct layout *))
{
	layout_addf(l, "<text id=\"%s\" x=\"%g\" y=\"%g\">", id, PAD,
		    l->bottom + foot_line(l, line));
	add(l);
	layout_add(l, "</text>\n");
}

/* The legend of the palette of states. */
static void add_states(struct layout *l)
{
	double x = PAD, y = l->bottom + foot_line(l, foot_lines(l)), size = l->o->font_size;
	unsigned class;
	const char *what;
	char fill[4];

	layout_add(l, "<g id=\"legend\">");
	for (size_t i = 0; palette_legend(i, &class, &what); i++) {
		palette_fill(class, what, strlen(what), fill);
		layout_addf(l, "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill=\"#%s\"/>",
			    x, y - size * 0.85, size, size, fill);
		layout_addf(l, "<text x=\"%g\" y=\"%g\">%s</text>", x + size * 1.4, y, what);
		x += size * (2.6 + 0.55 * (double)strlen(what));
	}
	layout_add(l, "</g>\n");
}

static void add_foot(struct layout *l)
{
	add_foot_line(l, "foot", 1, layout_add_account);
	if (layout_judged(l))
		add_foot_line(l, "ends", 2, layout_add_ends);
	if (layout_recorded(l))
		add_foot_line(l, "chains", 2 + layout_judged(l), layout_add_chains);
	if (l->waiting)
		add_states(l);
}

int flame_svg(struct flame *f, const struct flame_opts *o, struct out *out)
{
	struct layout l = {.f = f, .o = o, .out = out};
	int rc = layout_init(&l, FLAME_DRAWN_MAX, 0.1);

	if (!rc) {
		add_head(&l);
		rc = add_frames(&l);
	}
	if (!rc) {
		layout_add(&l, "</g>\n");
		if (f->diff)
			add_legend(&l);
		add_foot(&l);
		layout_add(&l, "<script><![CDATA[\n");
		layout_add(&l, draw_script);
		layout_add(&l, "]]></script>\n</svg>\n");
		rc = out->err;
	}
	layout_release(&l);
	return rc;
}
