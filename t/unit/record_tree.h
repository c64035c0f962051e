/* Small trees of files, as /proc and tracefs are, for the tests of recording. */
#ifndef PP_UNIT_RECORD_TREE_H
#define PP_UNIT_RECORD_TREE_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char tree_root[PATH_MAX];

static inline void tree_remove(void)
{
	char command[PATH_MAX + 16];

	snprintf(command, sizeof(command), "rm -rf '%s'", tree_root);
	if (system(command))
		printf("# cannot remove %s\n", tree_root);
}

/* Makes the directory below which all files go; it is removed at the end of the program. */
static inline void tree_begin(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(tree_root, sizeof(tree_root), "%s/perfpipe-unit.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(tree_root)) {
		printf("Bail out! no temporary directory\n");
		exit(1);
	}
	atexit(tree_remove);
}

/* The full path of a file in the tree; static storage, four at a time. */
static inline const char *tree_path(const char *name)
{
	static char paths[4][PATH_MAX + 256];
	static unsigned int turn;
	char *path = paths[turn++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", tree_root, name);
	return path;
}

/* Writes a file, making the directories above it. */
static inline void tree_bytes(const char *name, const void *bytes, size_t n)
{
	char path[PATH_MAX + 256];
	FILE *f;

	snprintf(path, sizeof(path), "%s", tree_path(name));
	for (char *p = path + strlen(tree_root) + 1; (p = strchr(p, '/')); p++) {
		*p = 0;
		(void)mkdir(path, 0777);
		*p = '/';
	}
	f = fopen(path, "w");
	if (!f || fwrite(bytes, 1, n, f) != n || fclose(f)) {
		printf("Bail out! cannot write %s\n", path);
		exit(1);
	}
}

static inline void tree_file(const char *name, const char *text)
{
	tree_bytes(name, text, strlen(text));
}

#endif
