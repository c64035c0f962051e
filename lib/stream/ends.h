/*
 * How stacks ended, in words: the marks of those that are not whole, what would help them, and the
 * account of all. Marks are the same in folded text, pictures, tables and messages.
 *
 *	const char *mark = ps_end_mark(end, &file);	(NULL: the stack is whole, or not judged)
 *	uint32_t end = ps_end_of_mark("[no frame pointer: libc.so.6]", 29);
 *
 *	struct ps_ends ends = {.all = 100};
 *	ends.marked[PS_END_COPY] = 12;
 *	ps_ends_describe(&ends, &buf);
 */
#ifndef PP_STREAM_ENDS_H
#define PP_STREAM_ENDS_H

#include "base/buf.h"
#include "stream/stream.h"

/* The text of a mark, without its brackets. *file: the file of the last frame follows it. */
const char *ps_end_mark(uint32_t end, bool *file);

/*
 * Appends the mark of a stack with these flags (STACK.flags), whose outermost frame is in the file
 * of that path (empty: none): "[truncated: 8 kB]". Nothing if it has none.
 */
void ps_end_mark_add(struct buf *b, uint32_t flags, struct ps_str path);

/* The end that a frame's text is the mark of; PS_END_NONE: it is none. */
uint32_t ps_end_of_mark(const char *frame, size_t n);

/* What would help stacks that ended so; NULL: nothing is known. */
const char *ps_end_help(uint32_t end);

/* What stacks weigh: all of them, and by their ends those that have a mark. */
struct ps_ends {
	long double all, marked[PS_END_MAX];
};

/*
 * Adds the weight of the stacks that end at a node of a tree. `above`: what this gave for its
 * parent, 0 for the root's. What it gives for the node: the mark's end, if one is on the way.
 */
uint8_t ps_ends_add(struct ps_ends *e, uint8_t above, const char *frame, size_t n,
		    long double weight);

/* "87.2 % of the stacks are whole; [truncated] 10.1 %, ...; what helps most: ...". */
void ps_ends_describe(const struct ps_ends *e, struct buf *b);

#endif
