/* The table of remembered lines of perf script text. */
#include "fold/cache.h"

#include "fold/stack_text.h"

#include "base/err.h"

#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

void fold_cache_release(struct fold_cache *c)
{
	buf_release(&c->texts);
	free(c->entries);
	free(c->slots);
	free(c->lists);
	*c = (struct fold_cache){0};
}

static uint64_t hash_text(const char *head, size_t head_len, const char *tail, size_t tail_len,
			  bool offset)
{
	return XXH3_64bits_withSeed(head, head_len, offset) ^
	       XXH3_64bits_withSeed(tail, tail_len, 2);
}

static bool is_key(const struct fold_cache *c, uint32_t entry, const struct text_key *k)
{
	const struct fold_cache_entry *e = &c->entries[entry];
	const uint8_t *text = c->texts.data + e->text;

	return e->head_len == k->head_len && e->tail_len == k->tail_len && e->offset == k->offset &&
	       !memcmp(text, k->head, k->head_len) &&
	       !memcmp(text + k->head_len, k->tail, k->tail_len);
}

uint32_t fold_cache_find(const struct fold_cache *c, const struct text_key *k, uint64_t *hash)
{
	uint64_t h = hash_text(k->head, k->head_len, k->tail, k->tail_len, k->offset);
	uint32_t i = (uint32_t)h & c->mask;

	*hash = h;
	if (!c->slots)
		return 0;
	for (; c->slots[i].entry; i = (i + 1) & c->mask)
		if (c->slots[i].hash == (uint32_t)(h >> 32) && is_key(c, c->slots[i].entry, k))
			return c->slots[i].entry;
	return 0;
}

static void put(struct fold_cache_slot *slots, uint32_t mask, uint64_t hash, uint32_t entry)
{
	uint32_t i = (uint32_t)hash & mask;

	while (slots[i].entry)
		i = (i + 1) & mask;
	slots[i] = (struct fold_cache_slot){(uint32_t)(hash >> 32), entry};
}

static uint64_t hash_entry(const struct fold_cache *c, const struct fold_cache_entry *e)
{
	const char *text = (const char *)c->texts.data + e->text;

	return hash_text(text, e->head_len, text + e->head_len, e->tail_len, e->offset);
}

static int grow(struct fold_cache *c)
{
	uint32_t cap = c->cap ? c->cap * 2 : 2048, mask = cap * 2 - 1;
	struct fold_cache_entry *entries = realloc(c->entries, cap * sizeof(*entries));
	struct fold_cache_slot *slots;

	if (!entries)
		return PP_ENOMEM;
	c->entries = entries;
	slots = calloc((size_t)mask + 1, sizeof(*slots));
	if (!slots)
		return PP_ENOMEM;
	if (!c->n) {
		entries[0] = (struct fold_cache_entry){0};
		c->n = 1;
	}
	for (uint32_t k = 1; k < c->n; k++)
		put(slots, mask, hash_entry(c, &entries[k]), k);
	free(c->slots);
	c->slots = slots;
	c->mask = mask;
	c->cap = cap;
	return 0;
}

static int add_list(struct fold_cache *c, const uint32_t *names, size_t n)
{
	if (c->lists_cap - c->lists_n < n + 1) {
		size_t cap = (size_t)c->lists_cap * 2 + n + 1024;
		uint32_t *lists = cap < UINT32_MAX ? realloc(c->lists, cap * sizeof(*lists)) : NULL;

		if (!lists)
			return PP_ENOMEM;
		c->lists = lists;
		c->lists_cap = (uint32_t)cap;
	}
	c->lists[c->lists_n] = (uint32_t)n;
	if (n)
		memcpy(c->lists + c->lists_n + 1, names, n * sizeof(*names));
	c->lists_n += (uint32_t)n + 1;
	return 0;
}

int fold_cache_add(struct fold_cache *c, uint64_t hash, const struct text_key *k,
		   const uint32_t *names, size_t n, uint32_t *entry)
{
	struct fold_cache_entry e = {.text = (uint32_t)c->texts.len,
				     .head_len = k->head_len,
				     .tail_len = k->tail_len,
				     .offset = k->offset};
	int rc;

	*entry = 0;
	if (c->texts.len + k->head_len + k->tail_len > FOLD_CACHE_MAX) {
		fold_cache_release(c);
		return 0;
	}
	if (c->n == c->cap) {
		rc = grow(c);
		if (rc)
			return rc;
	}
	if (n == 1) {
		e.name = names[0];
	} else {
		e.list = c->lists_n;
		rc = add_list(c, names, n);
		if (rc)
			return rc;
	}
	buf_add(&c->texts, k->head, k->head_len);
	buf_add(&c->texts, k->tail, k->tail_len);
	if (c->texts.err)
		return c->texts.err;
	*entry = c->n++;
	c->entries[*entry] = e;
	put(c->slots, c->mask, hash, *entry);
	return 0;
}
