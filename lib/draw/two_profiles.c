/*
 * Flame graphs of two profiles: the counts of the base beside those of the new one, the verdicts of
 * pdiff, colours and words for the difference.
 */
#include "draw/flame_tree.h"

#include "base/array.h"
#include "base/err.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GREY "c8c8c8"

int flame_compare(struct flame *f)
{
	f->diff = calloc(1, sizeof(*f->diff));
	return f->diff ? 0 : PP_ENOMEM;
}

void flame_side(struct flame *f, bool base)
{
	if (f->diff)
		f->diff->base_side = base;
}

bool flame_is_both(const struct flame *f)
{
	return f->diff && f->diff->both;
}

int flame_add_both(struct flame *f, const char *frames, size_t len, long double base,
		   long double count)
{
	struct flame_diff *d = f->diff;
	int rc = flame_add(f, frames, len, count);

	if (rc || !(base >= 0 && base <= FLAME_COUNT_MAX))
		return rc ? rc : PP_EUSAGE;
	d->base_sum += base;
	return flame_set(f, &d->base, f->leaf, flame_base(f, f->leaf) + base);
}

/* ---- verdicts of pdiff --folded ---- */

static bool word(const char **p, const char *end, const char **s, size_t *n)
{
	const char *space = memchr(*p, ' ', (size_t)(end - *p));

	if (!space)
		return false;
	*s = *p;
	*n = (size_t)(space - *p);
	*p = space + 1;
	return true;
}

static bool is(const char *s, size_t n, const char *text)
{
	return n == strlen(text) && !memcmp(s, text, n);
}

/* 1 more, -1 less, 0 what means nothing here. */
static int sign_of(const char *s, size_t n)
{
	static const char *const more[] = {"regressed", "more", "new"};
	static const char *const less[] = {"improved", "less", "gone"};

	for (size_t i = 0; i < 3; i++) {
		if (is(s, n, more[i]))
			return 1;
		if (is(s, n, less[i]))
			return -1;
	}
	return 0;
}

/* A verdict on a whole stack: of its leaf. */
static int judge_stack(struct flame *f, const char *name, size_t len, int sign)
{
	struct flame_account before = f->account;
	int rc = flame_add(f, name, len, 0);
	int8_t *v;

	before.frames = f->account.frames;
	f->account = before;
	if (rc)
		return rc;
	v = array_widen(f->diff->verdict, &f->diff->nverdict, f->leaf, 1024, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	f->diff->verdict = v;
	v[f->leaf] = (int8_t)sign;
	return 0;
}

/* "# verdict: MEASURE VERDICT BASE NEW Q NAME" */
static int take_verdict(struct flame *f, const char *p, const char *end)
{
	const char *s[5];
	uint32_t id, *slot;
	size_t n[5];
	int sign, rc;

	for (int i = 0; i < 5; i++)
		if (!word(&p, end, &s[i], &n[i]))
			return 0;
	sign = sign_of(s[1], n[1]);
	/* Functions are coloured by what they and their callees take. */
	if (!sign || (f->diff->by == FLAME_BY_FUNCTION) != is(s[0], n[0], "total"))
		return 0;
	if (f->diff->by == FLAME_BY_STACK)
		return judge_stack(f, p, (size_t)(end - p), sign);
	rc = intern_add(&f->names, p, (size_t)(end - p), &id, NULL);
	if (rc)
		return rc;
	slot = map64_put(&f->diff->names, id, NULL);
	if (!slot)
		return PP_ENOMEM;
	*slot = sign > 0 ? 2 : 1;
	return 0;
}

bool flame_diff_line(struct flame *f, const char *line, size_t n, int *rc)
{
	static const char head[] = "# diff: ", verdict[] = "# verdict: ";
	const char *by;

	*rc = 0;
	if (n > sizeof(head) && !memcmp(line, head, sizeof(head) - 1)) {
		if (!f->diff)
			return true;
		by = memmem(line, n, " by=", 4);
		f->diff->judged = true;
		if (by && is(by + 4, (size_t)(line + n - by - 4), "stack"))
			f->diff->by = FLAME_BY_STACK;
		if (by && is(by + 4, (size_t)(line + n - by - 4), "comm"))
			f->diff->by = FLAME_BY_COMM;
		return true;
	}
	if (n <= sizeof(verdict) || memcmp(line, verdict, sizeof(verdict) - 1) != 0)
		return false;
	if (f->diff)
		*rc = take_verdict(f, line + sizeof(verdict) - 1, line + n);
	return true;
}

/* ---- what is drawn ---- */

/* The counts of the base on the scale of the new ones. */
static long double scale_of(const struct flame *f, const struct flame_opts *o)
{
	const struct flame_diff *d = f->diff;

	if (d->both || o->raw || !(d->base_sum > 0))
		return 1;
	return f->account.total / d->base_sum;
}

/* Leaves only the frames that are gone, as wide as they were. 0 or PP_ENOMEM. */
static int keep_gone(struct flame *f, const struct flame_sums *s)
{
	struct flame_diff *d = f->diff;
	int rc = 0;

	f->account.total = 0;
	for (uint32_t i = 0; i < f->paths.n && !rc; i++) {
		long double base = s->now[s->at[i]] > 0 ? 0 : flame_base(f, i);

		f->account.total += base;
		rc = flame_set(f, &d->base, i, base);
		rc = rc ? rc : flame_set(f, &f->counts, i, base);
	}
	return rc;
}

static void compare(struct flame *f, const struct flame_opts *o, const struct flame_sums *s)
{
	struct flame_diff *d = f->diff;

	for (uint32_t i = 0; i < f->paths.n; i++) {
		long double now = s->now[s->at[i]], base = s->base[s->at[i]], delta;

		delta = o->leaf ? flame_self(f, i) - flame_base(f, i) : now - (o->gone ? 0 : base);
		if ((o->leaf || i) && fabsl(delta) > d->most)
			d->most = fabsl(delta);
		if (!o->gone && !(now > 0) && base > 0) {
			d->gone++;
			d->gone_sum +=
				!i || s->now[s->at[paths_parent(&f->paths, i)]] > 0 ? base : 0;
		}
	}
	if (o->leaf && d->most < 1)
		d->most = 1;
}

int flame_diff_prepare(struct flame *f, const struct flame_opts *o, struct flame_sums *s)
{
	struct flame_diff *d = f->diff;
	long double scale;
	int rc = f->reverse || f->chart || d->by != FLAME_BY_FUNCTION ? 0 : flame_diff_match(f);

	if (rc)
		return rc;
	scale = scale_of(f, o);
	for (uint32_t i = 0; i < d->base.n; i++)
		d->base.v[i] *= scale;
	rc = flame_sums_make(f, s);
	if (!rc && o->gone) {
		rc = keep_gone(f, s);
		flame_sums_release(s);
		rc = rc ? rc : flame_sums_make(f, s);
	}
	if (rc)
		return rc;
	d->most = 0;
	d->gone = 0;
	d->gone_sum = 0;
	d->total = s->base[s->at[FLAME_ROOT]];
	compare(f, o, s);
	return 0;
}

int flame_diff_verdict(const struct flame *f, uint32_t node)
{
	const struct flame_diff *d = f->diff;
	const uint32_t *v;

	if (d->by == FLAME_BY_STACK)
		return node < d->nverdict ? d->verdict[node] : 0;
	if (d->by == FLAME_BY_COMM && paths_depth(&f->paths, node) != 1)
		return 0;
	v = map64_get(&d->names, paths_name(&f->paths, node));
	return v && *v ? *v == 2 ? 1 : -1 : 0;
}

/*
 * Red is more, blue less. The difference of a leaf alone is drawn as flamegraph.pl does; that of
 * whole frames by its square root, since the sums of the callers would make all others pale.
 */
void flame_diff_fill(const struct flame *f, const struct flame_opts *o, uint32_t node,
		     const struct flame_sums *s, char fill[8])
{
	const struct flame_diff *d = f->diff;
	long double delta =
		o->leaf ? flame_self(f, node) - flame_base(f, node)
			: s->now[s->at[node]] - (o->gone ? 2 : 1) * s->base[s->at[node]];
	long double most = d->most > 0 ? d->most : 1;
	int pale;

	if (d->judged && !o->leaf) {
		int sign = flame_diff_verdict(f, node);

		if (!sign || !node) {
			memcpy(fill, GREY, sizeof(GREY));
			return;
		}
		delta = sign * fmaxl(fabsl(delta), most / 16);
	}
	if (!node && !o->leaf)
		delta = 0;
	if (fabsl(delta) > most)
		delta = delta > 0 ? most : -most;
	if (!o->leaf)
		delta = (delta < 0 ? -1 : 1) * sqrtl(fabsl(delta) / most) * most;
	if (o->negate)
		delta = -delta;
	/* Black text has to be readable on the deepest colour. */
	pale = o->leaf ? (int)(210 * (most - fabsl(delta)) / most)
		       : 80 + (int)(140 * (most - fabsl(delta)) / most);
	if (delta > 0)
		snprintf(fill, 8, "ff%02x%02x", (unsigned)pale, (unsigned)pale);
	else if (delta < 0)
		snprintf(fill, 8, "%02x%02xff", (unsigned)pale, (unsigned)pale);
	else
		memcpy(fill, o->leaf ? "ffffff" : "eeeeee", 7);
}

/* "; before 30.00%; +5.00 points; +16.7%": no comma, at which the script takes titles apart. */
void flame_diff_words(const struct flame *f, const struct flame_opts *o, uint32_t node,
		      const struct flame_sums *s, struct buf *b)
{
	const struct flame_diff *d = f->diff;
	long double total = s->now[s->at[node]], base = s->base[s->at[node]];
	long double all = f->account.total, was = d->total;
	long double before = was > 0 ? 100 * base / was : 0, after = 100 * total / all;

	if (o->gone) {
		buf_adds(b, "; gone");
		return;
	}
	buf_addf(b, "; before %.2Lf%%; %+.2Lf points", before, after - before);
	if (base > 0)
		buf_addf(b, "; %+.1Lf%%", 100 * (total - base) / base);
	else
		buf_adds(b, "; new");
	if (d->judged) {
		int sign = flame_diff_verdict(f, node);

		buf_adds(b, sign > 0   ? "; significantly more"
			    : sign < 0 ? "; significantly less"
				       : "; not significant");
	}
}

/* What there is to say of the whole. */
void flame_diff_describe(const struct flame *f, const struct flame_opts *o, bool page,
			 struct buf *b)
{
	const struct flame_diff *d = f->diff;

	if (o->gone) {
		buf_adds(b, "; frames that are gone, as wide as they were");
		return;
	}
	if (d->gone)
		buf_addf(b, "; gone: %llu frames with %.2Lf%% of the base (%s)",
			 (unsigned long long)d->gone,
			 d->total > 0 ? 100 * d->gone_sum / d->total : 0,
			 page ? "the button Gone" : "--gone");
	if (!d->both && !o->raw)
		buf_adds(b, "; the base is scaled to the same total");
	if (d->matched.len)
		buf_addf(b, "; commands differ: %s", buf_str(&d->matched));
}

void flame_diff_legend(const struct flame *f, const struct flame_opts *o, double x, double y,
		       struct buf *b)
{
	static const struct {
		const char *fill, *text;
	} keys[] = {{"ff4b4b", "more"},	    {"ffa8a8", "a little more"},
		    {"eeeeee", "the same"}, {"a8a8ff", "a little less"},
		    {"4b4bff", "less"},	    {GREY, "not significant"}};
	size_t n = f->diff->judged && !o->leaf ? 6 : 5;

	buf_adds(b, "<g id=\"legend\">");
	for (size_t i = 0; i < n; i++) {
		const char *fill = keys[o->negate && i < 5 ? 4 - i : i].fill;

		buf_addf(b, "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill=\"#%s\"/>", x,
			 y, o->font_size, o->font_size, fill);
		buf_addf(b, "<text x=\"%g\" y=\"%g\">%s</text>", x + o->font_size * 1.4,
			 y + o->font_size * 0.85, keys[i].text);
		x += o->font_size * (2.6 + 0.62 * (double)strlen(keys[i].text));
	}
	buf_adds(b, "</g>\n");
}
