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
 *stream records to sink.w in any case.
 */
#ifndef PP_STREAM_TEXT_H
#define PP_STREAM_TEXT_H

#include "stream/stream.h"

#define STEXT_KEEP (SREADER_EVENTS | SREADER_DSOS | SREADER_CHAINS | SREADER_SYMBOLS)

enum stext_form {
	STEXT_PERF, /* as perf script: samples only */
	STEXT_JSON, /* one object a record, context records too: perfpipe-stream(5) */
};

struct stext;

/* Prints to `out`, which must outlive it. */
int stext_new(struct stext **t, struct out *out, enum stext_form form, struct diag *d);
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

struct ssink {
	struct swriter w;     /* what the filter writes to */
	struct out out;	      /* of the records */
	struct out text_out;  /* of the text */
	struct stext *text;   /* NULL: binary */
	struct sreader *back; /* reads the records back, for the printer */
};

int ssink_open(struct ssink *s, int fd, enum ssink_form form, struct diag *d);

/* Writes what waits: to be called before waiting for input. */
void ssink_flush(void *sink);

/*
 * Writes the END record, closes the output. Says what failed, and returns the exit status: that of
 * `end`, or PP_EXIT_FAIL when the output failed. A reader of the output that is gone is no news.
 */
int ssink_close(struct ssink *s, struct ps_end *end, struct diag *d);

#endif
