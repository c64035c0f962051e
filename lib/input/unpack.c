#include "input/unpack.h"

#include "base/err.h"

#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#define UNPACK_BLOCK (256u << 10) /* packed bytes that are read at a time */

struct unpack {
	struct src *packed;
	struct diag *d;
	uint8_t *in;
	size_t pos, len; /* of in */
	bool whole;	 /* between two members or frames: the end may come */
	bool ended;
	z_stream z;
	bool z_ready;
	ZSTD_DCtx *zstd; /* NULL: gzip */
};

static void unpack_free(void *ctx)
{
	struct unpack *u = ctx;

	if (!u)
		return;
	if (u->z_ready)
		inflateEnd(&u->z);
	ZSTD_freeDCtx(u->zstd);
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
		diag_warn(u->d, src_name(u->packed), at, "the compressed data are cut off");
	else
		diag_warn(u->d, src_name(u->packed), at, "the compressed data are damaged");
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
			if (!u->len && !u->whole)
				return damaged(u, true);
			u->ended = !u->len;
			if (u->ended)
				break;
		}
		rc = u->zstd ? step_zstd(u, buf, n, got) : step_gzip(u, buf, n, got);
	}
	/* What came out before the damage is good. */
	return *got ? 0 : rc;
}

static int unpack_new(struct src **s, struct src *packed, struct diag *d, bool zstd)
{
	struct unpack *u = calloc(1, sizeof(*u));

	*s = NULL;
	if (!u) {
		src_free(packed);
		return PP_ENOMEM;
	}
	u->packed = packed;
	u->d = d;
	u->in = malloc(UNPACK_BLOCK);
	if (zstd)
		u->zstd = ZSTD_createDCtx();
	else
		u->z_ready = inflateInit2(&u->z, 15 + 16) == Z_OK;
	if (!u->in || (zstd ? !u->zstd : !u->z_ready)) {
		unpack_free(u);
		return PP_ENOMEM;
	}
	return src_from_layer(s, (struct src_layer){unpack_read, unpack_free, u}, src_name(packed));
}

int unpack_gzip(struct src **s, struct src *packed, struct diag *d)
{
	return unpack_new(s, packed, d, false);
}

int unpack_zstd(struct src **s, struct src *packed, struct diag *d)
{
	return unpack_new(s, packed, d, true);
}
