/* The sizes of recordings: what their counts are divided by, so that they can be compared. */
#include "base/err.h"
#include "diff/compare.h"
#include "diff/statistics.h"

#include <math.h>
#include <stdlib.h>

#define MEDIAN_UNITS 5	/* so many units have to be everywhere for a median to mean something */
#define MEDIAN_COUNT 10 /* "everywhere": so many samples in each recording */

/* The logarithm of a unit's geometric mean where it is in all recordings; else not a number. */
static int log_means(const struct runs *rs, double **means, size_t *found)
{
	size_t units = rs->units.n + 1;
	uint32_t *seen = calloc(units, sizeof(*seen));
	double *v = calloc(units, sizeof(*v));

	*means = v;
	*found = 0;
	if (!seen || !v) {
		free(seen);
		return PP_ENOMEM;
	}
	for (size_t i = 0; i < rs->n; i++) {
		const struct diff_recording *r = &rs->v[i];

		for (uint32_t k = 0; k < r->nunits; k++) {
			if (r->self[k] < MEDIAN_COUNT)
				continue;
			seen[r->unit[k]]++;
			v[r->unit[k]] += log(r->self[k]);
		}
	}
	for (size_t u = 0; u < units; u++) {
		bool all = seen[u] == rs->n;

		v[u] = all ? v[u] / (double)rs->n : NAN;
		*found += all;
	}
	free(seen);
	return 0;
}

/*
 * Sizes by the median of the ratios to the geometric means (DESeq's size factors), if there are
 * enough units.
 */
static int median_sizes(struct compare *c, size_t *found)
{
	struct runs *rs = c->rs;
	double *means, *ratios, samples = 0, factors = 0;
	int rc = log_means(rs, &means, found);

	ratios = malloc((rs->units.n + 1) * sizeof(*ratios));
	if (!rc && !ratios)
		rc = PP_ENOMEM;
	for (size_t i = 0; i < rs->n && !rc && *found; i++) {
		const struct diff_recording *r = &rs->v[i];
		size_t n = 0;

		for (uint32_t k = 0; k < r->nunits; k++)
			if (!isnan(means[r->unit[k]]))
				ratios[n++] = log(r->self[k]) - means[r->unit[k]];
		c->size[i] = exp(stat_median(ratios, n));
		factors += c->size[i];
		samples += r->n;
	}
	for (size_t i = 0; i < rs->n && !rc && *found; i++)
		c->size[i] *= samples / factors;
	free(means);
	free(ratios);
	return rc;
}

/* Sizes in proportion to what was recorded beside the samples: seconds, or work done. */
static int given_sizes(struct compare *c, const double *given)
{
	double sum = 0, samples = 0;

	for (size_t i = 0; i < c->rs->n; i++) {
		sum += given[i];
		samples += c->rs->v[i].n;
	}
	for (size_t i = 0; i < c->rs->n; i++)
		c->size[i] = given[i] / sum * samples;
	return 0;
}

static int time_sizes(struct compare *c)
{
	double *given = malloc(c->rs->n * sizeof(*given));
	int rc = given ? 0 : PP_ENOMEM;

	for (size_t i = 0; i < c->rs->n && !rc; i++) {
		given[i] = c->rs->v[i].seconds;
		if (given[i] > 0)
			continue;
		diag_error(c->rs->diag, c->rs->v[i].name, -1,
			   "has no duration: --norm=time needs files with event streams");
		rc = PP_EUSAGE;
	}
	rc = rc ? rc : given_sizes(c, given);
	free(given);
	return rc;
}

static int work_sizes(struct compare *c, const char *text)
{
	double *given = malloc(c->rs->n * sizeof(*given));
	size_t n = 0;
	char *end = NULL;

	if (!given)
		return PP_ENOMEM;
	while (n < c->rs->n) {
		given[n] = strtod(text, &end);
		if (end == text || !(given[n] > 0) || isinf(given[n]))
			break;
		n++;
		text = end + (*end == ',');
		if (*end != ',')
			break;
	}
	if (n < c->rs->n || *end) {
		diag_error(c->rs->diag, NULL, -1,
			   "--work: one number above 0 for each of the %zu recordings", c->rs->n);
		free(given);
		return PP_EUSAGE;
	}
	given_sizes(c, given);
	free(given);
	return 0;
}

static void share_sizes(struct compare *c)
{
	for (size_t i = 0; i < c->rs->n; i++)
		c->size[i] = c->rs->v[i].n;
}

static int pick_sizes(struct compare *c)
{
	size_t found = 0;
	int rc;

	c->norm = c->opts->norm;
	switch (c->norm) {
	case DIFF_NORM_TIME: return time_sizes(c);
	case DIFF_NORM_WORK: return work_sizes(c, c->opts->work);
	case DIFF_NORM_SHARE: break;
	case DIFF_NORM_AUTO:
	case DIFF_NORM_MEDIAN:
		rc = median_sizes(c, &found);
		if (rc || found >= (c->norm == DIFF_NORM_AUTO ? MEDIAN_UNITS : 1)) {
			c->norm = DIFF_NORM_MEDIAN;
			return rc;
		}
		if (c->norm == DIFF_NORM_MEDIAN)
			diag_warn(c->rs->diag, NULL, -1,
				  "nothing has %d samples in every recording: shares are compared",
				  MEDIAN_COUNT);
	}
	c->norm = DIFF_NORM_SHARE;
	share_sizes(c);
	return 0;
}

int compare_sizes(struct compare *c, struct runs *rs, const struct diff_opts *opts)
{
	int rc;

	c->rs = rs;
	c->opts = opts;
	c->size = calloc(rs->n + 1, sizeof(*c->size));
	if (!c->size)
		return PP_ENOMEM;
	rc = pick_sizes(c);
	for (size_t i = 0; i < rs->n; i++) {
		c->sides[rs->v[i].side] += c->size[i];
		c->samples[rs->v[i].side] += rs->v[i].n;
		c->runs[rs->v[i].side]++;
	}
	if (!rc && c->norm == DIFF_NORM_MEDIAN && c->runs[0] && c->runs[1])
		c->drift = c->samples[1] / c->samples[0] / (c->sides[1] / c->sides[0]) - 1;
	c->gated = c->runs[0] + c->runs[1] > 2 || c->noise;
	return rc;
}
