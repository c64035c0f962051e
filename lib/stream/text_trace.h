/*
 * The samples of a trace.dat as `trace-cmd report` prints them. Private to lib/stream.
 *
 * Payloads are printed by libtraceevent with the plugins that are installed, the events of the
 * function graph tracer here, since the line of a function that calls no other is made of two events.
 */
#ifndef PP_STREAM_TEXT_TRACE_H
#define PP_STREAM_TEXT_TRACE_H

#include "base/buf.h"
#include "stream/text.h"

struct text_trace;

/*
 * Where the lines of all recordings of a stream go: what comes behind a line that waits has to wait,
 * too. Where there are several recordings, lines begin with the name of theirs.
 */
struct text_page {
	struct out *out;
	struct buf text;		 /* what waits */
	struct call *open;		 /* functions that were entered and that wait */
	struct text_trace *heads, *last; /* whose first lines are still to be printed */
	uint32_t traces;		 /* recordings */
	bool buffers;			 /* one of them has further buffers */
	size_t file_width, buffer_width; /* of the longest names */
};

/* A text of other recordings, in its turn. */
int text_page_add(struct text_page *page, const struct buf *text);
/* Writes what waits for an event that did not come. */
int text_page_finish(struct text_page *page);
/* Forgets everything but `out`. */
void text_page_reset(struct text_page *page);

/* Prints to a page, which must outlive it. 0 or PP_ENOMEM. */
int text_trace_new(struct text_trace **t, struct text_page *page, const struct ps_source *source,
		   const struct stext_opts *opts);
void text_trace_free(struct text_trace *t); /* NULL is fine */

/* Takes a record of the recording. */
int text_trace_record(struct text_trace *t, const struct sreader *r, const struct ps_record *rec);

/* ---- text_graph.c: the function graph tracer ---- */

/* Fields of funcgraph_entry and funcgraph_exit. */
struct graph_call {
	uint64_t func, depth;
	uint64_t calltime, rettime; /* exit only */
};

/* What follows the event's name; name: of the function, NULL if unknown; ret NULL: it calls others. */
void text_graph_entry(struct buf *b, const struct graph_call *entry, const char *name,
		      const struct graph_call *ret);
void text_graph_exit(struct buf *b, const struct graph_call *ret);

#endif
