/* The table of the stacks that were seen last. */
#include "fold/table.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define ENTRY_HEAD 2 /* numbers of an entry before its names */

void fold_table_release(struct fold_table *t)
{
	free(t->slots);
	free(t->pool);
	*t = (struct fold_table){0};
}

uint32_t fold_table_hash(const uint32_t *names, size_t n)
{
	return (uint32_t)XXH3_64bits(names, n * sizeof(*names));
}

uint32_t fold_table_find(const struct fold_table *t, uint32_t hash, const uint32_t *names, size_t n)
{
	if (!t->slots)
		return 0;
	for (uint32_t i = hash & t->mask; t->slots[i].at; i = (i + 1) & t->mask) {
		const uint32_t *e = t->pool + t->slots[i].at;

		if (t->slots[i].hash == hash && e[1] == n &&
		    !memcmp(e + ENTRY_HEAD, names, n * sizeof(*names)))
			return e[0];
	}
	return 0;
}

static void put(struct fold_table_slot *slots, uint32_t mask, struct fold_table_slot s)
{
	uint32_t i = s.hash & mask;

	while (slots[i].at)
		i = (i + 1) & mask;
	slots[i] = s;
}

static int grow_slots(struct fold_table *t)
{
	uint32_t nslots = t->mask ? (t->mask + 1) * 2 : 1024;
	struct fold_table_slot *slots = calloc(nslots, sizeof(*slots));

	if (!slots)
		return PP_ENOMEM;
	for (uint32_t k = 0; t->slots && k <= t->mask; k++)
		if (t->slots[k].at)
			put(slots, nslots - 1, t->slots[k]);
	free(t->slots);
	t->slots = slots;
	t->mask = nslots - 1;
	return 0;
}

/* Room for `more` numbers in the pool; it begins again when it is full. */
static int grow_pool(struct fold_table *t, size_t more)
{
	size_t cap;
	uint32_t *pool;

	if (t->pool_n + more > FOLD_TABLE_MAX) {
		if (t->slots)
			memset(t->slots, 0, ((size_t)t->mask + 1) * sizeof(*t->slots));
		t->n = 0;
		t->pool_n = 1;
	}
	if (t->pool_n + more <= t->pool_cap)
		return 0;
	cap = (t->pool_n + more) * 2;
	if (cap > FOLD_TABLE_MAX)
		cap = FOLD_TABLE_MAX;
	pool = realloc(t->pool, cap * sizeof(*pool));
	if (!pool)
		return PP_ENOMEM;
	t->pool = pool;
	t->pool_cap = (uint32_t)cap;
	return 0;
}

int fold_table_add(struct fold_table *t, uint32_t hash, const uint32_t *names, size_t n,
		   uint32_t node)
{
	uint32_t *e;

	if (!t->pool_n)
		t->pool_n = 1;
	if (n > FOLD_TABLE_MAX / 2)
		return 0;
	if (t->pool_n + n + ENTRY_HEAD > t->pool_cap && grow_pool(t, n + ENTRY_HEAD))
		return PP_ENOMEM;
	if (t->n >= t->mask / 2 && grow_slots(t))
		return PP_ENOMEM;
	e = t->pool + t->pool_n;
	e[0] = node;
	e[1] = (uint32_t)n;
	memcpy(e + ENTRY_HEAD, names, n * sizeof(*names));
	put(t->slots, t->mask, (struct fold_table_slot){hash, t->pool_n});
	t->pool_n += (uint32_t)n + ENTRY_HEAD;
	t->n++;
	return 0;
}
