/*
 * A filter's standard output in the requested form: binary, text or JSON. The filter
 * always writes stream records to sink.w.
 *
 *	struct ssink sink;
 *	ssink_open(&sink, STDOUT_FILENO, &opts, diag);
 *	rc = swriter_copy(&sink.w, rec);
 *	status = ssink_close(&sink, &end, diag);
 *
 * ssink_options are the command line options for that, the same in every filter that writes a
 * stream; those of stext_options (print/text.h) go with them.
 */
#ifndef PP_FILTER_SSINK_H
#define PP_FILTER_SSINK_H

#include "base/opt.h"
#include "print/text.h"
#include "stream/stream.h"

enum ssink_form {
	SSINK_AUTO, /* text on a terminal, otherwise binary */
	SSINK_BINARY,
	SSINK_TEXT,
	SSINK_JSON,
	SSINK_NONE, /* nothing: the filter's result is something else */
};

struct ssink_opts {
	enum ssink_form form;
	bool plain;	  /* a binary stream is not packed */
	unsigned threads; /* that print text; 0: as printers_new chooses */
	struct stext_opts text;
};

/* The options for that, and their handler, whose context is a struct ssink_opts. */
extern const struct opt ssink_options[];
extern const struct opt_rule ssink_rules[];
opt_handler ssink_option;

/*
 * Options of these and of stext_options, and in the second table of stext_cpu_options, that have no
 * effect on some forms: for cli_effects. The form that the output will have, as a bit; *on: what
 * that is in words.
 */
extern const struct opt_effect ssink_effects[], ssink_cpu_effects[];
unsigned ssink_mode(const struct ssink_opts *opts, int fd, const char **on);

struct ssink {
	struct swriter w;	/* what the filter writes to */
	struct out out;		/* of the records */
	struct out text_out;	/* of the text */
	struct printers *print; /* NULL: binary */
};

int ssink_open(struct ssink *s, int fd, const struct ssink_opts *opts, struct diag *d);

/* Writes what waits: for src_on_pause of the input. -1, and the error is in s->w.err. */
int ssink_flush(void *sink);

/*
 * Writes the END record, closes the output. Says what failed, and returns the exit status: that of
 * `end`, or PP_EXIT_FAIL when the output failed. A missing reader of the output is not reported.
 */
int ssink_close(struct ssink *s, struct ps_end *end, struct diag *d);

#endif
