/*
 * Records for the tasks that exist already, made from /proc (see proc(5)) as if they had started
 * just now: FORK and COMM of each thread, MMAP2 of each executable mapping. Their time is 0.
 */
#include "base/err.h"
#include "perfdata/format.h"
#include "pevent/sysfile.h"
#include "record/parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK	  262144     /* bytes collected before put is called */
#define NAME_MAX_ 4096	     /* bytes of a mapping's name */
#define TIDS_MAX  (1u << 22) /* PID_MAX_LIMIT of the kernel */

struct known_id {
	uint8_t len;
	uint8_t id[BUILDID_MAX];
};

size_t synth_begin(struct synth *s, uint32_t type, uint16_t misc)
{
	struct perf_event_header h = {.type = type, .misc = misc};
	size_t start = s->buf.len;

	buf_add(&s->buf, &h, sizeof(h));
	return start;
}

void synth_u32(struct synth *s, uint32_t v)
{
	buf_add(&s->buf, &v, sizeof(v));
}

void synth_u64(struct synth *s, uint64_t v)
{
	buf_add(&s->buf, &v, sizeof(v));
}

void synth_name(struct synth *s, const char *name, size_t len)
{
	if (len > NAME_MAX_)
		len = NAME_MAX_;
	buf_add(&s->buf, name, len);
	buf_fill(&s->buf, 0, 8 - len % 8);
}

int synth_end(struct synth *s, size_t start)
{
	uint16_t size;

	if (s->buf.err)
		return s->buf.err;
	size = (uint16_t)(s->buf.len - start);
	memcpy(s->buf.data + start + offsetof(struct perf_event_header, size), &size, sizeof(size));
	return s->buf.len < BLOCK ? 0 : synth_flush(s);
}

int synth_flush(struct synth *s)
{
	int rc = s->buf.err;

	if (!s->put || rc)
		return rc;
	rc = s->put(s->ctx, s->buf.data, s->buf.len);
	buf_reset(&s->buf);
	return rc;
}

void synth_release(struct synth *s)
{
	buf_release(&s->buf);
	buf_release(&s->text);
	buf_release(&s->ids);
	intern_release(&s->files);
}

/* Begins the tail of a record and ends it. */
static int end_with_id(struct synth *s, size_t start)
{
	buf_fill(&s->buf, 0, s->id_size);
	return synth_end(s, start);
}

/* The build-id of a mapped file, read once per file; NULL if it has none. */
static const struct known_id *build_id(struct synth *s, pid_t pid, const struct mapping *m)
{
	struct known_id k = {0};
	const struct known_id *all;
	size_t len = 0;
	uint32_t id;
	bool fresh;
	int fd;

	if (!s->build_ids || !m->inode || m->name[0] != '/')
		return NULL;
	buf_reset(&s->text);
	buf_addf(&s->text, "%x:%x %llu %s", m->major, m->minor, (unsigned long long)m->inode,
		 m->name);
	if (s->text.err || intern_add(&s->files, s->text.data, s->text.len, &id, &fresh))
		return NULL;
	if (fresh) {
		fd = mapping_open(s->proc, pid, m);
		if (fd >= 0) {
			buildid_from_elf(fd, k.id, &len);
			close(fd);
		}
		k.len = (uint8_t)len;
		buf_add(&s->ids, &k, sizeof(k));
	}
	if (s->ids.len < id * sizeof(k))
		return NULL;
	all = (const void *)s->ids.data;
	return all[id - 1].len ? &all[id - 1] : NULL;
}

static int add_mapping(struct synth *s, pid_t pid, const struct mapping *m)
{
	const struct known_id *k = build_id(s, pid, m);
	uint16_t misc = PERF_MISC_USER | (k ? PERF_MISC_MMAP_BUILD_ID : 0) |
			(m->prot & PROT_EXEC ? 0 : PERF_MISC_MMAP_DATA);
	size_t start = synth_begin(s, PERF_REC_MMAP2, misc);

	synth_u32(s, (uint32_t)pid);
	synth_u32(s, (uint32_t)pid);
	synth_u64(s, m->start);
	synth_u64(s, m->end - m->start);
	synth_u64(s, m->offset);
	if (k) {
		uint8_t field[4 + BUILDID_MAX] = {k->len};

		memcpy(field + 4, k->id, BUILDID_MAX);
		buf_add(&s->buf, field, sizeof(field));
	} else {
		synth_u32(s, m->major);
		synth_u32(s, m->minor);
		synth_u64(s, m->inode);
		synth_u64(s, 0); /* the inode's generation is not in /proc */
	}
	synth_u32(s, m->prot);
	synth_u32(s, m->flags);
	if (m->name_len)
		synth_name(s, m->name, m->name_len);
	else
		synth_name(s, "//anon", 6);
	return end_with_id(s, start);
}

struct of_process {
	struct synth *s;
	pid_t pid;
};

static int each_mapping(void *ctx, const struct mapping *m)
{
	const struct of_process *p = ctx;
	char room[PATH_MAX];
	struct mapping as;

	return add_mapping(p->s, p->pid, moved_text(p->s->proc, p->pid, m, room, &as) ? &as : m);
}

static int add_mappings(struct synth *s, pid_t pid)
{
	struct of_process p = {s, pid};

	s->maps.proc = s->proc;
	s->maps.data = s->data;
	s->maps.each = each_mapping;
	s->maps.ctx = &p;
	return mapping_read(&s->maps, pid);
}

/* The parent: the second field after the name in "pid (any name) S ppid ...". */
static bool read_parent(struct synth *s, pid_t pid, uint32_t *ppid)
{
	char path[PATH_MAX];
	const char *p;

	snprintf(path, sizeof(path), "%s/%d/stat", s->proc, pid);
	buf_reset(&s->text);
	if (sysfile_read(path, SYSFILE_MAX, &s->text))
		return false;
	p = strrchr(buf_str(&s->text), ')');
	if (!p || strlen(p) < 5)
		return false;
	*ppid = (uint32_t)strtoul(p + 4, NULL, 10);
	return true;
}

/* NAMESPACES, in the order of the kernel's NET_NS_INDEX and so on, and the number within. */
static int add_namespaces(struct synth *s, pid_t pid, pid_t tid)
{
	uint32_t inner = namespaces_inner(s->proc, (uint32_t)tid);
	static const char *const links[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};
	size_t n = sizeof(links) / sizeof(links[0]);
	size_t start = synth_begin(s, PERF_REC_NAMESPACES, 0);

	synth_u32(s, (uint32_t)pid);
	synth_u32(s, (uint32_t)tid);
	synth_u64(s, n + (inner != 0));
	for (size_t i = 0; i < n; i++) {
		struct stat st = {0};
		char path[128];

		snprintf(path, sizeof(path), "%s/%d/task/%d/ns/%s", s->proc, pid, tid, links[i]);
		if (stat(path, &st))
			st = (struct stat){0};
		synth_u64(s, st.st_dev);
		synth_u64(s, st.st_ino);
	}
	if (inner) {
		synth_u64(s, PERF_NS_INNER_MARK);
		synth_u64(s, inner);
	}
	return end_with_id(s, start);
}

/* FORK and COMM of a thread. PP_ENOENT if it is gone. */
static int add_task(struct synth *s, pid_t pid, pid_t tid, uint32_t ppid)
{
	char path[PATH_MAX];
	size_t start, len;
	int rc;

	snprintf(path, sizeof(path), "%s/%d/task/%d/comm", s->proc, pid, tid);
	buf_reset(&s->text);
	if (sysfile_read(path, SYSFILE_MAX, &s->text) || !s->text.len)
		return s->text.err ? s->text.err : PP_ENOENT;
	len = s->text.len;
	if (s->text.data[len - 1] == '\n')
		len--;
	if (len > 15) /* TASK_COMM_LEN; the names of kernel workers are longer here */
		len = 15;
	start = synth_begin(s, PERF_REC_FORK, PERF_MISC_FORK_EXEC);
	synth_u32(s, (uint32_t)pid);
	synth_u32(s, tid == pid ? ppid : (uint32_t)pid);
	synth_u32(s, (uint32_t)tid);
	synth_u32(s, tid == pid ? ppid : (uint32_t)pid);
	synth_u64(s, 0);
	rc = end_with_id(s, start);
	if (rc)
		return rc;
	start = synth_begin(s, PERF_REC_COMM, 0);
	synth_u32(s, (uint32_t)pid);
	synth_u32(s, (uint32_t)tid);
	synth_name(s, (const char *)s->text.data, len);
	rc = end_with_id(s, start);
	return rc || !s->namespaces ? rc : add_namespaces(s, pid, tid);
}

static int by_pid(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

/* The numbers among the names in a directory, in order. */
static int numbers(const char *path, struct buf *list)
{
	DIR *d = opendir(path);
	struct dirent *e;

	if (!d)
		return pp_errno(errno);
	while ((e = readdir(d)) && list->len / sizeof(pid_t) < TIDS_MAX) {
		char *end;
		long v = strtol(e->d_name, &end, 10);
		pid_t pid = (pid_t)v;

		if (!*end && v > 0 && v <= INT32_MAX)
			buf_add(list, &pid, sizeof(pid));
	}
	closedir(d);
	if (list->len)
		qsort(list->data, list->len / sizeof(pid_t), sizeof(pid_t), by_pid);
	return list->err;
}

int synth_process(struct synth *s, pid_t pid)
{
	struct buf tids = BUF_INIT;
	char path[PATH_MAX];
	uint32_t ppid;
	int rc;

	snprintf(path, sizeof(path), "%s/%d/task", s->proc, pid);
	if (!read_parent(s, pid, &ppid))
		return 0;
	rc = s->no_tasks ? 0 : add_task(s, pid, pid, ppid);
	if (!rc && !s->no_maps)
		rc = add_mappings(s, pid);
	if (!rc && !s->no_tasks && !numbers(path, &tids)) {
		const pid_t *v = (const void *)tids.data;

		for (size_t i = 0; i < tids.len / sizeof(pid_t) && (!rc || rc == PP_ENOENT); i++)
			if (v[i] != pid)
				rc = add_task(s, pid, v[i], ppid);
	}
	buf_release(&tids);
	return rc == PP_ENOENT ? 0 : rc;
}

int synth_processes(struct synth *s)
{
	struct buf pids = BUF_INIT;
	const pid_t *v;
	int rc = numbers(s->proc, &pids);

	v = (const void *)pids.data;
	for (size_t i = 0; i < pids.len / sizeof(pid_t) && !rc; i++)
		rc = synth_process(s, v[i]);
	buf_release(&pids);
	return rc;
}
