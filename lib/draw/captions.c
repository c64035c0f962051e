/* The words and numbers of a flame graph: counts, shares, the account below it, its heading. */
#include "draw/layout.h"

#include "base/err.h"
#include "draw/flame_tree.h"
#include "stream/ends.h"
#include "table/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void layout_add(struct layout *l, const char *s)
{
	out_add(l->out, s, strlen(s));
}

void layout_addf(struct layout *l, const char *fmt, ...)
{
	struct buf b = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&b, fmt, ap);
	va_end(ap);
	layout_add_buf(l, &b);
}

void layout_add_text(struct layout *l, const char *s)
{
	struct buf b = BUF_INIT;

	xml_clean(&b, s, strlen(s));
	if (b.err)
		l->out->err = b.err;
	else
		xml_escape(l->out, buf_str(&b), b.len);
	buf_release(&b);
}

static void layout_add_count(struct layout *l, long double v)
{
	char text[64], *p = text + sizeof(text);
	long double whole = floorl(v);
	unsigned thousandths = (unsigned)((v - whole) * 1000 + 0.5L);
	uint64_t rest;

	if (v >= 0x1p64L) {
		layout_addf(l, "%.0Lf", v);
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

void layout_add_percent(struct layout *l, long double v)
{
	char text[24], *p = text + sizeof(text);
	unsigned hundredths = (unsigned)(v / l->all * 10000 + 0.5L);

	*--p = '%';
	if (v < l->all) {
		*--p = (char)('0' + hundredths % 10);
		*--p = (char)('0' + hundredths / 10 % 10);
		*--p = '.';
	}
	p = put_digits(p, hundredths / 100);
	out_add(l->out, p, (size_t)(text + sizeof(text) - p));
}

void layout_add_amount(struct layout *l, long double count)
{
	layout_add_count(l, count);
	if (*l->unit) {
		layout_add(l, " ");
		layout_add_text(l, l->unit);
	}
}

void layout_add_buf(struct layout *l, struct buf *b)
{
	if (b->err)
		l->out->err = b->err;
	else
		out_add(l->out, buf_str(b), b->len);
	buf_release(b);
}

/* What was counted, in the words of people: 8.92 s on CPU (8,919,191,830 ns, 903 samples). */
static void add_total(struct layout *l)
{
	struct flame_account a = l->f->account;
	const char *event = a.unsaid ? "" : a.about.event, *said;
	bool known = unit_known(l->unit) && a.total >= 1024;
	bool samples = !a.unsaid && a.about.samples && !a.about.uncounted;

	if (!*l->unit)
		layout_add(l, "total ");
	if (known) {
		struct buf nice = BUF_INIT;

		unit_add_mean(&nice, (double)a.total, l->unit);
		layout_add_buf(l, &nice);
	} else {
		layout_add_amount(l, a.total);
	}
	said = strchr(event, '+') ? NULL : event_words(event);
	if (said) {
		layout_add(l, said);
	} else if (*event) {
		layout_add(l, " of ");
		layout_add_text(l, strchr(event, '+') ? "several events" : event);
	}
	samples = samples && !l->f->diff && strcmp(l->unit, "samples") != 0;
	if (known || samples)
		layout_add(l, " (");
	if (known)
		layout_add_amount(l, a.total);
	layout_add(l, known && samples ? ", " : "");
	if (samples) {
		layout_add_count(l, a.about.samples);
		layout_add(l, a.about.samples == 1 ? " sample" : " samples");
	}
	if (known || samples)
		layout_add(l, ")");
}

void layout_add_account(struct layout *l)
{
	struct flame_account a = l->f->account;
	uint64_t hidden = a.frames - l->drawn;

	add_total(l);
	if (l->o->total > a.total) {
		layout_add(l, " of ");
		layout_add_amount(l, l->all);
	}
	layout_add(l, ", ");
	layout_add_count(l, a.frames);
	layout_add(l, " frames");
	/* An SVG has nothing of what is gone, and says so below; a page has it in its table. */
	if (l->f->diff && !l->page)
		hidden -= l->f->diff->gone;
	/* With --gone, the others are not narrow: they are still there. */
	if (hidden && (!l->o->gone || a.pruned > 0)) {
		layout_add(l, l->page ? "; merged: " : "; not drawn: ");
		layout_add_count(l, hidden);
		layout_addf(l, " frames narrower than %.3g%s, with ", l->narrow,
			    l->percent ? "% of the total" : " px");
		layout_add_percent(l, a.pruned);
		layout_add(l, " of all");
	}
	if (l->f->diff) {
		struct buf b = BUF_INIT;

		flame_diff_describe(l->f, l->o, l->page, &b);
		layout_add_buf(l, &b);
	}
	if (a.deep)
		layout_addf(l, "; cut: %llu stacks deeper than %d frames",
			    (unsigned long long)a.deep, FLAME_DEPTH_MAX);
	if (a.partial)
		layout_add(l, "; partial: the input was damaged or cut off");
	if (a.malformed)
		layout_addf(l, "; left out: %llu malformed lines", (unsigned long long)a.malformed);
}

bool layout_judged(const struct layout *l)
{
	const struct flame_account *a = &l->f->account;

	return !l->f->diff && !a->unsaid && a->about.marked && !a->about.unmarked;
}

void layout_add_ends(struct layout *l)
{
	const struct flame *f = l->f;
	uint8_t *ends;
	struct ps_ends e = {0};
	struct buf b = BUF_INIT;

	ends = calloc(f->paths.n, 1);
	if (!ends) {
		l->out->err = PP_ENOMEM;
		return;
	}
	for (uint32_t i = 1; i < f->paths.n; i++) {
		size_t len = 0;
		uint32_t id = paths_name(&f->paths, i);
		const char *name = id ? intern_get(&f->names, id, &len) : "";

		ends[i] = ps_ends_add(&e, ends[paths_parent(&f->paths, i)], name, len,
				      flame_self(f, i));
	}
	free(ends);
	ps_ends_describe(&e, &b);
	if (b.err)
		l->out->err = b.err;
	else
		layout_add_text(l, buf_str(&b));
	buf_release(&b);
}

bool layout_recorded(const struct layout *l)
{
	return !l->f->diff && *l->f->account.about.chains;
}

void layout_add_chains(struct layout *l)
{
	layout_add(l, "Call chains: ");
	for (const char *p = l->f->account.about.chains; *p;) {
		size_t n = strcspn(p, "|");
		char one[sizeof(l->f->account.about.chains)];

		memcpy(one, p, n);
		one[n] = 0;
		layout_add_text(l, one);
		p += n + (p[n] == '|');
		if (*p)
			layout_add(l, "; in others: ");
	}
}

const char *layout_title(const struct layout *l)
{
	const struct flame_opts *o = l->o;

	if (!o->title && l->f->diff)
		return "Difference";
	if (!o->title && l->f->chart)
		return "Flame Chart";
	return o->title ? o->title : o->inverted ? "Icicle Graph" : "Flame Graph";
}
