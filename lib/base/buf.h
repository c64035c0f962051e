/*
 * A growing byte buffer.
 *
 * Allocation failure is remembered (err), later additions do nothing, so that a writer of many
 * pieces checks once, at the end:
 *
 *	struct buf b = BUF_INIT;
 *	buf_addf(&b, "%s+%#x", name, off);
 *	if (b.err)
 *		return b.err;
 *	...
 *	buf_release(&b);
 *
 * The bytes are followed by a NUL that is not counted, unless nothing was ever added (data NULL).
 */
#ifndef PP_BASE_BUF_H
#define PP_BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct buf {
	uint8_t *data; /* owned */
	size_t len;    /* bytes in use */
	size_t cap;    /* bytes allocated */
	int err;       /* 0 or PP_ENOMEM */
};

#define BUF_INIT \
	{ \
		0 \
	}

void buf_release(struct buf *b);

/* Makes room for `more` further bytes (and a NUL). Returns 0 or PP_ENOMEM. */
int buf_grow(struct buf *b, size_t more);

static inline int buf_reserve(struct buf *b, size_t more)
{
	if (b->cap - b->len > more)
		return b->err;
	return buf_grow(b, more);
}

static inline void buf_reset(struct buf *b)
{
	b->len = 0;
	if (b->data)
		b->data[0] = 0;
}

static inline void buf_add(struct buf *b, const void *bytes, size_t n)
{
	if (buf_reserve(b, n) || !n)
		return;
	memcpy(b->data + b->len, bytes, n);
	b->len += n;
	b->data[b->len] = 0;
}

/* A failure in a part is a failure of the whole that it was for. */
static inline void buf_inherit(struct buf *b, const struct buf *part)
{
	b->err = b->err ? b->err : part->err;
}

/* Adds the contents of another buffer. */
static inline void buf_join(struct buf *b, const struct buf *part)
{
	buf_add(b, part->data, part->len);
	buf_inherit(b, part);
}

static inline void buf_addc(struct buf *b, char c)
{
	if (buf_reserve(b, 1))
		return;
	b->data[b->len++] = (uint8_t)c;
	b->data[b->len] = 0;
}

static inline void buf_adds(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

/* Adds n bytes of value c. */
void buf_fill(struct buf *b, char c, size_t n);

/* Formats as printf does. */
__attribute__((format(printf, 2, 3))) void buf_addf(struct buf *b, const char *fmt, ...);
void buf_vaddf(struct buf *b, const char *fmt, va_list ap);

/* Decimal and hexadecimal numbers, right-justified with `pad` to `width`: printf is slow. */
void buf_add_u64(struct buf *b, uint64_t v, int width, char pad);
void buf_add_hex(struct buf *b, uint64_t v, int width, char pad);

/*
 * Adds untrusted text for a terminal: control characters and bytes that are not valid
 * UTF-8 become \xHH (see utf8_shown), a backslash stays.
 */
void buf_add_safe(struct buf *b, const char *s, size_t n);

/*
 * Adds untrusted text between double quotes as a JSON string: invalid UTF-8 becomes U+FFFD, control
 * characters (see utf8_shown) \uHHHH.
 */
void buf_add_json(struct buf *b, const char *s, size_t n);

/* Bytes of the valid UTF-8 character at s (1 to 4), or 0. */
int utf8_len(const char *s, size_t n);

/*
 * Like utf8_len, but 0 also for what a terminal would obey: controls, C1's too, and those of
 * direction.
 */
int utf8_shown(const char *s, size_t n);

/* The text, "" if nothing was added. */
static inline const char *buf_str(const struct buf *b)
{
	return b->data ? (const char *)b->data : "";
}

#endif
