/* Processes or threads that ended: a ring of them. */
#include "base/ended.h"

#include "base/array.h"

#define ENDED_FIRST 64

void ended_release(struct ended *e)
{
	map64_release(&e->place);
	free(e->ring);
	*e = (struct ended){0};
}

void ended_revive(struct ended *e, uint32_t id)
{
	const uint32_t *slot = map64_get(&e->place, id);

	if (!slot)
		return;
	e->ring[*slot - 1] = 0;
	map64_del(&e->place, id);
}

/* The place of the next one that ends; NULL: out of memory. */
static uint32_t *next_place(struct ended *e)
{
	if (e->next == e->cap && e->cap < ENDED_MAX) {
		uint32_t *v = array_widen(e->ring, &e->cap, e->next, ENDED_FIRST, sizeof(*v));

		if (!v)
			return NULL;
		e->ring = v;
	}
	e->next %= ENDED_MAX;
	return &e->ring[e->next];
}

bool ended_add(struct ended *e, uint32_t id, uint32_t *gone)
{
	uint32_t *at, *slot;

	ended_revive(e, id);
	at = next_place(e);
	if (!at)
		return false;
	*gone = *at;
	if (*gone)
		map64_del(&e->place, *gone);
	slot = map64_put(&e->place, id, NULL);
	*at = slot ? id : 0;
	if (slot)
		*slot = e->next + 1;
	e->next++;
	return *gone != 0;
}
