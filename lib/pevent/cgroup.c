/* Cgroups: where their hierarchy is mounted, and finding one by what a user calls it. */
#include "pevent/cgroup.h"

#include "base/err.h"
#include "pevent/sysfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX 32	 /* levels below the root that are looked at */
#define DIRS_MAX  100000 /* directories likewise */

/* Has a comma-separated list this word? */
static bool has_word(const char *list, size_t len, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = list, *end = list + len; p < end; p++) {
		size_t part = strcspn(p, ", \n");

		if (part == n && strncmp(p, word, n) == 0)
			return true;
		p += part;
	}
	return false;
}

/* "31 23 0:28 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw": mount point and kind. */
static bool parse_mount(const char *line, size_t len, const char **dir, size_t *dir_len, bool *v1)
{
	const char *end = line + len, *p = line, *type = memmem(line, len, " - ", 3);

	for (int i = 0; i < 4 && p; i++) {
		p = memchr(p, ' ', (size_t)(end - p));
		p = p ? p + 1 : NULL;
	}
	if (!p || !type)
		return false;
	*dir = p;
	*dir_len = strcspn(p, " ");
	type += 3;
	*v1 = strncmp(type, "cgroup ", 7) == 0 &&
	      has_word(type, (size_t)(end - type), "perf_event");
	return *v1 || strncmp(type, "cgroup2 ", 8) == 0;
}

/* Where that hierarchy is mounted, by /proc/self/mountinfo. 0, PP_ENOENT, PP_ENOMEM. */
static int cgroup_root(struct buf *path)
{
	struct buf text = BUF_INIT;
	int rc = sysfile_read("/proc/self/mountinfo", SYSFILE_MAX, &text);
	bool found_v1 = false;

	buf_reset(path);
	for (const char *p = rc ? "" : buf_str(&text); *p && !found_v1;) {
		size_t len = strcspn(p, "\n"), dir_len;
		const char *dir;

		if (parse_mount(p, len, &dir, &dir_len, &found_v1) && (found_v1 || !path->len)) {
			buf_reset(path);
			buf_add(path, dir, dir_len);
		}
		p += len + (p[len] == '\n');
	}
	buf_release(&text);
	if (!rc && !path->len)
		rc = PP_ENOENT;
	return rc ? rc : path->err;
}

/* A walk through all cgroups below `root`. */
struct walk {
	const char *root;
	struct buf path; /* the whole path of the directory */
	cgroup_visit *visit;
	void *ctx;
	size_t dirs;
};

static int walk(struct walk *w, int depth)
{
	size_t len = w->path.len;
	struct sysnames names = {0};
	const char *name = buf_str(&w->path) + strlen(w->root);
	struct stat st;
	int rc = 0;

	if (stat(buf_str(&w->path), &st) || !S_ISDIR(st.st_mode))
		return 0;
	if (++w->dirs > DIRS_MAX)
		return PP_ELIMIT;
	rc = w->visit(w->ctx, st.st_ino, *name ? name : "/");
	if (!rc && depth < DEPTH_MAX && sysnames_read(&names, buf_str(&w->path), "*") == PP_ENOMEM)
		rc = PP_ENOMEM;
	for (size_t i = 0; i < names.n && !rc; i++) {
		/* The files of a cgroup have a dot after the name of their controller. */
		if (strncmp(names.v[i], "cgroup.", 7) == 0)
			continue;
		buf_addf(&w->path, "/%s", names.v[i]);
		rc = w->path.err ? w->path.err : walk(w, depth + 1);
		w->path.len = len;
		if (w->path.data)
			w->path.data[len] = 0;
	}
	sysnames_release(&names);
	return rc;
}

int cgroup_each(cgroup_visit *visit, void *ctx)
{
	struct buf root = BUF_INIT;
	struct walk w = {.visit = visit, .ctx = ctx};
	int rc = cgroup_root(&root);

	w.root = buf_str(&root);
	buf_adds(&w.path, w.root);
	if (!rc)
		rc = w.path.err ? w.path.err : walk(&w, 0);
	buf_release(&w.path);
	buf_release(&root);
	return rc;
}

struct search {
	const char *head, *tail; /* "docker", "9c2281" of docker/9c2281; head NULL: none */
	size_t head_len;
	struct buf *full;
	size_t hits;
};

/*
 * Fits ".../docker/9c2281e2..." and ".../docker-9c2281e2....scope" for docker/9c2281, and
 * ".../web..." for web.
 */
static bool fits(const struct search *s, const char *name)
{
	const char *last = strrchr(name, '/') + 1, *before = last - 1;

	if (!s->head)
		return strncmp(last, s->tail, strlen(s->tail)) == 0;
	if (strncmp(last, s->head, s->head_len) == 0 && last[s->head_len] == '-' &&
	    strncmp(last + s->head_len + 1, s->tail, strlen(s->tail)) == 0)
		return true;
	return strncmp(last, s->tail, strlen(s->tail)) == 0 &&
	       (size_t)(before - name) >= s->head_len &&
	       strncmp(before - s->head_len, s->head, s->head_len) == 0;
}

static int on_cgroup(void *ctx, uint64_t id, const char *name)
{
	struct search *s = ctx;

	(void)id;
	if (!name[1] || !fits(s, name))
		return 0;
	/* What is below a hit is part of it, whatever it is called. */
	if (s->hits && strncmp(name, buf_str(s->full), s->full->len) == 0 &&
	    name[s->full->len] == '/')
		return 0;
	if (!s->hits++)
		buf_adds(s->full, name);
	return s->full->err;
}

/* By a part of its name, anywhere below the root. */
static int search(const char *name, struct buf *full, struct buf *why)
{
	const char *slash = strrchr(name, '/');
	struct search s = {.tail = slash ? slash + 1 : name, .full = full};
	int rc;

	if (slash && slash > name) {
		s.head = name + (*name == '/');
		s.head_len = (size_t)(slash - s.head);
	}
	buf_reset(full);
	rc = *s.tail ? cgroup_each(on_cgroup, &s) : 0;
	if (rc || s.hits == 1)
		return rc;
	if (s.hits)
		buf_addf(why, "%zu cgroups begin with this: ", s.hits);
	else
		buf_adds(why, "there is no such cgroup: ");
	buf_add_safe(why, name, strlen(name));
	return s.hits ? PP_EUSAGE : PP_ENOENT;
}

static int open_dir(const struct buf *root, const char *name)
{
	struct buf path = BUF_INIT;
	int fd = -1;

	buf_addf(&path, "%s/%s", buf_str(root), name);
	if (!path.err)
		fd = open(buf_str(&path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	buf_release(&path);
	return fd;
}

int cgroup_open(const char *name, int *fd, struct buf *full, struct buf *why)
{
	struct buf root = BUF_INIT;
	int rc = cgroup_root(&root);

	if (rc == PP_ENOENT)
		buf_adds(why, "no cgroup file system is mounted that perf events use (cgroup2, or "
			      "perf_event of version 1)");
	if (!rc && root.len > 1 && strncmp(name, buf_str(&root), root.len) == 0)
		name += root.len; /* it was given from the root of the file system */
	*fd = rc ? -1 : open_dir(&root, name);
	buf_reset(full);
	if (*fd >= 0) {
		buf_addf(full, "%s%s", *name == '/' ? "" : "/", name);
		rc = full->err;
	} else if (!rc && (errno == ENOENT || errno == ENOTDIR)) {
		rc = search(name, full, why);
		*fd = rc ? -1 : open_dir(&root, buf_str(full));
	}
	if (!rc && *fd < 0) {
		rc = pp_errno(errno);
		buf_addf(why, "cannot open the cgroup: %s", strerror(errno));
	}
	buf_release(&root);
	return rc;
}
