/* Libraries by their names, as the dynamic linker finds them. */
#include "inspect/library.h"

#include "base/buf.h"
#include "base/err.h"
#include "symbol/root.h"

#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

enum library_fit library_fits(const char *file, const char *name)
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

int library_find(const char *name, char path[LIBRARY_PATH_MAX])
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
