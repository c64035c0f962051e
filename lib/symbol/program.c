/* Runs a program with its output in a pipe, within a time limit. */
#include "symbol/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* The environment with messages in English; NULL: out of memory. */
static char **in_english(void)
{
	static char english[] = "LC_ALL=C";
	size_t n = 0, used = 0;
	char **env;

	while (environ && environ[n])
		n++;
	env = calloc(n + 2, sizeof(*env));
	for (size_t i = 0; env && i < n; i++)
		if (strncmp(environ[i], "LC_ALL=", 7) != 0)
			env[used++] = environ[i];
	if (env)
		env[used] = english;
	return env;
}

/* Starts it with its output in a pipe. 0, or an errno value. */
static int start(char *const argv[], pid_t *pid, int *from)
{
	char **env = in_english();
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	int p[2], rc;

	*from = -1;
	rc = !env ? ENOMEM : pipe2(p, O_CLOEXEC) ? errno : 0;
	if (rc) {
		free(env);
		return rc;
	}
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, p[1], 1);
	posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attr);
	/* A group of its own, so that what it starts ends with it. */
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
	rc = posix_spawnp(pid, argv[0], &files, &attr, argv, env);
	free(env);
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

int program_run(char *const argv[], int64_t ms, char *text, size_t size)
{
	int64_t end = now_ms() + ms;
	int from, status = 0, rc;
	bool in_time;
	pid_t pid;

	text[0] = 0;
	rc = start(argv, &pid, &from);
	if (rc)
		return rc;
	in_time = read_until(from, text, size, end);
	close(from);
	if (!in_time)
		kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!in_time)
		return PROGRAM_LATE;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? PROGRAM_DONE : PROGRAM_FAILED;
}
