/*
 * A load whose events are known: stat_load CALLS PAGES CHILDREN calls getppid(2) so often, touches
 * so many pages for the first time, and forks so many children, one after the other, each of which
 * only ends.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long calls, pages, children, size = sysconf(_SC_PAGESIZE);
	volatile char *p;

	if (argc != 4)
		return 64;
	calls = atol(argv[1]);
	pages = atol(argv[2]);
	children = atol(argv[3]);
	for (long i = 0; i < calls; i++)
		syscall(SYS_getppid);
	p = mmap(NULL, (size_t)(size * (pages + 1)), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return 2;
	madvise((void *)p, (size_t)(size * (pages + 1)), MADV_NOHUGEPAGE);
	for (long i = 0; i < pages; i++)
		p[i * size] = 1;
	for (long i = 0; i < children; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			return 2;
	}
	return 0;
}
