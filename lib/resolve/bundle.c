/* The archive of --bundle: tar, packed by zstd, removed again if it cannot be completed. */
#include "resolve/bundle.h"

#include "base/err.h"
#include "symbol/tar.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define PACK_LEVEL 6
#define PACKED	   (256u << 10) /* bytes that are written at a time */

struct bundle {
	struct out tar; /* into pack, or to the file */
	int fd;
	ZSTD_CCtx *zstd; /* NULL: not packed */
	uint8_t *packed;
	char *name;
	struct diag *d;
	struct intern names;
	int err;
};

static int pack(struct bundle *b, const uint8_t *bytes, size_t n, ZSTD_EndDirective end)
{
	ZSTD_inBuffer in = {bytes, n, 0};
	size_t left;
	int rc = 0;

	do {
		ZSTD_outBuffer out = {b->packed, PACKED, 0};

		left = ZSTD_compressStream2(b->zstd, &out, &in, end);
		if (ZSTD_isError(left))
			return PP_ENOMEM;
		rc = out_write_all(b->fd, b->packed, out.pos);
	} while (!rc && (in.pos < in.size || (end == ZSTD_e_end && left)));
	return rc;
}

static int take(void *ctx, uint8_t *bytes, size_t n)
{
	struct bundle *b = ctx;

	return b->zstd ? pack(b, bytes, n, ZSTD_e_continue) : out_write_all(b->fd, bytes, n);
}

static void bundle_free(struct bundle *b)
{
	if (b->fd >= 0)
		close(b->fd);
	out_release(&b->tar);
	ZSTD_freeCCtx(b->zstd);
	intern_release(&b->names);
	free(b->packed);
	free(b->name);
	free(b);
}

int bundle_open(struct bundle **out, const char *name, struct diag *d)
{
	struct bundle *b = calloc(1, sizeof(*b));
	size_t n = strlen(name);
	bool plain = n > 4 && !strcmp(name + n - 4, ".tar");

	*out = NULL;
	if (!b)
		return PP_ENOMEM;
	b->d = d;
	b->name = strdup(name);
	b->packed = malloc(PACKED);
	b->zstd = plain ? NULL : ZSTD_createCCtx();
	b->fd = -1;
	if (!b->name || !b->packed || (!plain && !b->zstd) || out_init_fn(&b->tar, take, b)) {
		bundle_free(b);
		return PP_ENOMEM;
	}
	b->fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (b->fd < 0) {
		diag_error(d, name, -1, "cannot be made: %s", strerror(errno));
		bundle_free(b);
		return PP_EIO;
	}
	if (b->zstd) {
		ZSTD_CCtx_setParameter(b->zstd, ZSTD_c_compressionLevel, PACK_LEVEL);
		ZSTD_CCtx_setParameter(b->zstd, ZSTD_c_checksumFlag, 1);
	}
	*out = b;
	return 0;
}

/* Whether a member is to be written now; its header then has been. */
static bool begin(struct bundle *b, const char *path, uint64_t len)
{
	char name[TAR_NAME_MAX];
	bool fresh = false;

	if (tar_path(path, name))
		return false;
	if (!b->err)
		b->err = intern_add(&b->names, name, strlen(name), &(uint32_t){0}, &fresh);
	if (!b->err && fresh)
		b->err = tar_header(&b->tar, name, len);
	return !b->err && fresh;
}

static int add_block(void *ctx, const uint8_t *bytes, size_t n)
{
	struct bundle *b = ctx;

	return out_add(&b->tar, bytes, n);
}

int bundle_elf(struct bundle *b, const char *path, const struct elf_file *f)
{
	uint64_t len = elf_file_size(f);

	if (!begin(b, path, len))
		return b->err;
	b->err = elf_file_copy(f, len, add_block, b);
	if (!b->err)
		b->err = tar_pad(&b->tar, len);
	return b->err;
}

int bundle_bytes(struct bundle *b, const char *path, const void *bytes, size_t n)
{
	if (!begin(b, path, n))
		return b->err;
	b->err = out_add(&b->tar, bytes, n);
	if (!b->err)
		b->err = tar_pad(&b->tar, n);
	return b->err;
}

uint32_t bundle_files(const struct bundle *b)
{
	return b->names.n;
}

int bundle_close(struct bundle *b, int err)
{
	int rc = b->err ? b->err : err;
	struct stat st;
	bool made = !fstat(b->fd, &st) && S_ISREG(st.st_mode);

	if (!rc)
		rc = tar_end(&b->tar);
	if (!rc)
		rc = out_flush(&b->tar);
	if (!rc && b->zstd)
		rc = pack(b, NULL, 0, ZSTD_e_end);
	if (close(b->fd) && !rc)
		rc = pp_errno(errno);
	b->fd = -1;
	if (rc && rc != PP_END)
		diag_error(b->d, b->name, -1, "cannot be written: %s", pp_strerror(rc));
	/* A device that refused the bytes stays. */
	if (rc && made)
		unlink(b->name);
	bundle_free(b);
	return rc;
}
