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
	if (size - c->block_cap > TRACE_HELD_MAX - t->held)
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
		rc = src_pread(t->src, c->block, n, c->pos);
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
	/* Packed data that overlap would make work without end out of a small file. */
	if (t->data_read > 2 * t->size)
		return PP_ECORRUPT;
	rc = src_pread(t->src, to, n, c->pos);
	c->pos += n;
	c->left -= n;
	t->data_read += n;
	return rc;
}

/* A chunk: u32 packed size, u32 size, packed bytes. */
static int read_chunk(struct trace *t, struct trace_cpu *c)
{
	uint8_t head[8];
	uint32_t n, size;
	int rc;

	if (!c->chunks)
		return PP_END;
	c->chunks--;
	c->block_offset = c->pos;
	rc = read_bytes(t, c, head, 8);
	if (rc)
		return rc;
	n = (uint32_t)trace_number(t, head, 4);
	size = (uint32_t)trace_number(t, head + 4, 4);
	if (size > TRACE_CHUNK_MAX)
		return PP_ELIMIT;
	if (n > c->left)
		return PP_ECUT;
	buf_reset(&t->packed);
	if (buf_reserve(&t->packed, n))
		return PP_ENOMEM;
	rc = read_bytes(t, c, t->packed.data, n);
	if (!rc)
		rc = block_room(t, c, size);
	if (!rc)
		rc = trace_unpack(t, t->packed.data, n, c->block, size);
	if (!rc)
		c->block_len = size;
	return rc;
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
		c->block_at = c->block_len = 0;
		if (!rc)
			rc = c->buffer->packed ? read_chunk(t, c) : read_plain(t, c);
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
