/* What compressed files begin with. */
#include "base/unpack.h"

#include "base/err.h"
#include "tap.h"

#include <lzma.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#define TEXT_LEN 3000

static uint8_t text[TEXT_LEN];

static size_t pack(enum unpack_kind kind, uint8_t *to, size_t size)
{
	z_stream z = {.next_in = text, .avail_in = TEXT_LEN, .next_out = to};
	ZSTD_CCtx *zstd = kind == UNPACK_ZSTD ? ZSTD_createCCtx() : NULL;
	size_t n = 0;

	switch (kind) {
	case UNPACK_GZIP:
		z.avail_out = (uInt)size;
		if (deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, 0) ||
		    deflate(&z, Z_FINISH) != Z_STREAM_END)
			abort();
		n = z.total_out;
		deflateEnd(&z);
		return n;
	case UNPACK_ZSTD:
		ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
		n = ZSTD_compress2(zstd, to, size, text, TEXT_LEN);
		ZSTD_freeCCtx(zstd);
		return n;
	case UNPACK_XZ:
		if (lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, NULL, text, TEXT_LEN, to, &n,
					    size))
			abort();
		return n;
	default: abort();
	}
}

static void test_kind(enum unpack_kind kind, const char *name)
{
	uint8_t packed[2 * TEXT_LEN + 200];
	size_t n = pack(kind, packed, sizeof(packed) / 2), cuts = 0;
	struct buf out = BUF_INIT;

	is_int(unpack_kind(packed, n), kind, "%s: known by its magic", name);
	is_int(unpack_bytes(packed, n, TEXT_LEN, &out), 0, "%s: unpacked", name);
	ok(out.len == TEXT_LEN && !memcmp(out.data, text, TEXT_LEN), "%s: to the same", name);
	memcpy(packed + n, packed, n);
	buf_reset(&out);
	is_int(unpack_bytes(packed, 2 * n, 2 * TEXT_LEN, &out), 0, "%s: twice in a row", name);
	is_int((int64_t)out.len, 2 * TEXT_LEN, "%s: both", name);
	buf_reset(&out);
	is_int(unpack_bytes(packed, n, 10, &out), PP_ELIMIT, "%s: too large", name);
	for (size_t cut = 6; cut < n; cut += 11) {
		buf_reset(&out);
		cuts += unpack_bytes(packed, cut, TEXT_LEN, &out) != PP_ECUT;
		cuts += out.len && memcmp(out.data, text, out.len) != 0;
	}
	is_int((int64_t)cuts, 0, "%s: cut anywhere is reported, and nothing wrong comes before",
	       name);
	packed[n / 2] ^= 0x55;
	buf_reset(&out);
	is_int(unpack_bytes(packed, n, TEXT_LEN, &out), PP_ECUT, "%s: damaged", name);
	buf_release(&out);
}

int main(void)
{
	uint32_t x = 1;
	struct buf out = BUF_INIT;

	for (size_t i = 0; i < TEXT_LEN; i++) {
		x = x * 1103515245 + 12345;
		text[i] = (uint8_t)("abcdefgh"[x >> 28 & 7]);
	}
	test_kind(UNPACK_GZIP, "gzip");
	test_kind(UNPACK_ZSTD, "zstd");
	test_kind(UNPACK_XZ, "xz");
	is_int(unpack_kind(text, TEXT_LEN), UNPACK_NONE, "plain bytes are not packed");
	is_int(unpack_bytes(text, TEXT_LEN, 10, &out), PP_EUNSUPPORTED, "and not unpacked");
	buf_release(&out);
	return done();
}
