/*
 * The names of threads: of those that run when a recording begins, from /proc, then of those that
 * the kernel saves when something of them is recorded. It keeps few, so it is asked often.
 */
#include "ftrace/parts.h"

#include "base/err.h"
#include "pevent/sysfile.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int put(struct names *n, uint32_t pid, const char *comm, size_t len)
{
	bool fresh;
	uint32_t *slot;
	struct name *one;

	if (len >= sizeof(one->comm))
		len = sizeof(one->comm) - 1;
	if (!len || (len == 5 && !memcmp(comm, "<...>", 5)))
		return 0;
	slot = map64_put(&n->pids, pid, &fresh);
	if (!slot)
		return PP_ENOMEM;
	if (fresh && n->n == n->cap) {
		uint32_t cap = n->cap ? n->cap * 2 : 512;
		struct name *v = realloc(n->v, cap * sizeof(*v));

		if (!v) {
			map64_del(&n->pids, pid);
			return PP_ENOMEM;
		}
		n->v = v;
		n->cap = cap;
	}
	if (fresh)
		*slot = ++n->n;
	one = &n->v[*slot - 1];
	if (!fresh && !strncmp(one->comm, comm, len) && !one->comm[len])
		return 0;
	one->pid = pid;
	memset(one->comm, 0, sizeof(one->comm));
	memcpy(one->comm, comm, len);
	buf_addf(&n->news, "%u %s\n", pid, one->comm);
	return n->news.err;
}

/* The name of a thread: a line. */
static int read_comm(struct names *n, const char *path, uint32_t pid)
{
	char comm[64];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return 0;
	got = read(fd, comm, sizeof(comm));
	close(fd);
	return got > 0 ? put(n, pid, comm, (size_t)got - (comm[got - 1] == '\n')) : 0;
}

static int read_process(struct names *n, const char *pid)
{
	struct sysnames threads = {0};
	char path[128];
	int rc;

	snprintf(path, sizeof(path), "/proc/%.20s/task", pid);
	rc = sysnames_read(&threads, path, "[0-9]*");
	if (rc)
		return rc == PP_ENOMEM ? rc : 0;
	for (size_t i = 0; i < threads.n && !rc; i++) {
		snprintf(path, sizeof(path), "/proc/%.20s/task/%.20s/comm", pid, threads.v[i]);
		rc = read_comm(n, path, (uint32_t)strtoul(threads.v[i], NULL, 10));
	}
	sysnames_release(&threads);
	return rc;
}

int comms_begin(struct names *n)
{
	struct sysnames all = {0};
	int rc = sysnames_read(&all, "/proc", "[0-9]*");

	for (size_t i = 0; i < all.n && !rc; i++)
		rc = read_process(n, all.v[i]);
	sysnames_release(&all);
	return rc;
}

int comms_look(struct names *n, const struct ftfiles *f)
{
	int rc;

	buf_reset(&n->text);
	rc = ftfiles_read(f, "saved_cmdlines", &n->text);
	if (rc)
		return rc == PP_ENOMEM ? rc : 0;
	for (const char *p = buf_str(&n->text); *p && !rc;) {
		size_t len = strcspn(p, "\n");
		char *comm;
		unsigned long pid = strtoul(p, &comm, 10);

		if (*comm == ' ' && pid)
			rc = put(n, (uint32_t)pid, comm + 1, (size_t)(p + len - comm - 1));
		p += len + (p[len] == '\n');
	}
	return rc;
}

void comms_all(const struct names *n, struct buf *b)
{
	for (uint32_t i = 0; i < n->n; i++)
		buf_addf(b, "%u %s\n", n->v[i].pid, n->v[i].comm);
}

void comms_release(struct names *n)
{
	map64_release(&n->pids);
	free(n->v);
	buf_release(&n->text);
	buf_release(&n->news);
}
