/*
 * Gives up what a program that reads untrusted files does not need: starting programs, sockets,
 * writing files, other processes, the administration of the machine. It keeps what it has open.
 *
 *	sandbox_enter(&(struct sandbox){.output = "out.pb"});
 *
 * By seccomp(2), and by Landlock (landlock(7)) if there is something that it may write, each where
 * the kernel has it and lets us; neither needs a privilege, and children inherit both. To be called
 * before threads are started and before the first untrusted byte is read. Files can be opened for
 * reading afterwards, by openat2 only where something may be written; temporary files without a
 * name (O_TMPFILE) can be made in TMPDIR. What was given up fails: EPERM, EACCES.
 */
#ifndef PP_BASE_SANDBOX_H
#define PP_BASE_SANDBOX_H

#include <stdbool.h>

struct sandbox {
	/*
	 * NULL, or a file that the program is going to make or write. Its folder can be written
	 * then; without Landlock, any.
	 */
	const char *output;
	bool programs; /* it starts programs, which do what they do: connect and write */
	/*
	 * It reads the memory and the files of running processes (/proc/PID/mem, /proc/PID/root):
	 * Landlock would take that away, as it does debugging, and is not used.
	 */
	bool processes;
};

/* Whether the system calls are given up; if not, the kernel cannot, which is not an error. */
bool sandbox_enter(const struct sandbox *s);

#endif
