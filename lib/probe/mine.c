/* The file with the names of the probes that pprobe made. */
#include "probe/mine.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#define MINE_MAX (4u << 20) /* bytes of the file */

/* Opens and locks it; nobody else can have put another file there: /run is root's. */
static int open_locked(const char *file, int flags)
{
	int fd = open(file, flags | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd >= 0 && flock(fd, (flags & O_ACCMODE) == O_RDONLY ? LOCK_SH : LOCK_EX)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int read_all(int fd, struct buf *b)
{
	ssize_t n;

	do {
		if (buf_reserve(b, 4096) || b->len > MINE_MAX)
			return b->err ? b->err : PP_ELIMIT;
		n = pread(fd, b->data + b->len, 4096, (off_t)b->len);
		if (n < 0)
			return pp_errno(errno);
		b->len += (size_t)n;
		b->data[b->len] = 0;
	} while (n);
	return 0;
}

/* The line of a name, or NULL. */
static char *find(const struct buf *b, const char *name)
{
	size_t n = strlen(name);
	char *at = (char *)b->data;

	while (at && *at) {
		if (!strncmp(at, name, n) && at[n] == '\n')
			return at;
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	return NULL;
}

int mine_add(const char *file, const char *name)
{
	struct buf b = BUF_INIT;
	int fd = open_locked(file, O_RDWR | O_CREAT), rc;

	if (fd < 0)
		return pp_errno(errno);
	rc = read_all(fd, &b);
	if (!rc && !find(&b, name)) {
		size_t had = b.len;

		buf_adds(&b, name);
		buf_addc(&b, '\n');
		rc = b.err;
		if (!rc && lseek(fd, (off_t)had, SEEK_SET) < 0)
			rc = pp_errno(errno);
		rc = rc ? rc : out_write_all(fd, b.data + had, b.len - had);
	}
	close(fd);
	buf_release(&b);
	return rc;
}

int mine_remove(const char *file, const char *name)
{
	struct buf b = BUF_INIT;
	int fd = open_locked(file, O_RDWR), rc;
	char *at;

	if (fd < 0)
		return errno == ENOENT ? 0 : pp_errno(errno);
	rc = read_all(fd, &b);
	at = rc ? NULL : find(&b, name);
	if (at) {
		size_t n = strlen(name) + 1, start = (size_t)(at - (char *)b.data);

		memmove(at, at + n, b.len - start - n);
		b.len -= n;
		if (lseek(fd, 0, SEEK_SET) < 0)
			rc = pp_errno(errno);
		rc = rc ? rc : out_write_all(fd, b.data, b.len);
		if (!rc && ftruncate(fd, (off_t)b.len))
			rc = pp_errno(errno);
	}
	close(fd);
	buf_release(&b);
	return rc;
}

int mine_has(const char *file, const char *name, bool *mine)
{
	struct buf b = BUF_INIT;
	int fd = open_locked(file, O_RDONLY), rc;

	*mine = false;
	if (fd < 0)
		return errno == ENOENT ? 0 : pp_errno(errno);
	rc = read_all(fd, &b);
	*mine = !rc && find(&b, name);
	close(fd);
	buf_release(&b);
	return rc;
}
