/* Functions by the hundred, which are places of one event: their samples are counted. */
#include "stat/parts.h"

#include "base/err.h"
#include "pevent/sysfile.h"
#include "pevent/tracefs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RING_PAGES   512u /* of a buffer; a sample takes 32 bytes */
#define OTHER_FDS    64
#define RAW_AT	     12 /* bytes of a sample before its raw data: header, size */
#define PLACE_FIELD  "place"
#define CANNOT_PLACE "functions of a pattern, as there are many, are not counted "

static int *fd_of(const struct counting *s, uint32_t event, size_t cpu, size_t tid)
{
	const struct stat_places *p = &s->places;

	return &p->fds[(event * s->target.n_cpus + cpu) * s->n_tids + tid];
}

/* ---- before a run ---- */

static int check(const struct counting *s)
{
	const char *wrong = NULL;

	if (s->c->by == COUNT_BY_THREAD)
		wrong = CANNOT_PLACE "by thread: name single functions";
	for (uint32_t i = 0; i < s->n_events && !wrong; i++)
		if (s->events[i].place && s->events[i].cgroup)
			wrong = CANNOT_PLACE "by cgroup: name single functions";
	if (wrong)
		diag_error(s->d, NULL, -1, "%s", wrong);
	return wrong ? PP_EUSAGE : 0;
}

static int find_events(struct counting *s)
{
	struct stat_places *p = &s->places;
	struct buf why = BUF_INIT;
	const char *dir = NULL;
	uint32_t size = 0;
	int rc = 0;

	p->n = 0;
	for (uint32_t i = 0; i < s->n_events && !rc; i++) {
		const struct pevent *ev = s->events[i].ev;

		if (s->events[i].place != 1)
			continue;
		if (p->n == STAT_PLACES_MAX)
			rc = PP_ELIMIT;
		else
			rc = dir ? 0 : tracefs_find(&dir, &why);
		if (!rc &&
		    (!tracefs_field_at(dir, ev->system, ev->tp, PLACE_FIELD, &p->at[p->n], &size) ||
		     size != sizeof(uint32_t)))
			rc = PP_ECORRUPT;
		if (!rc)
			p->first[p->n++] = i;
		else
			diag_error(s->d, NULL, -1, "%s: %s", ev->name,
				   why.len ? buf_str(&why) : pp_strerror(rc));
	}
	buf_release(&why);
	return rc;
}

/* ---- opening ---- */

/* The buffer belongs to an event without tasks, which does not end with any. */
static int open_ring(const struct counting *s, size_t cpu)
{
	struct stat_ring *r = &s->places.rings[cpu];
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.watermark = 1,
	};
	struct epoll_event e = {.events = EPOLLIN, .data.u64 = STAT_WATCH_PLACES};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *base = MAP_FAILED;

	r->fd = (int)syscall(SYS_perf_event_open, &attr, -1, s->target.cpus[cpu], -1,
			     PERF_FLAG_FD_CLOEXEC);
	if (r->fd < 0)
		return pp_errno(errno);
	for (size_t pages = RING_PAGES; pages && base == MAP_FAILED; pages /= 2) {
		r->size = pages * page;
		base = mmap(NULL, r->size + page, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	}
	if (base == MAP_FAILED) {
		int rc = pp_errno(errno);

		close(r->fd);
		return rc;
	}
	r->page = base;
	return epoll_ctl(s->epoll, EPOLL_CTL_ADD, r->fd, &e) ? pp_errno(errno) : 0;
}

static int open_buffer(struct counting *s, size_t cpu)
{
	int rc = open_ring(s, cpu);

	if (rc)
		diag_error(s->d, NULL, -1, "no buffer for CPU %d: %s", s->target.cpus[cpu],
			   pp_strerror(rc));
	return rc;
}

/* Of tasks, before there are further tables of files, which are to have them, too. */
static int open_rings(struct counting *s)
{
	int rc = 0;

	for (size_t c = 0; c < s->target.n_cpus && !rc; c++)
		rc = open_buffer(s, c);
	return rc;
}

int stat_places_begin(struct counting *s)
{
	struct stat_places *p = &s->places;
	int rc = find_events(s);
	size_t n;

	if (rc || !p->n)
		return rc;
	rc = check(s);
	if (rc)
		return rc;
	n = p->n * s->target.n_cpus * s->n_tids;
	sysfile_raise_files(n + (uint64_t)s->n_cpus * s->n_tids * s->n_events + OTHER_FDS);
	p->taken = p->hits = 0;
	p->fds = p->fds ? p->fds : malloc(n * sizeof(*p->fds));
	p->rings = p->rings ? p->rings : calloc(s->target.n_cpus, sizeof(*p->rings));
	if (!p->fds || !p->rings)
		return PP_ENOMEM;
	for (size_t i = 0; i < n; i++)
		p->fds[i] = -1;
	return s->cpus[0] < 0 ? open_rings(s) : 0;
}

static int open_event(struct counting *s, uint32_t event, size_t cpu, size_t from, size_t to)
{
	const struct stat_ring *r = &s->places.rings[cpu];
	struct stat_event *e = &s->events[s->places.first[event]];
	struct perf_event_attr attr = stat_attr(s, e, true);

	attr.sample_type = PERF_SAMPLE_RAW;
	attr.sample_period = 1;
	for (size_t t = from; t < to; t++) {
		int fd = (int)syscall(SYS_perf_event_open, &attr, s->tids[t], s->target.cpus[cpu],
				      -1, PERF_FLAG_FD_CLOEXEC);

		if (fd < 0 && errno == ESRCH)
			continue; /* the thread has ended */
		if (fd >= 0)
			*fd_of(s, event, cpu, t) = fd;
		if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, r->fd))
			return stat_cannot(s, e, errno);
	}
	for (uint32_t i = 0; i < e->ev->n_places; i++)
		e[i].supported = true;
	return 0;
}

static int open_cpu(struct counting *s, size_t cpu, size_t from, size_t to)
{
	int rc = 0;

	for (uint32_t i = 0; i < s->places.n && !rc; i++)
		rc = open_event(s, i, cpu, from, to);
	return rc;
}

int stat_places_open_on(struct counting *s, size_t cpu, size_t from, size_t to)
{
	int rc = 0;

	if (!s->places.n)
		return 0;
	if (s->cpus[cpu] >= 0) {
		rc = open_buffer(s, cpu);
		return rc ? rc : open_cpu(s, cpu, from, to);
	}
	for (size_t c = 0; c < s->target.n_cpus && !rc; c++)
		rc = open_cpu(s, c, from, to);
	return rc;
}

void stat_places_enable(const struct counting *s, bool on, size_t from, size_t to)
{
	for (uint32_t i = 0; i < s->places.n; i++)
		for (size_t c = 0; c < s->target.n_cpus; c++)
			for (size_t t = from; t < to; t++) {
				int fd = *fd_of(s, i, c, t);

				if (fd >= 0)
					ioctl(fd,
					      on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE,
					      0);
			}
}

/* ---- counting ---- */

/* The value at an offset that is a multiple of its size, so it does not wrap around. */
static void get(const struct stat_ring *r, uint64_t at, void *value, size_t size)
{
	const uint8_t *data = (const uint8_t *)r->page + sysconf(_SC_PAGESIZE);

	memcpy(value, data + (at & (r->size - 1)), size);
}

static void take_sample(struct counting *s, const struct stat_ring *r, size_t cell, uint64_t at)
{
	struct stat_places *p = &s->places;
	uint32_t raw = 0, place = 0;
	uint16_t type = 0;

	get(r, at + RAW_AT - sizeof(raw), &raw, sizeof(raw));
	get(r, at + RAW_AT, &type, sizeof(type)); /* common_type, the first of its fields */
	for (uint32_t i = 0; i < p->n; i++) {
		struct stat_event *e = &s->events[p->first[i]];

		if (e->ev->attr.config != type || p->at[i] + sizeof(place) > raw)
			continue;
		get(r, at + RAW_AT + p->at[i], &place, sizeof(place));
		if (place - 1 < e->ev->n_places) {
			e[place - 1].base[cell].value++;
			p->taken++;
		}
		return;
	}
}

static void take_ring(struct counting *s, const struct stat_ring *r, size_t cell)
{
	struct perf_event_mmap_page *page = r->page;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = page->data_tail;
	struct perf_event_header h;

	while (head - tail >= sizeof(h)) {
		get(r, tail, &h, sizeof(h));
		if (h.size < sizeof(h) || h.size > head - tail)
			break;
		if (h.type == PERF_RECORD_SAMPLE && h.size > RAW_AT + sizeof(uint16_t))
			take_sample(s, r, cell, tail);
		tail += h.size;
	}
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
}

/* Where the counts of a CPU go: tasks have one cell. */
static size_t cell_of(const struct counting *s, size_t cpu)
{
	return s->cpus[0] < 0 ? 0 : cpu * s->n_tids;
}

void stat_places_take(struct counting *s)
{
	const struct stat_places *p = &s->places;
	uint64_t elapsed = (s->ended ? s->ended : stat_now()) - s->began;

	for (size_t c = 0; p->n && c < s->target.n_cpus; c++) {
		if (!p->rings[c].page)
			continue;
		take_ring(s, &p->rings[c], cell_of(s, c));
		for (uint32_t i = 0; i < s->n_events; i++)
			if (s->events[i].place) {
				struct count_value *v = &s->events[i].base[cell_of(s, c)];

				v->enabled = v->running = elapsed;
			}
	}
}

/* ---- ends ---- */

/* What the kernel has counted with the descriptors of a CPU, which are closed. */
static void close_events_on(struct counting *s, size_t cpu, size_t from, size_t to)
{
	struct stat_places *p = &s->places;

	for (uint32_t i = 0; i < p->n; i++)
		for (size_t t = from; t < to; t++) {
			int *fd = fd_of(s, i, cpu, t);
			uint64_t v[3] = {0};

			if (*fd < 0)
				continue;
			if (read(*fd, v, sizeof(v)) == sizeof(v))
				p->hits += v[0];
			close(*fd);
			*fd = -1;
		}
}

static int close_events(struct counting *s, size_t from, size_t to)
{
	for (size_t c = 0; c < s->target.n_cpus; c++)
		close_events_on(s, c, from, to);
	return 0;
}

static void close_ring(struct counting *s, size_t cpu)
{
	struct stat_ring *r = &s->places.rings[cpu];

	if (!r->page)
		return;
	munmap(r->page, r->size + (size_t)sysconf(_SC_PAGESIZE));
	close(r->fd);
	r->page = NULL;
}

static void close_all(struct counting *s)
{
	(void)stat_files_each(s, close_events);
	for (size_t c = 0; c < s->target.n_cpus; c++)
		close_ring(s, c);
}

void stat_places_leave(struct counting *s, size_t cpu)
{
	if (!s->places.n)
		return;
	stat_places_take(s);
	close_events_on(s, cpu, 0, s->n_tids);
	close_ring(s, cpu);
}

void stat_places_end(struct counting *s)
{
	const struct stat_places *p = &s->places;

	if (!p->n)
		return;
	stat_places_take(s);
	close_all(s);
	if (p->hits <= p->taken)
		return;
	diag_warn(s->d, NULL, -1,
		  "%llu of %llu calls are missing from the counts: they came faster than they can "
		  "be counted by place; count fewer functions",
		  (unsigned long long)(p->hits - p->taken), (unsigned long long)p->hits);
	s->uncounted = true;
}

void stat_places_close(struct counting *s)
{
	if (s->places.fds && s->places.rings)
		close_all(s);
}

void stat_places_release(struct counting *s)
{
	free(s->places.fds);
	free(s->places.rings);
}
