/* Variation within recordings; see time_slices.h. */
#include "diff/time_slices.h"

#define SLICES_MIN 5 /* with samples, that tell something */

static unsigned slices_of(const struct diff_recording *r)
{
	unsigned n = 0;

	for (unsigned i = 0; i < RUN_SLICES && r->slices; i++)
		n += r->slices->n[i] > 0;
	return n;
}

bool slices_known(const struct compare *c, double *df)
{
	unsigned a, b;

	if (c->rs->n != 2)
		return false;
	a = slices_of(&c->rs->v[0]);
	b = slices_of(&c->rs->v[1]);
	*df = (double)a + b - 2;
	return a >= SLICES_MIN && b >= SLICES_MIN;
}

/* The samples of a unit in a slice. */
static double count_of(const struct run_slices *s, uint32_t unit, unsigned slice, bool total)
{
	uint64_t at = (uint64_t)unit * RUN_SLICES + slice;

	if (at >= (total ? s->ntotal : s->nself))
		return 0;
	return (total ? s->total : s->self)[at];
}

/* Of a unit's share in a recording: slices are clusters, the share is a ratio of their sums. */
static double variance_of(const struct compare *c, size_t run, uint32_t unit, bool total)
{
	const struct diff_recording *r = &c->rs->v[run];
	double scale = c->size[run] / r->n, slices = slices_of(r), y = 0, sum = 0;

	for (unsigned i = 0; i < RUN_SLICES; i++)
		y += count_of(r->slices, unit, i, total);
	for (unsigned i = 0; i < RUN_SLICES; i++) {
		double n = r->slices->n[i] * scale;
		double off = count_of(r->slices, unit, i, total) - n * y / c->size[run];

		sum += off * off;
	}
	return slices / (slices - 1) * sum / (c->size[run] * c->size[run]);
}

double slices_phi(const struct compare *c, const struct diff_row *r, bool total, double v)
{
	return (variance_of(c, 0, r->unit, total) + variance_of(c, 1, r->unit, total)) / v;
}
