/* What a recorder has changed, and how it is given back. */
#include "ftrace/journal.h"

#include "base/err.h"
#include "base/out.h"
#include "event/glob.h"
#include "inplace/owner.h"
#include "pevent/sysfile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- writing to a file ---- */

int ftput(const char *path, int flags, const char *value, size_t len)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | flags), errnum = 0;

	if (fd < 0)
		return errno;
	/* A file of lists takes a word a call; an empty value is what O_TRUNC has done. */
	while (len && !errnum) {
		ssize_t n = write(fd, value, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			errnum = n ? errno : EIO;
			break;
		}
		value += n;
		len -= (size_t)n;
	}
	/* Lists of functions take effect at the close. */
	if (close(fd) && !errnum)
		errnum = errno;
	return errnum;
}

#define PREFIX	   "ftrace."
#define BUSY_TRIES 100 /* the kernel lets go of a buffer a while after its readers closed it */
#define BUSY_MS	   50

/* ---- the file: "KIND LEN PATH\nVALUE\n" for each entry ---- */

struct entry {
	char kind;
	char path[PATH_MAX];
	const char *value;
	size_t len;
};

/* The entry at *at, which moves on; PP_END, or PP_ECORRUPT: it was not written whole. */
static int next_entry(const struct buf *b, size_t *at, struct entry *e)
{
	const char *p = buf_str(b) + *at, *nl;
	unsigned long len;
	int head = 0;

	if (*at >= b->len)
		return PP_END;
	nl = memchr(p, '\n', b->len - *at);
	if (!nl || nl - p >= PATH_MAX || sscanf(p, "%c %lu %n", &e->kind, &len, &head) != 2 ||
	    !head || nl - p < head)
		return PP_ECORRUPT;
	snprintf(e->path, sizeof(e->path), "%.*s", (int)(nl - p - head), p + head);
	*at += (size_t)(nl - p) + 1;
	if (len >= b->len - *at || b->data[*at + len] != '\n')
		return PP_ECORRUPT;
	e->value = (const char *)b->data + *at;
	e->len = len;
	*at += len + 1;
	return 0;
}

static int load(const struct journal *j, struct buf *b)
{
	ssize_t n = 1;

	while (n > 0) {
		if (b->len > JOURNAL_MAX)
			return PP_ELIMIT;
		if (buf_reserve(b, 65536))
			return b->err;
		n = pread(j->fd, b->data + b->len, 65536, (off_t)b->len);
		if (n < 0)
			return pp_errno(errno);
		b->len += (size_t)n;
		b->data[b->len] = 0;
	}
	return 0;
}

int journal_add(struct journal *j, enum journal_kind kind, const char *path, const char *value,
		size_t len)
{
	struct buf b = BUF_INIT;
	int rc;

	if (j->fd < 0)
		return PP_EIO;
	buf_addf(&b, "%c %zu %s\n", (char)kind, len, path);
	buf_add(&b, value, len);
	buf_addc(&b, '\n');
	rc = b.err ? b.err : out_write_all(j->fd, b.data, b.len);
	if (!rc)
		j->len += b.len;
	buf_release(&b);
	return rc;
}

int journal_forget(struct journal *j, uint64_t from)
{
	if (ftruncate(j->fd, (off_t)from))
		return pp_errno(errno);
	j->len = from;
	return 0;
}

/* ---- what several have changed ---- */

int journal_lock(void)
{
	int fd = open(JOURNAL_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	while (fd >= 0 && flock(fd, LOCK_EX) && errno == EINTR)
		;
	return fd;
}

void journal_unlock(int lock)
{
	if (lock >= 0)
		close(lock);
}

struct search {
	const struct journal *j;
	const char *path;
	bool mine; /* this journal, too */
	bool found;
	char *name;
	struct buf *former; /* NULL: not wanted */
};

static int search_entry(void *ctx, const char *path, const char *value, size_t len)
{
	struct search *s = ctx;

	if (strcmp(path, s->path) != 0)
		return 0;
	s->found = true;
	if (s->former)
		buf_add(s->former, value, len);
	return PP_END;
}

static int search_journal(void *ctx, const char *name)
{
	struct search *s = ctx;
	struct journal other;

	if ((!s->mine && !strcmp(name, s->j->name)) ||
	    journal_open(&other, s->j->root, name, s->j->d))
		return 0;
	journal_each(&other, JOURNAL_SET, search_entry, s);
	journal_leave(&other);
	if (s->found && s->name)
		snprintf(s->name, JOURNAL_NAME_MAX + 1, "%s", name);
	return s->found ? PP_END : 0;
}

int journal_holder(const struct journal *j, const char *path, char name[JOURNAL_NAME_MAX + 1],
		   struct buf *former)
{
	struct search s = {.j = j, .path = path, .mine = true, .name = name, .former = former};

	journal_names(search_journal, &s);
	return s.found ? former->err : PP_ENOENT;
}

static bool others_hold(const struct journal *j, const char *path)
{
	struct search s = {.j = j, .path = path};

	journal_names(search_journal, &s);
	return s.found;
}

/* ---- giving back ---- */

static void wait_a_little(void)
{
	struct timespec pause = {.tv_nsec = BUSY_MS * 1000000};

	nanosleep(&pause, NULL);
}

/* Nothing but what lies below tracefs, and the switch of the stack tracer. */
static bool leads_out(const char *path)
{
	if (!strcmp(path, JOURNAL_STACK_TRACER))
		return false;
	return *path == '/' || !*path || !strncmp(path, "..", 2) || strstr(path, "/..");
}

/* Switches an instance off, so that nothing is traced while it is taken apart, and removes it. */
static int remove_instance(const struct journal *j, const char *path)
{
	static const char *const off[][2] = {
		{"tracing_on", "0"}, {"events/enable", "0"}, {"current_tracer", "nop"}};
	char name[PATH_MAX + 64];
	int errnum = 0;

	for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
		snprintf(name, sizeof(name), "%s/%s/%s", j->root, path, off[i][0]);
		ftput(name, O_TRUNC, off[i][1], strlen(off[i][1]));
	}
	snprintf(name, sizeof(name), "%s/%s", j->root, path);
	for (int i = 0; i < BUSY_TRIES; i++) {
		errnum = rmdir(name) ? errno : 0;
		if (errnum != EBUSY)
			break;
		/* A tracer cannot be changed while its buffer is read, either. */
		snprintf(name, sizeof(name), "%s/%s/current_tracer", j->root, path);
		ftput(name, O_TRUNC, "nop", 3);
		snprintf(name, sizeof(name), "%s/%s", j->root, path);
		wait_a_little();
	}
	return errnum == ENOENT ? 0 : errnum;
}

/*
 * The top's buffer is small until it is used. Kernels before 6.13 forget to let it grow then, once
 * an instance has set a size of its own: so it gets its size now.
 */
static int expand(const char *path, const struct entry *e)
{
	struct buf now = BUF_INIT;
	const char *space = memchr(e->value, ' ', e->len);
	size_t n = space ? (size_t)(space - e->value) : 0;
	int errnum = 0;

	if (n && !sysfile_read(path, 4096, &now) && now.len == n + 1 &&
	    !memcmp(now.data, e->value, n))
		errnum = ftput(path, O_TRUNC, space + 1, e->len - n - 1);
	buf_release(&now);
	return errnum;
}

static int give_back(const struct journal *j, const struct entry *e)
{
	char path[PATH_MAX + 64];
	int errnum = 0;

	if (e->kind == JOURNAL_BY)
		return 0;
	if (leads_out(e->path))
		return EINVAL;
	if (e->kind == JOURNAL_INSTANCE)
		return remove_instance(j, e->path);
	snprintf(path, sizeof(path), "%s%s%s", *e->path == '/' ? "" : j->root,
		 *e->path == '/' ? "" : "/", e->path);
	if (e->kind == JOURNAL_EXPAND)
		return expand(path, e);
	if (e->kind == JOURNAL_SET && others_hold(j, e->path))
		return 0;
	for (int i = 0; i < BUSY_TRIES; i++) {
		errnum = ftput(path, e->kind == JOURNAL_SET ? O_TRUNC : O_APPEND, e->value, e->len);
		if (errnum != EBUSY)
			break;
		wait_a_little();
	}
	/* What is gone, or was never made, needs not be taken away. */
	if (errnum == ENOENT || (e->kind == JOURNAL_APPEND && errnum == EINVAL))
		return 0;
	return errnum;
}

int journal_undo(struct journal *j, uint64_t from)
{
	struct buf b = BUF_INIT, places = BUF_INIT;
	struct entry e;
	int rc, errnum, lock, first = 0;
	size_t at = from;

	if (j->fd < 0)
		return 0;
	lock = journal_lock();
	rc = load(j, &b);
	for (size_t begin = at; !rc && !next_entry(&b, &at, &e); begin = at)
		buf_add(&places, &begin, sizeof(begin));
	rc = rc ? rc : places.err;
	for (size_t i = rc ? 0 : places.len / sizeof(at); i-- > 0;) {
		memcpy(&at, places.data + i * sizeof(at), sizeof(at));
		if (next_entry(&b, &at, &e))
			continue;
		errnum = give_back(j, &e);
		if (errnum) {
			diag_error(j->d, e.path, -1, "cannot be restored: %s", strerror(errnum));
			first = first ? first : pp_errno(errnum);
		}
	}
	buf_release(&b);
	buf_release(&places);
	rc = rc ? rc : first;
	rc = rc ? rc : journal_forget(j, from);
	journal_unlock(lock);
	return rc;
}

/* ---- the watcher ---- */

/* Waits until the recorder is gone; it gives back, unless the recorder did. */
static _Noreturn void watch(struct journal *j, int gone)
{
	char byte;
	ssize_t n;
	sigset_t all;

	setsid();
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	do
		n = read(gone, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1)
		_exit(0);
	if (journal_undo(j, 0))
		_exit(1);
	if (*j->path)
		unlink(j->path);
	diag_say(j->d, NULL, "the recorder was killed: its settings are restored");
	_exit(0);
}

static int start_watcher(struct journal *j)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return errno;
	j->watcher = fork();
	if (j->watcher < 0) {
		int errnum = errno;

		close(ends[0]);
		close(ends[1]);
		return errnum;
	}
	if (!j->watcher) {
		close(ends[1]);
		watch(j, ends[0]);
	}
	close(ends[0]);
	j->alive = ends[1];
	return 0;
}

/* ---- beginning and end ---- */

static int path_of(struct journal *j, const char *name)
{
	if (!*name || strlen(name) > JOURNAL_NAME_MAX || strchr(name, '/') || *name == '.')
		return PP_EUSAGE;
	snprintf(j->name, sizeof(j->name), "%s", name);
	snprintf(j->path, sizeof(j->path), JOURNAL_DIR "/" PREFIX "%s", name);
	return 0;
}

/* The folder is root's own, so that nobody else writes what is undone. */
static bool folder_is_safe(void)
{
	struct stat st;

	return !lstat(JOURNAL_DIR, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & 022);
}

int journal_begin(struct journal *j, const char *root, const char *name, bool watched,
		  struct diag *d)
{
	int errnum = 0;

	*j = (struct journal)JOURNAL_NONE;
	j->root = root;
	j->d = d;
	if (path_of(j, name)) {
		diag_error(d, NULL, -1, "'%s' cannot be the name of a buffer", name);
		return PP_EUSAGE;
	}
	if (!mkdir(JOURNAL_DIR, 0700) || folder_is_safe())
		j->fd = open(j->path, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
			     0600);
	if (j->fd < 0 && errno == EEXIST) {
		diag_error(d, j->path, -1, "a buffer of this name is in use");
		return PP_EUSAGE;
	}
	if (j->fd < 0 && !watched) {
		errnum = errno;
		diag_error(d, j->path, -1, "cannot be written: %s", strerror(errnum));
		return pp_errno(errnum);
	}
	if (j->fd < 0) {
		*j->path = 0;
		j->fd = memfd_create("pcap-ftrace", MFD_CLOEXEC);
		errnum = j->fd < 0 ? errno : 0;
		if (!errnum)
			fcntl(j->fd, F_SETFL, O_APPEND);
	}
	if (!errnum && watched)
		errnum = start_watcher(j);
	if (errnum) {
		diag_error(d, NULL, -1, "cannot save the changes: %s", strerror(errnum));
		journal_end(j);
	}
	return errnum ? pp_errno(errnum) : 0;
}

int journal_open(struct journal *j, const char *root, const char *name, struct diag *d)
{
	struct stat st;

	*j = (struct journal)JOURNAL_NONE;
	j->root = root;
	j->d = d;
	if (path_of(j, name) || !folder_is_safe())
		return PP_ENOENT;
	j->fd = open(j->path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
	if (j->fd < 0)
		return pp_errno(errno);
	if (fstat(j->fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid()) {
		journal_leave(j);
		return PP_EACCES;
	}
	j->len = (uint64_t)st.st_size;
	return 0;
}

void journal_leave(struct journal *j)
{
	if (j->fd >= 0)
		close(j->fd);
	j->fd = -1;
}

void journal_end(struct journal *j)
{
	if (j->fd >= 0 && *j->path)
		unlink(j->path);
	journal_leave(j);
	if (j->alive >= 0) {
		ssize_t n = write(j->alive, "", 1);

		(void)n;
		close(j->alive);
		while (waitpid(j->watcher, NULL, 0) < 0 && errno == EINTR)
			;
	}
	j->alive = -1;
}

int journal_each(const struct journal *j, enum journal_kind kind, journal_fn *fn, void *ctx)
{
	struct buf b = BUF_INIT;
	size_t at = 0;
	struct entry e;
	int rc = load(j, &b);

	while (!rc && !next_entry(&b, &at, &e))
		if (e.kind == (char)kind)
			rc = fn(ctx, e.path, e.value, e.len);
	buf_release(&b);
	return rc;
}

int journal_names(journal_name_fn *fn, void *ctx)
{
	struct sysnames names = {0};
	int rc;

	if (!folder_is_safe())
		return 0;
	rc = sysnames_read(&names, JOURNAL_DIR, PREFIX "*");
	for (size_t i = 0; i < names.n && !rc; i++)
		rc = fn(ctx, names.v[i] + strlen(PREFIX));
	sysnames_release(&names);
	return rc;
}

/* ---- what others left ---- */

struct sweep {
	const char *root;
	unsigned *n;
	struct diag *d;
};

static int sweep_one(void *ctx, const char *name)
{
	struct sweep *s = ctx;
	struct journal j;

	if (!owner_gone(name) || journal_open(&j, s->root, name, s->d))
		return 0;
	if (journal_undo(&j, 0)) {
		journal_leave(&j);
		return 0;
	}
	journal_end(&j);
	diag_say(s->d, NULL, "restored the settings of a recorder that was killed (%s)", name);
	++*s->n;
	return 0;
}

int journal_sweep(const char *root, unsigned *n, struct diag *d)
{
	struct sweep s = {root, n, d};
	struct sysnames names = {0};
	struct journal j = JOURNAL_NONE;
	char path[PATH_MAX];
	int rc;

	*n = 0;
	rc = journal_names(sweep_one, &s);
	/* Instances whose journal is gone, too. */
	snprintf(path, sizeof(path), "%s/instances", root);
	if (rc || sysnames_read(&names, path, OWNER_PREFIX "*"))
		return rc;
	j.root = root;
	for (size_t i = 0; i < names.n; i++) {
		if (!owner_gone(names.v[i]))
			continue;
		snprintf(path, sizeof(path), "instances/%s", names.v[i]);
		if (!remove_instance(&j, path))
			++*n;
	}
	sysnames_release(&names);
	return 0;
}
