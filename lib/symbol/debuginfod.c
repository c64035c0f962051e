#include "symbol/debuginfod.h"

#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROGRAM "debuginfod-find"

extern char **environ;

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

/* Runs "debuginfod-find debuginfo HEX" with its output into a pipe. 0, or an errno value. */
static int run(const char *hex, pid_t *pid, int *from)
{
	char *argv[] = {PROGRAM, "debuginfo", (char *)(uintptr_t)hex, NULL};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	int p[2], rc;

	*from = -1;
	if (pipe2(p, O_CLOEXEC))
		return errno;
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, p[1], 1);
	posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attr);
	/* A group of its own, so that what it starts ends with it. */
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
	rc = posix_spawnp(pid, PROGRAM, &files, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	close(p[1]);
	if (rc)
		close(p[0]);
	*from = p[0];
	return rc;
}

/* Reads what a program prints until it closes its output; false when the time is over. */
static bool read_until(int fd, char *text, size_t size, int64_t end)
{
	size_t n = 0;

	for (;;) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		int64_t left = end - now_ms();
		ssize_t got;

		text[n] = 0;
		if (left <= 0)
			return false;
		if (poll(&p, 1, (int)left) < 0 && errno != EINTR)
			return true;
		if (!p.revents)
			continue;
		got = read(fd, text + n, size - 1 - n);
		if (got <= 0 && !(got < 0 && errno == EINTR))
			return true;
		n += got > 0 ? (size_t)got : 0;
		if (n == size - 1)
			return true;
	}
}

static void give_up(struct debuginfod *df, const char *why)
{
	df->off = true;
	diag_warn(df->d, NULL, -1, "--debuginfod: %s", why);
}

bool debuginfod_fetch(void *ctx, const struct build_id *id, char path[DSO_MAX_PATH])
{
	struct debuginfod *df = ctx;
	const char *urls = getenv("DEBUGINFOD_URLS");
	char hex[BUILD_ID_HEX_MAX];
	int64_t begin = now_ms();
	int from, status = 0, rc;
	bool in_time;
	pid_t pid;

	if (df->off)
		return false;
	if (!urls || !urls[0]) {
		give_up(df, "DEBUGINFOD_URLS names no server");
		return false;
	}
	rc = run(build_id_hex(id, hex), &pid, &from);
	if (rc) {
		give_up(df, rc == ENOENT ? "debuginfod-find is not installed (apt: debuginfod)"
					 : strerror(rc));
		return false;
	}
	in_time = read_until(from, path, DSO_MAX_PATH, begin + df->left);
	close(from);
	if (!in_time)
		kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	df->left -= now_ms() - begin;
	if (!in_time || df->left <= 0)
		give_up(df, "the time for downloads is over");
	path[strcspn(path, "\n")] = 0;
	return in_time && WIFEXITED(status) && !WEXITSTATUS(status) && path[0] == '/';
}
