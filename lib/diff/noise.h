/*
 * How much each unit varies from one recording of a job to the next: learned once from several,
 * used to judge one against one. Private to lib/diff.
 *
 *	struct noise n = {0};
 *	rc = noise_read(&n, "noise.tsv", diag);
 *	icc = noise_of(&n, "deflate_fast", 12);
 *	noise_release(&n);
 *
 * What is kept is the intraclass correlation: the dispersion of a recording of n samples is
 * 1 + (n - 1) * icc, so that recordings of other lengths can also be judged by it.
 */
#ifndef PP_DIFF_NOISE_H
#define PP_DIFF_NOISE_H

#include "base/diag.h"
#include "base/intern.h"
#include "base/out.h"

struct noise {
	struct intern names;
	double *icc;  /* by name id */
	uint32_t cap; /* entries of icc */
	double prior; /* of units that are not in it */
	double df;    /* of all; INFINITY */
	uint32_t recordings;
};

/* Adds a unit. 0 or PP_ENOMEM. */
int noise_add(struct noise *n, const char *name, size_t len, double icc);

double noise_of(const struct noise *n, const char *name, size_t len);

/* 0, or an error that was reported. */
int noise_read(struct noise *n, const char *file, struct diag *d);

/* 0 or the output's error. */
int noise_write(const struct noise *n, struct out *out);

void noise_release(struct noise *n);

#endif
