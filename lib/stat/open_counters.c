/* The descriptors of counters: one for each event, CPU and thread. */
#include "stat/parts.h"

#include "base/err.h"
#include "pevent/sysfile.h"
#include "pevent/tracefs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static size_t at(const struct counting *s, size_t cpu, size_t tid)
{
	return cpu * s->n_tids + tid;
}

/* The kernel side is forbidden: counts the user side, unless the user asked for levels. */
static bool fall_back_to_user(const struct counting *s, struct stat_event *e)
{
	struct buf name = BUF_INIT;

	if (e->user_only || e->ev->levels || e->ev->attr.exclude_kernel || s->c->all_kernel ||
	    s->c->all_user || e->ev->attr.type == PERF_TYPE_TRACEPOINT)
		return false;
	buf_addf(&name, "%s%s", e->name, strchr(e->name, ':') ? "u" : ":u");
	if (name.err)
		return false;
	free(e->name);
	e->name = (char *)name.data;
	e->user_only = true;
	return true;
}

/* The descriptor that leads the group of an event on a CPU, for a thread; -1: it leads itself. */
static int leader_of(const struct counting *s, uint32_t event, size_t index)
{
	const struct stat_event *e = &s->events[event];

	if (!e->ev->group && !s->c->group)
		return -1;
	for (uint32_t i = 0; i < event; i++) {
		const struct stat_event *l = &s->events[i];

		if (l->ev->group == e->ev->group && l->set == e->set && l->fds &&
		    l->fds[index] >= 0 && l->leads[index])
			return l->fds[index];
	}
	return -1;
}

static long open_counter(const struct counting *s, uint32_t event, size_t cpu, size_t tid)
{
	struct stat_event *e = &s->events[event];
	int leader = leader_of(s, event, at(s, cpu, tid));
	unsigned long flags = PERF_FLAG_FD_CLOEXEC;
	pid_t pid = s->tids[tid];
	bool no_guest = false;
	long fd;

	if (e->cgroup) {
		pid = e->cgroup_fd;
		flags |= PERF_FLAG_PID_CGROUP;
	}
	for (;;) {
		struct perf_event_attr attr = stat_attr(s, e, leader < 0);

		attr.exclude_guest = attr.exclude_guest && !no_guest;
		fd = syscall(SYS_perf_event_open, &attr, pid, s->cpus[cpu], leader, flags);
		if (fd >= 0)
			break;
		if (errno == EINVAL && attr.exclude_guest)
			no_guest = true; /* some PMUs do not know guests */
		else if (errno == EINVAL && leader >= 0 && e->ev->weak)
			leader = -1;
		else if ((errno != EACCES && errno != EPERM) || !fall_back_to_user(s, e))
			break;
	}
	if (fd >= 0)
		e->leads[at(s, cpu, tid)] = leader < 0;
	return fd;
}

/* The machine has no such counter. */
static bool is_unsupported(int errnum)
{
	return errnum == EINVAL || errnum == ENOSYS || errnum == ENOENT || errnum == EOPNOTSUPP ||
	       errnum == ENXIO || errnum == ENODEV;
}

static int set_filter(const struct counting *s, const struct stat_event *e, int fd)
{
	struct buf why = BUF_INIT;
	const char *dir;
	int rc;

	if (!e->ev->filter || !ioctl(fd, PERF_EVENT_IOC_SET_FILTER, e->ev->filter))
		return 0;
	rc = pp_errno(errno);
	if (e->ev->tp && !tracefs_find(&dir, &why)) {
		buf_reset(&why);
		tracefs_filter_fault(dir, e->ev->system, e->ev->tp, e->ev->filter, &why);
	}
	diag_error(s->d, NULL, -1, "the kernel rejects the filter '%s' for %s%s", e->ev->filter,
		   e->name, buf_str(&why));
	buf_release(&why);
	return rc == PP_EPIPE ? PP_EIO : rc;
}

/* Whether the event's PMU counts on a CPU: one of a package does so on one of its CPUs only. */
static bool counts_on(const struct stat_event *e, int cpu)
{
	int *cpus = NULL;
	size_t n = 0;
	bool found = false;

	if (!e->ev->cpus || cpu < 0 || cpulist_parse(e->ev->cpus, &cpus, &n))
		return true;
	for (size_t i = 0; i < n && !found; i++)
		found = cpus[i] == cpu;
	free(cpus);
	return found;
}

static int open_event(struct counting *s, uint32_t event, size_t cpu, size_t from, size_t to)
{
	struct stat_event *e = &s->events[event];
	int rc = 0;

	if (e->place || e->ev->tool || (e->cgroup && e->cgroup_fd < 0) ||
	    !counts_on(e, s->cpus[cpu]))
		return 0;
	for (size_t t = from; t < to && !rc; t++) {
		long fd = open_counter(s, event, cpu, t);

		if (fd >= 0) {
			e->fds[at(s, cpu, t)] = (int)fd;
			e->supported = true;
			rc = set_filter(s, e, (int)fd);
		} else if (errno == ESRCH) {
			e->supported = true; /* the thread has ended */
		} else if (!is_unsupported(errno)) {
			rc = stat_cannot(s, e, errno);
		} else {
			if (s->c->verbose)
				diag_warn(s->d, NULL, -1, "%s is not counted here: %s", e->name,
					  strerror(errno));
			return 0;
		}
	}
	return rc;
}

static int open_part_on(struct counting *s, size_t cpu, size_t from, size_t to)
{
	int rc = 0;

	for (uint32_t i = 0; i < s->n_events && !rc; i++)
		rc = open_event(s, i, cpu, from, to);
	return rc;
}

int stat_open_on(struct counting *s, size_t cpu)
{
	int rc = open_part_on(s, cpu, 0, s->n_tids);

	return rc ? rc : stat_places_open_on(s, cpu, 0, s->n_tids);
}

static int open_part(struct counting *s, size_t from, size_t to)
{
	int rc = 0;

	for (size_t c = 0; c < s->n_cpus && !rc; c++)
		if (s->cpus[c] < 0 || online_has(&s->online, s->cpus[c]))
			rc = open_part_on(s, c, from, to);
	for (size_t c = 0; c < s->n_cpus && !rc; c++)
		if (s->cpus[c] < 0 || online_has(&s->online, s->cpus[c]))
			rc = stat_places_open_on(s, c, from, to);
	return rc;
}

int stat_open(struct counting *s)
{
	size_t n = s->n_cpus * s->n_tids;
	int rc;

	for (uint32_t i = 0; i < s->n_events; i++) {
		struct stat_event *e = &s->events[i];

		e->fds = e->fds ? e->fds : malloc((n ? n : 1) * sizeof(*e->fds));
		e->leads = e->leads ? e->leads : calloc(n ? n : 1, sizeof(*e->leads));
		e->base = e->base ? e->base : malloc((n ? n : 1) * sizeof(*e->base));
		if (!e->fds || !e->leads || !e->base)
			return PP_ENOMEM;
		for (size_t k = 0; k < n; k++)
			e->fds[k] = -1;
		memset(e->base, 0, n * sizeof(*e->base));
	}
	rc = stat_places_begin(s);
	if (!rc)
		rc = stat_files_begin(s);
	return rc ? rc : stat_files_each(s, open_part);
}

/* fn of all descriptors of the threads. */
static void each_counter(struct counting *s, size_t from, size_t to,
			 void (*fn)(const struct counting *s, struct stat_event *e, size_t at))
{
	for (uint32_t i = 0; i < s->n_events; i++) {
		struct stat_event *e = &s->events[i];

		for (size_t c = 0; e->fds && c < s->n_cpus; c++)
			for (size_t t = from; t < to; t++)
				if (e->fds[at(s, c, t)] >= 0)
					fn(s, e, at(s, c, t));
	}
}

static void enable_one(const struct counting *s, struct stat_event *e, size_t at)
{
	if (e->leads[at])
		ioctl(e->fds[at], s->on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

static int enable_part(struct counting *s, size_t from, size_t to)
{
	stat_places_enable(s, s->on, from, to);
	each_counter(s, from, to, enable_one);
	return 0;
}

void stat_enable(struct counting *s, bool on)
{
	s->on = on;
	(void)stat_files_each(s, enable_part);
}

static void close_one(const struct counting *s, struct stat_event *e, size_t at)
{
	(void)s;
	close(e->fds[at]);
	e->fds[at] = -1;
}

static int close_part(struct counting *s, size_t from, size_t to)
{
	each_counter(s, from, to, close_one);
	return 0;
}

void stat_close(struct counting *s)
{
	stat_places_close(s);
	(void)stat_files_each(s, close_part);
	stat_files_end(s);
}
