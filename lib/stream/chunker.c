/* Cutting call chains and stacks into chunks, and the bytes of those that are new. */
#include "stream/chunk.h"

#include "base/array.h"
#include "base/err.h"
#include "stream/chunk_marks.h"
#include "stream/varint.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* A chunk's room at the end of those that the chain has so far; NULL: out of memory. */
static struct chunk_cut *next_cut(struct chunker *k)
{
	if (k->ncut == k->cut_cap) {
		uint32_t cap = k->cut_cap ? 2 * k->cut_cap : 64;
		struct chunk_cut *v = realloc(k->cut, cap * sizeof(*v));

		if (!v)
			return NULL;
		k->cut = v;
		k->cut_cap = cap;
	}
	return &k->cut[k->ncut++];
}

/* The words of a chunk are there: its hash, seeded with that of its parent. */
static void name_cut(struct chunker *k, struct chunk_cut *c)
{
	uint64_t seed = c->kind | (uint64_t)c->n << 8 | (uint64_t)c->flags << 32;
	XXH128_hash_t h;

	if (k->ncut > 1)
		seed += c[-1].low * UINT64_C(0x9e3779b97f4a7c15) + c[-1].high;
	h = XXH3_128bits_withSeed(c->words, c->n * sizeof(c->words[0]), seed);
	c->low = h.low64;
	c->high = (uint32_t)h.high64;
}

/*
 * A part of a chain: its mark, if it has one, and n addresses, leaf first. `flags`: of the chain,
 * if it is the last part.
 */
static int cut_part(struct chunker *k, uint64_t mark, const uint64_t *v, uint32_t n, uint32_t flags)
{
	uint8_t mode = mark ? (uint8_t)chunk_mode(mark) : 0;
	bool first = true;

	do {
		struct chunk_cut *c = next_cut(k);

		if (!c)
			return PP_ENOMEM;
		c->kind = mode | (first ? CHUNK_FIRST : 0);
		c->n = 0;
		c->flags = 0;
		if (first && mode == CHUNK_ESCAPE)
			c->words[c->n++] = mark;
		first = false;
		while (n && c->n < CHUNK_WORDS)
			c->words[c->n++] = v[--n];
		if (!n) {
			c->kind |= CHUNK_LAST | (flags ? CHUNK_FLAGS : 0);
			c->flags = flags;
		}
		name_cut(k, c);
	} while (n);
	return 0;
}

static int cut_chain(struct chunker *k, const struct ps_chain *c)
{
	uint32_t end = c->ips.n, at;
	int rc;

	k->ncut = 0;
	if (end > CHUNK_CHAIN_MAX)
		return PP_ELIMIT;
	do {
		at = end;
		while (at && c->ips.v[at - 1] < CHUNK_MARK_MIN)
			at--;
		/* at: the first address of the part; its mark is the word before. */
		rc = cut_part(k, at ? c->ips.v[at - 1] : 0, c->ips.v + at, end - at,
			      at <= 1 ? c->flags : 0);
		end = at ? at - 1 : 0;
	} while (end && !rc);
	return rc;
}

static int cut_stack(struct chunker *k, const struct ps_stack *s)
{
	uint32_t n = s->frames.n;

	k->ncut = 0;
	if (n > CHUNK_CHAIN_MAX)
		return PP_ELIMIT;
	do {
		struct chunk_cut *c = next_cut(k);

		if (!c)
			return PP_ENOMEM;
		c->n = 0;
		while (n && c->n < CHUNK_WORDS)
			c->words[c->n++] = s->frames.v[--n];
		c->flags = n ? 0 : s->flags;
		c->kind = c->flags ? CHUNK_FLAGS : 0;
		name_cut(k, c);
	} while (n);
	return 0;
}

static struct chunk_slot *find(const struct chunker *k, const struct chunk_cut *c)
{
	for (uint32_t i = c->high & k->mask;; i = (i + 1) & k->mask) {
		struct chunk_slot *s = &k->slots[i];

		if (!s->id || (s->low == c->low && s->high == c->high))
			return s;
	}
}

/* Room in the table for the chunks of a chain. */
static int widen_slots(struct chunker *k, uint32_t more)
{
	struct chunk_slot *old = k->slots;
	uint32_t n = k->mask + 1, cap = old ? n : 1u << 12;

	if (old && (uint64_t)(k->n + more) * 2 <= n)
		return 0;
	while ((uint64_t)(k->n + more) * 2 > cap)
		cap *= 2;
	k->slots = calloc(cap, sizeof(*k->slots));
	if (!k->slots) {
		k->slots = old;
		return PP_ENOMEM;
	}
	k->mask = cap - 1;
	for (uint32_t i = 0; old && i < n; i++) {
		uint32_t at = old[i].high & k->mask;

		if (!old[i].id)
			continue;
		while (k->slots[at].id)
			at = (at + 1) & k->mask;
		k->slots[at] = old[i];
	}
	free(old);
	return 0;
}

/* The bytes of a chunk. */
static int encode(struct chunker *k, const struct chunk_cut *c, uint32_t id, uint32_t parent,
		  uint64_t before)
{
	uint8_t *start, *p, *lengths;

	if (buf_reserve(&k->defs, 2 + 2 * VARINT_MAX + 9 * CHUNK_WORDS + 8))
		return PP_ENOMEM;
	start = p = k->defs.data + k->defs.len;
	*p++ = c->kind;
	*p++ = c->n;
	p = varint_put(p, parent ? id - parent : 0);
	if (c->kind & CHUNK_FLAGS)
		p = varint_put(p, c->flags);
	lengths = p;
	memset(lengths, 0, CHUNK_WORDS / 2);
	p += (c->n + 1) / 2;
	for (unsigned i = 0; i < c->n; i++) {
		uint64_t v = zigzag(c->words[i] - before);
		unsigned len = v ? (unsigned)(71 - __builtin_clzll(v)) / 8 : 0;

		before = c->words[i];
		lengths[i / 2] |= (uint8_t)(len << (i % 2 * 4));
		for (unsigned b = 0; b < len; b++, v >>= 8)
			*p++ = (uint8_t)v;
	}
	k->defs.len += (size_t)(p - start);
	return 0;
}

/* The chunks of the chain that was cut: those that are new, from the lowest of them, get ids. */
static int define(struct chunker *k, uint32_t *top)
{
	uint32_t i = k->ncut, parent = 0;
	uint64_t before = 0;
	int rc = widen_slots(k, k->ncut);

	if (rc)
		return rc;
	while (i && !(parent = find(k, &k->cut[i - 1])->id))
		i--;
	if (i && k->cut[i - 1].n)
		before = k->cut[i - 1].words[k->cut[i - 1].n - 1];
	for (; i < k->ncut; i++) {
		struct chunk_cut *c = &k->cut[i];
		struct chunk_slot *s = find(k, c);

		if (k->n + 1 >= PS_ID_MAX)
			return PP_ELIMIT;
		if (!k->count)
			k->first = k->n + 1;
		rc = encode(k, c, k->n + 1, parent, before);
		if (rc)
			return rc;
		*s = (struct chunk_slot){c->low, c->high, ++k->n};
		k->count++;
		parent = k->n;
		before = c->n ? c->words[c->n - 1] : 0;
	}
	*top = parent;
	return 0;
}

int chunker_chain(struct chunker *k, const struct ps_chain *c, uint32_t *top)
{
	int rc = cut_chain(k, c);

	return rc ? rc : define(k, top);
}

int chunker_stack(struct chunker *k, const struct ps_stack *s, uint32_t *top)
{
	int rc = cut_stack(k, s);

	return rc ? rc : define(k, top);
}

void chunker_clear(struct chunker *k)
{
	if (k->slots)
		memset(k->slots, 0, ((size_t)k->mask + 1) * sizeof(*k->slots));
	if (k->ntops)
		memset(k->tops, 0, k->ntops * sizeof(*k->tops));
	k->n = 0;
}

void chunker_release(struct chunker *k)
{
	free(k->slots);
	free(k->tops);
	free(k->cut);
	buf_release(&k->defs);
	*k = (struct chunker){0};
}
