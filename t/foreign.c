/*
 * Foreign code in a filter, as a hostile recording might bring it there: a library for LD_PRELOAD.
 *
 *	FOREIGN=x.data LD_PRELOAD=./foreign.so pdecode x.data
 *
 * When the program opens the file FOREIGN, it tries what such code would want and prints on stderr
 * what succeeded: "foreign: file socket exec ...". OLD_KERNEL set: there are no seccomp filters
 * and no Landlock. By system calls of its own, so that nothing of libc is in the way.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void *next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

/* The call by its number, without the function below. */
#define CALL(...) (((long (*)(long, ...))next("syscall"))(__VA_ARGS__) >= 0)

static int makes(const char *path, int flags)
{
	return CALL(SYS_openat, AT_FDCWD, path, flags, 0600);
}

static int runs(void)
{
	char *const argv[] = {(char *)"true", NULL};
	int status = 1;
	pid_t child = fork();

	if (!child) {
		_exit(!CALL(SYS_execve, "/bin/true", argv, argv + 1));
	}
	return child > 0 && waitpid(child, &status, 0) == child && !status;
}

/* A child may attach itself as a debugger to nobody; its parent is spared. */
static int traces(void)
{
	int status = 1;
	pid_t child = fork();

	if (!child)
		_exit(!CALL(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0));
	return child > 0 && waitpid(child, &status, 0) == child && !status;
}

static void try_all(void)
{
	const char *dir = getenv("FOREIGN_DIR");
	char path[4096];

	snprintf(path, sizeof(path), "%s/made", dir ? dir : ".");
#define TRY(what, done) \
	if (done) \
	dprintf(STDERR_FILENO, " " what)
	dprintf(STDERR_FILENO, "foreign:");
	TRY("read", makes("/etc/passwd", O_RDONLY));
	TRY("file", makes(path, O_WRONLY | O_CREAT));
	TRY("append", makes("kept", O_WRONLY | O_APPEND));
	TRY("cut", makes("kept", O_RDONLY | O_TRUNC));
	TRY("folder", CALL(SYS_mkdirat, AT_FDCWD, "folder", 0700));
	TRY("remove", CALL(SYS_unlinkat, AT_FDCWD, "kept", 0));
	TRY("tcp", CALL(SYS_socket, AF_INET, SOCK_STREAM, 0));
	TRY("unix", CALL(SYS_socket, AF_UNIX, SOCK_STREAM, 0));
	TRY("exec", runs());
	TRY("ptrace", traces());
	TRY("signal", CALL(SYS_kill, getppid(), 0));
	dprintf(STDERR_FILENO, "\n");
}

static void look(const char *path)
{
	const char *at = getenv("FOREIGN");
	static int done;

	if (!done && at && path && !strcmp(path, at)) {
		done = 1;
		try_all();
	}
}

int open(const char *path, int flags, ...)
{
	va_list ap;
	int mode;

	va_start(ap, flags);
	mode = va_arg(ap, int);
	va_end(ap);
	look(path);
	return ((int (*)(const char *, int, ...))next("open"))(path, flags, mode);
}

/* open by _FORTIFY_SOURCE. */
int __open_2(const char *path, int flags);
int __open_2(const char *path, int flags)
{
	return open(path, flags);
}

FILE *fopen(const char *path, const char *mode)
{
	look(path);
	return ((FILE * (*)(const char *, const char *)) next("fopen"))(path, mode);
}

long syscall(long nr, ...)
{
	long a[6];
	va_list ap;

	va_start(ap, nr);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (getenv("OLD_KERNEL") && (nr == SYS_seccomp || nr == 444)) {
		errno = ENOSYS;
		return -1;
	}
	return ((long (*)(long, ...))next("syscall"))(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int prctl(int what, ...)
{
	va_list ap;
	unsigned long a, b;

	va_start(ap, what);
	a = va_arg(ap, unsigned long);
	b = va_arg(ap, unsigned long);
	va_end(ap);
	if (getenv("OLD_KERNEL")) {
		errno = EINVAL;
		return -1;
	}
	return ((int (*)(int, ...))next("prctl"))(what, a, b, 0, 0);
}
