/* Output that is packed by gzip. */
#include "base/gzip.h"

#include "base/err.h"

#include <stdlib.h>
#include <zlib.h>

#define LEVEL  1	 /* of a profile: two thirds of the time of 4, a tenth larger */
#define WINDOW (15 + 16) /* with the header of gzip */
#define MEMORY 8
#define PIECE  65536

struct gzip {
	struct out plain, *to;
	z_stream z;
};

static int pack(struct gzip *z, const uint8_t *bytes, size_t n, int flush)
{
	int rc;

	/* No block of an out is larger than 2^32; what zlib takes is not const. */
	z->z.next_in = (Bytef *)bytes;
	z->z.avail_in = (uInt)n;
	do {
		uint8_t *p = out_room(z->to, PIECE);

		if (!p)
			return z->to->err;
		z->z.next_out = p;
		z->z.avail_out = PIECE;
		rc = deflate(&z->z, flush);
		if (rc == Z_STREAM_ERROR)
			return PP_ECORRUPT;
		z->to->len += PIECE - z->z.avail_out;
	} while (!z->z.avail_out);
	return 0;
}

static int on_bytes(void *ctx, uint8_t *bytes, size_t n)
{
	for (struct gzip *z = ctx; n;) {
		size_t part = n < INT32_MAX ? n : INT32_MAX;
		int rc = pack(z, bytes, part, Z_NO_FLUSH);

		if (rc)
			return rc;
		bytes += part;
		n -= part;
	}
	return 0;
}

int gzip_new(struct gzip **out, struct out *to)
{
	struct gzip *z = calloc(1, sizeof(*z));

	*out = z;
	if (!z)
		return PP_ENOMEM;
	z->to = to;
	if (deflateInit2(&z->z, LEVEL, Z_DEFLATED, WINDOW, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(z);
		*out = NULL;
		return PP_ENOMEM;
	}
	if (!out_init_fn(&z->plain, on_bytes, z))
		return 0;
	deflateEnd(&z->z);
	free(z);
	*out = NULL;
	return PP_ENOMEM;
}

struct out *gzip_out(struct gzip *z)
{
	return &z->plain;
}

int gzip_drop(struct gzip *z)
{
	if (!z)
		return 0;
	out_release(&z->plain);
	deflateEnd(&z->z);
	free(z);
	return 0;
}

int gzip_close(struct gzip *z)
{
	int rc = z ? out_flush(&z->plain) : 0;

	if (z && !rc)
		rc = pack(z, NULL, 0, Z_FINISH);
	gzip_drop(z);
	return rc;
}
