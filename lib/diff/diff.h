/*
 * Comparing recordings: which functions became slower, and how certain that is.
 *
 *	struct diff_opts o = DIFF_OPTS_INIT;
 *	struct diff *d;
 *
 *	rc = diff_new(&d, &o, diag);
 *	rc = diff_add(d, DIFF_BASE, "before.folded");
 *	rc = diff_add(d, DIFF_OTHER, "after.folded");
 *	rc = diff_run(d);
 *	rc = diff_write(d, DIFF_FORM_TEXT, &out);
 *	worse = diff_result(d)->worse;
 *	diff_free(d);
 *
 * Each file is one recording: folded text, perf script text, an event stream, or a table of phist.
 * pdiff(1) describes the statistics. The caller decides on the exit status.
 */
#ifndef PP_DIFF_DIFF_H
#define PP_DIFF_DIFF_H

#include "base/diag.h"
#include "base/opt.h"
#include "base/out.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum diff_side { DIFF_BASE, DIFF_OTHER, DIFF_SIDES };

/* What counts are divided by: N(NAME, option). */
#define DIFF_NORMS(N) \
	N(AUTO, "auto") N(SHARE, "share") N(MEDIAN, "median") N(TIME, "time") N(WORK, "work")

/*
 * V(NAME, text, whether it fails a gate). MORE and LESS: one recording is compared with one, so
 * that
 * what differs may be only the variation from run to run. INLINED: a function took over what
 * one that it called had, or the other way round. SMALL: too rare to be tested.
 */
#define DIFF_VERDICTS(V) \
	V(REGRESSED, "regressed", true) \
	V(NEW, "new", true) \
	V(IMPROVED, "improved", false) \
	V(GONE, "gone", false) \
	V(RENAMED, "renamed", false) \
	V(INLINED, "inlined", false) \
	V(MORE, "more", false) \
	V(LESS, "less", false) \
	V(UNCLEAR, "unclear", false) \
	V(SAME, "same", false) \
	V(SMALL, "small", false)

/* F(NAME, option). */
#define DIFF_FORMS(F) \
	F(TEXT, "text") \
	F(TSV, "tsv") F(JSON, "json") F(MARKDOWN, "markdown") F(JUNIT, "junit") F(FOLDED, "folded")

enum diff_norm {
#define N(name, text) DIFF_NORM_##name,
	DIFF_NORMS(N)
#undef N
};
enum diff_verdict {
#define V(name, text, gate) DIFF_##name,
	DIFF_VERDICTS(V)
#undef V
		DIFF_NVERDICTS
};
enum diff_form {
#define F(name, text) DIFF_FORM_##name,
	DIFF_FORMS(F)
#undef F
};

struct diff_opts {
	const char *by; /* "function", "stack", "comm", or a key of phist */
	bool exact;	/* names as they are */
	enum diff_norm norm;
	const char *work;    /* units of work done, "N,N,...", in the order of the files */
	const char *noise;   /* file that diff_learn wrote, or NULL */
	bool binomial;	     /* samples are independent: they are not, and it is wrong */
	bool total;	     /* the gate looks at functions with what they call */
	bool any;	     /* Benjamini and Yekutieli */
	double alpha;	     /* false discovery rate */
	double min_points;   /* smallest difference that matters: part of all samples, 0 to 1 */
	double min_relative; /* and part of what the base has */
	double period;	     /* weight of a sample; 0: determined automatically */
	unsigned top;	     /* rows of text at most; 0: all */
	bool stacks;	     /* keep whole stacks, for DIFF_FORM_FOLDED */
	bool pair;	     /* two recordings are all that will be added */
	bool wide;	     /* names are not cut to fit 80 columns */
};

/* clang-format off */
#define DIFF_OPTS_INIT \
	{ \
		.by = "function", .alpha = .05, .min_points = .005, .min_relative = .05, .top = 20 \
	}
/* clang-format on */

/* How many units got each verdict, in the family that the gate looks at. */
struct diff_result {
	uint64_t verdicts[DIFF_NVERDICTS];
	uint64_t tested;
	bool gated;   /* there is enough to decide on: several recordings, or a noise table */
	bool worse;   /* something regressed, or is new */
	bool unclear; /* of something, this is not known */
	bool partial; /* a recording was damaged or cut off */
	double seen;  /* a difference of anything that was tested would most likely have been seen
			 from here on: a part of all samples; of latencies, of the base's value */
};

struct diff;

/* The texts of opts and the diag must outlive it. 0, PP_EUSAGE (reported), PP_ENOMEM. */
int diff_new(struct diff **d, const struct diff_opts *opts, struct diag *diag);
void diff_free(struct diff *d); /* NULL is fine */

/* Whether it is the name of a directory of recordings. */
bool diff_is_directory(const char *name);

/* Reads a recording; a directory means the files in it. 0, or an error that was reported. */
int diff_add(struct diff *d, enum diff_side side, const char *file);

/* Compares. 0, or an error that was reported. */
int diff_run(struct diff *d);

const struct diff_result *diff_result(const struct diff *d);

/* Writes the comparison. 0, PP_ENOMEM or the output's error. */
int diff_write(struct diff *d, enum diff_form form, struct out *out);

/*
 * Writes what is to be known of the base's recordings to compare one with one: how much each
 * function varies from run to run. 0, PP_EUSAGE (fewer than three recordings; reported), or the
 * output's error.
 */
int diff_learn(struct diff *d, struct out *out);

#endif
