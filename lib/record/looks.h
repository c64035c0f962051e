/*
 * Stacks of threads that sleep, read beyond their copies. Of events that come as often as they like
 * the copies are small, and the few large ones of a helper are of threads that switch often: one
 * that wakes now and then has none, though it is where most of the time off the CPU goes. It still
 * sleeps when its sample is read; what lies above the copy then is what lay there at the event. So
 * it goes into the recording as a sample of the helper, with the event's registers and time.
 *
 *	l = looks_new(&session);
 *	looks_note(l, ring, pos, size, attr, &trim);	(each copy that may go on)
 *	looks_take(l, &out);				(after each round, while the rings have it)
 *	looks_free(l);
 *
 * Stacks that are deeper than the largest copies are also looked at: deep.h. All looks together
 * take at most a twentieth of a CPU and LOOKS_BYTES a second.
 */
#ifndef PP_RECORD_LOOKS_H
#define PP_RECORD_LOOKS_H

#include "record/deep.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct looks;
struct ring;
struct session;
struct trim;

/* For the events of a session that have helpers, once it is open. NULL: out of memory. */
struct looks *looks_new(const struct session *s);
void looks_free(struct looks *l); /* NULL is fine */

/* A sample of event `a` in a ring whose copy has the full size. */
void looks_note(struct looks *l, const struct ring *r, uint64_t pos, size_t size,
		const struct perf_event_attr *a, const struct trim *t);

/* Adds samples of the threads that were noted since the last call, and that still sleep there. */
void looks_take(struct looks *l, struct buf *out);

/* What was noted is no longer in its ring. */
void looks_forget(struct looks *l);

/* Samples that were added, and looks at stacks that are deeper than copies (deep.h). */
uint64_t looks_count(const struct looks *l);
uint64_t looks_deep(const struct looks *l);
bool looks_active(const struct looks *l); /* rounds must be frequent */

#endif
