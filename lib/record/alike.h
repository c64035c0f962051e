/*
 * Copies of stacks as they are written: without what the samples before have at the same addresses
 * (perfdata/known_stacks.h). So copies can be large and frequent, and what is written small. How
 * much changes is not known in advance: where more than CHAINS_BUDGET bytes a second would be
 * written, copies are cut to the size that they have without this.
 *
 *	a = alike_new(smaller);
 *	alike_begin(a, now);		(a round of the rings)
 *	alike_trim(a, ring, pos, size, attr, &trim);
 *	alike_forget(a);		(another file begins)
 *	alike_free(a);
 */
#ifndef PP_RECORD_ALIKE_H
#define PP_RECORD_ALIKE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct alike;
struct ring;
struct trim;

/* smaller: bytes of a copy that is cut. NULL: out of memory. */
struct alike *alike_new(uint32_t smaller);
void alike_free(struct alike *a); /* NULL is fine */
void alike_forget(struct alike *a);
void alike_begin(struct alike *a, uint64_t now); /* ns */

/*
 * What is to be written of a sample's copy, which trim_find has looked at; samples in the order in
 * which they are written. False: no less than trim_find says.
 */
bool alike_trim(struct alike *a, const struct ring *r, uint64_t pos, size_t size,
		const struct perf_event_attr *attr, struct trim *t);

#endif
