/* Tables of distinct strings, and of 64-bit keys, each with a small number. */
#include "base/intern.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

void intern_release(struct intern *t)
{
	arena_release(&t->arena);
	free(t->entries);
	free(t->slots);
	free(t->recent);
	*t = (struct intern)INTERN_INIT;
}

static int intern_rehash(struct intern *t)
{
	uint32_t nslots = t->mask ? (t->mask + 1) * 2 : 64;
	uint32_t *slots = calloc(nslots, sizeof(*slots));

	if (!slots)
		return PP_ENOMEM;
	for (uint32_t id = 1; id <= t->n; id++) {
		uint32_t i = t->entries[id - 1].hash & (nslots - 1);

		while (slots[i])
			i = (i + 1) & (nslots - 1);
		slots[i] = id;
	}
	free(t->slots);
	t->slots = slots;
	t->mask = nslots - 1;
	return 0;
}

/* The slot that holds the bytes, or the free one where they belong. */
static uint32_t intern_slot(const struct intern *t, const void *bytes, size_t len, uint32_t h)
{
	uint32_t i = h & t->mask;

	while (t->slots[i]) {
		const struct intern_entry *e = &t->entries[t->slots[i] - 1];

		if (e->hash == h && e->len == len && (!len || !memcmp(e->bytes, bytes, len)))
			break;
		i = (i + 1) & t->mask;
	}
	return i;
}

int intern_add(struct intern *t, const void *bytes, size_t len, uint32_t *id, bool *fresh)
{
	uint32_t h = (uint32_t)XXH3_64bits(bytes, len);
	struct intern_entry *e;
	uint32_t i;

	if (len >= UINT32_MAX || t->n >= UINT32_MAX / 2)
		return PP_ELIMIT;
	if ((uint64_t)(t->n + 1) * 4 > (uint64_t)t->mask * 3 && intern_rehash(t))
		return PP_ENOMEM;
	i = intern_slot(t, bytes, len, h);
	if (fresh)
		*fresh = !t->slots[i];
	if (t->slots[i]) {
		*id = t->slots[i];
		return 0;
	}
	if (t->n == t->cap) {
		uint32_t cap = t->cap ? t->cap * 2 : 32;

		e = realloc(t->entries, cap * sizeof(*e));
		if (!e)
			return PP_ENOMEM;
		t->entries = e;
		t->cap = cap;
	}
	e = &t->entries[t->n];
	e->bytes = arena_dup(&t->arena, bytes, len);
	if (!e->bytes)
		return PP_ENOMEM;
	e->len = (uint32_t)len;
	e->hash = h;
	*id = t->slots[i] = ++t->n;
	return 0;
}

/* ---- strings that come again ---- */

#define RECENT_BITS 8
#define RECENT_MAX  32 /* bytes of a string */

/* With its length, `words` tells a string from all others: 0 where it is not so long. */
struct intern_recent {
	uint64_t words[RECENT_MAX / 8];
	uint32_t len, id; /* id 0: free */
};

/* The first and the last bytes of the string: together all, twice where they meet. */
static void take_words(const uint8_t *s, size_t len, uint64_t words[RECENT_MAX / 8])
{
	uint32_t a, b;

	words[0] = words[1] = words[2] = words[3] = 0;
	if (len >= 16) {
		memcpy(words, s, 16);
		memcpy(words + 2, s + len - 16, 16);
	} else if (len >= 8) {
		memcpy(words, s, 8);
		memcpy(words + 1, s + len - 8, 8);
	} else if (len >= 4) {
		memcpy(&a, s, 4);
		memcpy(&b, s + len - 4, 4);
		words[0] = (uint64_t)a << 32 | b;
	} else if (len) {
		words[0] = (uint64_t)s[0] << 16 | (uint64_t)s[len / 2] << 8 | s[len - 1];
	}
}

int intern_again(struct intern *t, const void *bytes, size_t len, uint32_t *id)
{
	uint64_t w[RECENT_MAX / 8], h;
	struct intern_recent *r;
	int rc;

	if (len > RECENT_MAX)
		return intern_add(t, bytes, len, id, NULL);
	if (!t->recent)
		t->recent = calloc(1u << RECENT_BITS, sizeof(*t->recent));
	if (!t->recent)
		return PP_ENOMEM;
	take_words(bytes, len, w);
	h = (w[0] ^ (w[1] << 7 | w[1] >> 57)) * UINT64_C(0x9e3779b97f4a7c15);
	h = (h ^ w[2] ^ (w[3] << 7 | w[3] >> 57)) * UINT64_C(0x9e3779b97f4a7c15);
	r = &t->recent[h >> (64 - RECENT_BITS)];
	*id = r->id;
	if (r->id && r->len == len &&
	    !((r->words[0] ^ w[0]) | (r->words[1] ^ w[1]) | (r->words[2] ^ w[2]) |
	      (r->words[3] ^ w[3])))
		return 0;
	rc = intern_add(t, bytes, len, id, NULL);
	if (!rc) {
		memcpy(r->words, w, sizeof(w));
		r->len = (uint32_t)len;
		r->id = *id;
	}
	return rc;
}

uint32_t intern_find(const struct intern *t, const void *bytes, size_t len)
{
	if (!t->mask)
		return 0;
	return t->slots[intern_slot(t, bytes, len, (uint32_t)XXH3_64bits(bytes, len))];
}

const char *intern_get(const struct intern *t, uint32_t id, size_t *len)
{
	const struct intern_entry *e = id && id <= t->n ? &t->entries[id - 1] : NULL;

	if (len)
		*len = e ? e->len : 0;
	return e ? e->bytes : NULL;
}

void map64_release(struct map64 *m)
{
	free(m->slots);
	*m = (struct map64)MAP64_INIT;
}

void map64_clear(struct map64 *m)
{
	if (m->slots)
		memset(m->slots, 0, ((size_t)m->mask + 1) * sizeof(*m->slots));
	m->n = 0;
}

static int map64_grow(struct map64 *m)
{
	uint32_t nslots = !m->mask ? 64 : m->mask < 4096 ? (m->mask + 1) * 4 : (m->mask + 1) * 2;
	struct map64_slot *slots;

	if (m->mask >= UINT32_MAX / 2)
		return PP_ELIMIT;
	slots = calloc(nslots, sizeof(*slots));
	if (!slots)
		return PP_ENOMEM;
	for (uint32_t k = 0; m->slots && k <= m->mask; k++) {
		uint32_t i = map64_mix(m->slots[k].key) & (nslots - 1);

		if (!m->slots[k].used)
			continue;
		while (slots[i].used)
			i = (i + 1) & (nslots - 1);
		slots[i] = m->slots[k];
	}
	free(m->slots);
	m->slots = slots;
	m->mask = nslots - 1;
	return 0;
}

uint32_t *map64_put(struct map64 *m, uint64_t key, bool *fresh)
{
	uint32_t *v = map64_get(m, key), i;

	if (fresh)
		*fresh = !v;
	if (v)
		return v;
	if ((uint64_t)(m->n + 1) * 3 > (uint64_t)m->mask * 2 && map64_grow(m))
		return NULL;
	for (i = map64_mix(key) & m->mask; m->slots[i].used;)
		i = (i + 1) & m->mask;
	m->slots[i] = (struct map64_slot){.key = key, .used = 1};
	m->n++;
	return &m->slots[i].value;
}

void map64_del(struct map64 *m, uint64_t key)
{
	uint32_t i, j;

	if (!m->slots)
		return;
	for (i = map64_mix(key) & m->mask; m->slots[i].used; i = (i + 1) & m->mask)
		if (m->slots[i].key == key)
			break;
	if (!m->slots[i].used)
		return;
	m->n--;
	/* Close the gap: move back what would no longer be found. */
	for (j = (i + 1) & m->mask; m->slots[j].used; j = (j + 1) & m->mask) {
		uint32_t home = map64_mix(m->slots[j].key) & m->mask;

		if (((j - home) & m->mask) >= ((j - i) & m->mask)) {
			m->slots[i] = m->slots[j];
			i = j;
		}
	}
	m->slots[i].used = 0;
}
