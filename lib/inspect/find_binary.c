/* Which file is meant: a path, the name of a program or library, or that of a process. */
#include "inspect/find_binary.h"

#include "base/err.h"
#include "symbol/beneath.h"
#include "base/buf.h"
#include "symbol/root.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>

/* ---- libraries by their names, as the dynamic linker finds them ---- */

#define LIBRARY_PATH_MAX 4096

/* How well the name of a file matches the name of a library, in growing order. */
enum library_fit {
	LIBRARY_NO,
	LIBRARY_SHORT, /* "c" of libc.so.6 */
	LIBRARY_STEM,  /* "libc" of libc.so.6 or libc-2.31.so */
	LIBRARY_WHOLE,
};

#define CACHE_FILE  "/etc/ld.so.cache"
#define CACHE_MAGIC "glibc-ld.so.cache1.1"
#define CACHE_MAX   (64u << 20)

enum { CACHE_HEADER = 48, CACHE_ENTRY = 24, CACHE_X86_64 = 0x0303 };

struct best {
	const char *name;
	enum library_fit fit;
	char file[256], path[LIBRARY_PATH_MAX];
};

/* What follows the stem: ".so", ".so.6", "-2.31.so". */
static bool is_library_end(const char *s)
{
	if (*s == '-' && isdigit((unsigned char)s[1]))
		s += 1 + strspn(s + 1, "0123456789.");
	/* The number took the dot of ".so". */
	if (s[0] == 's' && s[-1] == '.')
		s--;
	return !strncmp(s, ".so", 3) && (!s[3] || s[3] == '.');
}

static enum library_fit library_fits(const char *file, const char *name)
{
	size_t n = strlen(name);

	if (!n)
		return LIBRARY_NO;
	if (!strcmp(file, name))
		return LIBRARY_WHOLE;
	if (!strncmp(file, name, n) && is_library_end(file + n))
		return LIBRARY_STEM;
	if (!strncmp(file, "lib", 3) && !strncmp(file + 3, name, n) && is_library_end(file + 3 + n))
		return LIBRARY_SHORT;
	return LIBRARY_NO;
}

/* libc.so of the compiler is a text. */
static bool is_elf(const char *path)
{
	char magic[SELFMAG];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool is = fd >= 0 && read(fd, magic, SELFMAG) == SELFMAG && !memcmp(magic, ELFMAG, SELFMAG);

	if (fd >= 0)
		close(fd);
	return is;
}

static void consider(struct best *b, const char *file, const char *path)
{
	enum library_fit fit = library_fits(file, b->name);

	if (fit < b->fit || fit == LIBRARY_NO || strlen(file) >= sizeof(b->file) ||
	    strlen(path) >= sizeof(b->path) || (fit == b->fit && strverscmp(file, b->file) <= 0) ||
	    !is_elf(path))
		return;
	b->fit = fit;
	snprintf(b->file, sizeof(b->file), "%s", file);
	snprintf(b->path, sizeof(b->path), "%s", path);
}

/* The directories of a list with ':' between them; the first that has a file that fits. */
static void in_directories(struct best *b, const char *list)
{
	while (list && *list && !b->fit) {
		int n = (int)strcspn(list, ":");
		char dir[LIBRARY_PATH_MAX], path[LIBRARY_PATH_MAX + 260];
		struct dirent *e;
		DIR *d;

		snprintf(dir, sizeof(dir), "%.*s", n, list);
		list += n + (list[n] == ':');
		d = *dir ? opendir(dir) : NULL;
		while (d && (e = readdir(d))) {
			snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
			consider(b, e->d_name, path);
		}
		if (d)
			closedir(d);
	}
}

/* A text of the cache, or NULL. */
static const char *text_at(const struct buf *cache, uint32_t at)
{
	return at < cache->len && memchr(cache->data + at, 0, cache->len - at)
		       ? (const char *)cache->data + at
		       : NULL;
}

/* The cache as ldconfig(8) of glibc writes it: dl-cache.h, struct cache_file_new. */
static void in_cache(struct best *b)
{
	struct buf cache = BUF_INIT;
	enum symtab_reason why;
	uint32_t n, entry[3];

	if (!root_read(NULL, CACHE_FILE, CACHE_MAX, &cache, &why) && cache.len >= CACHE_HEADER &&
	    !memcmp(cache.data, CACHE_MAGIC, strlen(CACHE_MAGIC))) {
		memcpy(&n, cache.data + strlen(CACHE_MAGIC), sizeof(n));
		if (n > (cache.len - CACHE_HEADER) / CACHE_ENTRY)
			n = (uint32_t)((cache.len - CACHE_HEADER) / CACHE_ENTRY);
		for (uint32_t i = 0; i < n; i++) {
			const char *file, *path;

			memcpy(entry, cache.data + CACHE_HEADER + (size_t)i * CACHE_ENTRY,
			       sizeof(entry));
			file = text_at(&cache, entry[1]);
			path = text_at(&cache, entry[2]);
			if (entry[0] == CACHE_X86_64 && file && path)
				consider(b, file, path);
		}
	}
	buf_release(&cache);
}

/*
 * The library that matches best, and of those the newest: of LD_LIBRARY_PATH, otherwise of the
 * linker's cache, otherwise of the usual folders. 0 or PP_ENOENT.
 */
static int library_find(const char *name, char path[LIBRARY_PATH_MAX])
{
	struct best b = {.name = name};

	in_directories(&b, getenv("LD_LIBRARY_PATH"));
	if (!b.fit)
		in_cache(&b);
	if (!b.fit)
		in_directories(&b, "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:"
				   "/usr/lib64:/lib:/usr/lib:/usr/local/lib");
	if (!b.fit)
		return PP_ENOENT;
	snprintf(path, LIBRARY_PATH_MAX, "%s", b.path);
	return 0;
}

/* ---- binaries ---- */

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* The first of the directories, with ':' between them, that has the name. */
static bool search(const char *dirs, const char *name, char path[BINARY_PATH_MAX])
{
	while (dirs && *dirs) {
		size_t n = strcspn(dirs, ":");

		if (snprintf(path, BINARY_PATH_MAX, "%.*s/%s", (int)n, dirs, name) <
			    BINARY_PATH_MAX &&
		    is_file(path))
			return true;
		dirs += n + (dirs[n] == ':');
	}
	return false;
}

bool find_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Whether the file that was found is one. `name`: as the user calls it. */
static int check(const char *path, const char *name, struct diag *d)
{
	struct stat st;

	if (stat(path, &st)) {
		diag_error(d, name, -1, "%s", strerror(errno));
		return pp_errno(errno);
	}
	if (S_ISREG(st.st_mode))
		return 0;
	diag_error(d, name, -1, "is not a regular file");
	return PP_EUSAGE;
}

/*
 * The path of the code that a process has mapped from a file of this name, or from the library that
 * is called so.
 */
static bool find_mapped(const char *name, pid_t pid, char *path, size_t size)
{
	char maps[64], line[BINARY_PATH_MAX + 256];
	enum library_fit best = LIBRARY_NO, fit;
	FILE *f;

	snprintf(maps, sizeof(maps), "/proc/%d/maps", (int)pid);
	f = fopen(maps, "re");
	while (f && fgets(line, sizeof(line), f)) {
		char *at = strchr(line, '/'), *slash = strrchr(line, '/');

		line[strcspn(line, "\n")] = 0;
		fit = at && strlen(at) < size ? library_fits(slash + 1, name) : LIBRARY_NO;
		if (fit > best) {
			best = fit;
			snprintf(path, size, "%s", at);
		}
	}
	if (f)
		fclose(f);
	return best != LIBRARY_NO;
}

/*
 * Where a path of a process leads to, without links, which would be followed from our root when the
 * file is opened, by us or by the kernel: /proc/PID/root/usr/lib/libc.so.6.
 */
static int in_root(const char *root, const char *at, char path[BINARY_PATH_MAX])
{
	char plain[BENEATH_PATH_MAX];
	int dir = beneath_dir(root), rc = dir < 0 ? -1 : beneath_path(dir, at, plain), err = errno;

	if (dir >= 0)
		close(dir);
	if (!rc && snprintf(path, BINARY_PATH_MAX, "%s/%s", root, plain) >= BINARY_PATH_MAX) {
		rc = -1;
		err = ENAMETOOLONG;
	}
	errno = err;
	return rc;
}

/* A path from our working directory means the same as it does without a process. */
static int absolute(const char *name, char *path, size_t size, struct diag *d)
{
	char *whole = realpath(name, NULL);
	int err = errno;

	if (whole)
		err = (size_t)snprintf(path, size, "%s", whole) < size ? 0 : ENAMETOOLONG;
	free(whole);
	if (!err)
		return 0;
	diag_error(d, name, -1, "%s", strerror(err));
	return pp_errno(err);
}

/* The path of a file that is named for a process. */
static int path_for(const char *name, pid_t pid, char *path, size_t size, struct diag *d)
{
	if (strlen(name) >= size) {
		diag_error(d, NULL, -1, "the path is too long");
		return PP_EUSAGE;
	}
	if (name[0] == '/') {
		snprintf(path, size, "%s", name);
		return 0;
	}
	if (strchr(name, '/'))
		return absolute(name, path, size, d);
	if (find_mapped(name, pid, path, size))
		return 0;
	diag_error(d, NULL, -1, "process %d has mapped no file named %s; a path has a '/'",
		   (int)pid, name);
	return PP_EUSAGE;
}

/* As the process sees it; the short form where that is the same file. */
static int of_process(const char *name, pid_t pid, char path[BINARY_PATH_MAX], struct diag *d)
{
	char link[64], root[64], exe[BINARY_PATH_MAX - 64];
	ssize_t n;
	int rc;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	n = readlink(link, exe, sizeof(exe) - 1);
	if (n < 0) {
		diag_error(d, NULL, -1, "process %d: %s", (int)pid, strerror(errno));
		return pp_errno(errno);
	}
	exe[n] = 0;
	rc = name ? path_for(name, pid, exe, sizeof(exe), d) : 0;
	if (rc)
		return rc;
	snprintf(root, sizeof(root), "/proc/%d/root", (int)pid);
	if (in_root(root, exe, path)) {
		if (name) {
			diag_error(d, name, -1, "%s", strerror(errno));
			return pp_errno(errno);
		}
		/* The file has another name by now, or none. */
		snprintf(path, BINARY_PATH_MAX, "%s", link);
	} else if (find_same_file(path, exe)) {
		snprintf(path, BINARY_PATH_MAX, "%s", exe);
	}
	return check(path, name ? name : path, d);
}

static int of_name(const char *name, char path[BINARY_PATH_MAX], struct diag *d)
{
	char found[BINARY_PATH_MAX], root[64], *whole;
	size_t n;

	if (strlen(name) >= BINARY_PATH_MAX) {
		diag_error(d, NULL, -1, "the path is too long");
		return PP_EUSAGE;
	}
	snprintf(found, sizeof(found), "%s", name);
	if (!is_file(found) && !strchr(name, '/') && !search(getenv("PATH"), name, found) &&
	    library_find(name, found))
		snprintf(found, sizeof(found), "%s", name);
	/* What leads through the root of a process would lose it. */
	if (!strncmp(found, "/proc/", 6)) {
		n = strspn(found + 6, "0123456789") + 6;
		if (strncmp(found + n, "/root", 5) != 0 || found[n + 5] != '/') {
			snprintf(path, BINARY_PATH_MAX, "%s", found);
			return check(path, name, d);
		}
		snprintf(root, sizeof(root), "%.*s", (int)n + 5, found);
		if (!in_root(root, found + n + 5, path))
			return check(path, name, d);
		diag_error(d, name, -1, "%s", strerror(errno));
		return pp_errno(errno);
	}
	whole = realpath(found, NULL);
	if (whole && strlen(whole) < BINARY_PATH_MAX)
		snprintf(path, BINARY_PATH_MAX, "%s", whole);
	else
		snprintf(path, BINARY_PATH_MAX, "%s", found);
	free(whole);
	return check(path, name, d);
}

int binary_path(const char *name, pid_t pid, char path[BINARY_PATH_MAX], struct diag *d)
{
	int rc;

	errno = 0;
	rc = pid ? of_process(name, pid, path, d) : of_name(name, path, d);
	if (!rc && strpbrk(path, " \t\n")) {
		diag_error(
			d, path, -1,
			"the kernel accepts no path with blanks: probe a link to it without any");
		return PP_EUSAGE;
	}
	return rc;
}
