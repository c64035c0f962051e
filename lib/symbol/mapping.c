/* Reads the mappings of processes. */
#include "symbol/mapping.h"

#include "base/err.h"
#include "symbol/beneath.h"
#include "symbol/root.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAPS_MAX (256u << 20) /* bytes of one /proc/PID/maps */
#define ABOVE_32 (1ull << 32) /* what only processes of 64 bits have mapped */

/* As struct procmap_query of <linux/fs.h>, which older headers lack. */
struct query {
	uint64_t size, flags, addr; /* in */
	uint64_t start, end, vma_flags, page_size, offset, inode;
	uint32_t major, minor;
	uint32_t name_size, build_id_size; /* room; what there was */
	uint64_t name, build_id;	   /* addresses */
};
#define QUERY _IOWR('f', 17, struct query)

enum { VMA_READ = 1, VMA_WRITE = 2, VMA_EXEC = 4, VMA_SHARED = 8, OR_NEXT = 16 };

/* The kernel writes a newline in a name as \012, and escapes nothing else. */
static size_t unescape(char *s)
{
	char *to = s;

	for (const char *p = s; *p;) {
		if (strncmp(p, "\\012", 4) == 0) {
			*to++ = '\n';
			p += 4;
		} else {
			*to++ = *p++;
		}
	}
	*to = 0;
	return (size_t)(to - s);
}

/* The text of a file of /proc, as far as it can be read: the process can end meanwhile. */
static char *read_maps(const char *path, struct buf *maps)
{
	enum symtab_reason why;

	(void)root_read(NULL, path, MAPS_MAX, maps, &why);
	return (char *)maps->data;
}

/* "55d0-55d8 r-xp 00028000 fe:00 332383     /usr/lib/a b.so (deleted)", without the newline. */
static bool parse_mapping(char *line, struct mapping *m)
{
	char *p;

	m->start = strtoull(line, &p, 16);
	if (*p++ != '-')
		return false;
	m->end = strtoull(p, &p, 16);
	if (*p++ != ' ' || strnlen(p, 5) < 5 || m->end <= m->start)
		return false;
	m->prot = (p[0] == 'r' ? PROT_READ : 0) | (p[1] == 'w' ? PROT_WRITE : 0) |
		  (p[2] == 'x' ? PROT_EXEC : 0);
	m->flags = p[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	m->offset = strtoull(p + 4, &p, 16);
	m->major = (uint32_t)strtoul(p, &p, 16);
	if (*p++ != ':')
		return false;
	m->minor = (uint32_t)strtoul(p, &p, 16);
	m->inode = strtoull(p, &p, 10);
	p += strspn(p, " ");
	m->name = p;
	m->name_len = unescape(p);
	return true;
}

static int put(const struct proc_maps *s, const struct mapping *m)
{
	if (m->prot & PROT_EXEC || (s->data && m->prot & PROT_READ && m->inode))
		return s->each(s->ctx, m);
	return 0;
}

/* Those that begin at `from` or later. */
static int read_text(const struct proc_maps *s, const char *path, uint64_t from)
{
	struct buf maps = BUF_INIT;
	int rc = 0;

	for (char *line = read_maps(path, &maps), *next; line && *line && !rc; line = next) {
		struct mapping m;
		char *end = strchr(line, '\n');

		if (!end)
			break;
		*end = 0;
		next = end + 1;
		if (parse_mapping(line, &m) && m.start >= from)
			rc = put(s, &m);
	}
	buf_release(&maps);
	return rc;
}

/* 0, or -1 with errno: ENOENT where there is none from addr on. */
static int ask(int fd, uint64_t addr, uint64_t flags, char name[PATH_MAX], struct query *q)
{
	*q = (struct query){.size = sizeof(*q), .flags = flags | OR_NEXT, .addr = addr};
	if (name) {
		q->name = (uintptr_t)name;
		q->name_size = PATH_MAX;
	}
	return ioctl(fd, QUERY, q);
}

/* What the kernel answered; the name is in `room`. */
static struct mapping mapping_of(const struct query *q, char room[PATH_MAX])
{
	struct mapping m = {.start = q->start,
			    .end = q->end,
			    .offset = q->offset,
			    .inode = q->inode,
			    .major = q->major,
			    .minor = q->minor,
			    .name = room};

	m.prot = (q->vma_flags & VMA_READ ? PROT_READ : 0) |
		 (q->vma_flags & VMA_WRITE ? PROT_WRITE : 0) |
		 (q->vma_flags & VMA_EXEC ? PROT_EXEC : 0);
	m.flags = q->vma_flags & VMA_SHARED ? MAP_SHARED : MAP_PRIVATE;
	if (room) {
		room[q->name_size ? PATH_MAX - 1 : 0] = 0;
		m.name_len = strlen(room);
	}
	return m;
}

/* *next: up to where they are done; *whole: that is all. */
static int read_queries(const struct proc_maps *s, int fd, uint64_t *next, bool *whole)
{
	uint64_t flags = s->data ? 0 : VMA_EXEC;
	char name[PATH_MAX];
	struct query q;
	int rc = 0;

	errno = 0;
	while (!rc && !ask(fd, *next, flags, name, &q) && q.end > *next) {
		struct mapping m = mapping_of(&q, name);

		*next = q.end;
		rc = put(s, &m);
		errno = 0;
	}
	*whole = errno == ENOENT || errno == ESRCH;
	return rc;
}

static bool find_in_text(const char *path, uint64_t addr, char *room, struct mapping *m)
{
	struct buf maps = BUF_INIT;
	bool found = false;

	for (char *line = read_maps(path, &maps), *end; line && *line && !found; line = end + 1) {
		end = strchr(line, '\n');
		if (!end)
			break;
		*end = 0;
		found = parse_mapping(line, m) && m->start <= addr && addr < m->end;
	}
	if (found && room)
		snprintf(room, PATH_MAX, "%s", m->name);
	buf_release(&maps);
	m->name = room;
	return found;
}

bool mapping_at(const char *proc, pid_t pid, uint64_t addr, char *room, struct mapping *m)
{
	char path[PATH_MAX];
	struct query q;
	int fd;

	snprintf(path, sizeof(path), "%s/%d/maps", proc, (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (ask(fd, addr, 0, room, &q)) {
		bool old = errno == ENOTTY || errno == EINVAL;

		close(fd);
		return old && find_in_text(path, addr, room, m);
	}
	close(fd);
	*m = mapping_of(&q, room);
	return m->start <= addr && addr < m->end;
}

/* The kernel's own page in processes of 64 bits, [vsyscall], is in the text only: in ours, too. */
static void find_gate(struct proc_maps *s)
{
	struct buf maps = BUF_INIT;
	char path[PATH_MAX], *line;

	s->gate_known = true;
	snprintf(path, sizeof(path), "%s/self/maps", s->proc);
	if (read_maps(path, &maps)) {
		if (maps.len && maps.data[maps.len - 1] == '\n')
			maps.data[maps.len - 1] = 0;
		line = strrchr(buf_str(&maps), '\n');
		if (line && parse_mapping(line + 1, &s->gate) && s->gate.start >> 63) {
			snprintf(s->gate_name, sizeof(s->gate_name), "%s", s->gate.name);
			s->gate.name_len = strlen(s->gate_name);
			s->has_gate = true;
		}
		s->gate.name = s->gate_name;
	}
	buf_release(&maps);
}

int mapping_read(struct proc_maps *s, pid_t pid)
{
	char path[PATH_MAX];
	uint64_t next = 0;
	struct query q;
	bool whole;
	int fd, rc;

	snprintf(path, sizeof(path), "%s/%d/maps", s->proc, pid);
	if (s->text_only)
		return read_text(s, path, 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	rc = read_queries(s, fd, &next, &whole);
	if (!rc && whole && !s->gate_known)
		find_gate(s);
	if (!rc && !whole)
		rc = read_text(s, path, next);
	else if (!rc && s->has_gate && !ask(fd, ABOVE_32, 0, NULL, &q))
		rc = put(s, &s->gate);
	close(fd);
	return rc;
}

int mapping_open(const char *proc, pid_t pid, const struct mapping *m)
{
	char path[PATH_MAX];
	struct stat st;
	int fd, root;

	/* Right for deleted files and other mount namespaces too, but only for the privileged. */
	snprintf(path, sizeof(path), "%s/%d/map_files/%llx-%llx", proc, pid,
		 (unsigned long long)m->start, (unsigned long long)m->end);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "%s/%d/root", proc, pid);
	root = beneath_dir(path);
	if (root < 0)
		return -1;
	fd = beneath_open(root, m->name);
	close(root);
	if (fd >= 0 && (fstat(fd, &st) || st.st_ino != m->inode)) {
		close(fd);
		fd = -1;
	}
	return fd;
}
