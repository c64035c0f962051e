/* Opens regular files, below a directory by openat2 or by following the path here. */
#include "symbol/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
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
};

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
	n = readlinkat(dir, w->done, target, sizeof(target) - 1);
	if (n < 0)
		return errno == EINVAL ? 0 : -1;
	w->done[len] = 0;
	target[n] = 0;
	return follow(w, target);
}

/* As RESOLVE_IN_ROOT, for kernels without it: the path without links is then opened. */
static int open_by_steps(int dir, const char *path, int flags)
{
	char name[BENEATH_PATH_MAX];
	struct walk w = {0};

	if (strlen(path) >= sizeof(w.left)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(w.left, path, strlen(path) + 1);
	while (next_component(&w, name))
		if (step(&w, dir, name))
			return -1;
	return openat(dir, w.done[0] ? w.done : ".", flags | O_NOFOLLOW);
}

static int open_place(int dir, const char *path, int flags)
{
	struct open_how how = {.flags = (unsigned)flags,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	long fd;

	if (dir == BENEATH_ANYWHERE)
		return open(path, flags);
	fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
	/* EPERM is what some containers say of a call that they do not know. */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		return open_by_steps(dir, path, flags);
	return (int)fd;
}

/* The file of a place that is not open yet, for reading. */
static int open_file(int place, int dir, const char *path)
{
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
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd >= 0 || errno != ENOENT)
		return fd;
	/* There is no /proc: by its path again, which must still lead to the same file. */
	fd = open_place(dir, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd >= 0 && (fstat(fd, &now) || now.st_dev != st.st_dev || now.st_ino != st.st_ino)) {
		close(fd);
		errno = ENOENT;
		return -1;
	}
	return fd;
}

int beneath_open(int dir, const char *path)
{
	int place = open_place(dir, path, O_PATH | O_CLOEXEC), fd, err;

	if (place < 0)
		return -1;
	fd = open_file(place, dir, path);
	err = errno;
	close(place);
	errno = err;
	return fd;
}
