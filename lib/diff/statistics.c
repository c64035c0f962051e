/* Distributions and adjustments that a comparison needs; see statistics.h. */
#include "diff/statistics.h"

#include "base/err.h"

#include <math.h>
#include <stdlib.h>

#define TERMS_MAX 10000
#define EXACT	  1e-15

/*
 * The continued fraction of the incomplete beta function (26.5.8), by Lentz's method. Converges
 * fast for x < (a + 1) / (a + b + 2).
 */
static double beta_fraction(double x, double a, double b)
{
	double c = 1, d = 1 - (a + b) * x / (a + 1), f;

	d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
	f = d;
	for (int m = 1; m < TERMS_MAX; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step = 1;

		for (int k = 0; k < 2; k++) {
			double term = k ? odd : even;

			d = 1 + term * d;
			c = 1 + term / c;
			d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
			c = fabs(c) < 1e-300 ? 1e-300 : c;
			step = c * d;
			f *= step;
		}
		if (fabs(step - 1) < EXACT)
			break;
	}
	return f;
}

/* ln(gamma(a + 1/2) / gamma(a)): for large a by its series, as the difference would lose digits. */
static double half_step(double a)
{
	if (a < 500)
		return lgamma(a + .5) - lgamma(a);
	return log(a) / 2 - 1 / (8 * a) + 1 / (192 * a * a * a);
}

/* 26.7.1 by 26.5: the incomplete beta function with x = df / (df + t^2), a = df / 2, b = 1/2. */
double stat_t_p(double t, double df)
{
	double a = df / 2, x, y, scale;

	if (isnan(t))
		return 1;
	if (isinf(t))
		return 0;
	if (isinf(df))
		return erfc(fabs(t) / sqrt(2));
	x = df / (df + t * t);
	y = t * t / (df + t * t);
	if (y <= 0 || x <= 0)
		return y <= 0;
	scale = exp(half_step(a) - log(M_PI) / 2 + a * (y < .5 ? log1p(-y) : log(x)) + log(y) / 2);
	if (x < (a + 1) / (a + 2.5))
		return scale * beta_fraction(x, a, .5) / a;
	return 1 - 2 * scale * beta_fraction(y, .5, a);
}

double stat_t_quantile(double p, double df)
{
	double low = 0, high = 1;

	while (stat_t_p(high, df) > p && high < 1e300)
		high *= 2;
	for (int i = 0; i < 200 && high - low > 1e-14 * high; i++) {
		double mid = low + (high - low) / 2;

		if (stat_t_p(mid, df) > p)
			low = mid;
		else
			high = mid;
	}
	return low + (high - low) / 2;
}

/* Both by their recurrence up to where the asymptotic series (6.3.18, 6.4.12) is exact. */
double stat_digamma(double x)
{
	double sum = 0, w;

	while (x < 10) {
		sum -= 1 / x;
		x += 1;
	}
	w = 1 / (x * x);
	return sum + log(x) - .5 / x -
	       w * (1. / 12 - w * (1. / 120 - w * (1. / 252 - w * (1. / 240 - w / 132))));
}

double stat_trigamma(double x)
{
	double sum = 0, w;

	while (x < 10) {
		sum += 1 / (x * x);
		x += 1;
	}
	w = 1 / (x * x);
	return sum + 1 / x + w / 2 +
	       w / x * (1. / 6 - w * (1. / 30 - w * (1. / 42 - w * (1. / 30 - w * 5 / 66))));
}

/* trigamma falls from infinity to 0, and lies between 1/x and 1/x + 1/x^2. */
double stat_trigamma_inverse(double y)
{
	double low = 0, high = 1;

	while (stat_trigamma(high) > y && high < 1e300)
		high *= 2;
	for (int i = 0; i < 200 && high - low > 1e-14 * high; i++) {
		double mid = low + (high - low) / 2;

		if (stat_trigamma(mid) > y)
			low = mid;
		else
			high = mid;
	}
	return low + (high - low) / 2;
}

static int by_value(const void *a, const void *b)
{
	double x = **(const double *const *)a, y = **(const double *const *)b;

	return (x > y) - (x < y);
}

int stat_fdr(const double *p, double *q, size_t n, bool any)
{
	const double **order = malloc((n + 1) * sizeof(*order));
	double factor = any ? 0 : 1, least = 1;

	if (!order)
		return PP_ENOMEM;
	for (size_t i = 0; i < n; i++) {
		order[i] = &p[i];
		if (any)
			factor += 1 / (double)(i + 1);
	}
	qsort(order, n, sizeof(*order), by_value);
	for (size_t k = n; k-- > 0;) {
		double adjusted = *order[k] * (double)n * factor / (double)(k + 1);

		if (adjusted < least)
			least = adjusted;
		q[order[k] - p] = least;
	}
	free(order);
	return 0;
}

static int by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double stat_median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_number);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}
