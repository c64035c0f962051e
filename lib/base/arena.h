/*
 * An arena: allocations that are freed together.
 *
 *	struct arena a = ARENA_INIT;
 *	char *s = arena_dup(&a, bytes, len);	(NULL: out of memory)
 *	arena_release(&a);
 *
 * Memory is aligned to 8 bytes and not zeroed by arena_alloc.
 */
#ifndef PP_BASE_ARENA_H
#define PP_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct arena_block;

struct arena {
	struct arena_block *blocks; /* newest first */
	uint8_t *p, *end;	    /* free part of the newest block */
	size_t total;		    /* bytes held in blocks, for accounts and limits */
	struct arena_block *spare;  /* from before arena_reset, to be used again */
};

#define ARENA_INIT \
	{ \
		0 \
	}

void *arena_alloc(struct arena *a, size_t size);
void *arena_zalloc(struct arena *a, size_t size);

/* A copy of n bytes with a NUL after it. */
char *arena_dup(struct arena *a, const void *bytes, size_t n);

/* Forgets everything, but keeps the memory for what comes next. */
void arena_reset(struct arena *a);

/* Frees everything; the arena can be used again. */
void arena_release(struct arena *a);

#endif
