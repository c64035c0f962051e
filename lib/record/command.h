/*
 * The command that is recorded or counted: forked, but not started until all events are open.
 *
 *	struct command c = COMMAND_NONE;
 *	rc = command_prepare(&c, argv, false, &mask);	(c.pid: what events are opened for)
 *	rc = command_start(&c, &errnum);
 *	... SIGCHLD comes, which the caller has blocked ...
 *	if (command_ended(&c))				(c.status, c.usage)
 *	command_end(&c);
 */
#ifndef PP_RECORD_COMMAND_H
#define PP_RECORD_COMMAND_H

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct command {
	pid_t pid;	     /* 0: none, or it has ended */
	int go, why;	     /* pipe ends: closing starts it; errno of a failed exec comes */
	int status;	     /* when it has ended: that of wait(2) */
	struct rusage usage; /* the same: of it and what it has waited for */
};

#define COMMAND_NONE \
	{ \
		.go = -1, .why = -1 \
	}

/*
 * Forks a process that waits to become argv, with the given signal mask; its stdout is stderr if
 * to_stderr. 0 or PP_EIO.
 */
int command_prepare(struct command *c, char **argv, bool to_stderr, const sigset_t *mask);

/* Lets it go; *errnum is 0, or why it could not be executed. */
int command_start(struct command *c, int *errnum);

/* Whether it has ended; if so, reaps it. */
bool command_ended(struct command *c);

/* Sends SIGTERM if it is still running, and waits a little for its end. SIGCHLD is blocked. */
void command_end(struct command *c);

/* Its exit status as a shell reports it: 128 and the signal's number if one killed it. */
int command_exit_status(const struct command *c);

#endif
