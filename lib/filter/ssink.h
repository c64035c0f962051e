/*
 * A filter's standard output in the form that was asked for: binary, text or JSON. The filter writes
 * stream records to sink.w in any case.
 *
 *	struct ssink sink;
 *	ssink_open(&sink, STDOUT_FILENO, &opts, diag);
 *	rc = swriter_copy(&sink.w, rec);
 *	status = ssink_close(&sink, &end, diag);
 *
 * SSINK_OPTIONS are the command line options for that, the same in every filter that writes a
 * stream; ssink_option takes them.
 */
#ifndef PP_FILTER_SSINK_H
#define PP_FILTER_SSINK_H

#include "base/opt.h"
#include "print/text.h"
#include "stream/stream.h"

enum ssink_form {
	SSINK_AUTO, /* text on a terminal, else binary */
	SSINK_BINARY,
	SSINK_TEXT,
	SSINK_JSON,
	SSINK_NONE, /* nothing: the filter's result is something else */
};

struct ssink_opts {
	enum ssink_form form;
	struct stext_opts text;
};

/* What trace-cmd report can be told. */
#define SSINK_TRACE_OPTIONS \
	{'l', "latency", NULL, "trace.dat: print the column of interrupts"}, \
		{'R', "raw", NULL, "trace.dat: print fields, not their text"}, \
		{'N', "no-plugins", NULL, "trace.dat: print without libtraceevent's plugins"}, \
		{'O', "plugin", "OPTION", \
		 "trace.dat: an option of a plugin, as fgraph:tailprint"}, \
		{STEXT_OPT_DIFF, "ts-diff", NULL, "trace.dat: print times since the line before"}, \
	{ \
		STEXT_OPT_TRACE_CMD, "trace-cmd", "VERSION", \
			"trace.dat: print as trace-cmd 3.1 (default) or 3.4" \
	}

/* --cpu is not there where a filter has one of its own. */
#define SSINK_OPTIONS_BUT_CPU \
	{'b', "binary", NULL, "write the binary event stream, also to a terminal"}, \
		{'t', "text", NULL, "write text, as perf script or trace-cmd report prints it"}, \
		{'j', "json", NULL, "write JSON, one object a line"}, \
		{'F', "fields", "LIST", "what to print of a sample, as perf script -F"}, \
		{'G', "hide-call-graph", NULL, "print the address instead of the call chain"}, \
		{STEXT_OPT_NS, "ns", NULL, "print times with nine decimals"}, \
		{STEXT_OPT_REL, "reltime", NULL, "print times since the first line"}, \
		{STEXT_OPT_DELTA, "deltatime", NULL, "print times since the line before"}, \
		SSINK_TRACE_OPTIONS, \
	{ \
		STEXT_OPT_ALL, "all", NULL, "print also the samples that a filter let fail" \
	}

#define SSINK_OPTIONS \
	{STEXT_OPT_CPU, "cpu", "LIST", "print only the samples of these CPUs"}, \
		SSINK_OPTIONS_BUT_CPU

/*
 * Takes an option if it is one of SSINK_OPTIONS: *rc is 0, or PP_EUSAGE with what is wrong in `why`.
 * False: it is the filter's own.
 */
bool ssink_option(struct ssink_opts *o, int id, const char *arg, struct buf *why, int *rc);

struct ssink {
	struct swriter w;     /* what the filter writes to */
	struct out out;	      /* of the records */
	struct out text_out;  /* of the text */
	struct stext *text;   /* NULL: binary */
	struct sreader *back; /* reads the records back, for the printer */
};

int ssink_open(struct ssink *s, int fd, const struct ssink_opts *opts, struct diag *d);

/* Writes what waits: to be called before waiting for input. */
void ssink_flush(void *sink);

/*
 * Writes the END record, closes the output. Says what failed, and returns the exit status: that of
 * `end`, or PP_EXIT_FAIL when the output failed. A reader of the output that is gone is no news.
 */
int ssink_close(struct ssink *s, struct ps_end *end, struct diag *d);

#endif
