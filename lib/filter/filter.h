/*
 * The loop of a filter that reads event streams and writes one.
 *
 *	struct filter f = {.name = "psym", .argc = argc, .argv = argv, .keep = SREADER_CHAINS,
 *			   .record = on_record, .ctx = r};
 *	ssink_open(&sink, STDOUT_FILENO, &opts, d);
 *	filter_run(&f, argv + first, argc - first, &sink, d, &end);
 *	status = ssink_close(&sink, &end, d);
 *
 * Headers, END records, provenance, damage of the input and flushing in its pauses are its work;
 * the filter sees every record, including PS_HEADER, and writes the output.
 */
#ifndef PP_FILTER_FILTER_H
#define PP_FILTER_FILTER_H

#include "filter/ssink.h"

struct filter {
	const char *name;
	int argc;
	char **argv;   /* for the provenance record */
	unsigned keep; /* enum sreader_keep */
	/* 0, or an error that ends the run: it is reported, and the status becomes PP_EXIT_FAIL. */
	int (*record)(void *ctx, const struct sreader *r, const struct ps_record *rec);
	/* NULL, or writes what was held back: at the end, and when nothing arrives for long. */
	int (*drain)(void *ctx);
	void *ctx;
	/* NULL, or what gives the source of an input instead of src_open (twice.h). */
	int (*open)(void *ctx, const char *file, struct src **s, struct diag *d);
	void *open_ctx;
};

/*
 * Reads the files (none: stdin) one after another. `end` gets the account and the status for
 * ssink_close; several streams in the input become several streams in the output.
 */
void filter_run(const struct filter *f, char **files, int n, struct ssink *sink, struct diag *d,
		struct ps_end *end);

#endif
