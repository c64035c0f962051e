/*
 * What files below /proc and /sys say: numbers, lines, whole files, and lists of CPUs or
 * processes.
 */
#include "pevent/sysfile.h"

#include "base/err.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define LIST_MAX   65536 /* CPUs or processes in a list */
#define CPU_MAX	   65535
#define READ_BLOCK 16384
#define NAMES_MAX  16384 /* entries of one directory */

int sysfile_read(const char *path, size_t max, struct buf *b)
{
	size_t start = b->len;
	int rc = 0, fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return pp_errno(errno);
	while (!rc) {
		ssize_t n;

		if (buf_reserve(b, READ_BLOCK)) {
			rc = b->err;
			break;
		}
		n = read(fd, b->data + b->len, b->cap - b->len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			rc = n < 0 ? pp_errno(errno) : 0;
			break;
		}
		b->len += (size_t)n;
		b->data[b->len] = 0;
		if (b->len - start > max)
			rc = PP_ELIMIT;
	}
	close(fd);
	return rc;
}

int sysfile_u64(const char *path, uint64_t *v)
{
	struct buf b = BUF_INIT;
	int rc = sysfile_read(path, READ_BLOCK, &b);
	char *end;

	if (!rc) {
		errno = 0;
		*v = strtoull(buf_str(&b), &end, 0);
		if (errno || end == buf_str(&b))
			rc = PP_ECORRUPT;
	}
	buf_release(&b);
	return rc;
}

/* A decimal number up to max at *s, which is moved past it. */
static bool number(const char **s, uint64_t max, int *v)
{
	uint64_t x = 0;
	const char *p = *s;

	if (*p < '0' || *p > '9')
		return false;
	for (; *p >= '0' && *p <= '9'; p++) {
		x = x * 10 + (uint64_t)(*p - '0');
		if (x > max)
			return false;
	}
	*v = (int)x;
	*s = p;
	return true;
}

static int by_value(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

/* Sorts and removes repetitions. */
static size_t unique(int *v, size_t n)
{
	size_t k = 0;

	qsort(v, n, sizeof(*v), by_value);
	for (size_t i = 0; i < n; i++)
		if (!k || v[k - 1] != v[i])
			v[k++] = v[i];
	return k;
}

static int list_parse(const char *s, uint64_t max, bool ranges, int **list, size_t *n)
{
	struct buf b = BUF_INIT;
	int from, to;

	for (;;) {
		if (!number(&s, max, &from))
			goto usage;
		to = from;
		if (ranges && *s == '-' && (s++, !number(&s, max, &to)))
			goto usage;
		if (to < from)
			goto usage;
		for (int64_t i = from; i <= to; i++) {
			int v = (int)i;

			if (b.len / sizeof(v) >= LIST_MAX)
				goto usage;
			buf_add(&b, &v, sizeof(v));
		}
		if (*s != ',')
			break;
		s++;
	}
	if (*s && *s != '\n')
		goto usage;
	if (b.err) {
		buf_release(&b);
		return PP_ENOMEM;
	}
	*list = (int *)(void *)b.data;
	*n = unique(*list, b.len / sizeof(int));
	return 0;
usage:
	buf_release(&b);
	return PP_EUSAGE;
}

int cpulist_parse(const char *s, int **cpus, size_t *n)
{
	return list_parse(s, CPU_MAX, true, cpus, n);
}

int pidlist_parse(const char *s, pid_t **pids, size_t *n)
{
	int rc = list_parse(s, INT32_MAX, false, pids, n);

	if (!rc && (*pids)[0] == 0) {
		free(*pids);
		rc = PP_EUSAGE;
	}
	return rc;
}

void sysnames_release(struct sysnames *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
	*l = (struct sysnames){0};
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The entries of a directory that fit the glob, in order. */
int sysnames_read(struct sysnames *l, const char *dir, const char *glob)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int rc = 0;

	if (!d)
		return pp_errno(errno);
	while (!rc && (e = readdir(d))) {
		char **v = l->v;

		if (fnmatch(glob, e->d_name, FNM_PERIOD) != 0)
			continue;
		if (l->n == l->cap) {
			l->cap = l->cap ? 2 * l->cap : 64;
			v = l->cap > NAMES_MAX ? NULL : realloc(v, l->cap * sizeof(*v));
		}
		if (!v) {
			rc = l->cap > NAMES_MAX ? PP_ELIMIT : PP_ENOMEM;
			break;
		}
		l->v = v;
		v[l->n] = strdup(e->d_name);
		if (v[l->n])
			l->n++;
		else
			rc = PP_ENOMEM;
	}
	closedir(d);
	if (l->v)
		qsort(l->v, l->n, sizeof(*l->v), by_name);
	return rc;
}

void sysfile_need_root(struct buf *why, const char *capability)
{
	if (geteuid())
		buf_addf(why, "be root, or have %s", capability);
	else
		buf_addf(why, "root also needs %s, which containers often do not have", capability);
}

uint64_t sysfile_raise_files(uint64_t need)
{
	struct rlimit r, more;
	uint64_t most;

	if (getrlimit(RLIMIT_NOFILE, &r))
		return UINT64_MAX;
	if (r.rlim_cur >= need)
		return r.rlim_cur;
	more = (struct rlimit){need, need};
	if (need > r.rlim_max && !sysfile_u64("/proc/sys/fs/nr_open", &most) && need > most)
		more.rlim_cur = more.rlim_max = most;
	if (more.rlim_max > r.rlim_max && !setrlimit(RLIMIT_NOFILE, &more)) /* the privileged */
		return more.rlim_cur;
	more = (struct rlimit){need < r.rlim_max ? need : r.rlim_max, r.rlim_max};
	return setrlimit(RLIMIT_NOFILE, &more) ? r.rlim_cur : more.rlim_cur;
}
