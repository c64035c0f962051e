/* The table of the stacks that were seen last. */
#include "fold/recent_stacks.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

void fold_table_release(struct fold_table *t)
{
	free(t->slots);
	*t = (struct fold_table){0};
}

struct fold_key fold_table_key(const uint32_t *names, size_t n)
{
	XXH128_hash_t h = XXH3_128bits(names, n * sizeof(*names));

	return (struct fold_key){h.low64, (uint32_t)h.high64};
}

uint32_t fold_table_find(const struct fold_table *t, struct fold_key key)
{
	if (!t->slots)
		return 0;
	for (uint32_t i = (uint32_t)key.low & t->mask;; i = (i + 1) & t->mask) {
		const struct fold_table_slot *s = &t->slots[i];

		if (!s->node || (s->low == key.low && s->high == key.high))
			return s->node;
	}
}

static void put(struct fold_table_slot *slots, uint32_t mask, struct fold_table_slot s)
{
	uint32_t i = (uint32_t)s.low & mask;

	while (slots[i].node)
		i = (i + 1) & mask;
	slots[i] = s;
}

static int grow(struct fold_table *t)
{
	uint32_t nslots = t->mask ? (t->mask + 1) * 2 : 1024;
	struct fold_table_slot *slots;

	if (t->n >= FOLD_TABLE_MAX) {
		memset(t->slots, 0, ((size_t)t->mask + 1) * sizeof(*t->slots));
		t->n = 0;
		return 0;
	}
	slots = calloc(nslots, sizeof(*slots));
	if (!slots)
		return PP_ENOMEM;
	for (uint32_t k = 0; t->slots && k <= t->mask; k++)
		if (t->slots[k].node)
			put(slots, nslots - 1, t->slots[k]);
	free(t->slots);
	t->slots = slots;
	t->mask = nslots - 1;
	return 0;
}

int fold_table_add(struct fold_table *t, struct fold_key key, uint32_t node)
{
	if (t->n >= (t->mask + 1) / 2 && grow(t))
		return PP_ENOMEM;
	put(t->slots, t->mask, (struct fold_table_slot){key.low, key.high, node});
	t->n++;
	return 0;
}
