/* Asks JVMs for perf maps. */
#include "record/perfmap.h"

#include "base/err.h"
#include "symbol/live_maps.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define STEP 10 /* ms between two looks for the socket */

static int is_libjvm(void *ctx, const struct mapping *m)
{
	const char *slash = strrchr(m->name, '/');

	(void)ctx;
	return slash && !strcmp(slash, "/libjvm.so") ? PP_END : 0;
}

static bool is_jvm(uint32_t pid)
{
	struct proc_maps maps = {.proc = "/proc", .each = is_libjvm};

	return mapping_read(&maps, (pid_t)pid) == PP_END;
}

/* A connection to the socket of a JVM that listens; -1 and errno. */
static int connect_to(const struct live_process *l)
{
	struct timeval wait = {.tv_sec = PERFMAP_WAIT / 1000};
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), err;

	snprintf(at.sun_path, sizeof(at.sun_path),
		 "/proc/%" PRIu32 "/root"
		 "/tmp/.java_pid%" PRIu32,
		 l->pid, l->inner);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	if (!connect(fd, (struct sockaddr *)&at, sizeof(at)))
		return fd;
	err = errno;
	close(fd);
	errno = err;
	return -1;
}

/* Makes a JVM listen: it does when it gets SIGQUIT and finds a file of this name. */
static int wake(const struct live_process *l)
{
	char path[80];
	int fd, err;

	snprintf(path, sizeof(path),
		 "/proc/%" PRIu32 "/root"
		 "/tmp/.attach_pid%" PRIu32,
		 l->pid, l->inner);
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	close(fd);
	fd = -1;
	if (!kill((pid_t)l->pid, SIGQUIT))
		for (int t = 0; fd < 0 && t < PERFMAP_WAIT; t += STEP) {
			poll(NULL, 0, STEP);
			fd = connect_to(l);
		}
	err = errno;
	unlink(path);
	errno = err;
	return fd;
}

/* The answer's number; its text goes to `text`, without a newline at the end. */
static int ask(int fd, char *text, size_t size)
{
	static const char request[] = "1\0jcmd\0Compiler.perfmap\0\0";
	size_t n = 0;
	ssize_t got = 1;
	char *end;
	long code;

	if (send(fd, request, sizeof(request), MSG_NOSIGNAL) != (ssize_t)sizeof(request))
		got = -1;
	while (got > 0 && n < size - 1) {
		got = recv(fd, text + n, size - 1 - n, 0);
		n += got > 0 ? (size_t)got : 0;
	}
	text[n] = 0;
	if (got < 0)
		snprintf(text, size, "%s", strerror(errno));
	code = strtol(text, &end, 10);
	if (got < 0 || end == text)
		return -1;
	memmove(text, end + (*end == '\n'), strlen(end) + (*end != '\n'));
	text[strcspn(text, "\n")] = 0;
	return code ? -1 : 0;
}

static void ask_one(const struct session *s, uint32_t pid, bool quiet)
{
	char text[256] = "";
	struct live_process l;
	int fd;

	live_ask(&l, pid);
	if (l.user == LIVE_NOBODY || (geteuid() && l.user != geteuid()))
		return;
	/* A process without a handler would end by the signal. */
	if (!(l.caught >> (SIGQUIT - 1) & 1) || !is_jvm(pid))
		return;
	if (!l.inner)
		l.inner = pid;
	fd = connect_to(&l);
	if (fd < 0)
		fd = wake(&l);
	if (fd < 0)
		snprintf(text, sizeof(text), "%s", strerror(errno));
	else if (!ask(fd, text, sizeof(text)))
		text[0] = 0;
	if (text[0] && !quiet)
		diag_warn(s->d, NULL, -1, "process %" PRIu32 " has written no perf map: %s", pid,
			  text);
	if (fd >= 0)
		close(fd);
}

void perfmap_ask(const struct session *s, bool quiet)
{
	const struct dirent *e;
	DIR *dir;

	if (target_has_tasks(&s->c->whom)) {
		for (size_t i = 0; i < (s->t.n_pids ? s->t.n_pids : s->t.n_tids); i++)
			ask_one(s, (uint32_t)(s->t.n_pids ? s->t.pids[i] : s->t.tids[i]), quiet);
		return;
	}
	dir = opendir("/proc");
	while (dir && (e = readdir(dir)))
		if (isdigit((unsigned char)e->d_name[0]))
			ask_one(s, (uint32_t)strtoul(e->d_name, NULL, 10), quiet);
	if (dir)
		closedir(dir);
}
