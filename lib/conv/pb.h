/*
 * Protobuf messages (protobuf.dev/programming-guides/encoding): written field by field into a
 * buffer, and read from bounded bytes. A message within another is made in a buffer of its own.
 *
 *	pb_num(&b, 1, id);
 *	pb_bytes(&b, 2, line.data, line.len);
 *
 *	struct pb m = pb_make(bytes, n);
 *	while (pb_next(&m))
 *		if (m.field == 1)
 *			id = m.v;
 *	if (m.bad)
 *		return PP_ECORRUPT;
 *
 * By hand, since that is less than what a generator's library takes to be set up.
 */
#ifndef PP_CONV_PB_H
#define PP_CONV_PB_H

#include "base/buf.h"
#include "stream/varint.h"

enum { PB_VARINT = 0, PB_64 = 1, PB_BYTES = 2, PB_32 = 5 };

static inline void pb_varint(struct buf *b, uint64_t v)
{
	if (buf_reserve(b, VARINT_MAX) || !b->data)
		return;
	b->len = (size_t)(varint_put(b->data + b->len, v) - b->data);
}

/* For 0, the value of a field that is left out, nothing. */
static inline void pb_num(struct buf *b, uint32_t field, uint64_t v)
{
	if (!v)
		return;
	pb_varint(b, field << 3 | PB_VARINT);
	pb_varint(b, v);
}

/* Also 0. */
static inline void pb_num_always(struct buf *b, uint32_t field, uint64_t v)
{
	pb_varint(b, field << 3 | PB_VARINT);
	pb_varint(b, v);
}

/* Of a double its bits. */
static inline void pb_fixed64(struct buf *b, uint32_t field, uint64_t v)
{
	uint8_t bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(v >> 8 * i);
	pb_varint(b, field << 3 | PB_64);
	buf_add(b, bytes, sizeof(bytes));
}

static inline void pb_bytes(struct buf *b, uint32_t field, const void *bytes, size_t n)
{
	pb_varint(b, field << 3 | PB_BYTES);
	pb_varint(b, n);
	buf_add(b, bytes, n);
}

/* A message that was made, which is empty then. */
static inline void pb_take(struct buf *b, uint32_t field, struct buf *message)
{
	pb_bytes(b, field, message->data, message->len);
	buf_inherit(b, message);
	buf_reset(message);
}

struct pb {
	const uint8_t *p, *end;
	uint32_t field, type; /* of the last one */
	uint64_t v;	      /* its number; of PB_BYTES how many there are */
	const uint8_t *bytes;
	bool bad; /* cut off, or no message */
};

static inline struct pb pb_make(const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	return (struct pb){.p = p, .end = p + n};
}

/* The message in a field; empty if it is none. */
static inline struct pb pb_sub(const struct pb *m)
{
	return m->type == PB_BYTES ? pb_make(m->bytes, m->v) : (struct pb){0};
}

/* The next field. False: there is none, or m->bad. */
static inline bool pb_next(struct pb *m)
{
	uint64_t tag = 0, n;

	if (m->bad || m->p == m->end)
		return false;
	m->bad = !varint_take(&m->p, m->end, &tag) || tag >> 32 || !(tag >> 3);
	m->field = (uint32_t)tag >> 3;
	m->type = tag & 7;
	if (m->bad)
		return false;
	if (m->type == PB_VARINT) {
		m->bad = !varint_take(&m->p, m->end, &m->v);
		return !m->bad;
	}
	n = m->type == PB_64 ? 8 : 4;
	m->bad = m->type != PB_64 && m->type != PB_32 &&
		 (m->type != PB_BYTES || !varint_take(&m->p, m->end, &n));
	if (m->bad || n > (uint64_t)(m->end - m->p)) {
		m->bad = true;
		return false;
	}
	m->v = n;
	m->bytes = m->p;
	m->p += n;
	return true;
}

/*
 * The numbers of a repeated field, one in each or many packed into one. *at: 0 to begin with.
 * False: no more in this field.
 */
static inline bool pb_each(struct pb *m, size_t *at, uint64_t *v)
{
	const uint8_t *p = m->bytes;

	if (m->type == PB_VARINT) {
		*v = m->v;
		return !(*at)++;
	}
	if (m->type != PB_BYTES || *at >= m->v)
		return false;
	p += *at;
	if (!varint_take(&p, m->bytes + m->v, v)) {
		m->bad = true;
		return false;
	}
	*at = (size_t)(p - m->bytes);
	return true;
}

#endif
