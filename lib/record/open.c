/* The matrix of event descriptors, events by CPUs by threads, and a ring buffer for each CPU. */
#include "base/err.h"
#include "pevent/sysfile.h"
#include "pevent/tracefs.h"
#include "record/parts.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LEVEL_MAX 4			   /* of attr_adapt */
#define IDS_MAX	  ((0xffff - 8 - 128) / 8) /* ids that one HEADER_ATTR record can hold */
#define FDS_MAX	  (1u << 20)		   /* descriptors altogether */
#define ONLINE	  "/sys/devices/system/cpu/online"
#define PARANOID  "/proc/sys/kernel/perf_event_paranoid"
#define OTHER_FDS 64

static int fail(const struct session *s, int rc, const char *text)
{
	diag_error(s->d, NULL, -1, "%s: %s", text, pp_strerror(rc));
	return rc;
}

static bool has(const int *list, size_t n, int v)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == v)
			return true;
	return false;
}

/* The CPUs that are online, of those that the user named. */
static int find_cpus(struct session *s)
{
	struct buf b = BUF_INIT;
	int *online = NULL;
	size_t n = 0, kept = 0;
	int rc = sysfile_read(ONLINE, SYSFILE_MAX, &b);

	if (!rc)
		rc = cpulist_parse(buf_str(&b), &online, &n);
	buf_release(&b);
	if (rc)
		return fail(s, rc, ONLINE);
	if (!s->c->cpus) {
		s->cpus = online;
		s->n_cpus = n;
		return 0;
	}
	rc = cpulist_parse(s->c->cpus, &s->cpus, &s->n_cpus);
	if (rc)
		diag_error(s->d, NULL, -1, "'%s' is no list of CPUs", s->c->cpus);
	for (size_t i = 0; i < s->n_cpus; i++) {
		if (has(online, n, s->cpus[i]))
			s->cpus[kept++] = s->cpus[i];
		else
			diag_warn(s->d, NULL, -1, "CPU %d is not online", s->cpus[i]);
	}
	s->n_cpus = kept;
	free(online);
	return rc;
}

static int add_threads(struct session *s, pid_t pid, struct buf *tids)
{
	char path[64];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	if (!d) {
		diag_error(s->d, NULL, -1, "there is no process %d", pid);
		return PP_ENOENT;
	}
	while ((e = readdir(d))) {
		pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);

		if (tid > 0)
			buf_add(tids, &tid, sizeof(tid));
	}
	closedir(d);
	return tids->err;
}

/* The threads to watch: all (-1), those of the listed processes, or the command's one. */
static int find_threads(struct session *s, pid_t child)
{
	struct buf tids = BUF_INIT;
	pid_t one = s->c->all_cpus ? -1 : child;
	int rc = 0;

	if (!s->c->pids) {
		buf_add(&tids, &one, sizeof(one));
	} else if (pidlist_parse(s->c->pids, &s->pids, &s->n_pids)) {
		diag_error(s->d, NULL, -1, "'%s' is no list of process numbers", s->c->pids);
		rc = PP_EUSAGE;
	}
	for (size_t i = 0; i < s->n_pids && !rc; i++)
		rc = add_threads(s, s->pids[i], &tids);
	rc = rc ? rc : tids.err;
	if (rc) {
		buf_release(&tids);
		return rc;
	}
	s->tids = (void *)tids.data;
	s->n_tids = tids.len / sizeof(pid_t);
	return 0;
}

/* As many descriptors as the matrix needs, if they may be had. */
static void raise_limit(size_t need)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) || r.rlim_cur >= need)
		return;
	r.rlim_cur = need;
	if (r.rlim_max < need) {
		rlim_t hard = r.rlim_max;

		r.rlim_max = need; /* for the privileged */
		if (!setrlimit(RLIMIT_NOFILE, &r))
			return;
		r.rlim_cur = r.rlim_max = hard;
	}
	(void)setrlimit(RLIMIT_NOFILE, &r);
}

static int make_matrix(struct session *s)
{
	size_t n = s->n_cpus * s->n_tids;

	if (n * s->n_attrs > FDS_MAX)
		return fail(s, PP_ELIMIT, "events times CPUs times threads");
	raise_limit(n * s->n_attrs + OTHER_FDS);
	for (size_t i = 0; i < s->n_attrs; i++) {
		s->attrs[i].fds = malloc(n * sizeof(int));
		s->attrs[i].ids = calloc(n, sizeof(uint64_t));
		if (!s->attrs[i].fds || !s->attrs[i].ids)
			return fail(s, PP_ENOMEM, "events");
		for (size_t k = 0; k < n; k++)
			s->attrs[i].fds[k] = -1;
	}
	s->rings = calloc(s->n_cpus, sizeof(*s->rings));
	return s->rings ? 0 : fail(s, PP_ENOMEM, "ring buffers");
}

static void adapt_all(struct session *s)
{
	for (size_t i = 0; i < s->n_attrs; i++)
		attr_adapt(s, &s->attrs[i]);
}

/* The kernel side is forbidden: records the user side, unless the user asked for levels. */
static bool fall_back_to_user(struct session *s, const struct rec_attr *a)
{
	if (s->user_only || a->attr.exclude_kernel || (a->ev && a->ev->levels) ||
	    a->attr.type == PERF_TYPE_TRACEPOINT)
		return false;
	s->user_only = true;
	adapt_all(s);
	for (size_t i = 0; i < s->n_attrs; i++) {
		struct rec_attr *each = &s->attrs[i];
		struct buf name = BUF_INIT;

		if (!each->ev || each->ev->levels)
			continue;
		buf_addf(&name, "%s%s", each->name, strchr(each->name, ':') ? "u" : ":u");
		if (!name.err) {
			free(each->name);
			each->name = (char *)name.data;
		}
	}
	return true;
}

/* Changes what the kernel may have objected to. False if there is nothing left to try. */
static bool concede(struct session *s, struct rec_attr *a, int errnum)
{
	switch (errnum) {
	case EACCES:
	case EPERM: return fall_back_to_user(s, a);
	case EINVAL:
	case E2BIG:
	case ENOENT:
	case EOPNOTSUPP:
		if (a->attr.precise_ip && a->ev && a->ev->precise_max) {
			a->attr.precise_ip--;
			return true;
		}
		if (errnum == ENOENT || s->level >= LEVEL_MAX)
			return false;
		s->level++;
		adapt_all(s);
		return true;
	}
	return false;
}

static long open_event(struct session *s, struct rec_attr *a, pid_t tid, int cpu)
{
	long fd;

	do
		fd = syscall(SYS_perf_event_open, &a->attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	while (fd < 0 && (errno == EINTR || concede(s, a, errno)));
	return fd;
}

static void explain_denied(const struct session *s, const struct rec_attr *a, struct buf *why)
{
	uint64_t level;

	buf_addf(why, "the kernel does not permit it: %sbe root, or have CAP_PERFMON%s",
		 s->pids ? "is the process yours? Otherwise " : "",
		 a->attr.type == PERF_TYPE_TRACEPOINT ? ", or set perf_event_paranoid to -1" : "");
	if (!sysfile_u64(PARANOID, &level))
		buf_addf(why, " (kernel.perf_event_paranoid is %lld%s)", (long long)level,
			 (int64_t)level > 0 ? "; all CPUs need 0 or less, the kernel side 1 or less"
					    : "");
}

/* What an errno of perf_event_open means for the user. */
static void explain(const struct session *s, const struct rec_attr *a, int errnum, struct buf *why)
{
	if (a->attr.branch_sample_type && (errnum == EOPNOTSUPP || errnum == EINVAL)) {
		buf_adds(why, "it has no record of last branches (LBR) here; --call-graph dwarf "
			      "works everywhere");
		return;
	}
	switch (errnum) {
	case EACCES:
	case EPERM: explain_denied(s, a, why); break;
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		if (a->attr.type == PERF_TYPE_SOFTWARE || a->attr.type == PERF_TYPE_TRACEPOINT)
			buf_adds(why, "the kernel does not have it");
		else
			buf_adds(why, "the machine does not count it (is it a virtual one?); "
				      "cpu-clock works everywhere");
		break;
	case EINVAL: buf_adds(why, "the kernel takes it for invalid"); break;
	case EBUSY: buf_adds(why, "another program has the counter"); break;
	case EMFILE:
	case ENFILE:
		buf_adds(why, "too many open files: raise the limit (ulimit -n), or name fewer "
			      "events or processes");
		break;
	case ENOSYS: buf_adds(why, "the kernel has no perf events"); break;
	default: buf_adds(why, strerror(errnum)); break;
	}
}

static int say_why(const struct session *s, const struct rec_attr *a, int errnum)
{
	struct buf why = BUF_INIT;
	int rc = pp_errno(errnum);

	explain(s, a, errnum, &why);
	diag_error(s->d, NULL, -1, "cannot record %s: %s", a->name, buf_str(&why));
	buf_release(&why);
	return rc == PP_EPIPE ? PP_EIO : rc;
}

static int set_filter(const struct session *s, const struct rec_attr *a, int fd)
{
	struct buf why = BUF_INIT;
	const char *dir = s->tracefs;
	int rc;

	if (!a->ev || !a->ev->filter || !ioctl(fd, PERF_EVENT_IOC_SET_FILTER, a->ev->filter))
		return 0;
	rc = pp_errno(errno);
	if (dir && a->ev->tp)
		tracefs_filter_fault(dir, a->ev->system, a->ev->tp, a->ev->filter, &why);
	diag_error(s->d, NULL, -1, "the kernel rejects the filter '%s' for %s%s", a->ev->filter,
		   a->name, buf_str(&why));
	buf_release(&why);
	return rc == PP_EPIPE ? PP_EIO : rc;
}

/* Joins a new descriptor to its CPU's ring buffer, which the CPU's first one makes. */
static int join_ring(struct session *s, const struct rec_attr *a, int cpu, int fd)
{
	struct ring *last = s->n_rings ? &s->rings[s->n_rings - 1] : NULL;
	int errnum = 0;

	if (last && last->cpu == cpu) {
		if (!ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, last->fd))
			return 0;
		return say_why(s, a, errno);
	}
	if (!ring_map(&s->rings[s->n_rings], cpu, fd, &s->pages, &errnum)) {
		s->n_rings++;
		return 0;
	}
	diag_error(s->d, NULL, -1, "cannot map a ring buffer: %s%s", strerror(errnum),
		   errnum == EPERM ? " (kernel.perf_event_mlock_kb is too small)" : "");
	return pp_errno(errnum);
}

static int open_one(struct session *s, struct rec_attr *a, size_t cpu, size_t tid)
{
	long fd = open_event(s, a, s->tids[tid], s->cpus[cpu]);
	int rc;

	if (fd < 0 && errno == ESRCH)
		return 0; /* the thread has ended */
	if (fd < 0 && errno == ENODEV && a->attr.type == PERF_TYPE_SOFTWARE) {
		diag_warn(s->d, NULL, -1, "CPU %d has gone offline", s->cpus[cpu]);
		return PP_END;
	}
	if (fd < 0)
		return say_why(s, a, errno);
	a->fds[cpu * s->n_tids + tid] = (int)fd;
	rc = join_ring(s, a, s->cpus[cpu], (int)fd);
	if (!rc)
		rc = set_filter(s, a, (int)fd);
	if (!rc && ioctl((int)fd, PERF_EVENT_IOC_ID, &a->ids[a->n_ids++]))
		rc = say_why(s, a, errno);
	return rc;
}

static int open_all(struct session *s)
{
	for (size_t c = 0; c < s->n_cpus; c++) {
		int rc = 0;

		for (size_t t = 0; t < s->n_tids && !rc; t++)
			for (size_t i = 0; i < s->n_attrs && !rc; i++)
				rc = open_one(s, &s->attrs[i], c, t);
		if (rc && rc != PP_END)
			return rc;
	}
	if (s->n_rings)
		return 0;
	diag_error(s->d, NULL, -1, "nothing to record: no CPU or thread is there");
	return PP_ENOENT;
}

/* Without ids in the records there is one attribute only, and the length of its list is no limit.
 */
static bool too_many_ids(const struct session *s)
{
	return s->n_cpus * s->n_tids > IDS_MAX;
}

static const char *const left_out[LEVEL_MAX + 1] = {
	"", "counts of last losses", "build-ids of new mappings", "news of BPF programs",
	"the distinction of guests"};

static void say_concessions(const struct session *s, uint32_t asked)
{
	if (s->user_only)
		diag_warn(s->d, NULL, -1,
			  "the kernel side is not recorded (see kernel.perf_event_paranoid)");
	if (s->pages < asked)
		diag_note(s->d, NULL, -1,
			  "ring buffers of %u pages each (kernel.perf_event_mlock_kb)", s->pages);
	if (s->level)
		diag_note(s->d, NULL, -1, "this kernel is older: the recording is without %s",
			  left_out[s->level]);
}

int session_open(struct session *s, pid_t child)
{
	struct buf why = BUF_INIT;
	bool stacks = s->c->chains == RECORD_CHAINS_DWARF;
	uint32_t fit = stacks ? RECORD_PAGES_STACKS : RECORD_PAGES_DEFAULT;
	uint32_t asked = s->c->pages ? s->c->pages : fit;
	bool apart = s->c->all_cpus || s->c->pids;
	int rc = find_cpus(s);

	s->pages = asked;
	if (tracefs_find(&s->tracefs, &why))
		s->tracefs = NULL;
	buf_release(&why);
	if (!rc)
		rc = find_threads(s, child);
	if (rc)
		return rc;
	if (too_many_ids(s) && s->c->events.n <= 1)
		apart = false;
	else if (too_many_ids(s))
		return fail(s, PP_ELIMIT, "so many threads on so many CPUs take one event only");
	rc = session_attrs(s, apart, !apart && !s->c->pids);
	if (!rc)
		rc = make_matrix(s);
	if (!rc)
		rc = open_all(s);
	if (!rc && s->attrs[0].n_ids > IDS_MAX)
		s->attrs[0].n_ids = 0; /* no record refers to them */
	if (!rc)
		say_concessions(s, asked);
	return rc;
}

void session_enable(struct session *s, bool on)
{
	size_t n = s->n_cpus * s->n_tids;

	for (size_t i = 0; i < s->n_attrs; i++)
		for (size_t k = 0; k < n; k++)
			if (s->attrs[i].fds[k] >= 0)
				ioctl(s->attrs[i].fds[k],
				      on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

bool session_lost(const struct session *s, uint64_t *lost)
{
	size_t n = s->n_cpus * s->n_tids;

	*lost = 0;
	if (!s->n_attrs || !(s->attrs[0].attr.read_format & PERF_FORMAT_LOST))
		return false;
	for (size_t i = 0; i < s->n_attrs; i++) {
		for (size_t k = 0; k < n; k++) {
			uint64_t v[3]; /* count, id, lost */

			if (s->attrs[i].fds[k] >= 0 &&
			    read(s->attrs[i].fds[k], v, sizeof(v)) == sizeof(v))
				*lost += v[2];
		}
	}
	return true;
}

void session_close(struct session *s)
{
	size_t n = s->n_cpus * s->n_tids;

	for (size_t i = 0; i < s->n_rings; i++)
		ring_unmap(&s->rings[i]);
	for (size_t i = 0; i < s->n_attrs; i++) {
		for (size_t k = 0; s->attrs[i].fds && k < n; k++)
			if (s->attrs[i].fds[k] >= 0)
				close(s->attrs[i].fds[k]);
		free(s->attrs[i].fds);
		free(s->attrs[i].ids);
		free(s->attrs[i].name);
	}
	free(s->attrs);
	free(s->rings);
	free(s->cpus);
	free(s->pids);
	free(s->tids);
	pevents_release(&s->fallback);
	*s = (struct session){0};
}
