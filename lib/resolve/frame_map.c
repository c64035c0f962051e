/*
 * The hash table of a DSO's frames by address: growing and inserting; look-ups are in the header.
 */
#include "resolve/frame_map.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

void frame_map_clear(struct frame_map *m)
{
	if (m->slots)
		memset(m->slots, 0, ((size_t)m->mask + 1) * sizeof(*m->slots));
	m->n = 0;
	map64_clear(&m->others);
}

void frame_map_release(struct frame_map *m)
{
	free(m->slots);
	map64_release(&m->others);
	*m = (struct frame_map){0};
}

static void put(struct frame_slot *slots, uint32_t mask, struct frame_slot s)
{
	uint32_t i = frame_map_home(s.low, mask);

	while (slots[i].frame)
		i = (i + 1) & mask;
	slots[i] = s;
}

static int grow(struct frame_map *m)
{
	uint32_t nslots = m->mask ? (m->mask + 1) * 2 : 64;
	struct frame_slot *slots;

	if (m->mask >= UINT32_MAX / 2)
		return PP_ENOMEM;
	slots = calloc(nslots, sizeof(*slots));
	if (!slots)
		return PP_ENOMEM;
	for (uint32_t k = 0; m->slots && k <= m->mask; k++)
		if (m->slots[k].frame)
			put(slots, nslots - 1, m->slots[k]);
	free(m->slots);
	m->slots = slots;
	m->mask = nslots - 1;
	return 0;
}

int frame_map_put(struct frame_map *m, uint64_t addr, uint32_t frame)
{
	uint32_t *other;

	if (!m->n)
		m->high = (uint32_t)(addr >> 32);
	if (addr >> 32 != m->high) {
		other = map64_put(&m->others, addr, NULL);
		if (!other)
			return PP_ENOMEM;
		*other = frame;
		return 0;
	}
	if (m->n >= m->mask / 2 && grow(m))
		return PP_ENOMEM;
	put(m->slots, m->mask, (struct frame_slot){(uint32_t)addr, frame});
	m->n++;
	return 0;
}
