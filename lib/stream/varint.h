/*
 * Numbers in as few bytes as they need, least significant first: seven bits in each byte, whose
 * highest bit says that another follows. Signed ones as zigzag: 0, -1, 1, -2 become 0, 1, 2, 3.
 * The same bytes on machines of either byte order.
 */
#ifndef PP_STREAM_VARINT_H
#define PP_STREAM_VARINT_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VARINT_MAX 10 /* bytes of 64 bits */

/* Where the next one goes; p has room for VARINT_MAX bytes. */
static inline uint8_t *varint_put(uint8_t *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

/* False: it is cut off, or longer than 64 bits. */
static inline bool varint_take(const uint8_t **p, const uint8_t *end, uint64_t *v)
{
	uint64_t got = 0;

	/* Most have one byte or two. */
	if (end - *p >= 2) {
		const uint8_t *at = *p;

		if (!(at[0] & 0x80)) {
			*v = at[0];
			*p = at + 1;
			return true;
		}
		if (!(at[1] & 0x80)) {
			*v = (at[0] & 0x7f) | (uint64_t)at[1] << 7;
			*p = at + 2;
			return true;
		}
	}
	for (unsigned shift = 0; *p < end && shift < 64; shift += 7) {
		uint8_t byte = *(*p)++;

		if (shift == 63 && byte > 1)
			return false;
		got |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*v = got;
			return true;
		}
	}
	return false;
}

/*
 * Numbers whose lengths are stored separately: the bytes that they need, 0 to 8 of them, least
 * significant first. How they are put and read does not depend on their length.
 */
static inline unsigned number_len(uint64_t v)
{
	return v ? (unsigned)(71 - __builtin_clzll(v)) / 8 : 0;
}

/* Where the next one goes; p has room for 8 bytes. */
static inline uint8_t *number_put(uint8_t *p, uint64_t v, unsigned len)
{
	v = htole64(v);
	memcpy(p, &v, 8);
	return p + len;
}

/* len is 8 at most, and there are `left` bytes, no fewer than len. */
static inline uint64_t number_at(const uint8_t *p, unsigned len, size_t left)
{
	uint64_t v = 0;

	if (left < 8) {
		for (unsigned k = 0; k < len; k++)
			v |= (uint64_t)p[k] << (8 * k);
		return v;
	}
	memcpy(&v, p, 8);
	return len ? le64toh(v) & UINT64_MAX >> (64 - 8 * len) : 0;
}

static inline uint64_t zigzag(uint64_t v)
{
	return v << 1 ^ (0 - (v >> 63));
}

static inline uint64_t unzigzag(uint64_t v)
{
	return v >> 1 ^ (0 - (v & 1));
}

#endif
