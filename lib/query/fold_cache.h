/*
 * Remembered lines of perf script text: what follows the address on a line with a frame, and the
 * names that it stands for. Private to fold_*.c.
 *
 * Call chains repeat, and so do the lines that follow each other: an entry knows which one came
 * after it the last time, so that most lines cost one comparison and no hashing.
 */
#ifndef PP_QUERY_FOLD_CACHE_H
#define PP_QUERY_FOLD_CACHE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct fold_cache_entry {
	uint64_t text; /* offset in texts, bytes */
	uint32_t len;
	uint32_t name; /* the only name, or 0 */
	uint32_t list; /* otherwise where the names are in lists: a count, then they, leaf first */
	uint32_t next; /* the entry that came after this one; 0: none */
};

struct fold_cache_slot {
	uint32_t hash; /* the upper half */
	uint32_t entry;
};

struct fold_cache {
	struct buf texts;
	struct fold_cache_entry *entries; /* entries[0] is none */
	struct fold_cache_slot *slots;
	uint32_t *lists;
	uint32_t n, cap, mask;
	uint32_t lists_n, lists_cap;
};

void fold_cache_release(struct fold_cache *c);

static inline bool fold_cache_is(const struct fold_cache *c, uint32_t entry, const char *p,
				 size_t n)
{
	const struct fold_cache_entry *e = &c->entries[entry];

	return e->len == n && !memcmp(c->texts.data + e->text, p, n);
}

/* The entry with this text, or 0. Sets *hash, for fold_cache_add. */
uint32_t fold_cache_find(const struct fold_cache *c, const char *p, size_t n, uint64_t *hash);

/*
 * Adds an entry with its names, leaf first. *entry is 0 if the cache was full: it is empty then,
 * and other entries are no longer valid. 0 or PP_ENOMEM.
 */
int fold_cache_add(struct fold_cache *c, uint64_t hash, const char *p, size_t n,
		   const uint32_t *names, size_t names_n, uint32_t *entry);

#endif
