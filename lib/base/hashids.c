/* The hash table of ids that dictionaries of numbers share. */
#include "base/hashids.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/*
 * A slot is an id with bits of the hash that do not choose the slot: strings that are new meet
 * slots only, of which sixteen are in a cache line. The hash itself, 96 bits of it, lies by id.
 */
#define ID_BITS 19
#define ID_MASK ((1u << ID_BITS) - 1)
_Static_assert(HASHIDS_MAX <= ID_MASK, "ids do not fit in a slot");

struct hashids_key {
	uint32_t bits[3];
};

static uint32_t home(const struct hashids_key *k, uint32_t mask)
{
	return k->bits[0] & mask;
}

/* The slots and the keys for twice as many ids. */
static int grow(struct hashids *t)
{
	uint32_t nslots = t->mask ? (t->mask + 1) * 2 : 512;
	struct hashids_key *keys = realloc(t->keys, (nslots / 2 + 1) * sizeof(*keys));
	uint32_t *slots;

	if (!keys)
		return PP_ENOMEM;
	t->keys = keys;
	slots = calloc(nslots, sizeof(*slots));
	if (!slots)
		return PP_ENOMEM;
	for (uint32_t id = 1; id <= t->n; id++) {
		uint32_t i = home(&keys[id], nslots - 1);

		while (slots[i])
			i = (i + 1) & (nslots - 1);
		slots[i] = (keys[id].bits[1] & ~ID_MASK) | id;
	}
	free(t->slots);
	t->slots = slots;
	t->mask = nslots - 1;
	return 0;
}

void hashids_clear(struct hashids *t)
{
	if (t->slots)
		memset(t->slots, 0, ((size_t)t->mask + 1) * sizeof(*t->slots));
	t->n = 0;
	t->bytes = 0;
}

void hashids_release(struct hashids *t)
{
	free(t->slots);
	free(t->keys);
	t->slots = NULL;
	t->keys = NULL;
	t->n = t->mask = 0;
	t->bytes = 0;
}

struct hashids_hash hashids_hash(const void *bytes, size_t len)
{
	XXH128_hash_t h = XXH3_128bits(bytes, len);

	return (struct hashids_hash){h.low64, (uint32_t)h.high64};
}

void hashids_prefetch(const struct hashids *t, struct hashids_hash h)
{
	if (t->slots)
		__builtin_prefetch(&t->slots[(uint32_t)h.low & t->mask]);
}

int hashids_get_hashed(struct hashids *t, struct hashids_hash h, size_t len, uint32_t *id,
		       bool *fresh)
{
	struct hashids_key key = {{(uint32_t)h.low, (uint32_t)(h.low >> 32), h.high}};
	uint32_t tag = key.bits[1] & ~ID_MASK, i, slot;

	if (!t->slots && grow(t))
		return PP_ENOMEM;
	for (i = home(&key, t->mask); (slot = t->slots[i]); i = (i + 1) & t->mask) {
		*id = slot & ID_MASK;
		if ((slot & ~ID_MASK) == tag && !memcmp(&t->keys[*id], &key, sizeof(key))) {
			*fresh = false;
			return 0;
		}
	}
	if (t->n >= t->max_ids || t->n >= HASHIDS_MAX || t->bytes >= t->max_bytes) {
		hashids_clear(t);
		i = home(&key, t->mask);
	} else if (t->n >= t->mask / 2) {
		if (grow(t))
			return PP_ENOMEM;
		for (i = home(&key, t->mask); t->slots[i];)
			i = (i + 1) & t->mask;
	}
	t->bytes += len;
	*id = ++t->n;
	t->slots[i] = tag | *id;
	t->keys[*id] = key;
	*fresh = true;
	return 0;
}

int hashids_get(struct hashids *t, const void *bytes, size_t len, uint32_t *id, bool *fresh)
{
	return hashids_get_hashed(t, hashids_hash(bytes, len), len, id, fresh);
}
