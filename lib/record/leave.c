/*
 * The end of many tracepoints. The kernel waits for all CPUs at the end of each one, some 20 ms,
 * for those of *:* a minute, although the recording is complete. A process without anything else
 * takes the descriptors over and ends.
 */
#include "record/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define MANY 64

/* Probes have to be free when the recording is over: who made them removes them then. */
static bool is_probe(const struct pevent *ev)
{
	return strstr(ev->system, "probe") || strncmp(ev->system, "perfpipe", 8) == 0 ||
	       strncmp(ev->system, "sdt_", 4) == 0;
}

static bool are_many(const struct session *s)
{
	size_t many = 0;

	for (size_t i = 0; i < s->n_attrs; i++) {
		const struct pevent *ev = s->attrs[i].ev;

		if (s->attrs[i].helper || !ev || !ev->tp)
			continue;
		if (!ev->pattern || is_probe(ev))
			return false;
		many++;
	}
	return many >= MANY;
}

/* Holds the descriptors, the first of which is `first`, until nobody else does. */
static _Noreturn void hold(int first, const int ready[2])
{
	char byte;

	/* Whoever reads what the other one writes must not wait for this one. */
	for (int fd = 0; fd < first; fd++)
		if (fd != ready[0])
			close(fd);
	close(ready[1]);
	while (read(ready[0], &byte, 1) < 0 && errno == EINTR)
		;
	_exit(0);
}

int session_leave(const struct session *s)
{
	size_t n = s->t.n_cpus * s->t.n_tids;
	int first = INT_MAX, ready[2];
	pid_t pid;

	if (!are_many(s))
		return -1;
	for (size_t i = 0; i < s->n_attrs; i++)
		for (size_t k = 0; s->attrs[i].fds && k < n; k++) {
			int fd = s->attrs[i].fds[k];

			if (fd < 0)
				continue;
			ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
			first = fd < first ? fd : first;
		}
	if (first == INT_MAX || pipe2(ready, O_CLOEXEC))
		return -1; /* without such a process it takes its time */
	pid = fork();
	if (!pid)
		hold(first, ready);
	close(ready[0]);
	if (pid > 0)
		return ready[1];
	close(ready[1]);
	return -1;
}
