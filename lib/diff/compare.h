/*
 * The statistics of a comparison. Private to lib/diff.
 *
 *	struct compare c;
 *	rc = compare_sizes(&c, &runs, &opts);	(what counts are divided by)
 *	rc = compare_family(&c, &c.families[0], false);
 *	compare_release(&c);
 *
 * A quasi-binomial test: a unit's share in a recording varies as a binomial share does, times a
 * dispersion that is estimated from the recordings of both sides and drawn towards that of all
 * units (Smyth 2004, Linear models and empirical Bayes methods, section 6.2). pdiff(1) has the
 * formulas.
 */
#ifndef PP_DIFF_COMPARE_H
#define PP_DIFF_COMPARE_H

#include "diff/noise.h"
#include "diff/runs.h"

#define COMPARE_LEVEL	.05		  /* of the intervals: 95 % */
#define COMPARE_POWER_T .8416212335729143 /* 80 % quantile of the normal distribution */

struct diff_row {
	uint32_t unit;	  /* 0: all small ones together */
	uint32_t partner; /* of RENAMED and INLINED: the other unit */
	bool callee;	  /* of INLINED: the partner is its caller, not what it calls */
	double y[2];	  /* samples of a side */
	double share[2];  /* of the side's size */
	double diff;	  /* share[1] - share[0] */
	double low, high; /* its 95 % interval */
	double p, q, phi, df;
	double effect; /* the smallest difference that matters */
	double seen;   /* the smallest difference that would have got a verdict, in 4 of 5 cases */
	double need;   /* of UNCLEAR: recordings of each side that would decide */
	enum diff_verdict verdict;
};

struct family {
	const char *name; /* "self", "total", "p50", "p99" */
	bool total;	  /* of run.total, not of run.self */
	bool latency;	  /* shares are values in ns, differences are relative */
	bool gates;	  /* the verdict of the whole is that of its rows */
	struct diff_row
		*rows; /* those that were tested, then the one of the small ones if there are any */
	size_t n, tested;
	double prior,
		prior_df; /* the dispersion that those of the units are drawn to; df 0: none */
};

struct compare {
	const struct diff_opts *opts;
	const struct noise *noise; /* or NULL */
	struct runs *rs;
	enum diff_norm norm; /* never AUTO */
	double *size;	     /* of each recording: what its counts are divided by */
	double sides[2];     /* sums of them */
	size_t runs[2];	     /* recordings */
	double samples[2];
	double drift; /* how the size by samples changed beside that by the median, -1 .. */
	struct family families[2];
	size_t nfamilies;
	bool gated; /* the variation from run to run is known */
};

/* sizes.c: 0, PP_ENOMEM, PP_EUSAGE (the recordings do not have what the norm needs; reported). */
int compare_sizes(struct compare *c, struct runs *rs, const struct diff_opts *opts);

/* Tests all units by their self or total counts. 0 or PP_ENOMEM. */
int compare_family(struct compare *c, struct family *f, bool total);

/*
 * Verdicts and false discovery rates of rows that have p, an interval and a least effect. 0 or
 * PP_ENOMEM.
 */
int compare_judge(struct compare *c, struct family *f);

/*
 * inlining.c: gives the verdict INLINED where a function took over what one that it called had
 * alone, or the other way round. The self counts are judged before the total ones. 0 or PP_ENOMEM.
 */
int compare_inlined(struct compare *c, struct family *f);

/* Learns how units vary among all recordings, whatever their side. 0 or PP_ENOMEM. */
int compare_learn(struct compare *c, struct noise *noise);

/*
 * latency.c: tests a percentile, the 99th or the median, of all units that both sides have in two
 * recordings at least. A recording counts once, however many values it has. 0 or PP_ENOMEM.
 */
int latency_family(struct compare *c, struct family *f, bool p99);

void compare_release(struct compare *c);

/* ---- variation within recordings, if one is compared with one ---- */

/* Whether both recordings have slices; the degrees of freedom. */
bool slices_known(const struct compare *c, double *df);

/*
 * The dispersion of a row: the variance of the difference of both shares, as the slices show it, by
 * what it were if samples were independent. `v`: the latter.
 */
double slices_phi(const struct compare *c, const struct diff_row *r, bool total, double v);

#endif
