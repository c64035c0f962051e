/*
 * Makes the Nth call of a kind fail: a library for LD_PRELOAD.
 *
 *	FAIL=alloc:17 FAIL_PROG=psym LD_PRELOAD=build/t/shim.so psym x.ps
 *
 * FAIL is KIND:N, or KIND:N+ for the Nth call and all that follow. N = 0 lets all succeed. The kinds
 * are those of the table below. FAIL_PROG names the program; others, such as the children of it, go
 * undisturbed. FAIL_COUNT names a file that gets the number of calls when the program ends. What is
 * written to stderr never fails.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum kind { ALLOC, READ, PREAD, WRITE, OPEN, MMAP, THREAD, KINDS };

static const char *const names[] = {"alloc", "read", "pread", "write", "open", "mmap", "thread"};
static enum kind what = KINDS;
static long nth, calls;
static int all, count = -1;

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);

/* dlsym may allocate: looked up before the first call counts. */
static struct {
	ssize_t (*read)(int, void *, size_t);
	ssize_t (*pread)(int, void *, size_t, off_t);
	ssize_t (*write)(int, const void *, size_t);
	ssize_t (*writev)(int, const struct iovec *, int);
	ssize_t (*vmsplice)(int, const struct iovec *, size_t, unsigned);
	int (*open)(const char *, int, ...);
	int (*openat)(int, const char *, int, ...);
	FILE *(*fopen)(const char *, const char *);
	void *(*mmap)(void *, size_t, int, int, int, off_t);
	int (*thread)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
} real;

static void find(void *to, const char *name)
{
	void *p = dlsym(RTLD_NEXT, name);

	memcpy(to, &p, sizeof(p));
}

static void find_all(void)
{
	find(&real.read, "read");
	find(&real.pread, "pread");
	find(&real.write, "write");
	find(&real.writev, "writev");
	find(&real.vmsplice, "vmsplice");
	find(&real.open, "open");
	find(&real.openat, "openat");
	find(&real.fopen, "fopen");
	find(&real.mmap, "mmap");
	find(&real.thread, "pthread_create");
}

__attribute__((constructor)) static void begin(void)
{
	const char *fail = getenv("FAIL"), *prog = getenv("FAIL_PROG");
	const char *name = getenv("FAIL_COUNT");

	find_all();
	if (!fail || (prog && strcmp(prog, program_invocation_short_name) != 0))
		return;
	for (int k = 0; k < KINDS; k++) {
		size_t len = strlen(names[k]);

		if (strncmp(fail, names[k], len) != 0 || fail[len] != ':')
			continue;
		nth = atol(fail + len + 1);
		all = strchr(fail, '+') != NULL;
		what = (enum kind)k;
	}
	/* In the end, the program may not be allowed to. Out of the way of those that it opens. */
	if (what != KINDS && name)
		count = real.open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (count >= 0)
		count = dup3(count, 100, O_CLOEXEC);
}

__attribute__((destructor)) static void end(void)
{
	char text[32];
	int n = snprintf(text, sizeof(text), "%ld\n", calls);

	if (count >= 0 && real.write(count, text, (size_t)n) == n)
		close(count);
}

static int fails(enum kind k, int errnum)
{
	long n;

	if (k != what)
		return 0;
	n = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
	if (!nth || (all ? n < nth : n != nth))
		return 0;
	errno = errnum;
	return 1;
}

EXPORT void *malloc(size_t n)
{
	return fails(ALLOC, ENOMEM) ? NULL : __libc_malloc(n);
}

EXPORT void *calloc(size_t n, size_t size)
{
	return fails(ALLOC, ENOMEM) ? NULL : __libc_calloc(n, size);
}

EXPORT void *realloc(void *p, size_t n)
{
	return fails(ALLOC, ENOMEM) ? NULL : __libc_realloc(p, n);
}

EXPORT void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
	return fails(MMAP, ENOMEM) ? MAP_FAILED : real.mmap(at, n, prot, flags, fd, offset);
}

EXPORT ssize_t read(int fd, void *b, size_t n)
{
	return fails(READ, EIO) ? -1 : real.read(fd, b, n);
}

EXPORT ssize_t pread(int fd, void *b, size_t n, off_t at)
{
	return fails(PREAD, EIO) ? -1 : real.pread(fd, b, n, at);
}

EXPORT ssize_t write(int fd, const void *b, size_t n)
{
	return fd != 2 && fails(WRITE, EIO) ? -1 : real.write(fd, b, n);
}

EXPORT ssize_t writev(int fd, const struct iovec *v, int n)
{
	return fd != 2 && fails(WRITE, EIO) ? -1 : real.writev(fd, v, n);
}

EXPORT ssize_t vmsplice(int fd, const struct iovec *v, size_t n, unsigned flags)
{
	return fails(WRITE, EIO) ? -1 : real.vmsplice(fd, v, n, flags);
}

EXPORT int open(const char *path, int flags, ...)
{
	va_list ap;
	int mode;

	va_start(ap, flags);
	mode = va_arg(ap, int);
	va_end(ap);
	return fails(OPEN, EMFILE) ? -1 : real.open(path, flags, mode);
}

EXPORT int openat(int dir, const char *path, int flags, ...)
{
	va_list ap;
	int mode;

	va_start(ap, flags);
	mode = va_arg(ap, int);
	va_end(ap);
	return fails(OPEN, EMFILE) ? -1 : real.openat(dir, path, flags, mode);
}

EXPORT FILE *fopen(const char *path, const char *mode)
{
	return fails(OPEN, EMFILE) ? NULL : real.fopen(path, mode);
}

EXPORT int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *ctx)
{
	return fails(THREAD, EAGAIN) ? EAGAIN : real.thread(t, a, f, ctx);
}
