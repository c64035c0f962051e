/* Output that is packed by gzip. */
#include "base/gzip.h"

#include "base/err.h"
#include "base/out.h"
#include "base/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#define LEVEL  1	 /* of a profile: two thirds of the time of 4, a tenth larger */
#define WINDOW (15 + 16) /* with the header of gzip */
#define MEMORY 8
#define PIECE  65536

struct gzip {
	int from; /* the end of a pipe */
	struct out to;
	z_stream z;
	pthread_t thread;
	uint8_t bytes[PIECE];
	int err; /* the first one */
};

static int pack(struct gzip *z, size_t n, int flush)
{
	z->z.next_in = z->bytes;
	z->z.avail_in = (uInt)n;
	do {
		uint8_t *p = out_room(&z->to, PIECE);

		if (!p)
			return z->to.err;
		z->z.next_out = p;
		z->z.avail_out = PIECE;
		if (deflate(&z->z, flush) == Z_STREAM_ERROR)
			return PP_ECORRUPT;
		z->to.len += PIECE - z->z.avail_out;
	} while (!z->z.avail_out);
	return 0;
}

/* Reads to the end, whatever happens: who writes is told by gzip_finish. */
static void *run(void *ctx)
{
	struct gzip *z = ctx;
	bool any = false;
	ssize_t n;

	while ((n = read(z->from, z->bytes, PIECE)) > 0 || (n < 0 && errno == EINTR)) {
		any |= n > 0;
		if (n > 0 && !z->err)
			z->err = pack(z, (size_t)n, Z_NO_FLUSH);
	}
	if (n < 0 && !z->err)
		z->err = pp_errno(errno);
	if (any && !z->err)
		z->err = pack(z, 0, Z_FINISH);
	return NULL;
}

/* What gzip_start has begun, without the descriptors. */
static void drop(struct gzip *z)
{
	deflateEnd(&z->z);
	out_release(&z->to);
	free(z);
}

int gzip_start(struct gzip **out, int fd, int *to)
{
	struct gzip *z = calloc(1, sizeof(*z));
	int ends[2], rc;

	*out = NULL;
	if (!z)
		return PP_ENOMEM;
	rc = out_init(&z->to, fd);
	if (!rc && deflateInit2(&z->z, LEVEL, Z_DEFLATED, WINDOW, MEMORY, Z_DEFAULT_STRATEGY))
		rc = PP_ENOMEM;
	if (!rc && pipe2(ends, O_CLOEXEC))
		rc = pp_errno(errno);
	if (rc) {
		drop(z);
		return rc;
	}
	z->from = ends[0];
	rc = thread_start(&z->thread, run, z);
	if (rc) {
		close(ends[0]);
		close(ends[1]);
		drop(z);
		return rc;
	}
	*to = ends[1];
	*out = z;
	return 0;
}

int gzip_finish(struct gzip *z)
{
	int rc, closed;

	if (!z)
		return 0;
	pthread_join(z->thread, NULL);
	close(z->from);
	rc = z->err;
	closed = out_close(&z->to);
	deflateEnd(&z->z);
	free(z);
	return rc ? rc : closed;
}
