/* Sources of bytes: files, pipes, memory, layers; copies of what cannot seek. */
#include "base/src.h"

#include "base/err.h"
#include "base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SRC_UNREAD_MAX	4096
#define SRC_SPOOL_BLOCK (1u << 20)
#define SRC_SPOOL_MAX	(UINT64_C(1) << 38) /* bytes of a temporary file: 256 GiB */

struct src {
	int fd;			/* -1: memory or a layer */
	struct src_layer layer; /* read is NULL: none */
	const uint8_t *mem;
	uint8_t *map; /* of size bytes; NULL: not mapped */
	char *name;
	bool seekable;
	uint64_t size;
	int64_t mtime;
	uint64_t pos;
	uint8_t *unread; /* bytes given back, from unread_pos to unread_len */
	size_t unread_pos, unread_len;
	src_pause_fn *pause; /* NULL: none */
	void *pause_ctx;
	void (*before)(void *ctx); /* NULL: none */
	void *before_ctx;
	int64_t paused;			     /* ms: when it was called last */
	const volatile sig_atomic_t *follow; /* of a file that grows: set when it is to end */
	bool whole;			     /* it does not grow any more */
};

int src_from_fd(struct src **out, int fd, const char *name)
{
	struct src *s = calloc(1, sizeof(*s));
	struct stat st;

	*out = s;
	if (!s)
		return PP_ENOMEM;
	s->fd = fd;
	s->name = strdup(name);
	if (!s->name) {
		free(s);
		*out = NULL;
		return PP_ENOMEM;
	}
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && lseek(fd, 0, SEEK_CUR) == 0) {
		s->seekable = true;
		s->size = (uint64_t)st.st_size;
		s->mtime = (int64_t)st.st_mtime;
		(void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	} else {
		(void)fcntl(fd, F_SETPIPE_SZ, OUT_PIPE);
	}
	return 0;
}

int src_from_mem(struct src **out, const void *bytes, size_t len, const char *name)
{
	struct src *s = calloc(1, sizeof(*s));

	*out = s;
	if (!s)
		return PP_ENOMEM;
	s->fd = -1;
	s->mem = bytes;
	s->size = len;
	s->seekable = true;
	s->name = strdup(name);
	if (!s->name) {
		free(s);
		*out = NULL;
		return PP_ENOMEM;
	}
	return 0;
}

int src_from_layer(struct src **out, struct src_layer layer, const char *name)
{
	int rc = src_from_mem(out, NULL, 0, name);

	if (rc) {
		layer.free(layer.ctx);
		return rc;
	}
	(*out)->layer = layer;
	(*out)->seekable = false;
	return 0;
}

static int open_named(struct src **out, const char *name, int flags, struct diag *d)
{
	struct stat st;
	int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | flags), rc;

	*out = NULL;
	if (fd < 0) {
		rc = pp_errno(errno);
		diag_error(d, name, -1, "cannot open: %s", strerror(errno));
		return rc;
	}
	if (!fstat(fd, &st) && S_ISDIR(st.st_mode)) {
		close(fd);
		diag_error(d, name, -1, "is a directory");
		return PP_EUNSUPPORTED;
	}
	if (flags && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		diag_error(d, name, -1, "is not a regular file");
		return PP_EUNSUPPORTED;
	}
	rc = src_from_fd(out, fd, name);
	if (rc)
		close(fd);
	return rc;
}

int src_open(struct src **out, const char *name, struct diag *d)
{
	if (!strcmp(name, "-"))
		return src_from_fd(out, STDIN_FILENO, DIAG_STDIN);
	return open_named(out, name, 0, d);
}

int src_open_file(struct src **out, const char *name, struct diag *d)
{
	struct stat st;

	/* To open a device alone can have effects. */
	if (!stat(name, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
		*out = NULL;
		diag_error(d, name, -1, "is not a regular file");
		return PP_EUNSUPPORTED;
	}
	return open_named(out, name, O_NONBLOCK, d);
}

void src_free(struct src *s)
{
	if (!s)
		return;
	if (s->fd > STDIN_FILENO)
		close(s->fd);
	if (s->layer.read)
		s->layer.free(s->layer.ctx);
	free(s->unread);
	if (s->map)
		munmap(s->map, s->size);
	free(s->name);
	free(s);
}

const char *src_name(const struct src *s)
{
	return s->name;
}

bool src_seekable(const struct src *s)
{
	return s->seekable;
}

uint64_t src_size(const struct src *s)
{
	return s->seekable ? s->size : 0;
}

int64_t src_mtime(const struct src *s)
{
	return s->mtime;
}

uint64_t src_tell(const struct src *s)
{
	return s->pos;
}

static size_t take_unread(struct src *s, void *buf, size_t n)
{
	size_t left = s->unread_len - s->unread_pos;

	if (n > left)
		n = left;
	memcpy(buf, s->unread + s->unread_pos, n);
	s->unread_pos += n;
	return n;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void src_on_pause(struct src *s, src_pause_fn *fn, void *ctx)
{
	s->pause = fn;
	s->pause_ctx = ctx;
	s->paused = now_ms();
}

void src_before_pause(struct src *s, void (*fn)(void *ctx), void *ctx)
{
	s->before = fn;
	s->before_ctx = ctx;
}

static int pause_now(struct src *s, bool ready)
{
	if (!ready && s->before)
		s->before(s->before_ctx);
	return s->pause(s->pause_ctx);
}

/*
 * Before a read: the pause, if there is one. A signal that comes meanwhile makes one, too. False:
 * there is to be no read.
 */
static bool look_for_pause(struct src *s)
{
	struct pollfd p = {.fd = s->fd, .events = POLLIN};
	int wait = SRC_PAUSE_MS;

	while (s->pause && !s->seekable && wait >= 0) {
		bool ready = poll(&p, 1, wait) > 0;

		if (ready && now_ms() - s->paused < SRC_HOLD_MS)
			return true;
		wait = pause_now(s, ready);
		s->paused = now_ms();
		if (wait == SRC_PAUSE_END)
			return false;
		if (ready)
			return true;
	}
	return true;
}

void src_follow(struct src *s, const volatile sig_atomic_t *stop)
{
	if (s->fd >= 0 && s->seekable)
		s->follow = stop;
}

void src_unfollow(struct src *s)
{
	s->whole = true;
}

bool src_follows(const struct src *s)
{
	return s->follow != NULL;
}

bool src_stopped(const struct src *s)
{
	return s->follow && *s->follow && !s->whole;
}

/* At the end of a file: whether there may be more to read. */
static bool wait_for_more(struct src *s)
{
	struct stat st;

	if (!s->follow || s->whole || *s->follow)
		return false;
	if (s->pause)
		(void)pause_now(s, false);
	if (poll(NULL, 0, SRC_FOLLOW_MS) < 0 && errno != EINTR)
		return false;
	return !*s->follow && !fstat(s->fd, &st) && (uint64_t)st.st_size >= s->pos;
}

int src_read(struct src *s, void *buf, size_t n, size_t *got)
{
	ssize_t r;

	*got = 0;
	if (s->unread_pos < s->unread_len) {
		*got = take_unread(s, buf, n);
	} else if (s->layer.read) {
		int rc = s->layer.read(s->layer.ctx, buf, n, got);

		if (rc)
			return rc;
	} else if (s->fd < 0) {
		uint64_t left = s->pos < s->size ? s->size - s->pos : 0;

		*got = n < left ? n : (size_t)left;
		if (*got)
			memcpy(buf, s->mem + s->pos, *got);
	} else {
		if (!look_for_pause(s))
			return 0;
		do
			r = read(s->fd, buf, n);
		while ((r < 0 && errno == EINTR) || (!r && n && wait_for_more(s)));
		if (r < 0)
			return pp_errno(errno);
		*got = (size_t)r;
	}
	s->pos += *got;
	if (s->follow && s->pos > s->size)
		s->size = s->pos;
	return 0;
}

int src_read_all(struct src *s, void *buf, size_t n)
{
	size_t done = 0, got;
	int rc;

	while (done < n) {
		rc = src_read(s, (uint8_t *)buf + done, n - done, &got);
		if (rc)
			return rc;
		if (!got)
			return done ? PP_ECUT : PP_END;
		done += got;
	}
	return 0;
}

int src_unread(struct src *s, const void *buf, size_t n)
{
	size_t left = s->unread_len - s->unread_pos;

	if (n + left > SRC_UNREAD_MAX || n > s->pos)
		return PP_ELIMIT;
	if (!s->unread) {
		s->unread = malloc(SRC_UNREAD_MAX);
		if (!s->unread)
			return PP_ENOMEM;
	}
	memmove(s->unread + n, s->unread + s->unread_pos, left);
	memcpy(s->unread, buf, n);
	s->unread_pos = 0;
	s->unread_len = n + left;
	s->pos -= n;
	return 0;
}

int src_peek(struct src *s, void *buf, size_t n, size_t *got)
{
	size_t more = 1;
	int rc = 0;

	for (*got = 0; !rc && more && *got < n; *got += more)
		rc = src_read(s, (uint8_t *)buf + *got, n - *got, &more);
	return rc ? rc : src_unread(s, buf, *got);
}

int src_pread(struct src *s, void *buf, size_t n, uint64_t offset)
{
	size_t done = 0;

	if (!s->seekable)
		return PP_EUNSUPPORTED;
	if (offset > s->size || n > s->size - offset)
		return PP_ECUT;
	if (s->fd < 0) {
		if (n)
			memcpy(buf, s->mem + offset, n);
		return 0;
	}
	while (done < n) {
		ssize_t r = pread(s->fd, (uint8_t *)buf + done, n - done, (off_t)(offset + done));

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return pp_errno(errno);
		if (!r)
			return PP_ECUT;
		done += (size_t)r;
	}
	return 0;
}

int src_seek(struct src *s, uint64_t offset)
{
	if (!s->seekable || offset > INT64_MAX)
		return PP_EUNSUPPORTED;
	if (s->fd >= 0 && lseek(s->fd, (off_t)offset, SEEK_SET) < 0)
		return pp_errno(errno);
	s->unread_pos = s->unread_len = 0;
	s->pos = offset;
	return 0;
}

static int copy_to(struct src *s, int fd, uint64_t *size)
{
	uint8_t *block = malloc(SRC_SPOOL_BLOCK);
	size_t got = 1;
	int rc = block ? 0 : PP_ENOMEM;

	while (!rc && got) {
		rc = src_read(s, block, SRC_SPOOL_BLOCK, &got);
		if (!rc)
			rc = out_write_all(fd, block, got);
		*size += got;
		if (*size > SRC_SPOOL_MAX)
			rc = PP_ELIMIT;
	}
	free(block);
	return rc == PP_ECUT ? 0 : rc;
}

static int spool(struct src *s, struct diag *d)
{
	const char *dir = getenv("TMPDIR");
	uint64_t size = 0;
	int fd, rc;

	if (!dir || !*dir)
		dir = "/tmp";
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0) {
		/* File systems without O_TMPFILE: a name for a moment. */
		char path[4096];

		if (snprintf(path, sizeof(path), "%s/perfpipe-XXXXXX", dir) >= (int)sizeof(path))
			errno = ENAMETOOLONG;
		else if ((fd = mkostemp(path, O_CLOEXEC)) >= 0)
			unlink(path);
	}
	if (fd < 0) {
		diag_error(d, s->name, -1, "cannot make a temporary file in %s: %s", dir,
			   strerror(errno));
		return pp_errno(errno);
	}
	diag_note(d, s->name, -1, "is copied to a temporary file in %s", dir);
	rc = copy_to(s, fd, &size);
	if (!rc && lseek(fd, 0, SEEK_SET) < 0)
		rc = pp_errno(errno);
	if (rc) {
		diag_error(d, s->name, -1, "cannot copy to a temporary file in %s: %s", dir,
			   pp_strerror(rc));
		close(fd);
		return rc;
	}
	if (s->fd > STDIN_FILENO)
		close(s->fd);
	if (s->layer.read)
		s->layer.free(s->layer.ctx);
	s->layer.read = NULL;
	s->fd = fd;
	s->seekable = true;
	s->size = size;
	s->pos = 0;
	return 0;
}

int src_spool(struct src *s, struct diag *d)
{
	return s->seekable ? 0 : spool(s, d);
}

/* What cannot be mapped or read is left to read(2), which tells why. */
static void *map_part(int fd, uint64_t offset, size_t n)
{
#ifdef MADV_POPULATE_READ
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, (off_t)offset);

	if (p == MAP_FAILED)
		return NULL;
	if (!madvise(p, n, MADV_POPULATE_READ))
		return p;
	munmap(p, n);
#else
	(void)fd, (void)offset, (void)n;
#endif
	return NULL;
}

bool src_window(struct src *s, size_t n, struct src_window *w)
{
	size_t before = (size_t)(s->pos % (uint64_t)sysconf(_SC_PAGESIZE));

	if (s->fd < 0 || !s->seekable || s->layer.read || s->follow || s->pos >= s->size ||
	    s->unread_pos < s->unread_len)
		return false;
	if (n > s->size - s->pos)
		n = (size_t)(s->size - s->pos);
	w->mapped = before + n;
	w->map = map_part(s->fd, s->pos - before, w->mapped);
	if (!w->map)
		return false;
	if (src_seek(s, s->pos + n)) {
		munmap(w->map, w->mapped);
		return false;
	}
	w->bytes = (uint8_t *)w->map + before;
	w->len = n;
	return true;
}

int src_map(struct src *s, struct diag *d, const uint8_t **bytes)
{
	int rc = 0;

	if (s->fd >= 0 || s->layer.read)
		rc = spool(s, d);
	if (!rc && s->fd >= 0 && s->size) {
		s->map = mmap(NULL, s->size, PROT_READ, MAP_PRIVATE, s->fd, 0);
		if (s->map == MAP_FAILED) {
			s->map = NULL;
			rc = PP_ENOMEM;
		}
	}
	*bytes = s->map ? s->map : s->mem;
	return rc;
}
