#include "symbol/package.h"

#include "base/err.h"
#include "symbol/root.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#define INFO	 "/var/lib/dpkg/info"
#define LIST_MAX (16u << 20)

/* Whether a line of the text is the path. */
static bool has_line(const struct buf *b, const char *path)
{
	size_t n = strlen(path);

	for (const char *p = buf_str(b); (p = strstr(p, path)); p += n)
		if ((p == (char *)b->data || p[-1] == '\n') && (p[n] == '\n' || !p[n]))
			return true;
	return false;
}

static bool lists(const char *file, const char *path, struct buf *b)
{
	char full[ROOT_PATH_MAX];
	enum symtab_reason why;

	snprintf(full, sizeof(full), "%s/%s", INFO, file);
	buf_reset(b);
	if (root_read(NULL, full, LIST_MAX, b, &why) || buf_reserve(b, 1))
		return false;
	b->data[b->len] = 0;
	/* A package may name a file by the old place of a directory that was merged into /usr. */
	return has_line(b, path) || (!strncmp(path, "/usr/", 5) && has_line(b, path + 4));
}

int package_of(const char *path, char name[PACKAGE_NAME_MAX])
{
	DIR *dir = path[0] == '/' ? opendir(INFO) : NULL;
	struct buf b = BUF_INIT;
	struct dirent *e;
	int rc = PP_ENOENT;

	while (dir && rc && (e = readdir(dir))) {
		size_t n = strlen(e->d_name);

		if (n < 6 || strcmp(e->d_name + n - 5, ".list") != 0 || !lists(e->d_name, path, &b))
			continue;
		n = strcspn(e->d_name, ":");
		if (n == strlen(e->d_name))
			n -= 5;
		snprintf(name, PACKAGE_NAME_MAX, "%.*s", (int)n, e->d_name);
		rc = 0;
	}
	if (dir)
		closedir(dir);
	buf_release(&b);
	return rc;
}
