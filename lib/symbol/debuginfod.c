/* Asks debuginfod-find for a debug file, within the time for all downloads. */
#include "symbol/debuginfod.h"

#include "base/err.h"
#include "symbol/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PROGRAM "debuginfod-find"

struct debuginfod {
	struct diag *d;
	int64_t left; /* milliseconds */
	bool off;     /* not to be asked any more */
};

int debuginfod_new(struct debuginfod **df, unsigned seconds, struct diag *d)
{
	*df = calloc(1, sizeof(**df));
	if (!*df)
		return PP_ENOMEM;
	(*df)->d = d;
	(*df)->left = (int64_t)seconds * 1000;
	return 0;
}

void debuginfod_free(struct debuginfod *df)
{
	free(df);
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void give_up(struct debuginfod *df, const char *why)
{
	df->off = true;
	diag_warn(df->d, NULL, -1, "--debuginfod: %s", why);
}

bool debuginfod_fetch(void *ctx, const struct build_id *id, char path[DSO_MAX_PATH])
{
	char hex[BUILD_ID_HEX_MAX];
	char *argv[] = {(char *)(uintptr_t)PROGRAM, (char *)(uintptr_t) "debuginfo",
			build_id_hex(id, hex), NULL};
	struct debuginfod *df = ctx;
	const char *urls = getenv("DEBUGINFOD_URLS");
	int64_t begin = now_ms();
	int rc;

	if (df->off)
		return false;
	if (!urls || !urls[0]) {
		give_up(df, "DEBUGINFOD_URLS names no server");
		return false;
	}
	rc = program_run(argv, df->left, path, DSO_MAX_PATH);
	if (rc > 0) {
		give_up(df, rc == ENOENT ? "debuginfod-find is not installed (apt: debuginfod)"
					 : strerror(rc));
		return false;
	}
	df->left -= now_ms() - begin;
	if (rc == PROGRAM_LATE || df->left <= 0)
		give_up(df, "the time limit for downloads has expired");
	path[strcspn(path, "\n")] = 0;
	return rc == PROGRAM_DONE && path[0] == '/';
}
