/* The pages of a CPU: read a few at a time, unpacked where they are packed. */
#include "tracedat/parts.h"

#include "base/err.h"
#include "base/src.h"

#include <stdlib.h>

/* A record that is still to be delivered must outlive its block. */
static int keep(const struct trace_cpu *c, struct trace_rec *r, struct buf *hold)
{
	if (!r->data || r->data < c->block || r->data >= c->block + c->block_len)
		return 0;
	buf_reset(hold);
	buf_add(hold, r->data, r->size);
	if (!hold->data)
		buf_reserve(hold, 1);
	r->data = hold->data;
	return hold->err;
}

static int block_room(struct trace *t, struct trace_cpu *c, size_t size)
{
	uint8_t *p;

	if (size <= c->block_cap)
		return 0;
	if (t->held + (size - c->block_cap) > TRACE_HELD_MAX)
		return PP_ELIMIT;
	p = malloc(size);
	if (!p)
		return PP_ENOMEM;
	free(c->block);
	c->block = p;
	t->held += size - c->block_cap;
	c->block_cap = size;
	return 0;
}

static int read_plain(struct trace *t, struct trace_cpu *c)
{
	size_t page = c->buffer->page_size;
	uint64_t n;
	int rc;

	if (!c->left)
		return PP_END;
	n = TRACE_BLOCK > page ? TRACE_BLOCK - TRACE_BLOCK % page : page;
	if (n > c->left)
		n = c->left;
	rc = block_room(t, c, n);
	if (!rc)
		rc = src_pread(c->src ? c->src : t->src, c->block, n, c->pos);
	if (rc)
		return rc;
	c->block_offset = c->pos;
	c->block_len = n;
	c->pos += n;
	c->left -= n;
	t->data_read += n;
	return 0;
}

static int read_bytes(struct trace *t, struct trace_cpu *c, uint8_t *to, uint64_t n)
{
	int rc;

	if (n > c->left)
		return PP_ECUT;
	rc = src_pread(t->src, to, n, c->pos);
	c->pos += n;
	c->left -= n;
	return rc;
}

/* ---- chunks: u32 packed size, u32 size, packed bytes ---- */

/* The sizes of the next chunk, or why they are not known. PP_END: there is none. */
static int read_head(struct trace *t, struct trace_cpu *c, struct trace_chunk *k)
{
	uint8_t head[8];

	if (!c->chunks)
		return PP_END;
	c->chunks--;
	k->ahead = false;
	k->offset = c->pos;
	k->n = 0;
	k->rc = read_bytes(t, c, head, 8);
	if (k->rc)
		return 0;
	k->n = (uint32_t)trace_number(t, head, 4);
	k->size = (uint32_t)trace_number(t, head + 4, 4);
	if (k->size > TRACE_CHUNK_MAX)
		k->rc = PP_ELIMIT;
	else if (k->n > c->left)
		k->rc = PP_ECUT;
	if (k->rc)
		k->n = 0;
	return 0;
}

static int read_packed(struct trace *t, struct trace_cpu *c, uint32_t n, struct buf *packed)
{
	buf_reset(packed);
	return buf_reserve(packed, n) ? PP_ENOMEM : read_bytes(t, c, packed->data, n);
}

/* Reads a chunk before its turn, if it is no large one, and there is room. */
static void read_ahead(struct trace *t, struct trace_cpu *c, struct trace_chunk *k)
{
	uint8_t *p;

	if (k->rc || k->n > TRACE_AHEAD_CHUNK || k->size > TRACE_AHEAD_CHUNK)
		return;
	if (k->size > k->cap) {
		if (t->ahead + (k->size - k->cap) > TRACE_AHEAD_MAX)
			return;
		p = realloc(k->bytes, k->size);
		if (!p)
			return;
		t->ahead += k->size - k->cap;
		k->bytes = p;
		k->cap = k->size;
	}
	k->rc = read_packed(t, c, k->n, &k->packed);
	k->ahead = !k->rc;
}

/* Gives the next chunks to other threads. What was not read ahead is the last of them. */
static void look_ahead(struct trace *t, struct trace_cpu *c)
{
	struct trace_group *g = &c->groups[!c->now];

	g->n = g->at = 0;
	while (g->n < TRACE_GROUP && !read_head(t, c, &g->v[g->n])) {
		read_ahead(t, c, &g->v[g->n]);
		if (!g->v[g->n++].ahead)
			break;
	}
	if (g->n)
		trace_unpackers_give(t, g);
}

/* What another thread has unpacked becomes the block; the chunk gets the room of the one before. */
static void take_over(struct trace *t, struct trace_cpu *c, struct trace_chunk *k)
{
	uint8_t *block = c->block;
	size_t cap = c->block_cap;

	c->block = k->bytes;
	c->block_cap = k->cap;
	k->bytes = block;
	k->cap = cap;
	t->held += c->block_cap - cap;
	t->ahead -= c->block_cap - cap;
}

static int unpack_here(struct trace *t, struct trace_cpu *c, const struct trace_chunk *k)
{
	int rc = k->rc ? k->rc : read_packed(t, c, k->n, &t->packed);

	if (!rc)
		rc = block_room(t, c, k->size);
	return rc ? rc : trace_unpack(t, &t->zstd, t->packed.data, k->n, c->block, k->size);
}

/* The chunks that are read next: those that others have unpacked, or one. */
static int next_group(struct trace *t, struct trace_cpu *c)
{
	struct trace_group *g;

	if (!c->groups)
		c->groups = calloc(2, sizeof(*c->groups));
	if (!c->groups)
		return PP_ENOMEM;
	g = &c->groups[!c->now];
	if (g->given) {
		trace_unpackers_wait(t, g);
		c->now = !c->now;
		return 0;
	}
	g = &c->groups[c->now];
	g->at = 0;
	g->n = !read_head(t, c, &g->v[0]);
	return g->n ? 0 : PP_END;
}

/* The room of a large chunk is not kept for others. */
static void drop_large(struct trace *t, struct trace_cpu *c)
{
	if (c->block_cap <= TRACE_AHEAD_CHUNK)
		return;
	t->held -= c->block_cap;
	free(c->block);
	c->block = NULL;
	c->block_cap = 0;
}

static int read_chunk(struct trace *t, struct trace_cpu *c)
{
	struct trace_group *g = c->groups ? &c->groups[c->now] : NULL;
	struct trace_chunk *k;
	int rc = g && g->at < g->n ? 0 : next_group(t, c);

	if (rc)
		return rc;
	g = &c->groups[c->now];
	k = &g->v[g->at++];
	c->block_offset = k->offset;
	/* Packed data that overlap would make work without end out of a small file. */
	if (t->data_read > 2 * t->size)
		return PP_ECORRUPT;
	t->data_read += 8 + (uint64_t)k->n;
	drop_large(t, c);
	rc = k->ahead ? k->rc : unpack_here(t, c, k);
	if (rc)
		return rc;
	if (k->ahead)
		take_over(t, c, k);
	c->block_len = k->size;
	/* The bytes of one that was not read ahead come first. */
	if (t->unpackers && !c->groups[!c->now].given && (g->at == g->n || g->v[g->n - 1].ahead))
		look_ahead(t, c);
	return 0;
}

/* Pages that have come become the block. */
static int take_coming(struct trace_cpu *c)
{
	struct buf block = {.data = c->block, .cap = c->block_cap};

	if (!c->coming.len)
		return PP_END;
	c->block = c->coming.data;
	c->block_cap = c->coming.cap;
	c->block_len = c->coming.len;
	c->coming = block;
	return 0;
}

void trace_cpu_release(struct trace_cpu *c)
{
	for (unsigned i = 0; c->groups && i < 2 * TRACE_GROUP; i++) {
		struct trace_chunk *k = &c->groups[i / TRACE_GROUP].v[i % TRACE_GROUP];

		free(k->bytes);
		buf_release(&k->packed);
	}
	free(c->groups);
	free(c->block);
	src_free(c->src);
	buf_release(&c->hold);
	buf_release(&c->hold_rec);
	buf_release(&c->coming);
}

static int begin(struct trace *t, struct trace_cpu *c)
{
	uint8_t head[4];
	int rc;

	c->begun = true;
	c->pos = c->offset;
	c->left = c->size;
	if (!c->size || !c->buffer->packed)
		return 0;
	/* The size that is recorded of packed data is not that of all their bytes. */
	c->left = t->size - c->offset;
	rc = read_bytes(t, c, head, 4);
	t->data_read += 4;
	if (!rc)
		c->chunks = (uint32_t)trace_number(t, head, 4);
	return rc;
}

int trace_next_page(struct trace *t, struct trace_cpu *c, const uint8_t **page, size_t *len)
{
	int rc = c->begun ? 0 : begin(t, c);

	if (!rc && c->block_at >= c->block_len) {
		rc = keep(c, &c->last, &c->hold);
		if (!rc)
			rc = keep(c, &c->rec, &c->hold_rec);
		if (t->live)
			t->held -= c->block_len;
		c->block_at = c->block_len = 0;
		if (!rc)
			rc = t->live		 ? take_coming(c)
			     : c->buffer->packed ? read_chunk(t, c)
						 : read_plain(t, c);
		diag_progress(t->d, t->name, t->data_read, t->size);
	}
	if (rc && rc != PP_END) {
		c->left = c->chunks = 0;
		c->block_len = 0;
	}
	if (rc)
		return rc;
	*page = c->block + c->block_at;
	*len = c->block_len - c->block_at;
	if (*len > c->buffer->page_size)
		*len = c->buffer->page_size;
	c->block_at += *len;
	return 0;
}
