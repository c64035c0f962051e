/* What all forms of a comparison say in the same words, and the order of its rows. */
#include "diff/parts.h"
#include "diff/compare.h"

#include "table/unit.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *diff_verdict_name(enum diff_verdict verdict)
{
	static const char *const names[] = {
#define V(name, text, gate) text,
		DIFF_VERDICTS(V)
#undef V
	};

	return names[verdict];
}

const char *diff_norm_name(enum diff_norm norm)
{
	static const char *const names[] = {
#define N(name, text) text,
		DIFF_NORMS(N)
#undef N
	};

	return names[norm];
}

const char *diff_row_name(const struct diff *d, const struct diff_row *r, size_t *len)
{
	static const char small[] = "(small)";

	if (r->unit)
		return intern_get(&d->runs.units, r->unit, len);
	*len = sizeof(small) - 1;
	return small;
}

void diff_add_value(const struct family *f, double v, struct buf *b)
{
	if (f->latency)
		unit_add_short(b, v, "ns");
	else
		buf_addf(b, "%.2f", v * 100);
}

/* 13245 as "13.2k". */
static void add_count(struct buf *b, double n)
{
	if (n >= 1e9)
		buf_addf(b, "%.3gG", n / 1e9);
	else if (n >= 1e6)
		buf_addf(b, "%.3gM", n / 1e6);
	else if (n >= 1e4)
		buf_addf(b, "%.3gk", n / 1e3);
	else
		buf_addf(b, "%.0f", n);
}

void diff_add_head(const struct diff *d, struct buf *b)
{
	const struct compare *c = &d->compare;

	buf_addf(b, "%zu base, %zu new recording%s; ", c->runs[0], c->runs[1],
		 c->runs[1] > 1 ? "s" : "");
	add_count(b, c->samples[0]);
	buf_adds(b, " and ");
	add_count(b, c->samples[1]);
	buf_adds(b, d->runs.latency ? " intervals" : " samples; norm ");
	if (!d->runs.latency)
		buf_adds(b, diff_norm_name(c->norm));
	buf_addf(b, "; %" PRIu64 " tested", d->result.tested);
}

void diff_add_verdict(const struct diff *d, struct buf *b)
{
	const struct diff_result *r = &d->result;
	const char *before = "";

	if (r->gated && !r->worse && r->tested && isfinite(r->seen))
		buf_addf(b, "no regression; a change of %.2f%s or more would have been detected\n",
			 ceil(r->seen * 1e4) / 100, d->runs.latency ? " %" : " points");
	for (int v = 0; v < DIFF_NVERDICTS; v++) {
		if (!d->result.verdicts[v] || v == DIFF_SMALL)
			continue;
		buf_addf(b, "%s%" PRIu64 " %s", before, d->result.verdicts[v],
			 diff_verdict_name(v));
		before = ", ";
	}
	if (!*before)
		buf_adds(b, "nothing was frequent enough to test");
	buf_addf(b, " (q <= %g, ", d->opts.alpha);
	if (!d->runs.latency)
		buf_addf(b, ">= %g points, ", d->opts.min_points * 100);
	buf_addf(b, ">= %g %%)", d->opts.min_relative * 100);
}

void diff_add_notes(const struct diff *d, const char *before, struct buf *b)
{
	const struct compare *c = &d->compare;

	double df;

	if (!c->gated)
		buf_addf(b,
			 "%sOne recording is compared with one: how much runs of one build\n"
			 "differ is not known. The rows listed differ between these two,\n"
			 "perhaps not between others%s.",
			 before,
			 slices_known(c, &df) ? "; it was tested by how they vary in themselves"
					      : "");
	if (c->norm == DIFF_NORM_MEDIAN && fabs(c->drift) > .05)
		buf_addf(b,
			 "%sCompared with the typical function, the whole %s by %.1f %%: it costs\n"
			 "something else now, or one function outweighs the others.",
			 before, c->drift > 0 ? "grew" : "shrank", fabs(c->drift) * 100);
	if (d->opts.binomial)
		buf_addf(b,
			 "%sThe binomial test assumes independent samples. They are not: it\n"
			 "reports differences where there are none.",
			 before);
	if (d->result.partial)
		buf_addf(b, "%sA recording was damaged or cut off: the result is partial.", before);
}

/* For qsort: verdicts in their order, then the greater difference. */
static int by_verdict(const void *x, const void *y)
{
	const struct diff_row *a = x, *b = y;
	double da = fabs(a->diff), db = fabs(b->diff);

	if (a->verdict != b->verdict)
		return a->verdict < b->verdict ? -1 : 1;
	if (da != db)
		return da > db ? -1 : 1;
	return a->unit < b->unit ? -1 : a->unit > b->unit;
}

void diff_sort(struct family *f)
{
	qsort(f->rows, f->n, sizeof(*f->rows), by_verdict);
}
