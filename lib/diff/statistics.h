/*
 * The mathematics of a comparison: Student's distribution, polygamma functions, false discovery
 * rates.
 *
 *	p[i] = stat_t_p(t, df);		(two sided)
 *	stat_fdr(p, q, n, false);	(Benjamini and Hochberg)
 *
 * Numbers are exact to at least nine digits; degrees of freedom may be INFINITY (the normal
 * distribution). Formulas: Abramowitz and Stegun, Handbook of Mathematical Functions, 6.3, 6.4,
 * 26.5, 26.7; Benjamini and Hochberg 1995; Benjamini and Yekutieli 2001.
 */
#ifndef PP_DIFF_STATISTICS_H
#define PP_DIFF_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

/* The probability that |T| is at least |t|; 1 if t is not a number. */
double stat_t_p(double t, double df);

/* The t for which stat_t_p(t, df) is `p`, 0 < p < 1. */
double stat_t_quantile(double p, double df);

/* The first and second derivative of ln(gamma), for x > 0; and the x of which trigamma is y > 0. */
double stat_digamma(double x);
double stat_trigamma(double x);
double stat_trigamma_inverse(double y);

/*
 * Adjusts n p values for their number: q[i] is the smallest false discovery rate at which test i is
 * a discovery. With `any`, whatever the tests depend on each other (Benjamini and Yekutieli). 0 or
 * PP_ENOMEM.
 */
int stat_fdr(const double *p, double *q, size_t n, bool any);

/* The median of n > 0 numbers, which are sorted. */
double stat_median(double *v, size_t n);

#endif
