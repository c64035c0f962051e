/*
 * Remembered lines of perf script text: the function and the DSO of a line with a frame, and the
 * names that they stand for. Private to lib/fold.
 *
 * What is compared is the line from the end of its address to the offset ("+0x1f"), and what
 * follows the offset: so there are as many entries as functions, and they stay in the processor's
 * cache. Call chains repeat, and so do the lines that follow each other: an entry knows which one
 * came after it the last time, so that most lines cost one comparison and no hashing.
 */
#ifndef PP_FOLD_CACHE_H
#define PP_FOLD_CACHE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/* A line after its address. */
struct text_key {
	const char *head; /* up to the offset */
	const char *tail; /* from the end of the offset to the end of the line */
	uint32_t head_len, tail_len;
	bool offset; /* there is one; without, the tail follows the head */
};

struct fold_cache_entry {
	uint32_t text; /* offset in texts, bytes: head and tail */
	uint32_t head_len, tail_len;
	uint32_t offset; /* as in the key */
	uint32_t name;	 /* the only name, or 0 */
	uint32_t list; /* otherwise where the names are in lists: a count, then they, leaf first */
	uint32_t next; /* the entry that came after this one; 0: none */
	uint32_t spare;
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

/* The entry with this key, or 0. Sets *hash, for fold_cache_add. */
uint32_t fold_cache_find(const struct fold_cache *c, const struct text_key *k, uint64_t *hash);

/*
 * Adds an entry with its names, leaf first. *entry is 0 if the cache was full: it is empty then,
 * and other entries are no longer valid. 0 or PP_ENOMEM.
 */
int fold_cache_add(struct fold_cache *c, uint64_t hash, const struct text_key *k,
		   const uint32_t *names, size_t n, uint32_t *entry);

/*
 * Whether a line, after its address, is that of an entry: the length up to its newline, or 0.
 * There are `left` bytes from p on, the last of which is a newline.
 */
static inline size_t fold_cache_match(const struct fold_cache *c, uint32_t entry, const char *p,
				      size_t left)
{
	const struct fold_cache_entry *e = &c->entries[entry];
	const char *text = (const char *)c->texts.data + e->text, *at = p + e->head_len;

	if ((size_t)e->head_len + e->tail_len + 4 > left || memcmp(p, text, e->head_len))
		return 0;
	if (e->offset) {
		if (at[0] != '+' || at[1] != '0' || at[2] != 'x')
			return 0;
		for (at += 3; (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'f');)
			at++;
		if (e->tail_len >= left - (size_t)(at - p))
			return 0;
	}
	if (memcmp(at, text + e->head_len, e->tail_len) || at[e->tail_len] != '\n')
		return 0;
	return (size_t)(at - p) + e->tail_len;
}

#endif
