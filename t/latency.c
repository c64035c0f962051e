/*
 * How long events take through a pipe that shows the programs that are started, for t/live.t.
 *
 *	latency N >begun	starts N programs called mark-1, mark-2, ..., with a pause after each,
 *				and prints of each "I TIME"
 *	... | latency -N >came	prints that of each line in which one is seen first, and ends with
 *				the last of N
 *
 * TIME is in microseconds. The marks are links to this program in the working directory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MARK	 "mark-"
#define PAUSE_US 230000
#define MOST	 1000

static long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000L + t.tv_nsec / 1000;
}

static void begin(const char *self, int i)
{
	char name[32];
	pid_t pid;

	snprintf(name, sizeof(name), "./" MARK "%d", i);
	unlink(name);
	if (symlink(self, name))
		perror(name);
	printf("%d %ld\n", i, now_us());
	fflush(stdout);
	pid = fork();
	if (!pid) {
		execl(name, name, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	unlink(name);
	usleep(PAUSE_US);
}

static void watch(int n)
{
	static char seen[MOST + 1];
	char line[65536];
	int left = n;

	while (left && fgets(line, sizeof(line), stdin)) {
		const char *at = strstr(line, MARK);
		int i = at ? atoi(at + strlen(MARK)) : 0;

		if (i < 1 || i > n || seen[i])
			continue;
		seen[i] = 1;
		left--;
		printf("%d %ld\n", i, now_us());
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/');
	char self[4096];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int n = argc > 1 ? atoi(argv[1]) : 0;

	if (!strncmp(name ? name + 1 : argv[0], MARK, strlen(MARK)))
		return 0;
	if (len < 0 || !n || n > MOST || n < -MOST)
		return 64;
	self[len] = 0;
	if (n < 0)
		watch(-n);
	for (int i = 1; i <= n; i++)
		begin(self, i);
	return 0;
}
