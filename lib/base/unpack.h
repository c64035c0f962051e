/*
 * Compressed input: gzip (RFC 1952), zstd (RFC 8878) and xz, several members, frames or streams in
 * a row included.
 *
 *	rc = unpack_new(&s, unpack_kind(first, n), packed, d);
 *	(s reads the content of packed; it cannot seek)
 */
#ifndef PP_BASE_UNPACK_H
#define PP_BASE_UNPACK_H

#include "base/buf.h"
#include "base/src.h"

enum unpack_kind {
	UNPACK_NONE, /* not compressed, or in another way */
	UNPACK_GZIP,
	UNPACK_ZSTD,
	UNPACK_XZ,
};

/* By the magic number in the first n bytes; 6 are enough. */
enum unpack_kind unpack_kind(const uint8_t *first, size_t n);

/*
 * A source over a compressed one, which it takes over (also when this fails). Damage of the packed
 * bytes is reported to d and ends the source early, as a cut off input does. 0 or PP_ENOMEM.
 */
int unpack_new(struct src **s, enum unpack_kind kind, struct src *packed, struct diag *d);

/*
 * No useful input unpacks to more than UNPACK_FREE bytes and UNPACK_RATIO times its
 * packed size: such input was made to exhaust memory.
 */
#define UNPACK_FREE  (16u << 20)
#define UNPACK_RATIO 64

static inline uint64_t unpack_limit(uint64_t packed)
{
	return packed < UINT64_MAX / UNPACK_RATIO - UNPACK_FREE
		       ? UNPACK_FREE + packed * UNPACK_RATIO
		       : UINT64_MAX;
}

/*
 * Appends the content of n packed bytes to a buffer: 0, PP_EUNSUPPORTED (not compressed), PP_ECUT
 * (damaged or cut off), PP_ELIMIT (about max bytes or unpack_limit(n) or more), PP_ENOMEM.
 */
int unpack_bytes(const void *packed, size_t n, size_t max, struct buf *out);

#endif
