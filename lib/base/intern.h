/*
 * Interning: equal byte strings get the same small dense integer.
 *
 *	struct intern t = INTERN_INIT;
 *	uint32_t id;
 *	bool fresh;
 *	rc = intern_add(&t, "cc1plus", 7, &id, &fresh);
 *	text = intern_get(&t, id, &len);
 *	intern_release(&t);
 *
 * Ids count from 1; 0 is never given out, so that it can stand for "none". The bytes are copied to
 * an arena, followed by a NUL, are aligned to 8 bytes and live until intern_release.
 *
 * struct map64 is the other table that the filters need: 64-bit keys to 32-bit values.
 */
#ifndef PP_BASE_INTERN_H
#define PP_BASE_INTERN_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct intern_entry {
	const char *bytes;
	uint32_t len;
	uint32_t hash; /* where it belongs; compared before the bytes */
};

struct intern_recent;

struct intern {
	struct arena arena;
	struct intern_entry *entries; /* entries[id - 1] */
	uint32_t *slots;	      /* open addressing: id or 0 */
	uint32_t n, cap, mask;
	struct intern_recent *recent; /* of intern_again, or NULL */
};

#define INTERN_INIT \
	{ \
		0 \
	}

void intern_release(struct intern *t);

/* 0, PP_ENOMEM, or PP_ELIMIT (more than 2^31 entries or a string of 2^32 bytes). fresh may be NULL.
 */
int intern_add(struct intern *t, const void *bytes, size_t len, uint32_t *id, bool *fresh);

/*
 * intern_add for short strings of which a few occur again and again: those, up to 32 bytes long,
 * are recognized without their hash.
 */
int intern_again(struct intern *t, const void *bytes, size_t len, uint32_t *id);

/* The id of the bytes if they are in the table, else 0. */
uint32_t intern_find(const struct intern *t, const void *bytes, size_t len);

/* The bytes of an id; NULL (and *len 0) for an id that was never given out. len may be NULL. */
const char *intern_get(const struct intern *t, uint32_t id, size_t *len);

/* Slot of a map64: free when used is 0. */
struct map64_slot {
	uint64_t key;
	uint32_t value;
	uint32_t used;
};

struct map64 {
	struct map64_slot *slots;
	uint32_t n, mask;
};

#define MAP64_INIT \
	{ \
		0 \
	}

void map64_release(struct map64 *m);

/* Removes all entries, keeps the memory. */
void map64_clear(struct map64 *m);

static inline uint32_t map64_mix(uint64_t k)
{
	k ^= k >> 32;
	k *= 0x9e3779b97f4a7c15u;
	return (uint32_t)(k >> 32);
}

/* The place of a key's value, or NULL. Valid until the next map64_put. */
static inline uint32_t *map64_get(const struct map64 *m, uint64_t key)
{
	if (!m->slots)
		return NULL;
	for (uint32_t i = map64_mix(key) & m->mask; m->slots[i].used; i = (i + 1) & m->mask)
		if (m->slots[i].key == key)
			return &m->slots[i].value;
	return NULL;
}

/*
 * The place of a key's value; a new key gets value 0 and *fresh true (fresh may be NULL). NULL when
 * out of memory. Valid until the next map64_put.
 */
uint32_t *map64_put(struct map64 *m, uint64_t key, bool *fresh);

/* Removes a key if it is there. */
void map64_del(struct map64 *m, uint64_t key);

#endif
