/*
 * Gives up what a program that reads untrusted files does not need: starting programs, sockets,
 * writing files, other processes, the administration of the machine. What it has open it keeps.
 *
 *	const char *const writes[] = {"out.pb", NULL};
 *	unsigned got = sandbox_enter(&(struct sandbox){.writes = writes});
 *
 * By seccomp(2) and Landlock (landlock(7)), each where the kernel has it and lets us; neither needs
 * a privilege, and children inherit both. To be called before threads are started and before the
 * first untrusted byte is read. Files can be opened for reading afterwards, and temporary files
 * without a name (O_TMPFILE) be made in TMPDIR. What was given up fails: EPERM, EACCES.
 */
#ifndef PP_BASE_SANDBOX_H
#define PP_BASE_SANDBOX_H

#include <stdbool.h>

struct sandbox {
	/*
	 * NULL, or files that the program is going to make or write, NULL ends them. Their folders
	 * can be written then, which only Landlock confines to these.
	 */
	const char *const *writes;
	bool programs; /* it starts programs, which do what they do: connect and write */
};

enum {
	SANDBOX_CALLS = 1, /* seccomp is in force */
	SANDBOX_FILES = 2, /* Landlock is in force; never with `programs` */
};

/* What is in force now, bits of the above. 0: nothing, which is no error. */
unsigned sandbox_enter(const struct sandbox *s);

#endif
