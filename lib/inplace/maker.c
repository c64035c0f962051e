/* Runs pprobe with its output in a pipe. */
#include "inplace/maker.h"

#include "base/err.h"
#include "probe/probe_lists.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM "pprobe"

/* The one that lies beside this program, or the bare name. */
static void find_program(char path[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - sizeof(PROGRAM) - 1);
	char *slash;

	if (n > 0) {
		path[n] = 0;
		slash = strrchr(path, '/');
		if (slash) {
			memcpy(slash + 1, PROGRAM, sizeof(PROGRAM));
			if (!access(path, X_OK))
				return;
		}
	}
	memcpy(path, PROGRAM, sizeof(PROGRAM));
}

static int spawn(const struct maker_want *w, char **argv, pid_t *pid, int *from)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	int p[2], rc;

	if (pipe2(p, O_CLOEXEC))
		return errno;
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, p[1], 1);
	posix_spawnattr_init(&attr);
	if (w->mask) {
		posix_spawnattr_setsigmask(&attr, w->mask);
		posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	}
	rc = posix_spawnp(pid, argv[0], &files, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	close(p[1]);
	if (rc)
		close(p[0]);
	*from = p[0];
	return rc;
}

static int read_lines(int from, struct buf *lines)
{
	ssize_t n = 1;

	while (n) {
		if (buf_reserve(lines, 65536))
			return lines->err;
		n = read(from, lines->data + lines->len, 65535);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return pp_errno(errno);
		lines->len += (size_t)n;
		lines->data[lines->len] = 0;
		if (lines->len > TRACEFS_LIST_MAX)
			return PP_ELIMIT;
	}
	return 0;
}

/* From its exit status. It has reported what is wrong. */
static int code_of(int status, struct diag *d)
{
	if (!WIFEXITED(status)) {
		diag_error(d, NULL, -1, PROGRAM " ended by signal %d", WTERMSIG(status));
		return PP_EIO;
	}
	if (WEXITSTATUS(status) == PP_EXIT_OK || WEXITSTATUS(status) == PP_EXIT_PARTIAL)
		return 0;
	diag_told(d);
	return WEXITSTATUS(status) == PP_EXIT_USAGE ? PP_EUSAGE : PP_ENOENT;
}

int maker_run(const struct maker_want *w, struct buf *lines, struct diag *d)
{
	char path[PATH_MAX];
	char **argv = calloc((size_t)w->n + 9, sizeof(*argv));
	int from = -1, status = 0, rc, n = 0;
	pid_t pid;

	if (!argv)
		return PP_ENOMEM;
	find_program(path);
	argv[n++] = path;
	argv[n++] = (char *)"-n";
	if (w->kernel)
		argv[n++] = (char *)"-k";
	if (w->file) {
		argv[n++] = (char *)"-x";
		argv[n++] = (char *)w->file;
	}
	if (w->pid) {
		argv[n++] = (char *)"-p";
		argv[n++] = (char *)w->pid;
	}
	argv[n++] = (char *)"--";
	for (unsigned i = 0; i < w->n; i++)
		argv[n++] = (char *)w->texts[i];
	rc = spawn(w, argv, &pid, &from);
	free(argv);
	if (rc) {
		diag_error(d, path, -1, "cannot run it: %s", strerror(rc));
		return PP_ENOENT;
	}
	rc = read_lines(from, lines);
	close(from);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (rc)
		diag_error(d, path, -1, "%s", pp_strerror(rc));
	return rc ? rc : code_of(status, d);
}
