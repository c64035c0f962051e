/* The matrix of event descriptors, events by CPUs by threads, and their ring buffers. */
#include "base/err.h"
#include "perfdata/format.h"
#include "pevent/cgroup.h"
#include "pevent/sysfile.h"
#include "pevent/tracefs.h"
#include "record/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LEVEL_MAX   4			     /* of attr_adapt */
#define IDS_MAX	    ((0xffff - 8 - 128) / 8) /* ids that one HEADER_ATTR record can hold */
#define FDS_MAX	    (1u << 20)		     /* descriptors altogether */
#define READ_WORDS  (4 + 3 * 64)	     /* a group of up to 64 */
#define RINGS_MAX   (256u << 20) /* bytes of all rings that are sized by what is recorded */
#define ID_IN_STORE (1ull << 62) /* ids from here on are not the kernel's, which counts from 1 */

static int fail(const struct session *s, int rc, const char *text)
{
	diag_error(s->d, NULL, -1, "%s: %s", text, pp_strerror(rc));
	return rc;
}

/* Makes room for CPUs that may come, unless there are more than a recording can announce. */
static int expect_cpus(struct session *s)
{
	size_t n = s->t.n_cpus + s->t.n_away;
	bool changed;
	int *all, rc = online_look(&s->online, &changed);

	s->n_home = s->t.n_cpus;
	s->hotplug = !s->c->per_thread && s->t.n_tids == 1 && s->t.tids[0] == -1;
	if (rc)
		return fail(s, rc, ONLINE_FILE);
	if (!s->hotplug || !s->t.n_away || n > IDS_MAX || n * s->n_attrs > FDS_MAX)
		return 0;
	all = realloc(s->t.cpus, n * sizeof(*all));
	if (!all)
		return fail(s, PP_ENOMEM, "CPUs");
	memcpy(all + s->t.n_cpus, s->t.away, s->t.n_away * sizeof(*all));
	s->t.cpus = all;
	s->t.n_cpus = n;
	return 0;
}

/* What is needed to give records of CPUs that come the ids that the recording has for them. */
static int make_ids(const struct session *s, struct rec_attr *a)
{
	if (!s->hotplug || !s->with_ids)
		return 0;
	a->shown = calloc(s->t.n_cpus, sizeof(*a->shown));
	a->base = calloc(s->t.n_cpus, sizeof(*a->base));
	return a->shown && a->base ? 0 : fail(s, PP_ENOMEM, "events");
}

static int make_matrix(struct session *s)
{
	size_t n = s->t.n_cpus * s->t.n_tids;
	int rc = 0;

	s->n_rows = s->c->per_thread ? s->t.n_tids : s->t.n_cpus;
	s->n_rings = s->n_rows * (s->c->snapshot ? 2 : 1);
	if (n * s->n_attrs > FDS_MAX)
		return fail(s, PP_ELIMIT, "events times CPUs times threads");
	sysfile_raise_files(n * s->n_attrs + 2 * s->n_rings + SESSION_OTHER_FDS);
	for (size_t i = 0; i < s->n_attrs && !rc; i++) {
		s->attrs[i].fds = malloc(n * sizeof(int));
		s->attrs[i].ids = calloc(n, sizeof(uint64_t));
		if (!s->attrs[i].fds || !s->attrs[i].ids)
			return fail(s, PP_ENOMEM, "events");
		for (size_t k = 0; k < n; k++)
			s->attrs[i].fds[k] = -1;
		rc = make_ids(s, &s->attrs[i]);
	}
	if (rc)
		return rc;
	s->rings = calloc(s->n_rings, sizeof(*s->rings));
	for (size_t i = 0; i < s->n_rings && s->rings; i++)
		s->rings[i].fd = -1;
	return s->rings ? 0 : fail(s, PP_ENOMEM, "ring buffers");
}

static void adapt_all(struct session *s)
{
	for (size_t i = 0; i < s->n_attrs; i++)
		attr_adapt(s, &s->attrs[i]);
}

/* The name of an event, also of one that a helper is for. */
static const char *event_name(const struct rec_attr *a)
{
	return a->name + (a->helper ? strlen(PERF_HELPER) : 0);
}

/* The kernel side is forbidden: records the user side, unless the user asked for levels. */
static bool fall_back_to_user(struct session *s, const struct rec_attr *a)
{
	if (s->user_only || a->attr.exclude_kernel || (a->ev && a->ev->levels) ||
	    a->attr.type == PERF_TYPE_TRACEPOINT || s->c->all_kernel)
		return false;
	s->user_only = true;
	adapt_all(s);
	for (size_t i = 0; i < s->n_attrs; i++) {
		struct rec_attr *each = &s->attrs[i];
		struct buf name = BUF_INIT;

		if (!each->ev || each->ev->levels)
			continue;
		buf_addf(&name, "%s%s", each->name, strchr(event_name(each), ':') ? "u" : ":u");
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
		/* Old kernels and CPUs know weights of one kind only. */
		if (a->attr.sample_type & PERF_SAMPLE_WEIGHT_STRUCT && errnum == EINVAL) {
			a->attr.sample_type &= ~(uint64_t)PERF_SAMPLE_WEIGHT_STRUCT;
			a->attr.sample_type |= PERF_SAMPLE_WEIGHT;
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

static long open_event(struct session *s, struct rec_attr *a, size_t cpu, size_t tid)
{
	const struct rec_attr *leader = &s->attrs[a->leader];
	int group = leader == a ? -1 : leader->fds[cpu * s->t.n_tids + tid];
	pid_t who = a->cgroup_fd >= 0 ? a->cgroup_fd : s->t.tids[tid];
	unsigned long flags = PERF_FLAG_FD_CLOEXEC | (a->cgroup_fd >= 0 ? PERF_FLAG_PID_CGROUP : 0);
	long fd;

	do
		fd = syscall(SYS_perf_event_open, &a->attr, who, s->t.cpus[cpu], group, flags);
	while (fd < 0 && (errno == EINTR || concede(s, a, errno)));
	return fd;
}

static int set_filter(const struct session *s, const struct rec_attr *a, int fd)
{
	struct buf why = BUF_INIT;
	int rc;

	if (!a->ev || !a->ev->filter || !ioctl(fd, PERF_EVENT_IOC_SET_FILTER, a->ev->filter))
		return 0;
	rc = pp_errno(errno);
	if (s->tracefs && a->ev->tp)
		tracefs_filter_fault(s->tracefs, a->ev->system, a->ev->tp, a->ev->filter, &why);
	diag_error(s->d, NULL, -1, "the kernel rejects the filter '%s' for %s%s", a->ev->filter,
		   a->name, buf_str(&why));
	buf_release(&why);
	return rc == PP_EPIPE ? PP_EIO : rc;
}

/* Joins a new descriptor to the ring buffer of its CPU, or of its thread. */
static int join_ring(struct session *s, const struct rec_attr *a, size_t cpu, size_t tid, int fd)
{
	bool back = a->attr.write_backward;
	struct ring *r = &s->rings[(s->c->per_thread ? tid : cpu) + (back ? s->n_rows : 0)];
	int errnum = 0;

	if (r->fd < 0) {
		*r = (struct ring){
			.fd = -1, .cpu = s->t.cpus[cpu], .tid = s->t.tids[tid], .back = back};
		if (ring_open(r, &a->attr, back ? s->back_pages : s->pages, &errnum))
			return errnum == ESRCH ? PP_END : deny_ring(s, errnum);
		if (!back)
			s->pages = r->pages;
	}
	if (!ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, r->fd))
		return 0;
	return deny_event(s, a, errno);
}

/* Has the event a place there? PMUs that count for a socket are opened once for each. */
static bool has_place(const struct session *s, const struct rec_attr *a, size_t cpu, size_t tid)
{
	if (tid && (a->cgroup_fd >= 0 || (a->only_cpus && !a->ev->cpus_all)))
		return false;
	for (size_t i = 0; a->only_cpus && i < a->n_only; i++)
		if (a->only_cpus[i] == s->t.cpus[cpu])
			return true;
	return !a->only_cpus;
}

/* The event's id is announced, or changed into the one that was, in records of its buffer. */
static int take_id(struct session *s, struct rec_attr *a, size_t cpu, uint64_t id)
{
	struct ring *r = &s->rings[cpu + (a->attr.write_backward ? s->n_rows : 0)];
	struct ring_id both = {
		.real = id, .sample_type = a->attr.sample_type, .read_format = a->attr.read_format};

	if (!s->late)
		a->ids[a->n_ids++] = id;
	if (!a->shown)
		return 0;
	if (!s->late) {
		a->shown[cpu] = id;
		return 0;
	}
	both.shown = a->shown[cpu];
	both.base = a->base[cpu];
	return ids_add(&r->ids, &both) ? fail(s, PP_ENOMEM, "events") : 0;
}

/* PP_EUNSUPPORTED: it is to be left out. */
static int open_one(struct session *s, struct rec_attr *a, size_t cpu, size_t tid)
{
	uint64_t id;
	long fd;
	int rc;

	if (!has_place(s, a, cpu, tid))
		return 0;
	fd = open_event(s, a, cpu, tid);
	if (fd < 0 && errno == ESRCH)
		return 0; /* the thread has ended */
	if (fd < 0 && errno == ENODEV && s->late)
		return PP_END; /* not quite there, or gone again */
	if (fd < 0 && errno == ENODEV && a->attr.type == PERF_TYPE_SOFTWARE) {
		diag_warn(s->d, NULL, -1, "CPU %d has gone offline", s->t.cpus[cpu]);
		return PP_END;
	}
	if (fd < 0 && spare_may_go(s, a, errno))
		return PP_EUNSUPPORTED;
	if (fd < 0)
		return deny_event(s, a, errno);
	a->fds[cpu * s->t.n_tids + tid] = (int)fd;
	rc = join_ring(s, a, cpu, tid, (int)fd);
	if (rc == PP_END) { /* the thread ended meanwhile */
		close((int)fd);
		a->fds[cpu * s->t.n_tids + tid] = -1;
		return 0;
	}
	if (!rc)
		rc = set_filter(s, a, (int)fd);
	if (!rc && ioctl((int)fd, PERF_EVENT_IOC_ID, &id))
		rc = deny_event(s, a, errno);
	return rc ? rc : take_id(s, a, cpu, id);
}

/* Without it, and with what was conceded to the kernel in vain. */
static int leave_out(struct session *s, size_t at, int level)
{
	int rc = spare_leave_out(s, at);

	s->level = level;
	adapt_all(s);
	return rc;
}

int session_open_on(struct session *s, size_t cpu)
{
	int rc = 0;

	for (size_t t = 0; t < s->t.n_tids && !rc; t++)
		for (size_t i = 0; i < s->n_attrs && !rc; i++) {
			int level = s->level;

			rc = open_one(s, &s->attrs[i], cpu, t);
			if (rc == PP_EUNSUPPORTED)
				rc = leave_out(s, i--, level);
		}
	return rc;
}

/* An id in store for each event on each CPU that may come. */
static void announce(struct session *s)
{
	uint64_t id = ID_IN_STORE;

	for (size_t i = 0; i < s->n_attrs; i++) {
		struct rec_attr *a = &s->attrs[i];

		for (size_t c = s->n_home; a->shown && c < s->t.n_cpus; c++)
			if (has_place(s, a, c, 0))
				a->shown[c] = a->ids[a->n_ids++] = id++;
	}
}

static int open_all(struct session *s)
{
	bool any = false;

	for (size_t c = 0; c < s->n_home; c++) {
		int rc = session_open_on(s, c);

		if (rc && rc != PP_END)
			return rc;
	}
	announce(s);
	s->late = true;
	for (size_t i = 0; i < s->n_rings; i++)
		any |= s->rings[i].fd >= 0;
	if (any)
		return ids_index(s) ? fail(s, PP_ENOMEM, "events") : 0;
	diag_error(s->d, NULL, -1, "nothing to record: there is no CPU or thread");
	return PP_ENOENT;
}

/* The cgroup of each event, and the CPUs of its PMU. */
static int find_places(struct session *s)
{
	struct buf full = BUF_INIT, why = BUF_INIT;
	int rc = 0;

	for (size_t i = 0; i < s->n_attrs && !rc; i++) {
		struct rec_attr *a = &s->attrs[i];

		if (a->ev && a->ev->cgroup && a->ev->cgroup[0]) {
			rc = cgroup_open(a->ev->cgroup, &a->cgroup_fd, &full, &why);
			if (rc)
				diag_error(s->d, NULL, -1, "--cgroup: %s", buf_str(&why));
		}
		if (!rc && a->ev && a->ev->cpus)
			rc = cpulist_parse(a->ev->cpus, &a->only_cpus, &a->n_only);
	}
	buf_release(&full);
	buf_release(&why);
	return rc;
}

/* Without ids in the records there is one attribute only, and the length of its list is no limit.
 */
static bool too_many_ids(const struct session *s)
{
	return s->t.n_cpus * s->t.n_tids > IDS_MAX;
}

static const char *const left_out[LEVEL_MAX + 1] = {
	"", "counts of last losses", "build-ids of new mappings", "records about BPF programs",
	"the distinction of guests"};

static void say_concessions(const struct session *s, uint32_t asked)
{
	spare_say(s);
	if (s->user_only)
		diag_warn(s->d, NULL, -1,
			  "the kernel side is not recorded (see kernel.perf_event_paranoid)");
	if (s->pages < asked)
		diag_note(s->d, NULL, -1,
			  "ring buffers of %u pages each (kernel.perf_event_mlock_kb)", s->pages);
	if (s->level)
		diag_note(s->d, NULL, -1, "this kernel is older: the recording does not have %s",
			  left_out[s->level]);
}

/* The largest power of two of pages that fits into a share of some bytes. */
static uint32_t pages_within(const struct session *s, uint64_t bytes, uint32_t most)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	size_t rows = s->hotplug ? s->n_home : s->n_rows;
	uint64_t each = bytes / ((rows ? rows : 1) * page);
	uint32_t pages = 1;

	while (pages < most && 2ull * pages <= each)
		pages *= 2;
	return pages;
}

/*
 * Sizes by rate: a frequency has a limit, but tracepoints and periods come in bursts, and copies of
 * stacks are long. What was too small is made larger when losses begin, up to pages_max.
 */
static void choose_pages(struct session *s)
{
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	bool burst = false;

	for (size_t i = 0; i < s->events->n; i++)
		burst |= s->attrs[i].attr.sample_period && !s->attrs[i].attr.freq;
	s->pages = s->c->pages;
	if (!s->pages)
		s->pages = pages_within(s, RINGS_MAX,
					s->copies ? RECORD_PAGES_COPIES
					: burst	  ? RECORD_PAGES_BURST
						  : RECORD_PAGES_DEFAULT);
	s->pages_max = s->c->pages ? 0 : pages_within(s, memory / 16, RECORD_PAGES_GROWN);
	s->back_pages = s->c->pages ? s->c->pages : RECORD_PAGES_BURST;
	if (s->c->snapshot_size)
		s->back_pages = pages_within(s, s->c->snapshot_size, RECORD_PAGES_MAX);
	if (s->c->snapshot && !s->c->pages)
		s->pages = RECORD_PAGES_DEFAULT;
}

/* A buffer for each thread, wherever it runs. */
static void without_cpus(struct target *t)
{
	t->cpus[0] = -1;
	t->n_cpus = 1;
}

int session_open(struct session *s, pid_t child)
{
	struct buf why = BUF_INIT;
	bool apart = session_sees_others(s->c);
	uint32_t asked;
	int rc;

	if (tracefs_find(&s->tracefs, &why))
		s->tracefs = NULL;
	buf_release(&why);
	rc = target_find(&s->t, &s->c->whom, child, s->d);
	if (!rc && s->c->per_thread && s->t.n_cpus)
		without_cpus(&s->t);
	if (!rc)
		rc = sift_choose(s);
	if (rc)
		return rc;
	if (too_many_ids(s) && s->c->events.n <= 1)
		apart = false;
	else if (too_many_ids(s))
		return fail(s, PP_ELIMIT,
			    "that many threads on that many CPUs allow only one event");
	s->no_helpers = too_many_ids(s);
	rc = session_attrs(s, apart,
			   !session_sees_others(s->c) && !s->c->n_spans && !s->c->disabled);
	if (!rc)
		rc = find_places(s);
	if (!rc)
		rc = expect_cpus(s);
	if (!rc)
		rc = make_matrix(s);
	if (rc)
		return rc;
	choose_pages(s);
	asked = s->pages;
	rc = open_all(s);
	if (!rc && s->attrs[0].n_ids > IDS_MAX)
		s->attrs[0].n_ids = 0; /* no record refers to them */
	if (!rc)
		say_concessions(s, asked);
	return rc;
}

void session_enable(struct session *s, bool on, const char *name)
{
	size_t n = s->t.n_cpus * s->t.n_tids;

	for (size_t i = 0; i < s->n_attrs; i++) {
		if (!s->attrs[i].fds || (name && strcmp(name, event_name(&s->attrs[i])) != 0))
			continue;
		s->attrs[i].on = on;
		for (size_t k = 0; k < n; k++)
			if (s->attrs[i].fds[k] >= 0)
				ioctl(s->attrs[i].fds[k],
				      on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
	}
}

/* Sends all records of a row to a buffer's owner. 0 or pp_errno. */
static int redirect(const struct session *s, size_t row, int owner)
{
	int rc = 0;

	for (size_t i = 0; i < s->n_attrs; i++) {
		for (size_t k = 0; k < s->t.n_cpus * s->t.n_tids; k++) {
			size_t at = s->c->per_thread ? k % s->t.n_tids : k / s->t.n_tids;
			int fd = s->attrs[i].fds[k];

			if (at == row && fd >= 0 && !s->attrs[i].attr.write_backward &&
			    ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, owner) && !rc)
				rc = pp_errno(errno);
		}
	}
	return rc;
}

/* The events change over one by one, so that no record is without a place. */
int session_grow(struct session *s, struct ring *r, uint32_t pages, struct ring *old)
{
	struct ring grown = {.cpu = r->cpu, .tid = r->tid, .fd = -1, .lost = r->lost};
	size_t row = (size_t)(r - s->rings);
	int errnum, rc = ring_open(&grown, &s->attrs[0].attr, pages, &errnum);

	if (rc)
		return rc;
	rc = grown.pages > r->pages ? redirect(s, row, grown.fd) : PP_ELIMIT;
	if (rc) {
		(void)redirect(s, row, r->fd);
		ring_close(&grown);
		return rc;
	}
	*old = *r;
	*r = grown;
	r->ids = old->ids; /* of which the old one has a view: records in it are still to be read */
	return 0;
}

/* In a group read(2) gives the values of all its events, the leader's first: see there. */
void session_read(const struct rec_attr *a, int fd, uint64_t *value, uint64_t *lost)
{
	bool times = a->attr.read_format & PERF_FORMAT_TOTAL_TIME_ENABLED;
	bool has_lost = a->attr.read_format & PERF_FORMAT_LOST;
	size_t each = has_lost ? 3 : 2; /* value, id, lost */
	uint64_t v[READ_WORDS], id = 0;
	ssize_t size = read(fd, v, sizeof(v));
	size_t words = size > 0 ? (size_t)size / sizeof(*v) : 0;

	*value = *lost = 0;
	if (!(a->attr.read_format & PERF_FORMAT_GROUP)) { /* value, times, id, lost */
		*value = words ? v[0] : 0;
		*lost = has_lost && words ? v[words - 1] : 0;
		return;
	}
	if (ioctl(fd, PERF_EVENT_IOC_ID, &id))
		return;
	for (size_t at = times ? 3 : 1; at + each <= words; at += each) {
		if (v[at + 1] != id)
			continue;
		*value = v[at];
		*lost = has_lost ? v[at + 2] : 0;
	}
}

bool session_lost(const struct session *s, uint64_t *lost)
{
	size_t n = s->t.n_cpus * s->t.n_tids;
	uint64_t value, more;

	*lost = s->gone_lost;
	if (!s->n_attrs || !(s->attrs[0].attr.read_format & PERF_FORMAT_LOST))
		return false;
	for (size_t i = 0; i < s->n_attrs; i++) {
		const struct rec_attr *a = &s->attrs[i];

		for (size_t k = 0; k < n && !a->attr.write_backward; k++) {
			if (a->fds[k] < 0)
				continue;
			session_read(a, a->fds[k], &value, &more);
			*lost += more;
		}
	}
	return true;
}

void session_close(struct session *s)
{
	size_t n = s->t.n_cpus * s->t.n_tids;

	for (size_t i = 0; i < s->n_rings && s->rings; i++) {
		ring_close(&s->rings[i]);
		ids_release(&s->rings[i].ids);
	}
	online_release(&s->online);
	for (size_t i = 0; i < s->n_attrs; i++) {
		for (size_t k = 0; s->attrs[i].fds && k < n; k++)
			if (s->attrs[i].fds[k] >= 0)
				close(s->attrs[i].fds[k]);
		if (s->attrs[i].cgroup_fd >= 0)
			close(s->attrs[i].cgroup_fd);
		free(s->attrs[i].only_cpus);
		free(s->attrs[i].fds);
		free(s->attrs[i].ids);
		free(s->attrs[i].shown);
		free(s->attrs[i].base);
		free(s->attrs[i].name);
	}
	map64_release(&s->by_id);
	free(s->attrs);
	free(s->rings);
	target_release(&s->t);
	map64_release(&s->sift.pids);
	pevents_release(&s->fallback);
	buf_release(&s->chosen);
	buf_release(&s->probes);
	buf_release(&s->left_out);
	*s = (struct session){0};
}
