/*
 * pconv: profiles and traces in the formats of other viewers, from event streams and folded text,
 * and back.
 *
 *	struct conv_opts o = {.to = conv_format("pprof")};
 *	status = conv_run(&o, argv + first, argc - first, &(struct conv_args){argc, argv}, d);
 *
 * A reader (from_*.c) fills a struct prof with what is in its format and gives out samples; a
 * writer (to_*.c) takes them. The input's format is determined by its first bytes.
 */
#ifndef PP_CONV_CONV_H
#define PP_CONV_CONV_H

#include "base/diag.h"
#include "base/opt.h"

struct conv_format;

struct conv_opts {
	const struct conv_format *from; /* NULL: determined by the first bytes */
	const struct conv_format *to;	/* NULL: by the ending of `output`, else an event stream */
	const char *output;		/* NULL: stdout */
	bool strict, stats;
};

struct conv_args {
	int argc;
	char **argv; /* for the provenance record of a stream */
};

/* The options, and their handler, whose context is a struct conv_opts. */
extern const struct opt conv_options[];
opt_handler conv_option;

/* Converts n files, stdin if there are none. Everything is reported to d. The exit status. */
int conv_run(const struct conv_opts *o, char **files, int n, const struct conv_args *args,
	     struct diag *d);

#endif
