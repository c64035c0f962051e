#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

#define ARENA_BLOCK 65536

struct arena_block {
	struct arena_block *next;
	uint64_t bytes[];
};

void *arena_alloc(struct arena *a, size_t size)
{
	struct arena_block *b;
	size_t cap;
	void *p;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + 7) & ~(size_t)7;
	if (size <= (size_t)(a->end - a->p)) {
		p = a->p;
		a->p += size;
		return p;
	}
	/* Blocks grow with the arena, so that a large one is not a long list. */
	cap = a->total / 8 > ARENA_BLOCK ? a->total / 8 : ARENA_BLOCK;
	if (cap < size)
		cap = size;
	b = malloc(sizeof(*b) + cap);
	if (!b)
		return NULL;
	b->next = a->blocks;
	a->blocks = b;
	a->total += cap;
	p = b->bytes;
	a->p = (uint8_t *)b->bytes + size;
	a->end = (uint8_t *)b->bytes + cap;
	return p;
}

void *arena_zalloc(struct arena *a, size_t size)
{
	void *p = arena_alloc(a, size);

	if (p)
		memset(p, 0, size);
	return p;
}

char *arena_dup(struct arena *a, const void *bytes, size_t n)
{
	char *p = arena_alloc(a, n + 1);

	if (!p)
		return NULL;
	if (n)
		memcpy(p, bytes, n);
	p[n] = 0;
	return p;
}

void arena_release(struct arena *a)
{
	while (a->blocks) {
		struct arena_block *next = a->blocks->next;

		free(a->blocks);
		a->blocks = next;
	}
	*a = (struct arena)ARENA_INIT;
}
