/*
 * Runs a pipeline several times and prints the medians of what it took.
 *
 *	measure [-n RUNS] COMMAND...
 *
 * Each COMMAND is one stage, given to sh -c as "exec COMMAND"; stage i's stdout is stage i+1's
 * stdin. Prints one line, separated by tabs: wall seconds, CPU seconds (user and system, all
 * stages and their children), sum of the stages' peak memory in KiB, the largest of them in KiB,
 * and the exit statuses of the last run, separated by commas (128 + N for signal N). Peaks begin
 * at about 1.5 MiB, which is what the shell had before it executed the command.
 *
 * Exit: 0, 2 could not run, 64 usage. A stage that fails is no failure of measure: see its status.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STAGES_MAX 16
#define RUNS_MAX   99

struct result {
	double wall, cpu;      /* seconds */
	double sum_kb, max_kb; /* KiB */
	int status[STAGES_MAX];
};

static void die(const char *what)
{
	fprintf(stderr, "measure: %s: %s\n", what, strerror(errno));
	exit(2);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static pid_t start(const char *command, int in, int out, int not_mine)
{
	char line[8192];
	pid_t pid;

	if (snprintf(line, sizeof(line), "exec %s", command) >= (int)sizeof(line)) {
		errno = E2BIG;
		die(command);
	}
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid)
		return pid;
	if (not_mine >= 0)
		close(not_mine);
	if ((in != 0 && (dup2(in, 0) < 0 || close(in))) ||
	    (out != 1 && (dup2(out, 1) < 0 || close(out))))
		_exit(127);
	execl("/bin/sh", "sh", "-c", line, (char *)NULL);
	_exit(127);
}

static void run(char **stages, int n, struct result *r)
{
	pid_t pids[STAGES_MAX];
	double begin = now();
	int in = open("/dev/null", O_RDONLY | O_CLOEXEC);

	*r = (struct result){0};
	if (in < 0)
		die("/dev/null");
	for (int i = 0; i < n; i++) {
		int fds[2] = {-1, 1};

		if (i + 1 < n && pipe(fds))
			die("pipe");
		pids[i] = start(stages[i], in, fds[1], fds[0]);
		close(in);
		if (fds[1] != 1)
			close(fds[1]);
		in = fds[0];
	}
	for (int i = 0; i < n; i++) {
		struct rusage u;
		int status;

		while (wait4(pids[i], &status, 0, &u) < 0)
			if (errno != EINTR)
				die("wait4");
		r->status[i] = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		r->cpu += seconds(u.ru_utime) + seconds(u.ru_stime);
		r->sum_kb += (double)u.ru_maxrss;
		if ((double)u.ru_maxrss > r->max_kb)
			r->max_kb = (double)u.ru_maxrss;
	}
	r->wall = now() - begin;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), compare);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static int usage(void)
{
	fprintf(stderr, "usage: measure [-n RUNS] COMMAND...\n");
	return 64;
}

int main(int argc, char **argv)
{
	static double wall[RUNS_MAX], cpu[RUNS_MAX], sum[RUNS_MAX], max[RUNS_MAX];
	struct result r = {0};
	int first = 1, runs = 1, n;

	if (argc > 2 && !strcmp(argv[1], "-n")) {
		runs = atoi(argv[2]);
		first = 3;
	}
	n = argc - first;
	if (n < 1 || n > STAGES_MAX || runs < 1 || runs > RUNS_MAX)
		return usage();
	for (int i = 0; i < runs; i++) {
		run(argv + first, n, &r);
		wall[i] = r.wall;
		cpu[i] = r.cpu;
		sum[i] = r.sum_kb;
		max[i] = r.max_kb;
	}
	printf("%.3f\t%.3f\t%.0f\t%.0f\t", median(wall, runs), median(cpu, runs), median(sum, runs),
	       median(max, runs));
	for (int i = 0; i < n; i++)
		printf("%s%d", i ? "," : "", r.status[i]);
	printf("\n");
	return fflush(stdout) ? 2 : 0;
}
