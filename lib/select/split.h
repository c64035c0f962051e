/*
 * One stream to many files, each a stream of its own: pfilter --split.
 *
 *	struct split sp = {.prefix = "part", .samples = 1000, .argc = argc, .argv = argv};
 *	split_begin(&sp, &sink, &opts, d);		(opens the sink: part.0001)
 *	split_see(&sp, rec);				(each record other than a sample)
 *	split_sample(&sp, rec);			(before each sample that is written)
 *	status = ssink_close(&sink, &end, d);
 *	split_release(&sp);
 *
 * Each file begins with the dictionaries and the context records (processes, mappings) that came
 * before it, so that every filter can read it alone. These are kept in memory; what a producer has
 * defined again is kept once.
 */
#ifndef PP_SELECT_SPLIT_H
#define PP_SELECT_SPLIT_H

#include "filter/ssink.h"

struct split {
	const char *prefix;
	uint64_t samples; /* of a file; 0: */
	uint64_t ns;	  /* time of a file */
	int argc;
	char **argv; /* for the provenance records */
	/* The rest is its own. */
	struct ssink *sink;
	const struct ssink_opts *opts;
	struct diag *d;
	struct out out;
	struct swriter w;
	struct buf kept;
	unsigned number;  /* of the file */
	uint64_t n, from; /* samples in the file; its beginning in ns */
	bool started;
};

/* "1000": samples; "10ms", "1.5s": time. 0, or PP_EUSAGE with `why`. */
int split_parse(struct split *sp, const char *text, struct buf *why);

/* --split and --output are given together: 0, or PP_EUSAGE with `why`. */
int split_check(const struct split *sp, struct buf *why);

/* Opens the first file as the sink. 0, or an error, which was reported. */
int split_begin(struct split *sp, struct ssink *sink, const struct ssink_opts *opts,
		struct diag *d);

/* Remembers what the files to come need of a record. */
int split_see(struct split *sp, const struct ps_record *rec);

/* Goes to the next file if the sample belongs there. 0, or an error, which was reported. */
int split_sample(struct split *sp, const struct ps_record *rec);
void split_release(struct split *sp);

#endif
