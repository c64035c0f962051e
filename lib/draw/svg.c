/* The SVG of a flame graph: places of frames, texts, tooltips, head and foot. */
#include "draw/tree.h"

#include "base/err.h"
#include "table/unit.h"

#include <math.h>
#include <stdlib.h>

#define PAD	   10.0 /* left and right of the frames */
#define TEXT_PAD   3.0	/* left and right in a frame */
#define ROW_HEIGHT 28.0 /* the script's line of controls */

struct layout {
	const struct flame *f;
	const struct flame_opts *o;
	struct out *out;
	struct arena arena;
	long double *total;		 /* by node: with its callees */
	const struct flame_links *links; /* by node: the tree's, or own ones */
	struct flame_links *own;
	struct label *labels; /* by name */
	long double *right;   /* by depth: right edge that is left for a frame, in counts */
	long double *gap;     /* by depth: counts not drawn since that edge was set */
	long double least;    /* narrower frames are not drawn */
	double scale;	      /* pixels per count */
	double narrow;	      /* what `least` is, as min_width */
	uint32_t depth;	      /* of the deepest drawn frame */
	uint64_t drawn;
	double top, bottom, height;
	const char *unit; /* of the counts; "": not known */
};

static void layout_release(struct layout *l)
{
	arena_release(&l->arena);
	free(l->total);
	free(l->own);
	free(l->labels);
	free(l->right);
	free(l->gap);
}

static void add(struct layout *l, const char *s)
{
	out_add(l->out, s, strlen(s));
}

__attribute__((format(printf, 2, 3))) static void addf(struct layout *l, const char *fmt, ...)
{
	struct buf b = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&b, fmt, ap);
	va_end(ap);
	if (b.err)
		l->out->err = b.err;
	else
		out_add(l->out, buf_str(&b), b.len);
	buf_release(&b);
}

/* Any bytes as text of the SVG. */
static void add_text(struct layout *l, const char *s)
{
	struct buf b = BUF_INIT;

	xml_clean(&b, s, strlen(s));
	if (b.err)
		l->out->err = b.err;
	else
		xml_escape(l->out, buf_str(&b), b.len);
	buf_release(&b);
}

static char *put_digits(char *end, uint64_t v)
{
	do
		*--end = (char)('0' + v % 10);
	while (v /= 10);
	return end;
}

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

/* A count: 1,234,567 or 1,234.5; at most three decimals. */
static void add_count(struct layout *l, long double v)
{
	char text[64], *p = text + sizeof(text);
	long double whole = floorl(v);
	unsigned thousandths = (unsigned)((v - whole) * 1000 + 0.5L);
	uint64_t rest;

	if (v >= 0x1p64L) {
		addf(l, "%.0Lf", v);
		return;
	}
	rest = (uint64_t)whole;
	if (thousandths == 1000) {
		rest++;
		thousandths = 0;
	}
	if (thousandths) {
		unsigned digits = thousandths % 10 ? 3 : thousandths % 100 ? 2 : 1;

		thousandths /= digits == 3 ? 1 : digits == 2 ? 10 : 100;
		for (; digits; digits--, thousandths /= 10)
			*--p = (char)('0' + thousandths % 10);
		*--p = '.';
	}
	for (; rest >= 1000; rest /= 1000) {
		*--p = (char)('0' + rest % 10);
		*--p = (char)('0' + rest / 10 % 10);
		*--p = (char)('0' + rest / 100 % 10);
		*--p = ',';
	}
	p = put_digits(p, rest);
	out_add(l->out, p, (size_t)(text + sizeof(text) - p));
}

static void add_percent(struct layout *l, long double v)
{
	char text[24], *p = text + sizeof(text);
	unsigned hundredths = (unsigned)(v / l->f->account.total * 10000 + 0.5L);

	*--p = '%';
	if (v < l->f->account.total) {
		*--p = (char)('0' + hundredths % 10);
		*--p = (char)('0' + hundredths / 10 % 10);
		*--p = '.';
	}
	p = put_digits(p, hundredths / 100);
	out_add(l->out, p, (size_t)(text + sizeof(text) - p));
}

struct name_rank {
	const char *s;
	size_t len;
	uint32_t key; /* name * 2, + 1 for frames that have callees */
};

static int by_bytes(const void *pa, const void *pb)
{
	const struct name_rank *a = pa, *b = pb;
	size_t n = a->len < b->len ? a->len : b->len;
	int c = n ? memcmp(a->s, b->s, n) : 0, x, y;

	/* What follows in folded text: a ';', or nothing. */
	x = a->len > n ? (uint8_t)a->s[n] : a->key & 1 ? ';' : -1;
	y = b->len > n ? (uint8_t)b->s[n] : b->key & 1 ? ';' : -1;
	return c ? c : x != y ? x - y : (a->len > b->len) - (a->len < b->len);
}

/*
 * Links callees in the order of folded text that is sorted by bytes. Nodes are gone through in the
 * order of their names, and each is put after the callees that its caller already has: no list is
 * sorted by itself.
 */
static int link_siblings(struct layout *l)
{
	uint32_t names = l->f->names.n, n = l->f->n, sum = 0;
	size_t keys = 2 * (size_t)names;
	struct name_rank *ranks = malloc((keys + 1) * sizeof(*ranks));
	uint32_t *start = calloc(keys + 2, sizeof(*start)); /* by key: place in order */
	uint8_t *inner = calloc(n, 1);			    /* by node: it has callees */
	uint32_t *order = calloc(n, sizeof(*order));
	int rc = ranks && start && order && inner ? 0 : PP_ENOMEM;

	if (rc)
		goto out;
	for (size_t i = 0; i < keys; i++) {
		ranks[i].key = (uint32_t)i;
		ranks[i].s = intern_get(&l->f->names, (uint32_t)(i / 2) + 1, &ranks[i].len);
	}
	qsort(ranks, keys, sizeof(*ranks), by_bytes);
	for (uint32_t i = 1; i < n; i++)
		inner[l->f->nodes[i].parent] = 1;
	for (uint32_t i = 1; i < n; i++)
		start[(l->f->nodes[i].name - 1) * 2 + inner[i]]++;
	for (size_t i = 0; i < keys; i++) {
		uint32_t count = start[ranks[i].key];

		start[ranks[i].key] = sum;
		sum += count;
	}
	for (uint32_t i = 1; i < n; i++)
		order[start[(l->f->nodes[i].name - 1) * 2 + inner[i]]++] = i;
	for (uint32_t i = 0; i + 1 < n; i++) {
		uint32_t parent = l->f->nodes[order[i]].parent;

		l->own[order[i]].before = l->own[parent].last;
		l->own[parent].last = order[i];
	}
out:
	free(ranks);
	free(start);
	free(order);
	free(inner);
	return rc;
}

static bool is_drawn(const struct layout *l, uint32_t i)
{
	return i == FLAME_ROOT || (l->total[i] > 0 && l->total[i] >= l->least);
}

static void count_drawn(struct layout *l)
{
	const struct flame_node *nodes = l->f->nodes;

	l->drawn = l->depth = 0;
	for (uint32_t i = 1; i < l->f->n; i++) {
		if (!is_drawn(l, i))
			continue;
		l->drawn++;
		if (nodes[i].depth > l->depth)
			l->depth = nodes[i].depth;
	}
}

static int layout_init(struct layout *l)
{
	const struct flame *f = l->f;
	double width = l->o->width - 2 * PAD;
	long double total = f->account.total;
	int rc;

	l->total = malloc(f->n * sizeof(*l->total));
	if (f->unsorted)
		l->own = calloc(f->n, sizeof(*l->own));
	l->links = f->unsorted ? l->own : f->links;
	l->labels = calloc((size_t)f->names.n + 1, sizeof(*l->labels));
	l->right = calloc(FLAME_DEPTH_MAX + 2, sizeof(*l->right));
	l->gap = calloc(FLAME_DEPTH_MAX + 2, sizeof(*l->gap));
	if (!l->total || !l->links || !l->labels || !l->right || !l->gap)
		return PP_ENOMEM;
	rc = f->unsorted ? link_siblings(l) : 0;
	if (rc)
		return rc;
	for (uint32_t i = 0; i < f->n; i++)
		l->total[i] = f->nodes[i].self;
	for (uint32_t i = f->n - 1; i > 0; i--)
		l->total[f->nodes[i].parent] += l->total[i];
	l->scale = (double)((long double)width / total);
	l->narrow = l->o->min_width < 0 ? 0.1 : l->o->min_width;
	l->least = l->o->min_percent ? total * (long double)l->narrow / 100
				     : total / (long double)width * (long double)l->narrow;
	count_drawn(l);
	while (l->o->min_width < 0 && l->drawn > FLAME_DRAWN_MAX) {
		l->least *= 1.25L;
		l->narrow *= 1.25;
		count_drawn(l);
	}
	return 0;
}

/* A count with the name of what is counted, if that is known. */
static void add_amount(struct layout *l, long double count)
{
	add_count(l, count);
	if (*l->unit) {
		add(l, " ");
		add_text(l, l->unit);
	}
}

/* What was counted, in the words of people: 8.92 s on CPU (8,919,191,830 ns, 903 samples). */
static void add_total(struct layout *l)
{
	struct flame_account a = l->f->account;
	const char *event = a.unsaid ? "" : a.about.event, *said;
	bool known = unit_known(l->unit) && a.total >= 1024;
	bool samples = !a.unsaid && a.about.samples && !a.about.uncounted;

	if (!*l->unit)
		add(l, "total ");
	if (known) {
		struct buf nice = BUF_INIT;

		unit_add_mean(&nice, (double)a.total, l->unit);
		add(l, buf_str(&nice));
		buf_release(&nice);
	} else {
		add_amount(l, a.total);
	}
	said = event_words(event);
	if (said) {
		add(l, said);
	} else if (*event) {
		add(l, " of ");
		add_text(l, strchr(event, '+') ? "several events" : event);
	}
	samples = samples && !l->f->diff && strcmp(l->unit, "samples") != 0;
	if (known || samples)
		add(l, " (");
	if (known)
		add_amount(l, a.total);
	add(l, known && samples ? ", " : "");
	if (samples) {
		add_count(l, a.about.samples);
		add(l, a.about.samples == 1 ? " sample" : " samples");
	}
	if (known || samples)
		add(l, ")");
}

/* What is in the picture, and what of the input is not. */
static void add_account(struct layout *l)
{
	struct flame_account a = l->f->account;
	uint64_t hidden = a.frames - l->drawn;

	add_total(l);
	add(l, ", ");
	add_count(l, a.frames);
	add(l, " frames");
	if (l->f->diff)
		hidden -= l->f->diff->gone;
	if (hidden) {
		add(l, "; not drawn: ");
		add_count(l, hidden);
		addf(l, " frames narrower than %.3g%s, with ", l->narrow,
		     l->o->min_percent ? "% of the total" : " px");
		add_percent(l, a.pruned);
		add(l, " of all");
	}
	if (l->f->diff) {
		struct buf b = BUF_INIT;

		flame_diff_describe(l->f, l->o, &b);
		add(l, buf_str(&b));
		buf_release(&b);
	}
	if (a.deep)
		addf(l, "; cut: %llu stacks deeper than %d frames", (unsigned long long)a.deep,
		     FLAME_DEPTH_MAX);
	if (a.partial)
		add(l, "; partial: the input was damaged or cut off");
	if (a.malformed)
		addf(l, "; left out: %llu malformed lines", (unsigned long long)a.malformed);
}

static const char *title_of(const struct layout *l)
{
	const struct flame_opts *o = l->o;

	if (!o->title && l->f->diff)
		return "Difference";
	return o->title ? o->title : o->inverted ? "Icicle Graph" : "Flame Graph";
}

/* What the script needs to know, and what it cannot see in the frames. */
static void add_group(struct layout *l)
{
	const struct flame_opts *o = l->o;

	add(l, "<g id=\"frames\" data-unit=\"");
	add_text(l, l->unit);
	addf(l, "\" data-pad=\"%g\" data-textpad=\"%g\" data-row=\"%g\"%s%s", PAD, TEXT_PAD,
	     l->top - ROW_HEIGHT, o->fixed ? " data-fixed=\"1\"" : "",
	     o->inverted ? " data-inverted=\"1\"" : "");
	if (o->search) {
		add(l, " data-search=\"");
		add_text(l, o->search);
		add(l, "\"");
	}
	add(l, ">\n");
}

static void add_head(struct layout *l)
{
	const struct flame_opts *o = l->o;
	double title = o->font_size * 1.4, y = title + 10, middle = o->width / 2;

	l->top = ceil(y + 8 + (o->subtitle ? o->font_size * 1.5 : 0) + ROW_HEIGHT);
	l->bottom = l->top + (l->depth + 1) * o->frame_height;
	l->height = ceil(l->bottom + o->font_size * (l->f->diff ? 3.5 : 2) + 6);
	add(l, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	addf(l,
	     "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%.0f\" "
	     "viewBox=\"0 0 %g %.0f\" font-family=\"Verdana,DejaVu Sans,sans-serif\" "
	     "font-size=\"%g\">\n<title>",
	     o->width, l->height, o->width, l->height, o->font_size);
	add_text(l, title_of(l));
	add(l, "</title>\n<desc>");
	add_account(l);
	if (o->notes) {
		add(l, "\n");
		add_text(l, o->notes);
	}
	add(l, "</desc>\n<style>\n");
	add(l, draw_style);
	addf(l,
	     "</style>\n<rect id=\"back\" width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
	     "<g id=\"head\"><rect id=\"cover\" width=\"100%%\" height=\"%g\" fill=\"#fff\"/>"
	     "<text x=\"%g\" y=\"%g\" font-size=\"%g\" text-anchor=\"middle\">",
	     l->top - 2, middle, y, title);
	add_text(l, title_of(l));
	add(l, "</text>");
	if (o->subtitle) {
		addf(l, "<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">", middle,
		     y + o->font_size * 1.5);
		add_text(l, o->subtitle);
		add(l, "</text>");
	}
	add(l, "</g>\n");
	add_group(l);
}

static int label_of(struct layout *l, uint32_t node, struct label **label)
{
	uint32_t id = l->f->nodes[node].name;
	const char *name = "all";
	size_t len = 3;

	*label = &l->labels[id];
	if ((*label)->full)
		return 0;
	if (id)
		name = intern_get(&l->f->names, id, &len);
	return label_make(*label, name, len, l->o->palette, &l->arena);
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
	uint32_t depth = l->f->nodes[node].depth;
	double y = l->top + (o->inverted ? depth : l->depth - depth) * o->frame_height;
	double left = (double)start * l->scale, width = (double)l->total[node] * l->scale;
	/* Both edges are rounded, so that frames that touch still do. */
	int64_t x = llround((PAD + left) * 10), w = llround((PAD + left + width) * 10) - x;
	struct label *label;
	char fill[8];
	size_t fit;
	int rc = label_of(l, node, &label);

	if (rc)
		return rc;
	add(l, "<rect x=\"");
	add_tenths(l, x);
	add(l, "\" y=\"");
	add_tenths(l, llround(y * 10));
	add(l, "\" width=\"");
	add_tenths(l, w > 0 ? w : 1);
	add(l, "\" height=\"");
	add_tenths(l, llround((o->frame_height - 1) * 10));
	add(l, "\" fill=\"#");
	if (l->f->diff)
		flame_diff_fill(l->f, o, node, l->total[node], fill);
	add(l, l->f->diff ? fill : label->fill);
	if (gap > 0)
		addf(l,
		     gap < 0x1p64L && gap == floorl(gap) ? "\" data-gap=\"%.0Lf"
							 : "\" data-gap=\"%.12Lg",
		     gap);
	add(l, "\"><title>");
	add_name(l, label, label->full_len);
	add(l, " (");
	add_amount(l, l->total[node]);
	add(l, ", ");
	add_percent(l, l->total[node]);
	if (l->f->diff) {
		struct buf b = BUF_INIT;

		flame_diff_words(l->f, o, node, l->total[node], &b);
		add(l, buf_str(&b));
		buf_release(&b);
	}
	add(l, ")</title></rect>\n");
	fit = label_fit(label, (double)w / 10 - 2 * TEXT_PAD, o->font_size);
	if (fit) {
		add(l, "<text x=\"");
		add_tenths(l, x + (int64_t)(TEXT_PAD * 10));
		add(l, "\" y=\"");
		add_tenths(l, llround(y + (o->frame_height - 1) / 2 + o->font_size * 0.35) * 10);
		add(l, "\">");
		add_name(l, label, fit);
		add(l, fit < label->text_len ? "..</text>\n" : "</text>\n");
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
	const struct flame_node *nodes = l->f->nodes;
	uint32_t node = FLAME_ROOT;
	int rc;

	l->right[0] = l->total[FLAME_ROOT];
	do {
		uint32_t d = nodes[node].depth, down = FLAME_ROOT;

		if (is_drawn(l, node)) {
			long double end = l->right[d];

			l->right[d] = end - l->total[node];
			rc = add_frame(l, node, l->right[d], l->gap[d]);
			if (rc)
				return rc;
			l->gap[d] = l->gap[d + 1] = 0;
			l->right[d + 1] = end;
			down = l->links[node].last;
		} else {
			l->right[d] -= l->total[node];
			l->gap[d] += l->total[node];
		}
		if (down == FLAME_ROOT) {
			while (node != FLAME_ROOT && l->links[node].before == FLAME_ROOT)
				node = nodes[node].parent;
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
	add(l, buf_str(&b));
	buf_release(&b);
}

/* Topmost frames that are not drawn: their counts are what is missing above the drawn ones. */
static long double sum_pruned(const struct layout *l)
{
	long double sum = 0;

	for (uint32_t i = 1; i < l->f->n; i++)
		if (!is_drawn(l, i) && is_drawn(l, l->f->nodes[i].parent))
			sum += l->total[i];
	return sum;
}

int flame_svg(struct flame *f, const struct flame_opts *o, struct out *out)
{
	struct layout l = {.f = f, .o = o, .out = out, .unit = o->count_name};
	int rc;

	if (!*l.unit && !f->account.unsaid)
		l.unit = f->account.about.unit;

	rc = f->diff ? flame_diff_prepare(f, o) : 0;
	if (rc)
		return rc;
	if (!(f->account.total > 0))
		return PP_END;
	rc = layout_init(&l);
	if (!rc) {
		f->account.drawn = l.drawn;
		f->account.pruned = sum_pruned(&l);
		add_head(&l);
		rc = add_frames(&l);
	}
	if (!rc) {
		add(&l, "</g>\n");
		if (f->diff)
			add_legend(&l);
		addf(&l, "<text id=\"foot\" x=\"%g\" y=\"%g\">", PAD,
		     l.bottom + o->font_size * 1.5);
		add_account(&l);
		add(&l, "</text>\n<script><![CDATA[\n");
		add(&l, draw_script);
		add(&l, "]]></script>\n</svg>\n");
		rc = out->err;
	}
	layout_release(&l);
	return rc;
}
