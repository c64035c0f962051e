/* Decompression of gzip, zstd and xz, as a source over a source and of whole buffers. */
#include "base/unpack.h"

#include "base/err.h"

#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define UNPACK_BLOCK   (256u << 10) /* packed bytes that are read at a time */
#define UNPACK_XZ_HEAP (256u << 20) /* bytes that liblzma may take; xz -9 needs 65 MiB */

struct unpack {
	enum unpack_kind kind;
	struct src *packed;
	struct diag *d;
	uint8_t *in;
	size_t pos, len; /* of in */
	bool whole;	 /* between two members or frames: the end may come */
	bool ended;
	z_stream z;
	bool z_ready;
	ZSTD_DCtx *zstd;
	lzma_stream xz;
};

static void unpack_free(void *ctx)
{
	struct unpack *u = ctx;

	if (!u)
		return;
	if (u->z_ready)
		inflateEnd(&u->z);
	ZSTD_freeDCtx(u->zstd);
	lzma_end(&u->xz);
	src_free(u->packed);
	free(u->in);
	free(u);
}

/* Says that the packed bytes are damaged or cut off; what was unpacked before stays. */
static int damaged(struct unpack *u, bool cut)
{
	int64_t at = (int64_t)src_tell(u->packed);

	u->ended = true;
	if (cut)
		diag_warn(u->d, src_name(u->packed), at, "the compressed data is cut off");
	else
		diag_warn(u->d, src_name(u->packed), at, "the compressed data is damaged");
	return PP_ECUT;
}

/* One step of inflate. 0 and progress, or damage. */
static int step_gzip(struct unpack *u, uint8_t *buf, size_t n, size_t *got)
{
	int rc;

	u->z.next_in = u->in + u->pos;
	u->z.avail_in = (uInt)(u->len - u->pos);
	u->z.next_out = buf;
	u->z.avail_out = (uInt)n;
	rc = inflate(&u->z, Z_NO_FLUSH);
	u->pos = u->len - u->z.avail_in;
	*got = n - u->z.avail_out;
	u->whole = rc == Z_STREAM_END;
	if (rc == Z_STREAM_END)
		rc = inflateReset(&u->z);
	if (rc == Z_MEM_ERROR)
		return PP_ENOMEM;
	return rc == Z_OK || rc == Z_BUF_ERROR ? 0 : damaged(u, false);
}

static int step_zstd(struct unpack *u, uint8_t *buf, size_t n, size_t *got)
{
	ZSTD_inBuffer in = {u->in, u->len, u->pos};
	ZSTD_outBuffer out = {buf, n, 0};
	size_t rc = ZSTD_decompressStream(u->zstd, &out, &in);

	u->pos = in.pos;
	*got = out.pos;
	if (ZSTD_isError(rc))
		return damaged(u, false);
	u->whole = !rc;
	return 0;
}

/* Several streams in a row are one for liblzma, which is told when no more comes. */
static int step_xz(struct unpack *u, uint8_t *buf, size_t n, size_t *got)
{
	lzma_ret rc;

	u->xz.next_in = u->in + u->pos;
	u->xz.avail_in = u->len - u->pos;
	u->xz.next_out = buf;
	u->xz.avail_out = n;
	rc = lzma_code(&u->xz, LZMA_RUN);
	u->pos = u->len - u->xz.avail_in;
	*got = n - u->xz.avail_out;
	u->whole = false;
	if (rc == LZMA_MEM_ERROR)
		return PP_ENOMEM;
	return rc == LZMA_OK || rc == LZMA_BUF_ERROR ? 0 : damaged(u, false);
}

/* No more packed bytes come. */
static int finish(struct unpack *u, uint8_t *buf, size_t n, size_t *got)
{
	lzma_ret rc;

	if (u->kind != UNPACK_XZ)
		return u->whole ? 0 : damaged(u, true);
	u->xz.next_in = u->in;
	u->xz.avail_in = 0;
	u->xz.next_out = buf;
	u->xz.avail_out = n;
	rc = lzma_code(&u->xz, LZMA_FINISH);
	*got = n - u->xz.avail_out;
	u->whole = rc == LZMA_STREAM_END;
	return *got || u->whole ? 0 : damaged(u, true);
}

static int step(struct unpack *u, uint8_t *buf, size_t n, size_t *got)
{
	switch (u->kind) {
	case UNPACK_GZIP: return step_gzip(u, buf, n, got);
	case UNPACK_ZSTD: return step_zstd(u, buf, n, got);
	default: return step_xz(u, buf, n, got);
	}
}

static int unpack_read(void *ctx, void *buf, size_t n, size_t *got)
{
	struct unpack *u = ctx;
	int rc = 0;

	*got = 0;
	if (n > UINT32_MAX / 2)
		n = UINT32_MAX / 2;
	if (u->ended)
		return u->whole ? 0 : PP_ECUT;
	while (!rc && !*got && !u->ended) {
		if (u->pos == u->len) {
			u->pos = 0;
			rc = src_read(u->packed, u->in, UNPACK_BLOCK, &u->len);
			if (rc)
				return rc;
			if (!u->len) {
				rc = finish(u, buf, n, got);
				u->ended = u->ended || !*got;
				break;
			}
		}
		rc = step(u, buf, n, got);
	}
	/* What came out before the damage is good. */
	return *got ? 0 : rc;
}

static bool start(struct unpack *u)
{
	switch (u->kind) {
	case UNPACK_GZIP: u->z_ready = inflateInit2(&u->z, 15 + 16) == Z_OK; return u->z_ready;
	case UNPACK_ZSTD: u->zstd = ZSTD_createDCtx(); return u->zstd != NULL;
	case UNPACK_XZ:
		return lzma_stream_decoder(&u->xz, UNPACK_XZ_HEAP, LZMA_CONCATENATED) == LZMA_OK;
	case UNPACK_NONE: break;
	}
	return false;
}

int unpack_new(struct src **s, enum unpack_kind kind, struct src *packed, struct diag *d)
{
	struct unpack *u = calloc(1, sizeof(*u));

	*s = NULL;
	if (!u) {
		src_free(packed);
		return PP_ENOMEM;
	}
	u->kind = kind;
	u->packed = packed;
	u->d = d;
	u->in = malloc(UNPACK_BLOCK);
	if (!u->in || !start(u)) {
		unpack_free(u);
		return PP_ENOMEM;
	}
	return src_from_layer(s, (struct src_layer){unpack_read, unpack_free, u}, src_name(packed));
}

int unpack_bytes(const void *packed, size_t n, size_t max, struct buf *out)
{
	enum unpack_kind kind = unpack_kind(packed, n);
	struct src *s = NULL;
	size_t got = 1, from = out->len;
	int rc;

	if (kind == UNPACK_NONE)
		return PP_EUNSUPPORTED;
	if (max > unpack_limit(n))
		max = (size_t)unpack_limit(n);
	rc = src_from_mem(&s, packed, n, "");
	if (!rc)
		rc = unpack_new(&s, kind, s, NULL);
	while (!rc && got) {
		if (out->len - from > max)
			rc = PP_ELIMIT;
		else
			rc = buf_reserve(out, UNPACK_BLOCK);
		if (!rc)
			rc = src_read(s, out->data + out->len, out->cap - out->len - 1, &got);
		if (!rc)
			out->len += got;
	}
	src_free(s);
	return rc;
}
