/* Opens regular files, below a directory by openat2 or by following the path here. */
#include "symbol/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int beneath_dir(const char *path)
{
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* A path that is being followed: what is done of it, without links, and what is left. */
struct walk {
	char done[BENEATH_PATH_MAX], left[BENEATH_PATH_MAX];
	int links;
	bool owned; /* only root's links are followed, and none at the end */
};

/* A path without links and "..": a component that has become a link meanwhile is an error. */
static int open_plain(int dir, const char *path, int flags)
{
	char name[BENEATH_PATH_MAX];
	int at = dir, next, err;
	size_t n;

	for (;; path += n) {
		path += strspn(path, "/");
		n = strcspn(path, "/");
		memcpy(name, n ? path : ".", n ? n : 1);
		name[n ? n : 1] = 0;
		next = openat(at, name,
			      path[n] ? O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
				      : flags | O_NOFOLLOW);
		err = errno;
		if (at != dir)
			close(at);
		errno = err;
		if (next < 0 || !path[n])
			return next;
		at = next;
	}
}

/* Takes the next component off. Its length, 0 at the end; -1: it is too long. */
static int next_component(struct walk *w, char name[BENEATH_PATH_MAX])
{
	size_t skip = strspn(w->left, "/"), n = strcspn(w->left + skip, "/");

	memcpy(name, w->left + skip, n);
	name[n] = 0;
	memmove(w->left, w->left + skip + n, strlen(w->left + skip + n) + 1);
	return (int)n;
}

/* A link: its target comes before what is left. */
static int follow(struct walk *w, const char *target)
{
	char left[BENEATH_PATH_MAX];

	if (++w->links > BENEATH_LINKS_MAX) {
		errno = ELOOP;
		return -1;
	}
	if (snprintf(left, sizeof(left), "%s/%s", target, w->left) >= (int)sizeof(left)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (target[0] == '/')
		w->done[0] = 0;
	memcpy(w->left, left, strlen(left) + 1);
	return 0;
}

/* The target of a link, with a NUL; its length; 0: it is none; -1: an error, or not to follow. */
static ssize_t read_link(const struct walk *w, int dir, char target[BENEATH_PATH_MAX])
{
	int fd = open_plain(dir, w->done, O_PATH | O_CLOEXEC), err;
	struct stat st;
	ssize_t n = -1;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st)) {
		n = S_ISLNK(st.st_mode) ? readlinkat(fd, "", target, BENEATH_PATH_MAX - 1) : 0;
		if (n > 0 && w->owned && (st.st_uid || !w->left[strspn(w->left, "/")])) {
			errno = ELOOP;
			n = -1;
		}
		if (n >= 0)
			target[n] = 0;
	}
	err = errno;
	close(fd);
	errno = err;
	return n;
}

/* One component: "..", a link, or a name. */
static int step(struct walk *w, int dir, const char *name)
{
	char target[BENEATH_PATH_MAX], *slash;
	size_t len = strlen(w->done);
	ssize_t n;

	if (!strcmp(name, "."))
		return 0;
	if (!strcmp(name, "..")) {
		slash = strrchr(w->done, '/');
		*(slash ? slash : w->done) = 0;
		return 0;
	}
	if (len + strlen(name) + 2 > sizeof(w->done)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	snprintf(w->done + len, sizeof(w->done) - len, "%s%s", len ? "/" : "", name);
	n = read_link(w, dir, target);
	if (n <= 0)
		return (int)n;
	w->done[len] = 0;
	return follow(w, target);
}

/* Follows a path to its end: w->done is the same without links. */
static int walk(struct walk *w, int dir, const char *path)
{
	char name[BENEATH_PATH_MAX];

	if (strlen(path) >= sizeof(w->left)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(w->left, path, strlen(path) + 1);
	while (next_component(w, name))
		if (step(w, dir, name))
			return -1;
	return 0;
}

/* As RESOLVE_IN_ROOT, for kernels without it: the path without links is then opened. */
static int open_by_steps(int dir, const char *path, int flags, bool owned)
{
	struct walk w = {.owned = owned};

	return walk(&w, dir, path) ? -1 : open_plain(dir, w.done, flags);
}

int beneath_path(int dir, const char *path, char plain[BENEATH_PATH_MAX])
{
	struct walk w = {.owned = false};

	if (walk(&w, dir, path))
		return -1;
	memcpy(plain, w.done, strlen(w.done) + 1);
	return 0;
}

static int open_in_root(int dir, const char *path, int flags, bool owned)
{
	struct open_how how = {.flags = (unsigned)flags,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS |
					  (owned ? (unsigned)RESOLVE_NO_SYMLINKS : 0)};
	long fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));

	/* EPERM is what some containers say of a call that they do not know. */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM || (owned && errno == ELOOP)))
		return open_by_steps(dir, path, flags, owned);
	return (int)fd;
}

static int open_place(int dir, const char *path, int flags, bool owned)
{
	int root, fd, err;

	if (dir != BENEATH_ANYWHERE)
		return open_in_root(dir, path, flags, owned);
	if (!owned)
		return open(path, flags);
	root = beneath_dir("/");
	if (root < 0)
		return -1;
	fd = open_in_root(root, path, flags, owned);
	err = errno;
	close(root);
	errno = err;
	return fd;
}

/*
 * The file of a place that is not open yet, for reading. Without waiting: its owner can hold a
 * lease on it.
 */
static int open_file(int place, int dir, const char *path, bool owned)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	struct stat st, now;
	char name[32];
	int fd;

	if (fstat(place, &st))
		return -1;
	if (!S_ISREG(st.st_mode)) {
		errno = ENOTSUP;
		return -1;
	}
	snprintf(name, sizeof(name), "/proc/self/fd/%d", place);
	fd = open(name, flags);
	if (fd >= 0 || errno != ENOENT)
		return fd;
	/* There is no /proc: by its path again, which must still lead to the same file. */
	fd = open_place(dir, path, flags, owned);
	if (fd >= 0 && (fstat(fd, &now) || now.st_dev != st.st_dev || now.st_ino != st.st_ino)) {
		close(fd);
		errno = ENOENT;
		return -1;
	}
	return fd;
}

/*
 * Whether nearly all of a large file is holes. Not believed of file systems that do not tell what
 * is there, such as that of /proc/kcore.
 */
static bool is_hollow(int fd)
{
	off_t at = 0, end, there = 0;
	struct stat st;

	if (fstat(fd, &st) || st.st_size < BENEATH_HOLES_MIN ||
	    st.st_blocks >= st.st_size / BENEATH_HOLES / 512)
		return false;
	while (there < st.st_size / BENEATH_HOLES && (at = lseek(fd, at, SEEK_DATA)) >= 0) {
		end = lseek(fd, at, SEEK_HOLE);
		if (end <= at)
			return false;
		there += end - at;
		at = end;
	}
	if (at < 0 && errno != ENXIO)
		return false;
	return !lseek(fd, 0, SEEK_SET) && there < st.st_size / BENEATH_HOLES;
}

static int open_regular(int dir, const char *path, bool owned)
{
	int place = open_place(dir, path, O_PATH | O_CLOEXEC, owned), fd, err;

	if (place < 0)
		return -1;
	fd = open_file(place, dir, path, owned);
	if (fd >= 0 && is_hollow(fd)) {
		close(fd);
		fd = -1;
		errno = EFBIG;
	}
	err = errno;
	close(place);
	errno = err;
	return fd;
}

int beneath_open(int dir, const char *path)
{
	return open_regular(dir, path, false);
}

FILE *beneath_text(const char *path)
{
	int fd = beneath_open(BENEATH_ANYWHERE, path), err = 0;
	struct stat st;
	FILE *f = NULL;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) || st.st_size > BENEATH_TEXT_MAX)
		err = EFBIG;
	else if (!(f = fdopen(fd, "r")))
		err = errno;
	if (!f) {
		close(fd);
		errno = err;
	}
	return f;
}

/*
 * A second name is what a hard link to somebody else's file is; what others may not read can have
 * been mounted there.
 */
static bool is_for(const struct stat *st, uid_t user)
{
	uid_t self = geteuid();

	if (st->st_nlink != 1)
		return false;
	if (user != BENEATH_NOBODY && st->st_uid == user)
		return true;
	if (st->st_uid && st->st_uid != self)
		return false;
	return user == BENEATH_NOBODY || !user || user == self || st->st_mode & S_IROTH;
}

int beneath_open_owned(int dir, const char *path, uid_t user)
{
	int fd = open_regular(dir, path, true), err;
	struct stat st;

	if (fd < 0) {
		if (errno == ELOOP)
			errno = EPERM;
		return -1;
	}
	err = fstat(fd, &st) ? errno : !is_for(&st, user) ? EPERM : 0;
	if (err) {
		close(fd);
		errno = err;
		return -1;
	}
	return fd;
}
