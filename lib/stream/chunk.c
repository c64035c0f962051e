/* Chunks of call chains and stacks: reading their definitions, and putting chains together. */
#include "stream/chunk.h"

#include "base/array.h"
#include "base/err.h"
#include "stream/chunk_marks.h"
#include "stream/varint.h"

#include <stdlib.h>
#include <string.h>

static int widen_words(struct chunks *c)
{
	uint32_t cap = c->words_cap ? 2 * c->words_cap : 1u << 12;
	uint64_t *v;

	if (c->words_cap >= PS_DICT_BYTES / 8)
		return PP_ELIMIT;
	v = realloc(c->words, cap * sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	c->words = v;
	c->words_cap = cap;
	return 0;
}

/* The differences of a chunk's words, each from the one before. */
static bool take_words(const uint8_t **p, const uint8_t *end, uint64_t before, unsigned n,
		       uint64_t *words)
{
	const uint8_t *lengths = *p;

	if ((size_t)(end - *p) < (n + 1) / 2)
		return false;
	*p += (n + 1) / 2;
	for (unsigned i = 0; i < n; i++) {
		unsigned len = lengths[i / 2] >> (i % 2 * 4) & 15;
		size_t left = (size_t)(end - *p);

		if (len > 8 || left < len)
			return false;
		words[i] = before += unzigzag(number_at(*p, len, left));
		*p += len;
	}
	return true;
}

/* Whether a chunk may stand where it does. */
static bool fits(const struct chunks *c, const struct chunk *k)
{
	const struct chunk *below = k->parent ? &c->v[k->parent] : NULL;

	if (k->kind & ~(CHUNK_MODE | CHUNK_FIRST | CHUNK_LAST | CHUNK_FLAGS))
		return false;
	if (c->stacks)
		return !(k->kind & ~CHUNK_FLAGS);
	if (chunk_mode_unknown(k->kind & CHUNK_MODE))
		return false;
	if (k->kind & CHUNK_FIRST)
		return (!below || (below->kind & CHUNK_LAST && below->kind & CHUNK_MODE)) &&
		       (k->n || (k->kind & CHUNK_MODE) != CHUNK_ESCAPE);
	return below && !(below->kind & CHUNK_LAST) &&
	       (below->kind & CHUNK_MODE) == (k->kind & CHUNK_MODE);
}

static int define(struct chunks *c, uint32_t id, const uint8_t **p, const uint8_t *end)
{
	struct chunk k = {.at = c->nwords};
	uint64_t distance, flags = 0, before = 0;

	if (end - *p < 2)
		return PP_ECORRUPT;
	k.kind = *(*p)++;
	k.n = *(*p)++;
	if (k.n > CHUNK_WORDS || !varint_take(p, end, &distance) || distance >= id)
		return PP_ECORRUPT;
	if (k.kind & CHUNK_FLAGS && (!varint_take(p, end, &flags) || flags > UINT32_MAX))
		return PP_ECORRUPT;
	k.flags = (uint32_t)flags;
	k.parent = distance ? id - (uint32_t)distance : 0;
	if (!fits(c, &k))
		return PP_ECORRUPT;
	/* So the number of parts of a chain is bounded by that of its words. */
	if (!k.n && k.parent && (c->stacks || !(k.kind & CHUNK_MODE)))
		return PP_ECORRUPT;
	k.total = k.n + (k.parent ? c->v[k.parent].total : 0);
	/* The mark of a part is a word of the chain; an escape has it among its words. */
	k.total += k.kind & CHUNK_FIRST && k.kind & CHUNK_MODE &&
		   (k.kind & CHUNK_MODE) != CHUNK_ESCAPE;
	if (k.total > CHUNK_CHAIN_MAX)
		return PP_ELIMIT;
	if (k.parent && c->v[k.parent].n)
		before = c->words[c->v[k.parent].at + c->v[k.parent].n - 1];
	if (!take_words(p, end, before, k.n, c->words + c->nwords))
		return PP_ECORRUPT;
	c->nwords += k.n;
	c->v[id] = k;
	c->n = id;
	return 0;
}

int chunks_define(struct chunks *c, uint32_t id, uint32_t count, const struct ps_str *data)
{
	const uint8_t *p = (const uint8_t *)data->p, *end = p + data->len;
	int rc = 0;

	if (id == 1)
		c->n = c->nwords = 0;
	if (!id || id != c->n + 1)
		return PP_ECORRUPT;
	for (uint32_t i = 0; i < count && !rc; i++) {
		if (id + i >= PS_ID_MAX)
			return PP_ELIMIT;
		if (c->nwords + CHUNK_WORDS > c->words_cap)
			rc = widen_words(c);
		if (!rc && id + i >= c->cap) {
			struct chunk *v = array_widen(c->v, &c->cap, id + i, 1u << 10, sizeof(*v));

			if (!v)
				return PP_ENOMEM;
			c->v = v;
		}
		if (!rc)
			rc = define(c, id + i, &p, end);
	}
	return rc;
}

uint32_t chunks_take(const struct chunks *c, uint32_t top, uint64_t *to)
{
	uint32_t n = 0, mark = 0;

	/* A mark comes before what it announces. */
	for (uint32_t id = top; id; id = c->v[id].parent) {
		const struct chunk *k = &c->v[id];
		const uint64_t *words = c->words + k->at;
		unsigned mode = k->kind & CHUNK_MODE;
		unsigned own = mode == CHUNK_ESCAPE && k->kind & CHUNK_FIRST;

		/* A chain can be named by what is not the last of a part: it begins there. */
		if (mode && (id == top || k->kind & CHUNK_LAST)) {
			mark = n;
			to[n++] = chunk_mark(mode);
		}
		for (unsigned i = k->n; i > own; i--)
			to[n++] = words[i - 1];
		if (own)
			to[mark] = words[0];
	}
	return n;
}

int chunks_build(struct chunks *c, uint32_t top, const uint64_t **words, uint32_t *n,
		 uint32_t *flags)
{
	const struct chunk *k;

	if (!top || top > c->n)
		return PP_ENOENT;
	k = &c->v[top];
	if (k->total > c->built_cap) {
		uint32_t cap = k->total + 256;
		uint64_t *v = realloc(c->built, cap * sizeof(*v));

		if (!v)
			return PP_ENOMEM;
		c->built = v;
		c->built_cap = cap;
	}
	*n = chunks_take(c, top, c->built);
	*words = c->built;
	*flags = k->flags;
	return 0;
}

void chunks_release(struct chunks *c)
{
	free(c->v);
	free(c->words);
	free(c->built);
	*c = (struct chunks){.stacks = c->stacks};
}
