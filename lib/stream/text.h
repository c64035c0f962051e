/*
 * The event stream as text for people and scripts: what `perf script` prints, or JSON lines.
 *
 *	struct stext *t;
 *	stext_new(&t, &out, STEXT_PERF, diag);
 *	while (!sreader_next(r, &rec))
 *		rc = stext_record(t, r, rec);
 *	stext_free(t);
 *
 * The reader has to keep all dictionaries (STEXT_KEEP).
 *
 * struct ssink is a filter's standard output in the form that was asked for: the filter writes
 * stream records to sink.w in any case. SSINK_OPTIONS are the command line options for that, the
 * same in every filter that writes a stream; ssink_option takes them.
 */
#ifndef PP_STREAM_TEXT_H
#define PP_STREAM_TEXT_H

#include "base/opt.h"
#include "stream/stream.h"
#include "stream/text_fields.h"

#define STEXT_KEEP (SREADER_EVENTS | SREADER_DSOS | SREADER_CHAINS | SREADER_SYMBOLS)

enum stext_form {
	STEXT_PERF, /* as perf script: samples only */
	STEXT_JSON, /* one object a record, context records too: perfpipe-stream(5) */
};

enum stext_times {
	STEXT_TIME_AS_IS,
	STEXT_TIME_REL,	  /* since the first line */
	STEXT_TIME_DELTA, /* since the line before */
};

#define STEXT_CPUS_MAX 64

/* "0,2-5": CPUs from first to last; none: all. */
struct stext_cpus {
	uint32_t n;
	struct {
		uint32_t first, last;
	} range[STEXT_CPUS_MAX];
};

/* How the samples of a trace.dat are printed: options of trace-cmd report. */
struct stext_trace {
	bool latency;	 /* the column of interrupts, short names */
	bool raw;	 /* fields instead of the print format */
	bool no_plugins; /* of libtraceevent */
	bool diff;	 /* times since the line before */
	bool v34;	 /* as trace-cmd 3.4 prints them, not 3.1 */
	/* of the function graph */
	bool tail, depth, no_retval, retval_dec, retval_hex;
};

/* What the text is to look like; the strings must outlive the printer. */
struct stext_opts {
	enum stext_form form;
	bool all;		   /* samples that a filter has marked as not passing, too */
	struct text_fields fields; /* -F */
	bool ns;		   /* times with all their digits */
	bool no_chains;		   /* the address instead of the call chain */
	enum stext_times times;
	struct stext_cpus cpus;
	struct stext_trace trace;
};

/* Whether the samples of a CPU are to be printed. */
static inline bool stext_shows_cpu(const struct stext_opts *o, uint32_t cpu)
{
	for (uint32_t i = 0; i < o->cpus.n; i++)
		if (cpu >= o->cpus.range[i].first && cpu <= o->cpus.range[i].last)
			return true;
	return !o->cpus.n;
}

/* Whether a sample is to be printed, by its mark and its CPU. */
static inline bool stext_shows(const struct stext_opts *o, const struct ps_sample *s)
{
	return (o->all || (s->flags & PS_MARK_MASK) == PS_MARK_PASS) && stext_shows_cpu(o, s->cpu);
}

struct stext;

/* Prints to `out`, which must outlive it. */
int stext_new(struct stext **t, struct out *out, const struct stext_opts *opts, struct diag *d);
void stext_free(struct stext *t); /* NULL is fine */

/* Prints one record, if it is of a type that the form shows. Returns 0 or an error of the output.
 */
int stext_record(struct stext *t, const struct sreader *r, const struct ps_record *rec);

/* ---- a filter's standard output ---- */

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

/* Ids of their own. */
enum ssink_option {
	SSINK_OPT_ALL = OPT_NO_SHORT + 512,
	SSINK_OPT_NS,
	SSINK_OPT_REL,
	SSINK_OPT_DELTA,
	SSINK_OPT_CPU,
	SSINK_OPT_DIFF,
	SSINK_OPT_TRACE_CMD,
};

/* What trace-cmd report can be told. */
#define SSINK_TRACE_OPTIONS \
	{'l', "latency", NULL, "trace.dat: print the column of interrupts"}, \
		{'R', "raw", NULL, "trace.dat: print fields, not their text"}, \
		{'N', "no-plugins", NULL, "trace.dat: print without libtraceevent's plugins"}, \
		{'O', "plugin", "OPTION", \
		 "trace.dat: an option of a plugin, as fgraph:tailprint"}, \
		{SSINK_OPT_DIFF, "ts-diff", NULL, "trace.dat: print times since the line before"}, \
	{ \
		SSINK_OPT_TRACE_CMD, "trace-cmd", "VERSION", \
			"trace.dat: print as trace-cmd 3.1 (default) or 3.4" \
	}

/* --cpu is not there where a filter has one of its own. */
#define SSINK_OPTIONS_BUT_CPU \
	{'b', "binary", NULL, "write the binary event stream, also to a terminal"}, \
		{'t', "text", NULL, "write text, as perf script or trace-cmd report prints it"}, \
		{'j', "json", NULL, "write JSON, one object a line"}, \
		{'F', "fields", "LIST", "what to print of a sample, as perf script -F"}, \
		{'G', "hide-call-graph", NULL, "print the address instead of the call chain"}, \
		{SSINK_OPT_NS, "ns", NULL, "print times with nine decimals"}, \
		{SSINK_OPT_REL, "reltime", NULL, "print times since the first line"}, \
		{SSINK_OPT_DELTA, "deltatime", NULL, "print times since the line before"}, \
		SSINK_TRACE_OPTIONS, \
	{ \
		SSINK_OPT_ALL, "all", NULL, "print also the samples that a filter let fail" \
	}

/*
 * Takes an option of those that tell what the text is to look like: *rc is 0, or PP_EUSAGE with what
 * is wrong in `why`. False: it is none of them.
 */
bool stext_option(struct stext_opts *o, int id, const char *arg, struct buf *why, int *rc);

#define SSINK_OPTIONS \
	{SSINK_OPT_CPU, "cpu", "LIST", "print only the samples of these CPUs"}, \
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
