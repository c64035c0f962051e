/* Directories and archives that stand for the root of the recorded machine. */
#include "symbol/root.h"

#include "base/err.h"
#include "base/src.h"
#include "base/unpack.h"
#include "symbol/beneath.h"
#include "symbol/tar.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_SIZE (256u << 10)

struct root {
	char *name;
	int dir;	 /* a directory, -1: an archive */
	struct src *src; /* of the archive */
	struct tar tar;
};

/* The archive inside of what may be packed. */
static int open_archive(struct root *r, struct diag *d)
{
	const uint8_t *bytes = NULL;
	uint8_t first[8];
	size_t got = 0;
	int rc = src_open(&r->src, r->name, d);

	if (rc)
		return rc;
	rc = src_peek(r->src, first, sizeof(first), &got);
	if (!rc && unpack_kind(first, got))
		rc = unpack_new(&r->src, unpack_kind(first, got), r->src, d);
	if (!rc)
		rc = src_map(r->src, d, &bytes);
	if (!rc)
		rc = tar_index(&r->tar, bytes, (size_t)src_size(r->src));
	if (rc == PP_EUNSUPPORTED)
		diag_error(d, r->name, -1, "is neither a directory nor a tar archive");
	else if (rc == PP_ECUT || rc == PP_ECORRUPT)
		diag_warn(d, r->name, -1, "the archive is damaged: %s; the part before is used",
			  pp_strerror(rc));
	else if (rc)
		diag_error(d, r->name, -1, "cannot be read: %s", pp_strerror(rc));
	return rc;
}

int root_open(struct root **out, const char *name, struct diag *d)
{
	struct root *r = calloc(1, sizeof(*r));
	struct stat st;
	int rc = 0;

	*out = NULL;
	if (r)
		r->name = strdup(name);
	if (!r || !r->name) {
		free(r);
		return PP_ENOMEM;
	}
	r->dir = -1;
	if (stat(name, &st) || (S_ISDIR(st.st_mode) && (r->dir = beneath_dir(name)) < 0)) {
		rc = pp_errno(errno);
		diag_error(d, name, -1, "cannot be read: %s", strerror(errno));
	} else if (r->dir < 0) {
		rc = open_archive(r, d);
	}
	if (rc && rc != PP_ECUT && rc != PP_ECORRUPT)
		root_free(r);
	else
		*out = r;
	return rc;
}

void root_free(struct root *r)
{
	if (!r)
		return;
	if (r->dir >= 0)
		close(r->dir);
	tar_release(&r->tar);
	src_free(r->src);
	free(r->name);
	free(r);
}

static bool is_archive(const struct root *r)
{
	return r && r->dir < 0;
}

const char *root_path(const struct root *r, const char *path, char buf[ROOT_PATH_MAX])
{
	int n = r ? snprintf(buf, ROOT_PATH_MAX, "%s/%s", r->name, path + (path[0] == '/'))
		  : snprintf(buf, ROOT_PATH_MAX, "%s", path);

	return n > 0 && n < ROOT_PATH_MAX ? buf : NULL;
}

static int dir_of(const struct root *r)
{
	return r ? r->dir : BENEATH_ANYWHERE;
}

int root_elf(const struct root *r, const char *path, const struct inode *recorded,
	     struct elf_file **f, enum symtab_reason *why)
{
	struct tar_file file;

	*why = SYMTAB_NOT_FOUND;
	if (is_archive(r)) {
		if (tar_find(&r->tar, path, &file))
			return PP_ENOENT;
		return elf_file_bytes(f, file.bytes, file.len, why);
	}
	return elf_file_open_in(f, dir_of(r), path, recorded, why);
}

static int unpack(struct buf *b, size_t from, size_t max, enum symtab_reason *why)
{
	struct buf whole = BUF_INIT;
	int rc = unpack_bytes(b->data + from, b->len - from, max, &whole);

	if (!rc) {
		b->len = from;
		buf_add(b, whole.data, whole.len);
		rc = b->err;
	}
	if (rc)
		*why = symtab_reason_unpack(rc);
	buf_release(&whole);
	return rc;
}

/* A regular file; one of /proc may have no size. user: whose it may be, too; NULL: anybody's. */
static int read_file(int dir, const char *path, const uid_t *user, size_t max, struct buf *b,
		     enum symtab_reason *why)
{
	int fd = user ? beneath_open_owned(dir, path, *user) : beneath_open(dir, path), err;
	size_t from = b->len;
	ssize_t got = 1;

	*why = fd < 0 ? symtab_reason_errno(errno) : SYMTAB_OK;
	err = *why ? pp_errno(errno) : 0;
	if (fd < 0 && user && errno == EPERM)
		*why = SYMTAB_OWNER;
	while (!*why && got) {
		if (b->len - from > max)
			*why = SYMTAB_LIMIT;
		else if (buf_reserve(b, READ_SIZE))
			*why = SYMTAB_NO_MEMORY;
		else if ((got = read(fd, b->data + b->len, b->cap - b->len - 1)) > 0)
			b->data[b->len += (size_t)got] = 0;
		else if (got < 0 && errno != EINTR)
			*why = symtab_reason_errno(errno), err = pp_errno(errno);
	}
	if (fd >= 0)
		close(fd);
	return *why == SYMTAB_IO ? err : symtab_reason_err(*why);
}

/* What was read from `from` on is unpacked if it is packed. rc: of reading. */
static int unpacked(struct buf *b, size_t from, size_t max, int rc, enum symtab_reason *why)
{
	if (b->err) {
		*why = SYMTAB_NO_MEMORY;
		return PP_ENOMEM;
	}
	if (!rc && b->len > from && unpack_kind(b->data + from, b->len - from))
		rc = unpack(b, from, max, why);
	return rc;
}

int root_read(const struct root *r, const char *path, size_t max, struct buf *b,
	      enum symtab_reason *why)
{
	struct tar_file file;
	size_t from = b->len;
	int rc = 0;

	*why = SYMTAB_NOT_FOUND;
	if (!is_archive(r)) {
		rc = read_file(dir_of(r), path, NULL, max, b, why);
	} else if (tar_find(&r->tar, path, &file)) {
		return PP_ENOENT;
	} else {
		*why = file.len > max ? SYMTAB_LIMIT : SYMTAB_OK;
		rc = symtab_reason_err(*why);
		if (!rc)
			buf_add(b, file.bytes, file.len);
	}
	return unpacked(b, from, max, rc, why);
}

int root_read_owned(const struct root *r, const char *path, uid_t user, size_t max, struct buf *b,
		    enum symtab_reason *why)
{
	size_t from = b->len;

	*why = SYMTAB_NOT_FOUND;
	return unpacked(b, from, max, read_file(dir_of(r), path, &user, max, b, why), why);
}

int root_check(const char *path, struct diag *d)
{
	int fd = beneath_open(BENEATH_ANYWHERE, path), rc = fd < 0 ? pp_errno(errno) : 0;

	if (fd < 0)
		diag_error(d, path, -1, "cannot be read: %s",
			   errno == ENOTSUP ? "it is not a regular file" : strerror(errno));
	else
		close(fd);
	return rc;
}
