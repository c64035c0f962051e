/*
 * A bounded cursor over untrusted bytes.
 *
 * All bytes from outside are read through it; no input is ever cast to a struct. The cursor knows
 * the byte order of its input (swap: the bytes are not in host order). Reading past the end returns
 * zeroes and sets `bad`, which stays set, so that a parser reads a whole structure and checks once:
 *
 *	struct cursor c = cursor_make(bytes, len, false);
 *	uint32_t type = get_u32(&c);
 *	uint16_t misc = get_u16(&c), size = get_u16(&c);
 *	if (c.bad)
 *		return PP_ECUT;
 *
 * A cursor owns nothing; the bytes must outlive it.
 */
#ifndef PP_BASE_CURSOR_H
#define PP_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *p;   /* next byte */
	const uint8_t *end; /* one past the last */
	bool swap;	    /* input has the other byte order */
	bool bad;	    /* something was read past the end */
};

static inline struct cursor cursor_make(const void *bytes, size_t len, bool swap)
{
	const uint8_t *p = bytes;

	return (struct cursor){.p = p, .end = p + len, .swap = swap};
}

/* The remaining bytes. */
static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->p);
}

/* Skips n bytes. */
static inline void cursor_skip(struct cursor *c, uint64_t n)
{
	if (n > cursor_left(c)) {
		c->bad = true;
		c->p = c->end;
	} else {
		c->p += n;
	}
}

/* The next n bytes, in place, or NULL (and bad) if there are fewer. */
static inline const uint8_t *get_bytes(struct cursor *c, uint64_t n)
{
	const uint8_t *p = c->p;

	if (n > cursor_left(c)) {
		c->bad = true;
		c->p = c->end;
		return NULL;
	}
	c->p += n;
	return p;
}

static inline uint8_t get_u8(struct cursor *c)
{
	if (c->p == c->end) {
		c->bad = true;
		return 0;
	}
	return *c->p++;
}

#define CURSOR_GET(bits) \
	static inline uint##bits##_t get_u##bits(struct cursor *c) \
	{ \
		uint##bits##_t v; \
		if (cursor_left(c) < sizeof(v)) { \
			c->bad = true; \
			c->p = c->end; \
			return 0; \
		} \
		memcpy(&v, c->p, sizeof(v)); \
		c->p += sizeof(v); \
		return c->swap ? __builtin_bswap##bits(v) : v; \
	}
CURSOR_GET(16)
CURSOR_GET(32)
CURSOR_GET(64)
#undef CURSOR_GET

/*
 * The next n numbers, converted to host order in place, for bytes that the caller may
 * change and are read once. NULL (and bad) if there are fewer. The caller bounds n.
 */
static inline uint64_t *take_u64s(struct cursor *c, uint64_t n)
{
	uint8_t *at = n <= UINT64_MAX / 8 ? (uint8_t *)get_bytes(c, 8 * n) : NULL;

	if (!at) {
		c->bad = true;
		return NULL;
	}
	for (uint64_t i = 0; c->swap && i < n; i++) {
		uint64_t v;

		memcpy(&v, at + 8 * i, 8);
		v = __builtin_bswap64(v);
		memcpy(at + 8 * i, &v, 8);
	}
	return (uint64_t *)(void *)at;
}

/* Skips the padding that brings the cursor to a multiple of `align` bytes after `start`. */
static inline void cursor_align(struct cursor *c, const uint8_t *start, size_t align)
{
	size_t off = (size_t)(c->p - start) % align;

	if (off)
		cursor_skip(c, align - off);
}

/* A cursor over the next n bytes, which are skipped; empty and bad if there are fewer. */
static inline struct cursor cursor_sub(struct cursor *c, uint64_t n)
{
	const uint8_t *p = get_bytes(c, n);
	struct cursor sub = {.p = p, .end = p ? p + n : p, .swap = c->swap, .bad = !p};

	return sub;
}

/*
 * The text in the next `n` bytes up to its NUL; the n bytes are skipped. Sets *len (without the
 * NUL). NULL if there are fewer than n bytes. The text need not be terminated.
 */
static inline const char *get_text(struct cursor *c, uint64_t n, size_t *len)
{
	const uint8_t *p = get_bytes(c, n);

	*len = p && n ? strnlen((const char *)p, n) : 0;
	return (const char *)p;
}

#endif
