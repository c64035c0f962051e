/* Fibonacci numbers by recursion: prints the one of its argument and how many calls it took. */
#include <stdio.h>
#include <stdlib.h>

static int calls;

__attribute__((noinline)) int fib(int n)
{
	calls++;
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int main(int argc, char **argv)
{
	(void)argc;
	printf("%d ", fib(atoi(argv[1])));
	return printf("%d\n", calls) < 0;
}
