/*
 * Processes or threads that ended, in the order in which they did: what is known of one is kept for
 * events that come late, and forgotten after ENDED_MAX others ended.
 *
 *	if (ended_add(&e, pid, &gone))
 *		forget(gone);
 *	...
 *	ended_revive(&e, pid);		the number was given to a new process
 */
#ifndef PP_BASE_ENDED_H
#define PP_BASE_ENDED_H

#include "base/intern.h"

#include <stdbool.h>
#include <stdint.h>

#define ENDED_MAX 4096

struct ended {
	struct map64 place; /* id: its index in ring, + 1 */
	uint32_t *ring;	    /* ids; 0: none */
	uint32_t cap, next;
};

/*
 * An id has ended; 0 never does. True: *gone is to be forgotten. Out of memory an id is not noted,
 * so it is never forgotten, which does no harm.
 */
bool ended_add(struct ended *e, uint32_t id, uint32_t *gone);

/* An id is in use again. */
void ended_revive(struct ended *e, uint32_t id);

void ended_release(struct ended *e);

#endif
