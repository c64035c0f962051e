/*
 * Percentiles of several recordings beside those of others: Welch's test on their logarithms, so
 * that differences are relative.
 */
#include "diff/compare.h"

#include "base/err.h"
#include "diff/statistics.h"

#include <math.h>
#include <stdlib.h>

/* A percentile is known to 1/256 of itself (hist.h): the variance of a value spread over that. */
#define ROUNDING (1. / 256 / 256 / 12)

/* Logarithms of a percentile, of one side. */
struct side {
	double n, sum, squares;
};

static double mean_of(const struct side *s)
{
	return s->sum / s->n;
}

/* Of the mean. */
static double variance_of(const struct side *s)
{
	double mean = mean_of(s), var = (s->squares - s->n * mean * mean) / (s->n - 1);

	return ((var > 0 ? var : 0) + ROUNDING) / s->n;
}

static void sum_up(const struct compare *c, bool p99, struct side *sides)
{
	for (size_t i = 0; i < c->rs->n; i++) {
		const struct diff_recording *r = &c->rs->v[i];

		for (uint32_t k = 0; k < r->nunits; k++) {
			double v = p99 ? r->total[k] : r->self[k], l = v > 0 ? log(v) : 0;
			struct side *s = &sides[2 * r->unit[k] + r->side];

			if (v <= 0)
				continue;
			s->n++;
			s->sum += l;
			s->squares += l * l;
		}
	}
}

static void test(struct compare *c, const struct side *s, struct diff_row *r)
{
	double v0 = variance_of(&s[0]), v1 = variance_of(&s[1]), se = sqrt(v0 + v1), t;
	double change = mean_of(&s[1]) - mean_of(&s[0]), z;

	for (int side = 0; side < 2; side++) {
		r->y[side] = s[side].n;
		r->share[side] = exp(mean_of(&s[side]));
	}
	r->df = (v0 + v1) * (v0 + v1) / (v0 * v0 / (s[0].n - 1) + v1 * v1 / (s[1].n - 1));
	r->phi = 1;
	r->p = stat_t_p(change / se, r->df);
	t = stat_t_quantile(COMPARE_LEVEL, r->df);
	r->diff = expm1(change);
	r->low = expm1(change - t * se);
	r->high = expm1(change + t * se);
	r->effect = c->opts->min_relative;
	z = t + COMPARE_POWER_T;
	r->need = ceil(z * z * (v0 * s[0].n + v1 * s[1].n) / (log1p(r->effect) * log1p(r->effect)));
}

int latency_family(struct compare *c, struct family *f, bool p99)
{
	size_t units = c->rs->units.n + 1;
	struct side *sides = calloc(2 * units, sizeof(*sides));

	*f = (struct family){
		.name = p99 ? "p99" : "p50", .total = p99, .latency = true, .gates = true};
	f->rows = calloc(units, sizeof(*f->rows));
	if (!sides || !f->rows) {
		free(sides);
		return PP_ENOMEM;
	}
	sum_up(c, p99, sides);
	for (uint32_t u = 1; u < units; u++) {
		struct diff_row *r = &f->rows[f->tested];

		if (sides[2 * u].n < 2 || sides[2 * u + 1].n < 2)
			continue;
		*r = (struct diff_row){.unit = u};
		test(c, &sides[2 * u], r);
		f->tested++;
	}
	f->n = f->tested;
	free(sides);
	return compare_judge(c, f);
}
