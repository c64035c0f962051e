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

/* Prints to `out`, which must outlive it. 0 or PP_ENOMEM. */
int text_trace_new(struct text_trace **t, struct out *out, const struct ps_source *source,
		   const struct stext_opts *opts);
void text_trace_free(struct text_trace *t); /* NULL is fine */

/* Takes a record of the recording, or the END of the stream. */
int text_trace_record(struct text_trace *t, const struct sreader *r, const struct ps_record *rec);

/* Prints what waits for an event that did not come. */
int text_trace_finish(struct text_trace *t);

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
