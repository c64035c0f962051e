/* A map from address ranges to values, in sorted blocks, that later ranges overwrite. */
#include "symbol/ranges.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_RANGES 128

struct range {
	uint64_t start, end;
	uint32_t value;
};

/* Blocks bound what has to be moved when a range comes between two others. */
struct ranges_block {
	uint32_t n;
	struct range v[BLOCK_RANGES];
};

struct place {
	size_t block;
	uint32_t i;
};

void ranges_release(struct ranges *t)
{
	for (size_t b = 0; b < t->n; b++)
		free(t->blocks[b]);
	free(t->blocks);
	*t = (struct ranges){0};
}

/* The first range that ends after addr; after the last block: none does. */
static struct place lower(const struct ranges *t, uint64_t addr)
{
	size_t lo = 0, hi = t->n;
	uint32_t l = 0, h;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct ranges_block *b = t->blocks[mid];

		if (b->v[b->n - 1].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == t->n)
		return (struct place){lo, 0};
	for (h = t->blocks[lo]->n; l < h;) {
		uint32_t mid = l + (h - l) / 2;

		if (t->blocks[lo]->v[mid].end <= addr)
			l = mid + 1;
		else
			h = mid;
	}
	return (struct place){lo, l};
}

static struct range *at(const struct ranges *t, struct place p)
{
	return p.block < t->n && p.i < t->blocks[p.block]->n ? &t->blocks[p.block]->v[p.i] : NULL;
}

uint32_t ranges_find(const struct ranges *t, uint64_t addr)
{
	const struct range *r = at(t, lower(t, addr));

	return r && r->start <= addr ? r->value : 0;
}

static void remove_block(struct ranges *t, size_t b)
{
	free(t->blocks[b]);
	t->n--;
	memmove(t->blocks + b, t->blocks + b + 1, (t->n - b) * sizeof(*t->blocks));
}

/* Takes n ranges of one block away. */
static void remove_ranges(struct ranges *t, struct place p, uint32_t n)
{
	struct ranges_block *b = t->blocks[p.block];

	memmove(b->v + p.i, b->v + p.i + n, (b->n - p.i - n) * sizeof(*b->v));
	b->n -= n;
	if (!b->n)
		remove_block(t, p.block);
}

static int new_block(struct ranges *t, size_t at_block)
{
	struct ranges_block *b = malloc(sizeof(*b));

	if (b && t->n == t->cap) {
		size_t cap = t->cap ? t->cap * 2 : 16;
		struct ranges_block **v = realloc(t->blocks, cap * sizeof(*v));

		if (!v) {
			free(b);
			return PP_ENOMEM;
		}
		t->blocks = v;
		t->cap = cap;
	}
	if (!b)
		return PP_ENOMEM;
	memmove(t->blocks + at_block + 1, t->blocks + at_block,
		(t->n - at_block) * sizeof(*t->blocks));
	t->blocks[at_block] = b;
	t->n++;
	b->n = 0;
	return 0;
}

/* Puts a range before the one at a place. */
static int insert(struct ranges *t, struct place p, const struct range *r)
{
	struct ranges_block *b;
	int rc = 0;

	/* After all others: at the end of the last block, so that rising addresses fill blocks. */
	if (p.block == t->n && t->n)
		p = (struct place){t->n - 1, t->blocks[t->n - 1]->n};
	if (!t->n) {
		rc = new_block(t, 0);
	} else if (t->blocks[p.block]->n == BLOCK_RANGES) {
		uint32_t keep = p.i == BLOCK_RANGES ? BLOCK_RANGES : BLOCK_RANGES / 2;

		rc = new_block(t, p.block + 1);
		if (!rc) {
			struct ranges_block *low = t->blocks[p.block];

			b = t->blocks[p.block + 1];
			b->n = low->n - keep;
			memcpy(b->v, low->v + keep, b->n * sizeof(*b->v));
			low->n = keep;
			if (p.i >= keep)
				p = (struct place){p.block + 1, p.i - keep};
		}
	}
	if (rc)
		return rc;
	b = t->blocks[p.block];
	memmove(b->v + p.i + 1, b->v + p.i, (b->n - p.i) * sizeof(*b->v));
	b->v[p.i] = *r;
	b->n++;
	return 0;
}

/* Takes [start, end) off the ranges that are there. */
static int cut_out(struct ranges *t, uint64_t start, uint64_t end, bool *covered)
{
	struct place p = lower(t, start);
	struct range *r = at(t, p), rest;

	if (r && r->start < start) {
		rest = *r;
		r->end = start;
		*covered = true;
		p.i++;
		if (rest.end > end) {
			rest.start = end;
			return insert(t, p, &rest);
		}
	}
	for (;;) {
		uint32_t n = 0;

		p = lower(t, start);
		r = at(t, p);
		if (!r || r->start >= end)
			return 0;
		*covered = true;
		while (p.i + n < t->blocks[p.block]->n && r[n].end <= end)
			n++;
		if (!n) {
			r->start = end;
			return 0;
		}
		remove_ranges(t, p, n);
	}
}

int ranges_put(struct ranges *t, uint64_t start, uint64_t end, uint32_t value, bool *covered)
{
	struct range r = {start, end, value};
	bool was = false;
	int rc;

	if (start >= end)
		return 0;
	rc = cut_out(t, start, end, &was);
	if (covered && was)
		*covered = true;
	return rc || !value ? rc : insert(t, lower(t, start), &r);
}
