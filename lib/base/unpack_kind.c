/*
 * What compressed files begin with. Apart from the decompression, so that a program which reads
 * event streams only needs none of the libraries for that.
 */
#include "base/unpack.h"

#include <string.h>

enum unpack_kind unpack_kind(const uint8_t *first, size_t n)
{
	static const uint8_t gz[] = {0x1f, 0x8b}, zstd[] = {0x28, 0xb5, 0x2f, 0xfd},
			     xz[] = {0xfd, '7', 'z', 'X', 'Z', 0};

	if (n >= sizeof(gz) && !memcmp(first, gz, sizeof(gz)))
		return UNPACK_GZIP;
	if (n >= sizeof(zstd) && !memcmp(first, zstd, sizeof(zstd)))
		return UNPACK_ZSTD;
	return n >= sizeof(xz) && !memcmp(first, xz, sizeof(xz)) ? UNPACK_XZ : UNPACK_NONE;
}
