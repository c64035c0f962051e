/* What the examples of the documentation run on: names, depth and system calls. See README.md. */
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone, optimize("no-optimize-sibling-calls")))

static volatile unsigned long sum;

KEEP static void compute(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sum += i * i;
}

KEEP static void ask_kernel(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sum += (unsigned long)syscall(SYS_getppid);
}

KEEP static void descend(int depth)
{
	compute(40000);
	if (depth)
		descend(depth - 1);
	compute(20000);
}

KEEP static void parse(void)
{
	descend(7);
}

KEEP static void report(void)
{
	compute(100000);
	ask_kernel(600);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 100;

	for (int i = 0; i < n; i++) {
		parse();
		report();
	}
	return 0;
}
