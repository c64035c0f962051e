/* Cutting call chains and stacks into chunks, and the bytes of those that are new. */
#include "stream/chunk.h"

#include "base/array.h"
#include "base/err.h"
#include "base/wide.h"
#include "stream/chunk_marks.h"
#include "stream/varint.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

/* A chunk's room at the end of those that the chain has so far; NULL: out of memory. */
static struct chunk_cut *next_cut(struct chunk_cuts *l)
{
	if (l->n == l->cap) {
		uint32_t cap = l->cap ? 2 * l->cap : 32;
		struct chunk_cut *v = realloc(l->v, cap * sizeof(*v));

		if (!v)
			return NULL;
		l->v = v;
		l->cap = cap;
	}
	return &l->v[l->n++];
}

#define MIX UINT64_C(0x9e3779b97f4a7c15)

/*
 * A hash of n words, 8 at most: products of two of them at a time, whose upper and lower halves are
 * summed up apart. The constants are digits of pi. The seed has to tell n.
 */
static inline struct chunk_key key_of(const uint64_t *w, unsigned n, uint64_t seed, uint64_t more)
{
	static const uint64_t pi[8] = {0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0,
				       0x082efa98ec4e6c89, 0x452821e638d01377, 0xbe5466cf34e90c6c,
				       0xc0ac29b7c97c50dd, 0x3f84d5b5b5470917};
	uint64_t low = seed, high = more;
	struct wide p;

	for (unsigned i = 0; i < n; i += 2) {
		p = wide_mul(w[i] ^ pi[i] ^ seed, (i + 1 < n ? w[i + 1] : 0) ^ pi[i + 1]);
		low = (low << 7 | low >> 57) + p.lo;
		high = (high << 11 | high >> 53) ^ p.hi;
	}
	p = wide_mul(low ^ pi[0], high ^ MIX);
	low ^= p.hi;
	high += p.lo;
	low = (low ^ low >> 29) * MIX;
	low ^= low >> 32;
	return (struct chunk_key){(uint32_t)low, (uint32_t)(low >> 32), (uint32_t)(high >> 32)};
}

/* The words of a chunk are there: its hash, seeded with that of its parent. */
static void name_cut(const struct chunker *k, struct chunk_cut *c, bool first)
{
	uint64_t seed = (c->kind | (uint64_t)c->n << 8 | (uint64_t)c->flags << 32) * MIX;
	uint64_t more = c->mark;

	if (!first) {
		seed ^= c[-1].key.home | (uint64_t)c[-1].key.tag << 32;
		more += c[-1].key.more * MIX;
	}
	c->key = key_of(c->v, c->n, seed, more);
	if (k->slots)
		__builtin_prefetch(&k->slots[c->key.home & k->mask]);
}

/*
 * A part of a chain: its mark, if it has one, and n addresses, leaf first. `flags`: of the chain,
 * if it is the last part.
 */
static int cut_part(const struct chunker *k, struct chunk_cuts *l, uint64_t mark, const uint64_t *v,
		    uint32_t n, uint32_t flags)
{
	uint8_t mode = mark ? (uint8_t)chunk_mode(mark) : 0;
	bool first = true;

	do {
		struct chunk_cut *c = next_cut(l);
		bool strange = first && mode == CHUNK_ESCAPE;

		if (!c)
			return PP_ENOMEM;
		c->kind = mode | (first ? CHUNK_FIRST : 0);
		c->mark = strange ? mark : 0;
		c->n = (uint8_t)(n + strange < CHUNK_WORDS ? n : CHUNK_WORDS - strange);
		n -= c->n;
		c->v = v + n;
		c->flags = 0;
		first = false;
		if (!n) {
			c->kind |= CHUNK_LAST | (flags ? CHUNK_FLAGS : 0);
			c->flags = flags;
		}
		name_cut(k, c, l->n == 1);
	} while (n);
	return 0;
}

static int cut_chain(const struct chunker *k, struct chunk_cuts *l, const struct ps_chain *c)
{
	uint32_t end = c->ips.n, at;
	int rc;

	l->n = 0;
	if (end > CHUNK_CHAIN_MAX)
		return PP_ELIMIT;
	do {
		at = end;
		while (at && c->ips.v[at - 1] < CHUNK_MARK_MIN)
			at--;
		/* at: the first address of the part; its mark is the word before. */
		rc = cut_part(k, l, at ? c->ips.v[at - 1] : 0, c->ips.v + at, end - at,
			      at <= 1 ? c->flags : 0);
		end = at ? at - 1 : 0;
	} while (end && !rc);
	return rc;
}

#define ID_BITS 22
#define ID_MASK ((1u << ID_BITS) - 1)
_Static_assert(PS_ID_MAX - 1 <= ID_MASK, "ids do not fit in a slot");

/* Where a chunk is, or belongs: *slot is 0 then. */
static uint32_t *find(const struct chunker *k, const struct chunk_key *key)
{
	for (uint32_t i = key->home & k->mask;; i = (i + 1) & k->mask) {
		uint32_t *slot = &k->slots[i];

		if (!*slot || (!((*slot ^ key->tag) & ~ID_MASK) &&
			       !memcmp(&k->keys[*slot & ID_MASK], key, sizeof(*key))))
			return slot;
	}
}

/* Room in the table for the chunks of a chain. */
static int widen_slots(struct chunker *k, uint32_t more)
{
	uint32_t cap = k->slots ? k->mask + 1 : 1u << 12, *slots;
	struct chunk_key *keys;

	if (k->slots && (uint64_t)(k->n + more) * 2 <= cap)
		return 0;
	while ((uint64_t)(k->n + more) * 2 > cap)
		cap *= 2;
	keys = realloc(k->keys, (cap / 2 + 1) * sizeof(*keys));
	if (!keys)
		return PP_ENOMEM;
	k->keys = keys;
	slots = calloc(cap, sizeof(*slots));
	if (!slots)
		return PP_ENOMEM;
	free(k->slots);
	k->slots = slots;
	k->mask = cap - 1;
	for (uint32_t id = 1; id <= k->n; id++) {
		uint32_t i = keys[id].home & k->mask;

		while (slots[i])
			i = (i + 1) & k->mask;
		slots[i] = (keys[id].tag & ~ID_MASK) | id;
	}
	return 0;
}

/* A chunk's bytes up to its differences. */
static uint8_t *put_head(uint8_t *p, unsigned kind, unsigned n, uint32_t distance, uint32_t flags)
{
	*p++ = (uint8_t)kind;
	*p++ = (uint8_t)n;
	p = varint_put(p, distance);
	return kind & CHUNK_FLAGS ? varint_put(p, flags) : p;
}

/* The bytes of a chunk. */
static int encode(struct chunker *k, const struct chunk_cut *c, uint32_t id, uint32_t parent,
		  uint64_t before)
{
	unsigned n = c->n + (c->mark != 0);
	uint8_t *start, *p, *lengths;

	if (buf_reserve(&k->defs, 2 + 2 * VARINT_MAX + 9 * CHUNK_WORDS + 8))
		return PP_ENOMEM;
	start = k->defs.data + k->defs.len;
	p = lengths = put_head(start, c->kind, n, parent ? id - parent : 0, c->flags);
	memset(lengths, 0, CHUNK_WORDS / 2);
	p += (n + 1) / 2;
	for (unsigned i = 0; i < n; i++) {
		uint64_t word = n - i > c->n ? c->mark : c->v[n - i - 1];
		uint64_t v = zigzag(word - before);
		unsigned len = number_len(v);

		before = word;
		lengths[i / 2] |= (uint8_t)(len << (i % 2 * 4));
		p = number_put(p, v, len);
	}
	k->defs.len += (size_t)(p - start);
	return 0;
}

/* The last word of a chunk, at its leaf; 0: it has none. */
static uint64_t last_word(const struct chunk_cut *c)
{
	return c->n ? c->v[0] : c->mark;
}

/* Takes note of a chunk that was encoded. */
static uint32_t add(struct chunker *k, uint32_t *slot, const struct chunk_key *key)
{
	if (!k->count)
		k->first = k->n + 1;
	k->count++;
	k->n++;
	k->keys[k->n] = *key;
	*slot = (key->tag & ~ID_MASK) | k->n;
	return k->n;
}

/* The chunks of the chain that was cut: those that are new, from the lowest of them, get ids. */
static int define(struct chunker *k, const struct chunk_cuts *l, uint32_t *top)
{
	uint32_t i = l->n, parent = 0;
	uint64_t before = 0;
	int rc = widen_slots(k, l->n);

	if (rc)
		return rc;
	while (i && !(parent = *find(k, &l->v[i - 1].key) & ID_MASK))
		i--;
	if (i)
		before = last_word(&l->v[i - 1]);
	for (; i < l->n; i++) {
		const struct chunk_cut *c = &l->v[i];

		if (k->n + 1 >= PS_ID_MAX)
			return PP_ELIMIT;
		rc = encode(k, c, k->n + 1, parent, before);
		if (rc)
			return rc;
		parent = add(k, find(k, &c->key), &c->key);
		before = last_word(c);
	}
	*top = parent;
	return 0;
}

int chunker_chain(struct chunker *k, const struct ps_chain *c, uint32_t *top)
{
	struct chunk_cuts *l = &k->cuts[PS_CHAINS_SOON];
	int rc = cut_chain(k, l, c);

	return rc ? rc : define(k, l, top);
}

int chunker_soon(struct chunker *k, uint32_t place, const struct ps_chain *c)
{
	return cut_chain(k, &k->cuts[place], c);
}

int chunker_now(struct chunker *k, uint32_t place, uint32_t *top)
{
	return define(k, &k->cuts[place], top);
}

int chunker_stack_part(struct chunker *k, uint32_t parent, const uint32_t *frames, uint32_t n,
		       uint32_t flags, uint32_t *id)
{
	struct chunk_cut c = {.kind = flags ? CHUNK_FLAGS : 0, .n = (uint8_t)n, .flags = flags};
	uint64_t words[CHUNK_WORDS];
	uint32_t *last, *slot;
	struct chunk_key key;
	int rc = widen_slots(k, 1);

	if (rc)
		return rc;
	/* Leaf first, as chains lie. */
	for (uint32_t i = 0; i < n; i++)
		words[n - 1 - i] = frames[i];
	key = key_of(words, n, ((uint64_t)parent << 8 | n) * MIX, flags);
	slot = find(k, &key);
	*id = *slot & ID_MASK;
	if (*id)
		return 0;
	if (k->n + 1 >= PS_ID_MAX)
		return PP_ELIMIT;
	last = array_widen(k->last, &k->last_cap, k->n + 1, 1u << 12, sizeof(*last));
	if (!last)
		return PP_ENOMEM;
	k->last = last;
	c.v = words;
	rc = encode(k, &c, k->n + 1, parent, parent ? last[parent] : 0);
	if (rc)
		return rc;
	*id = add(k, slot, &key);
	last[*id] = n ? frames[n - 1] : 0;
	return 0;
}

int chunker_stack(struct chunker *k, const struct ps_stack *s, uint32_t *top)
{
	uint32_t n = s->frames.n, frames[CHUNK_WORDS], count;
	int rc;

	*top = 0;
	if (n > CHUNK_CHAIN_MAX)
		return PP_ELIMIT;
	do {
		for (count = 0; n && count < CHUNK_WORDS; count++)
			frames[count] = s->frames.v[--n];
		rc = chunker_stack_part(k, *top, frames, count, n ? 0 : s->flags, top);
	} while (n && !rc);
	return rc;
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
	free(k->keys);
	free(k->last);
	free(k->tops);
	for (int i = 0; i <= PS_CHAINS_SOON; i++)
		free(k->cuts[i].v);
	buf_release(&k->defs);
	*k = (struct chunker){0};
}
