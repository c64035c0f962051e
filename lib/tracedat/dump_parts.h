/*
 * The text of trace-cmd dump: what dump_parts.c (the parts of a file) and dump_option.c (its
 * options, and what both print with) share.
 */
#ifndef PP_TRACEDAT_DUMP_PARTS_H
#define PP_TRACEDAT_DUMP_PARTS_H

#include "tracedat/parts.h"

#define DUMP_HEAD_BYTES 16 /* of a section */

/* A section that an option describes. */
struct dump_listed {
	unsigned id;
	uint64_t offset;
};

struct dump {
	struct trace t;
	struct out *out;
	struct buf b;	    /* what is being printed */
	struct buf strings; /* descriptions of sections */
	struct dump_listed listed[TRACE_OPT_KNOWN * 4];
	unsigned nlisted;
	bool clock; /* there is an option for it */
};

/* Writes out what has been made. 0, or an error of what was read or of the output. */
int dump_spill(struct dump *p, const struct tin *in);
/* A text of a known size, and a newline. */
int dump_text(struct dump *p, struct tin *in, uint64_t size);
/* A NUL-terminated text, "" if there is none. */
const char *dump_name(struct tin *in);
void dump_quoted(struct dump *p, const char *s);
/* The head of a section, at its offset. */
int dump_section_head(struct dump *p, uint64_t offset);
/* Options up to their end; adds to *count. *next is where more are, 0: nowhere. */
int dump_options(struct dump *p, struct tin *in, unsigned *count, uint64_t *next);

#endif
