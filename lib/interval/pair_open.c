/* The intervals that are open, by their keys; those of one key are a stack. */
#include "interval/pair_parts.h"

#include <stdlib.h>
#include <string.h>

void open_release(struct open_table *t)
{
	free(t->v);
	free(t->slots);
	*t = (struct open_table){0};
}

uint32_t open_hash(uint32_t kind, uint32_t domain, const uint64_t *key)
{
	uint64_t h = (uint64_t)kind << 32 | domain;

	for (int i = 0; i < PAIR_KEYS; i++) {
		h = (h ^ key[i]) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	return (uint32_t)(h >> 32 ^ h);
}

static bool same(const struct open_entry *e, uint32_t hash, uint32_t kind, uint32_t domain,
		 const uint64_t *key)
{
	return e->hash == hash && e->kind == kind && e->domain == domain &&
	       !memcmp(e->key, key, sizeof(e->key));
}

uint32_t open_find(const struct open_table *t, uint32_t hash, uint32_t kind, uint32_t domain,
		   const uint64_t *key)
{
	if (!t->slots)
		return 0;
	for (uint32_t i = hash & t->mask; t->slots[i]; i = (i + 1) & t->mask)
		if (same(&t->v[t->slots[i]], hash, kind, domain, key))
			return t->slots[i];
	return 0;
}

static int grow_slots(struct open_table *t)
{
	uint32_t n = t->slots ? (t->mask + 1) * 2 : 256;
	uint32_t *slots = calloc(n, sizeof(*slots));

	if (!slots)
		return PP_ENOMEM;
	for (uint32_t i = 0; t->slots && i <= t->mask; i++) {
		uint32_t at;

		if (!t->slots[i])
			continue;
		for (at = t->v[t->slots[i]].hash & (n - 1); slots[at]; at = (at + 1) & (n - 1))
			;
		slots[at] = t->slots[i];
	}
	free(t->slots);
	t->slots = slots;
	t->mask = n - 1;
	return 0;
}

/* The index of a free entry; 0: out of memory. */
static uint32_t take(struct open_table *t)
{
	uint32_t i = t->free;

	if (i) {
		t->free = t->v[i].next;
		return i;
	}
	if (t->n + 1 >= t->cap) {
		uint32_t cap = t->cap ? t->cap * 2 : 256;
		struct open_entry *v = realloc(t->v, cap * sizeof(*v));

		if (!v)
			return 0;
		t->v = v;
		t->cap = cap;
	}
	return ++t->n;
}

int open_add(struct open_table *t, uint32_t hash, uint32_t kind, uint32_t domain,
	     const uint64_t *key, uint32_t older, struct open_entry **out)
{
	uint32_t index, i;
	struct open_entry *e;

	if (t->used >= LAT_OPEN_MAX || (older && t->v[older].depth >= LAT_NEST_MAX))
		return PP_ELIMIT;
	if ((!t->slots || t->used * 2 >= t->mask) && grow_slots(t))
		return PP_ENOMEM;
	index = take(t);
	if (!index)
		return PP_ENOMEM;
	for (i = hash & t->mask; t->slots[i] && t->slots[i] != older; i = (i + 1) & t->mask)
		;
	t->slots[i] = index;
	t->used++;
	e = &t->v[index];
	memset(e, 0, sizeof(*e));
	e->hash = hash;
	e->kind = kind;
	e->domain = domain;
	memcpy(e->key, key, sizeof(e->key));
	e->next = older;
	e->depth = older ? t->v[older].depth + 1 : 0;
	*out = e;
	return 0;
}

void open_del(struct open_table *t, uint32_t index)
{
	uint32_t i = t->v[index].hash & t->mask, hole, next = t->v[index].next;

	while (t->slots[i] != index)
		i = (i + 1) & t->mask;
	t->slots[i] = next;
	t->v[index].next = t->free;
	t->v[index].kind = OPEN_FREE;
	t->free = index;
	t->used--;
	if (next)
		return;
	/* What was put further on because this slot was taken comes nearer. */
	for (hole = i, i = (i + 1) & t->mask; t->slots[i]; i = (i + 1) & t->mask) {
		uint32_t home = t->v[t->slots[i]].hash & t->mask;

		if (((i - home) & t->mask) < ((i - hole) & t->mask))
			continue;
		t->slots[hole] = t->slots[i];
		t->slots[i] = 0;
		hole = i;
	}
}
