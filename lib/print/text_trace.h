/*
 * The samples of a trace.dat as `trace-cmd report` prints them. Private to lib/print.
 *
 * Payloads are printed by libtraceevent with the plugins that are installed, the events of the
 * function graph tracer here, since the line of a function that calls no other is made of two
 * events.
 */
#ifndef PP_PRINT_TEXT_TRACE_H
#define PP_PRINT_TEXT_TRACE_H

#include "base/buf.h"
#include "print/text.h"

struct text_trace;

/*
 * Where the lines of all recordings of a stream go: what comes after a line that waits has to
 * wait as well. If there are several recordings, lines begin with the name of theirs.
 */
struct text_page {
	struct out *out;
	struct buf text;		 /* what waits */
	struct call *open;		 /* functions that were entered and that wait */
	struct text_trace *heads, *last; /* whose first lines are still to be printed */
	uint32_t traces;		 /* recordings */
	bool buffers;			 /* one of them has further buffers */
	size_t file_width, buffer_width; /* of the longest names */
	uint64_t last_time;		 /* of the line before, as it was printed */
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

/* ---- text_line.c ---- */

#define TEXT_UNKNOWN "[UNKNOWN EVENT]"

struct tep_trace;

#define TEXT_TASKS 256

/* Commands and threads as they are printed. */
struct text_tasks {
	struct text_task {
		uint32_t tid, comm, len; /* len 0: unused */
		char text[48];
	} v[TEXT_TASKS];
};

/* What is known of a line; name NULL: nothing of the event. */
struct text_line {
	const char *name; /* as text_line_name makes it */
	size_t name_len;
	struct text_tasks *tasks;
	const struct sreader *r;
	const struct ps_sample *s;
	bool ticks; /* times are not ns */
	bool clock; /* the recording names its clock */
	struct tep_trace *tep;
};

/* Where there are several recordings or buffers: the name of the one. */
void text_line_prefix(struct buf *b, const struct text_page *page, const char *file,
		      const char *buffer);
/* Task, CPU, flags, time and name of the event. */
void text_line_start(struct buf *b, struct text_page *page, const struct stext_opts *o,
		     const struct text_line *l);
/* The column of the name of an event. */
void text_line_name(struct buf *b, const char *name);
/* Text of several lines: anything that is not text is escaped. */
void text_line_text(struct buf *b, const char *s, size_t n);

/* ---- text_graph.c: the function graph tracer ---- */

/* Fields of funcgraph_entry and funcgraph_exit. */
struct graph_call {
	uint64_t func, depth;
	uint64_t caller;	    /* entry; 0: not recorded */
	uint64_t calltime, rettime; /* exit only */
	uint64_t retval;	    /* exit */
	bool has_retval;
};

/* Texts for a call; NULL: not known. */
struct graph_names {
	const char *func, *caller;
	const struct buf *args;
};

/* What follows the event's name; ret NULL: it calls others. */
void text_graph_entry(struct buf *b, const struct stext_trace *o, const struct graph_call *entry,
		      const struct graph_names *names, const struct graph_call *ret);
void text_graph_exit(struct buf *b, const struct stext_trace *o, const struct graph_call *ret,
		     const char *func);

#endif
