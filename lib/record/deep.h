/*
 * Stacks that are deeper than the largest copies: what lies beyond is read through the memory of
 * the process, several times a second for each thread whose copies end at their full size. Outer
 * frames hardly change, so psym takes those words that were the same before and after a sample.
 *
 *	d = deep_new(&session);
 *	deep_note(d, ring, pos, size, attr, &trim);	(each copy that may go on)
 *	deep_take(d, &budget, &out);			(after each round, while the rings have it)
 *	deep_free(d);
 *
 * What was read goes into the recording as samples of the event's helper, as perfdata/format.h has
 * them: of a stack the pages that changed since the last look at it, now and then all. looks.h has
 * the budget, and the interface to all of this.
 */
#ifndef PP_RECORD_DEEP_H
#define PP_RECORD_DEEP_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOOKS_BYTES 8000000u /* of all looks in a second */

struct buf;
struct deep;
struct ring;
struct session;
struct trim;

/* What looks have taken so far, and may take. */
struct look_budget {
	uint64_t began, now; /* ns; now: at the last round */
	uint64_t spent;	     /* CPU time */
	uint64_t bytes;
};

/* For a session that is open. NULL: out of memory. */
struct deep *deep_new(const struct session *s);
void deep_free(struct deep *d); /* NULL is fine */

/* A sample of event `a` in a ring whose copy has the full size. */
void deep_note(struct deep *d, const struct ring *r, uint64_t pos, size_t size,
	       const struct perf_event_attr *a, const struct trim *t);

/* Looks at the stacks of the threads that were noted since the last call. */
void deep_take(struct deep *d, struct look_budget *b, struct buf *out);

/* What was noted is no longer in its ring. */
void deep_forget(struct deep *d);

/* Looks so far, and whether there were any recently, so that rounds must be frequent. */
uint64_t deep_count(const struct deep *d);
bool deep_active(const struct deep *d);

#endif
