/* The command that is recorded. */
#include "record/command.h"

#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_NOT_EXECUTED 127
#define PATIENCE_S	  1 /* seconds to wait for the end of a command that was sent SIGTERM */

static _Noreturn void child(int go, int why, char **argv, bool to_stderr, const sigset_t *mask)
{
	char byte;
	int errnum;
	ssize_t n;

	do
		n = read(go, &byte, 1);
	while (n < 0 && errno == EINTR);
	/* The end of the pipe means that the parent died or gave up before it began. */
	if (!n)
		_exit(EXIT_NOT_EXECUTED);
	if (n == 1) {
		sigprocmask(SIG_SETMASK, mask, NULL);
		if (to_stderr)
			dup2(STDERR_FILENO, STDOUT_FILENO);
		execvp(argv[0], argv);
	}
	errnum = errno;
	if (write(why, &errnum, sizeof(errnum)) < 0)
		_exit(EXIT_NOT_EXECUTED);
	_exit(EXIT_NOT_EXECUTED);
}

int command_prepare(struct command *c, char **argv, bool to_stderr, const sigset_t *mask)
{
	int go[2], why[2], rc;

	*c = (struct command)COMMAND_NONE;
	if (pipe2(go, O_CLOEXEC))
		return pp_errno(errno);
	if (pipe2(why, O_CLOEXEC)) {
		rc = pp_errno(errno);
		close(go[0]);
		close(go[1]);
		return rc;
	}
	c->pid = fork();
	rc = c->pid < 0 ? pp_errno(errno) : 0;
	if (c->pid == 0) {
		close(go[1]);
		child(go[0], why[1], argv, to_stderr, mask);
	}
	close(go[0]);
	close(why[1]);
	c->go = go[1];
	c->why = why[0];
	if (c->pid > 0)
		return 0;
	c->pid = 0;
	command_end(c);
	return rc;
}

int command_start(struct command *c, int *errnum)
{
	int rc = 0;
	ssize_t n;

	*errnum = 0;
	do
		n = write(c->go, "", 1);
	while (n < 0 && errno == EINTR);
	/* A child that waits for this byte tells nothing; one that has ended before tells why. */
	if (n < 0 && errno != EPIPE)
		return pp_errno(errno);
	if (n < 0)
		rc = PP_EIO;
	do
		n = read(c->why, errnum, sizeof(*errnum));
	while (n < 0 && errno == EINTR);
	if (n == sizeof(*errnum))
		return 0;
	return rc ? rc : n < 0 ? pp_errno(errno) : 0;
}

bool command_ended(struct command *c)
{
	if (c->pid > 0 && wait4(c->pid, &c->status, WNOHANG, &c->usage) == 0)
		return false;
	c->pid = 0;
	return true;
}

int command_exit_status(const struct command *c)
{
	if (WIFSIGNALED(c->status))
		return 128 + WTERMSIG(c->status);
	return WIFEXITED(c->status) ? WEXITSTATUS(c->status) : 0;
}

void command_end(struct command *c)
{
	struct timespec patience = {.tv_sec = PATIENCE_S};
	sigset_t child;

	if (c->go >= 0)
		close(c->go);
	if (c->why >= 0)
		close(c->why);
	c->go = c->why = -1;
	if (c->pid <= 0 || command_ended(c))
		return;
	/* The recording is complete: a command that does not obey is left to itself. */
	kill(c->pid, SIGTERM);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	while (!command_ended(c) && sigtimedwait(&child, NULL, &patience) > 0)
		;
	c->pid = 0;
}
