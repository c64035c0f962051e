/*
 * Writing JSON objects into a buffer, piece by piece:
 *
 *	buf_addc(&b, '{');
 *	json_text(&b, "name", name, len);
 *	json_num(&b, "samples", 12);
 *	json_key(&b, "list");
 *	buf_adds(&b, "[1,2]}");
 *
 * A key puts the comma before itself unless it is the first of its object, or the buffer's first.
 */
#ifndef PP_BASE_JSON_H
#define PP_BASE_JSON_H

#include "base/buf.h"

static inline void json_key(struct buf *b, const char *name)
{
	if (b->len && b->data[b->len - 1] != '{')
		buf_addc(b, ',');
	buf_addc(b, '"');
	buf_adds(b, name);
	buf_adds(b, "\":");
}

static inline void json_num(struct buf *b, const char *name, uint64_t v)
{
	json_key(b, name);
	buf_add_u64(b, v, 0, ' ');
}

/* Untrusted text; NULL is the empty one. */
static inline void json_text(struct buf *b, const char *name, const char *s, size_t len)
{
	json_key(b, name);
	buf_add_json(b, s ? s : "", s ? len : 0);
}

#endif
