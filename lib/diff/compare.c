/* The statistics of a comparison: dispersion, tests, verdicts. */
#include "diff/compare.h"

#include "base/err.h"
#include "diff/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- variation within recordings ---- */

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

#define KEEP_COUNT    10   /* samples of all recordings that a unit needs to be tested */
#define KEEP_SHARE    5e-4 /* and the share in one of them */
#define SHRINK_UNITS  20   /* fewer tell nothing of each other's dispersion */
#define SHRINK_COUNT  5	   /* mean samples of a unit whose dispersion says something */
#define SHRINK_CLEAR  5	   /* and by the dispersion: of fewer it is skewed, and seems too small */
#define ASSUMED_PHI   3.   /* where nothing is known of the variation from run to run */
#define RENAME_FACTOR .1   /* how much the shares of a renamed function may differ */

/* Sums over the recordings, by unit id. */
struct sums {
	double *y[2];  /* samples of a side */
	double *most;  /* greatest share in one recording */
	double *chi;   /* sum of squared deviations from the side's share, each by its variance */
	uint32_t *row; /* index of the row of a unit that is kept, from 1; 0: it is small */
	size_t units;  /* ids are below it */
};

static const double *counts_of(const struct diff_recording *r, bool total)
{
	return total ? r->total : r->self;
}

/* ---- sums ---- */

/* Variance of one sample: shares sum to 1, counts by another size do not, and vary as Poisson's. */
static double variance(const struct compare *c, double p)
{
	return c->norm == DIFF_NORM_SHARE ? p * (1 - p) : p;
}

static void sums_release(struct sums *s)
{
	free(s->y[0]);
	free(s->y[1]);
	free(s->most);
	free(s->chi);
	free(s->row);
}

static int sums_make(const struct compare *c, struct sums *s, bool total)
{
	size_t n = c->rs->units.n + 1;

	*s = (struct sums){.units = n};
	s->y[0] = calloc(n, sizeof(double));
	s->y[1] = calloc(n, sizeof(double));
	s->most = calloc(n, sizeof(double));
	s->chi = calloc(n, sizeof(double));
	s->row = calloc(n, sizeof(*s->row));
	if (!s->y[0] || !s->y[1] || !s->most || !s->chi || !s->row)
		return PP_ENOMEM;
	for (size_t i = 0; i < c->rs->n; i++) {
		const struct diff_recording *r = &c->rs->v[i];
		const double *v = counts_of(r, total);

		for (uint32_t k = 0; k < r->nunits; k++) {
			uint32_t u = r->unit[k];

			s->y[r->side][u] += v[k];
			if (v[k] / c->size[i] > s->most[u])
				s->most[u] = v[k] / c->size[i];
		}
	}
	return 0;
}

/* The share of a unit on the side of a recording; `one`: all recordings are one side. */
static double share_of(const struct compare *c, const struct sums *s, uint32_t u,
		       enum diff_side side, bool one)
{
	if (one)
		return (s->y[0][u] + s->y[1][u]) / (c->sides[0] + c->sides[1]);
	return s->y[side][u] / c->sides[side];
}

/*
 * Fills s->chi. A recording that lacks a unit deviates by the whole expected number; this is added
 * for all of them first, and taken back for those that have it.
 */
static void sum_deviations(const struct compare *c, struct sums *s, bool total, bool one)
{
	for (uint32_t u = 1; u < s->units; u++)
		for (int side = 0; side < 2; side++) {
			double p = share_of(c, s, u, side, one), v = variance(c, p);

			s->chi[u] += v > 0 ? c->sides[side] * p * p / v : 0;
		}
	for (size_t i = 0; i < c->rs->n; i++) {
		const struct diff_recording *r = &c->rs->v[i];
		const double *y = counts_of(r, total);

		for (uint32_t k = 0; k < r->nunits; k++) {
			double p = share_of(c, s, r->unit[k], r->side, one), v = variance(c, p);

			if (v > 0)
				s->chi[r->unit[k]] += y[k] * (y[k] / c->size[i] - 2 * p) / v;
		}
	}
}

/* ---- dispersion ---- */

struct prior {
	double phi, df; /* df 0: units are not drawn to it; INFINITY: they all have it */
};

/*
 * Takes to `v` the dispersions that tell something of the others', and returns their number. Where
 * recordings vary much, a unit comes in so few independent lots that its dispersion is mostly far
 * too small, and now and then far too large: such units are left out, but for the most frequent.
 */
static size_t tell(const double *phi, const double *mean_count, size_t n, double *v)
{
	double least = SHRINK_COUNT, often;
	size_t m = 0, clear = 0;

	for (size_t i = 0; i < n; i++)
		if (mean_count[i] >= SHRINK_COUNT)
			v[m++] = phi[i];
	if (m <= SHRINK_UNITS)
		return m;
	least = SHRINK_CLEAR * fmax(stat_median(v, m), 1);
	m = 0;
	for (size_t i = 0; i < n; i++)
		if (mean_count[i] >= SHRINK_COUNT)
			v[m++] = -mean_count[i];
	stat_median(v, m); /* they are sorted now, the most frequent first */
	often = -v[SHRINK_UNITS - 1];
	least = fmax(SHRINK_COUNT, fmin(least, often));
	for (size_t i = 0; i < n; i++)
		if (mean_count[i] >= least)
			v[clear++] = phi[i];
	return clear;
}

/*
 * The distribution that the dispersions of all units come from: a scaled inverse chi-squared one,
 * fitted to the mean and variance of their logarithms.
 */
static int fit_prior(const double *phi, const double *mean_count, size_t n, double df,
		     struct prior *prior)
{
	double *v = malloc((n + 1) * sizeof(*v)), mean = 0, var = 0, floor;
	size_t m = 0;

	*prior = (struct prior){1, 0};
	if (!v)
		return PP_ENOMEM;
	m = n < SHRINK_UNITS ? 0 : tell(phi, mean_count, n, v);
	floor = m ? stat_median(v, m) * 1e-5 : 0;
	if (m < 3 || floor <= 0) {
		free(v);
		return 0;
	}
	for (size_t i = 0; i < m; i++) {
		v[i] = log(v[i] > floor ? v[i] : floor) - stat_digamma(df / 2) + log(df / 2);
		mean += v[i] / (double)m;
	}
	for (size_t i = 0; i < m; i++)
		var += (v[i] - mean) * (v[i] - mean) / (double)(m - 1);
	free(v);
	var -= stat_trigamma(df / 2);
	if (var <= 0) {
		*prior = (struct prior){exp(mean), INFINITY};
		return 0;
	}
	prior->df = 2 * stat_trigamma_inverse(var);
	prior->phi = exp(mean + stat_digamma(prior->df / 2) - log(prior->df / 2));
	return 0;
}

static double shrunk(const struct prior *prior, double phi, double df)
{
	if (isinf(prior->df))
		return prior->phi;
	return (prior->df * prior->phi + df * phi) / (prior->df + df);
}

/* ---- tests ---- */

/* Gives each unit that is worth it a row, and the sum of the others one. */
static int make_rows(struct compare *c, struct sums *s, struct family *f)
{
	double small[2] = {0, 0};
	size_t n = 0;

	for (uint32_t u = 1; u < s->units; u++)
		n += s->y[0][u] + s->y[1][u] >= KEEP_COUNT && s->most[u] >= KEEP_SHARE;
	f->rows = calloc(n + 1, sizeof(*f->rows));
	if (!f->rows)
		return PP_ENOMEM;
	for (uint32_t u = 1; u < s->units; u++) {
		struct diff_row *r = &f->rows[f->tested];

		if (s->y[0][u] + s->y[1][u] < KEEP_COUNT || s->most[u] < KEEP_SHARE) {
			small[0] += s->y[0][u];
			small[1] += s->y[1][u];
			continue;
		}
		*r = (struct diff_row){.unit = u, .y = {s->y[0][u], s->y[1][u]}};
		s->row[u] = (uint32_t)++f->tested;
	}
	f->n = f->tested;
	if (small[0] + small[1] > 0 && !f->total)
		f->rows[f->n++] = (struct diff_row){
			.y = {small[0], small[1]}, .verdict = DIFF_SMALL, .p = 1, .q = 1};
	for (size_t i = 0; i < f->n; i++) {
		struct diff_row *r = &f->rows[i];

		for (int side = 0; side < 2; side++)
			r->share[side] = c->sides[side] > 0 ? r->y[side] / c->sides[side] : 0;
		r->diff = r->share[1] - r->share[0];
	}
	return 0;
}

/* Dispersion and degrees of freedom of each row, from the recordings themselves. */
static int estimate(struct compare *c, struct sums *s, struct family *f, bool one)
{
	double df = (double)c->rs->n - (one ? 1 : 2);
	double *phi = calloc(2 * f->tested + 1, sizeof(*phi)), *mean = phi + f->tested;
	struct prior prior;
	int rc;

	if (!phi)
		return PP_ENOMEM;
	for (size_t i = 0; i < f->tested; i++) {
		const struct diff_row *r = &f->rows[i];

		phi[i] = s->chi[r->unit] > 0 ? s->chi[r->unit] / df : 0;
		mean[i] = (r->y[0] + r->y[1]) / (double)c->rs->n;
	}
	rc = fit_prior(phi, mean, f->tested, df, &prior);
	for (size_t i = 0; i < f->tested && !rc; i++) {
		f->rows[i].phi = prior.df > 0 ? shrunk(&prior, phi[i], df) : phi[i];
		f->rows[i].df = df + prior.df;
	}
	f->prior = prior.phi;
	f->prior_df = prior.df;
	free(phi);
	return rc;
}

/*
 * The same where one recording stands against one: what was learned before, else how each varies
 * in itself, else an assumption.
 */
static void assume(struct compare *c, struct family *f)
{
	double n = 2 / (1 / c->sides[0] + 1 / c->sides[1]), df = INFINITY;
	bool sliced = !c->noise && slices_known(c, &df);

	for (size_t i = 0; i < f->tested; i++) {
		struct diff_row *r = &f->rows[i];
		size_t len;
		const char *name = intern_get(&c->rs->units, r->unit, &len);

		if (sliced) {
			double p = (r->y[0] + r->y[1]) / (c->sides[0] + c->sides[1]);

			r->df = df;
			r->phi = slices_phi(c, r, f->total, variance(c, p) * 2 / n);
			continue;
		}
		r->df = c->noise ? c->noise->df : INFINITY;
		r->phi = c->noise ? 1 + (n - 1) * noise_of(c->noise, name, len) : ASSUMED_PHI;
	}
}

/*
 * Recordings of each side with which the interval would be short enough to decide, in 4 of 5
 * cases.
 */
static double recordings_needed(const struct compare *c, const struct diff_row *r)
{
	double n = (c->samples[0] + c->samples[1]) / (double)(c->runs[0] + c->runs[1]);
	double p = (r->y[0] + r->y[1]) / (c->sides[0] + c->sides[1]);
	double z = stat_t_quantile(COMPARE_LEVEL, r->df) + COMPARE_POWER_T, effect = r->effect;

	return ceil(z * z * r->phi * variance(c, p) * 2 / n / (effect * effect));
}

static void test_row(struct compare *c, struct diff_row *r)
{
	double n0 = c->sides[0], n1 = c->sides[1];
	double p0 = (r->y[0] + r->y[1]) / (n0 + n1), se, t;

	r->phi = r->phi > 1 ? r->phi : 1;
	if (c->opts->binomial) {
		r->phi = 1;
		r->df = INFINITY;
	}
	se = sqrt(r->phi * variance(c, p0) * (1 / n0 + 1 / n1));
	r->p = se > 0 ? stat_t_p(r->diff / se, r->df) : 1;
	t = stat_t_quantile(COMPARE_LEVEL, r->df);
	se = sqrt(r->phi * (variance(c, r->share[0]) / n0 + variance(c, r->share[1]) / n1));
	r->low = r->diff - t * se;
	r->high = r->diff + t * se;
	r->effect = c->opts->min_relative * r->share[0];
	if (r->effect < c->opts->min_points)
		r->effect = c->opts->min_points;
	r->need = recordings_needed(c, r);
}

static enum diff_verdict judge(const struct compare *c, const struct diff_row *r)
{
	double effect = r->effect;

	if (r->q <= c->opts->alpha && (r->low >= effect || r->high <= -effect)) {
		if (!c->gated)
			return r->diff > 0 ? DIFF_MORE : DIFF_LESS;
		if (r->diff > 0)
			return r->y[0] > 0 ? DIFF_REGRESSED : DIFF_NEW;
		return r->y[1] > 0 ? DIFF_IMPROVED : DIFF_GONE;
	}
	return r->high < effect && r->low > -effect ? DIFF_SAME : DIFF_UNCLEAR;
}

/*
 * The smallest difference that would most likely have been judged: its interval lies beyond what
 * matters, and it is significant among so many tests.
 */
static double least_seen(const struct compare *c, const struct diff_row *r, size_t tests)
{
	double t = stat_t_quantile(COMPARE_LEVEL, r->df), se = (r->high - r->low) / 2 / t;
	double one = stat_t_quantile(c->opts->alpha / (double)tests, r->df);

	return fmax(r->effect + (t + COMPARE_POWER_T) * se, (one + COMPARE_POWER_T) * se);
}

/* Pairs what is gone with what is new and as frequent: it may have another name only. */
static void find_renamed(struct family *f)
{
	for (size_t i = 0; i < f->tested; i++) {
		struct diff_row *gone = &f->rows[i], *best = NULL;
		double nearest = RENAME_FACTOR;

		if (gone->verdict != DIFF_GONE)
			continue;
		for (size_t k = 0; k < f->tested; k++) {
			struct diff_row *r = &f->rows[k];
			double off = fabs(r->share[1] / gone->share[0] - 1);

			if (r->verdict == DIFF_NEW && off <= nearest) {
				best = r;
				nearest = off;
			}
		}
		if (!best)
			continue;
		best->verdict = gone->verdict = DIFF_RENAMED;
		best->partner = gone->unit;
		gone->partner = best->unit;
	}
}

int compare_judge(struct compare *c, struct family *f)
{
	double *p = malloc((2 * f->tested + 1) * sizeof(*p)), *q = p ? p + f->tested : NULL;
	int rc = p ? 0 : PP_ENOMEM;

	for (size_t i = 0; i < f->tested && !rc; i++)
		p[i] = f->rows[i].p;
	rc = rc ? rc : stat_fdr(p, q, f->tested, c->opts->any);
	for (size_t i = 0; i < f->tested && !rc; i++) {
		struct diff_row *r = &f->rows[i];

		r->q = q[i];
		r->verdict = judge(c, r);
		if (r->verdict != DIFF_UNCLEAR)
			r->need = 0;
	}
	for (size_t i = 0; i < f->tested && !rc; i++)
		f->rows[i].seen = least_seen(c, &f->rows[i], f->tested);
	free(p);
	if (!rc && !f->latency)
		rc = compare_inlined(c, f);
	if (!rc && !f->latency)
		find_renamed(f);
	return rc;
}

int compare_family(struct compare *c, struct family *f, bool total)
{
	struct sums s;
	int rc = sums_make(c, &s, total);

	*f = (struct family){
		.name = total ? "total" : "self", .total = total, .gates = total == c->opts->total};
	rc = rc ? rc : make_rows(c, &s, f);
	if (!rc && c->rs->n > 2) {
		sum_deviations(c, &s, total, false);
		rc = estimate(c, &s, f, false);
	} else if (!rc) {
		assume(c, f);
	}
	sums_release(&s);
	for (size_t i = 0; i < f->tested && !rc; i++)
		test_row(c, &f->rows[i]);
	return rc ? rc : compare_judge(c, f);
}

int compare_learn(struct compare *c, struct noise *noise)
{
	double n = 0;
	struct family f = {0};
	struct sums s;
	int rc = sums_make(c, &s, false);

	for (size_t i = 0; i < c->rs->n; i++)
		n += 1 / c->size[i];
	n = (double)c->rs->n / n;
	/* All are one side; the other has no size, and no share. */
	rc = rc ? rc : make_rows(c, &s, &f);
	if (!rc) {
		sum_deviations(c, &s, false, true);
		rc = estimate(c, &s, &f, true);
	}
	noise->recordings = (uint32_t)c->rs->n;
	noise->df = (double)c->rs->n - 1 + f.prior_df;
	noise->prior = f.prior_df > 0 && f.prior > 1 ? (f.prior - 1) / (n - 1) : 0;
	for (size_t i = 0; i < f.tested && !rc; i++) {
		double phi = f.rows[i].phi;
		size_t len;
		const char *name = intern_get(&c->rs->units, f.rows[i].unit, &len);

		rc = noise_add(noise, name, len, phi > 1 ? (phi - 1) / (n - 1) : 0);
	}
	sums_release(&s);
	free(f.rows);
	return rc;
}

void compare_release(struct compare *c)
{
	free(c->size);
	for (size_t i = 0; i < c->nfamilies; i++)
		free(c->families[i].rows);
}
