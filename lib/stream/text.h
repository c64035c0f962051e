/*
 * The event stream as text for people and scripts: what `perf script` prints, or JSON lines.
 *
 *	struct stext *t;
 *	stext_new(&t, &out, STEXT_PERF, diag);
 *	while (!sreader_next(r, &rec))
 *		rc = stext_record(t, r, &rec);
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

/* What the text is to look like; the strings must outlive the printer. */
struct stext_opts {
	enum stext_form form;
	bool all;		   /* samples that a filter has marked as not passing, too */
	struct text_fields fields; /* -F */
	bool ns;		   /* times with all their digits */
	bool no_chains;		   /* the address instead of the call chain */
	enum stext_times times;
};

/* Whether a sample is to be printed, by its mark. */
static inline bool stext_shows(const struct stext_opts *o, const struct ps_sample *s)
{
	return o->all || (s->flags & PS_MARK_MASK) == PS_MARK_PASS;
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
};

#define SSINK_OPTIONS \
	{'b', "binary", NULL, "write the binary event stream, also to a terminal"}, \
		{'t', "text", NULL, "write text, as perf script or trace-cmd report prints it"}, \
		{'j', "json", NULL, "write JSON, one object a line"}, \
		{'F', "fields", "LIST", "what to print of a sample, as perf script -F"}, \
		{'G', "hide-call-graph", NULL, "print the address instead of the call chain"}, \
		{SSINK_OPT_NS, "ns", NULL, "print times with nine decimals"}, \
		{SSINK_OPT_REL, "reltime", NULL, "print times since the first line"}, \
		{SSINK_OPT_DELTA, "deltatime", NULL, "print times since the line before"}, \
	{ \
		SSINK_OPT_ALL, "all", NULL, "print also the samples that a filter let fail" \
	}

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
