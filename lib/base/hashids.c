#include "base/hashids.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* 96 bits of the hash: a slot is a quarter of a cache line. */
struct hashids_slot {
	uint64_t low;
	uint32_t high;
	uint32_t id; /* 0: free */
};

static int grow(struct hashids *t)
{
	uint32_t nslots = t->mask ? (t->mask + 1) * 2 : 4096;
	struct hashids_slot *slots = calloc(nslots, sizeof(*slots));

	if (!slots)
		return PP_ENOMEM;
	for (uint32_t k = 0; t->slots && k <= t->mask; k++) {
		uint32_t i = (uint32_t)t->slots[k].low & (nslots - 1);

		if (!t->slots[k].id)
			continue;
		while (slots[i].id)
			i = (i + 1) & (nslots - 1);
		slots[i] = t->slots[k];
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
	t->slots = NULL;
	t->n = t->mask = 0;
	t->bytes = 0;
}

int hashids_get(struct hashids *t, const void *bytes, size_t len, uint32_t *id, bool *fresh)
{
	XXH128_hash_t h = XXH3_128bits(bytes, len);
	uint32_t i;

	if (!t->slots && grow(t))
		return PP_ENOMEM;
	for (i = (uint32_t)h.low64 & t->mask; t->slots[i].id; i = (i + 1) & t->mask) {
		if (t->slots[i].low == h.low64 && t->slots[i].high == (uint32_t)h.high64) {
			*id = t->slots[i].id;
			*fresh = false;
			return 0;
		}
	}
	if (t->n >= t->max_ids || t->bytes >= t->max_bytes) {
		hashids_clear(t);
		i = (uint32_t)h.low64 & t->mask;
	} else if ((t->n + 1) * 3 > t->mask * 2) {
		if (grow(t))
			return PP_ENOMEM;
		for (i = (uint32_t)h.low64 & t->mask; t->slots[i].id;)
			i = (i + 1) & t->mask;
	}
	t->bytes += len;
	t->slots[i] = (struct hashids_slot){h.low64, (uint32_t)h.high64, ++t->n};
	*id = t->n;
	*fresh = true;
	return 0;
}
