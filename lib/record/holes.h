/*
 * Pages of stacks that were never touched. Where an array on the stack was not written to, its
 * pages are not there, and the kernel's copies of the stack end at the first of them. Reading them
 * through another process maps the kernel's page of zeroes, which takes no memory (kernels that do
 * not share it for this take a page each), and later copies go on. No more is read than a copy can
 * have.
 *
 *	h = holes_new();
 *	holes_note(h, &copy);		(each copy that was too short, while the rings are read)
 *	holes_fill(h);			(after each round over the rings)
 *	holes_free(h);
 *
 * A thread whose copies end where its stack does is looked at once. All looks together take a
 * twentieth of a CPU at most; what is left out then is looked at when it is too short again.
 */
#ifndef PP_RECORD_HOLES_H
#define PP_RECORD_HOLES_H

#include <stdint.h>

struct holes;

/* A copy of a user stack: whose, from where on, and the first address that is not in it. */
struct short_copy {
	uint32_t pid, tid;
	uint64_t sp, end;
};

struct holes_counts {
	uint64_t threads, pages; /* that had holes; that were read */
	uint64_t denied;	 /* threads whose memory this process may not read */
};

/* NULL: out of memory. */
struct holes *holes_new(void);
void holes_free(struct holes *h);

void holes_note(struct holes *h, const struct short_copy *s);
void holes_fill(struct holes *h);

struct holes_counts holes_counts(const struct holes *h);

#endif
