/* Asks dpkg-query which package a file is of. */
#include "symbol/package.h"

#include "base/err.h"
#include "symbol/program.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define PROGRAM	    "dpkg-query"
#define ANSWER_MAX  4096
#define ANSWER_MS   5000
#define PATTERN_MAX 1024

/* The path as a pattern of dpkg-query: what a pattern gives a meaning to is escaped. */
static bool as_pattern(const char *path, char out[PATTERN_MAX])
{
	size_t n = 0;

	for (; *path; path++) {
		if (n + 3 > PATTERN_MAX)
			return false;
		if (strchr("*?[\\", *path))
			out[n++] = '\\';
		out[n++] = *path;
	}
	out[n] = 0;
	return true;
}

/* The package of a line "NAME[:ARCH][, NAME...]: PATH"; a diversion is none. */
static bool take_line(const char *line, const char *path, char name[PACKAGE_NAME_MAX])
{
	size_t len = strcspn(line, "\n"), end = strlen(path);
	size_t n = strcspn(line, ":, \n");

	if (!n || n >= PACKAGE_NAME_MAX || (line[n] != ':' && line[n] != ','))
		return false;
	if (len < end + 2 || strncmp(line + len - end, path, end) != 0)
		return false;
	memcpy(name, line, n);
	name[n] = 0;
	return true;
}

int package_of(const char *path, char name[PACKAGE_NAME_MAX])
{
	/* A package may name a file by the old place of a directory that was merged into /usr. */
	const char *old = strncmp(path, "/usr/", 5) != 0 ? path : path + 4;
	char pattern[PATTERN_MAX], old_pattern[PATTERN_MAX], answer[ANSWER_MAX];
	char *argv[] = {(char *)(uintptr_t)PROGRAM, (char *)(uintptr_t) "-S", pattern, old_pattern,
			NULL};

	if (path[0] != '/' || !as_pattern(path, pattern) || !as_pattern(old, old_pattern))
		return PP_ENOENT;
	/* It fails if one of the two is of no package, and prints the other. */
	if (program_run(argv, ANSWER_MS, answer, sizeof(answer)) > 0)
		return PP_ENOENT;
	for (const char *p = answer; *p; p += strcspn(p, "\n"), p += *p == '\n')
		if (take_line(p, path, name) || take_line(p, old, name))
			return 0;
	return PP_ENOENT;
}
