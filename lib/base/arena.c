/* Memory that is given back all at once. */
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

#define ARENA_BLOCK 65536

struct arena_block {
	struct arena_block *next;
	size_t cap;
	uint64_t bytes[];
};

/* A block of at least size bytes: one that is spare, or a new one. NULL: out of memory. */
static struct arena_block *take_block(struct arena *a, size_t size)
{
	struct arena_block *b = a->spare;
	size_t cap;

	while (b) {
		a->spare = b->next;
		if (b->cap >= size)
			return b;
		/* Not kept: a user that always asks for more would have ever more of them. */
		free(b);
		b = a->spare;
	}
	/* Blocks grow with the arena, so that a large one is not a long list. */
	cap = a->total / 8 > ARENA_BLOCK ? a->total / 8 : ARENA_BLOCK;
	if (cap < size)
		cap = size;
	b = malloc(sizeof(*b) + cap);
	if (b)
		b->cap = cap;
	return b;
}

void *arena_alloc(struct arena *a, size_t size)
{
	struct arena_block *b;
	void *p;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + 7) & ~(size_t)7;
	if (size <= (size_t)(a->end - a->p)) {
		p = a->p;
		a->p += size;
		return p;
	}
	b = take_block(a, size);
	if (!b)
		return NULL;
	b->next = a->blocks;
	a->blocks = b;
	a->total += b->cap;
	p = b->bytes;
	a->p = (uint8_t *)b->bytes + size;
	a->end = (uint8_t *)b->bytes + b->cap;
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

void arena_reset(struct arena *a)
{
	/* The oldest first, as they were used: so that none is skipped for being too small. */
	while (a->blocks) {
		struct arena_block *next = a->blocks->next;

		a->blocks->next = a->spare;
		a->spare = a->blocks;
		a->blocks = next;
	}
	a->p = a->end = NULL;
	a->total = 0;
}

static void free_blocks(struct arena_block *b)
{
	while (b) {
		struct arena_block *next = b->next;

		free(b);
		b = next;
	}
}

void arena_release(struct arena *a)
{
	free_blocks(a->blocks);
	free_blocks(a->spare);
	*a = (struct arena)ARENA_INIT;
}
