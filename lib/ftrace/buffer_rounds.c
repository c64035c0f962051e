/*
 * Reads the ring buffers, round by round: of each CPU what was in its buffer when the round began,
 * at least. Buffers that were too small grow, as long as there is memory.
 *
 * A page is as in a file (tracedat/ring_pages.c): its commit word tells that events were lost
 * before it.
 *
 * Where much comes and goes to a file, whole pages are moved there by splice(2), for half of what
 * it costs to read and write them (a map of the buffer costs more than either: each page is a
 * system call, and its memory has to be flushed). Where little comes, pages are read before they
 * are full, so that a recorder that is killed leaves what has happened.
 */
#include "ftrace/parts.h"

#include "base/err.h"
#include "base/out.h"
#include "pevent/sysfile.h"
#include "tracedat/file_numbers.h"

#include <inttypes.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ROUND_BYTES   (256u << 10) /* that are handed on at once */
#define GROW_MAX_KB   (256u << 10) /* of a CPU's buffer */
#define GROW_SHARE    8		   /* of the free memory, all buffers together */
#define MISSED_EVENTS (UINT32_C(1) << 31)
#define MISSED_STORED (UINT32_C(1) << 30)
#define COMMIT_MASK   ((UINT32_C(1) << 27) - 1)

static int open_cpu(struct rounds *r, struct round_cpu *c)
{
	struct buf size = BUF_INIT;
	char name[64], path[PATH_MAX];
	bool own;

	snprintf(name, sizeof(name), "per_cpu/cpu%d/%s", c->cpu, r->file);
	ftfiles_path(&r->s->files, name, path, &own);
	/* What the instance lacks is not to be read from the top, which is somebody else's. */
	if (!own && !r->s->top && *r->s->files.dir)
		errno = ENOENT;
	else
		c->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (c->fd < 0) {
		int errnum = errno;

		diag_error(r->s->d, path, -1, "%s%s", strerror(errnum),
			   errnum == EBUSY ? ": somebody else reads this buffer" : "");
		return pp_errno(errnum);
	}
	snprintf(name, sizeof(name), "per_cpu/cpu%d/buffer_size_kb", c->cpu);
	if (!ftfiles_value(&r->s->files, name, &size))
		c->buffer_kb = strtoull(buf_str(&size), NULL, 10);
	buf_release(&size);
	return 0;
}

static bool has_cpu(const struct rounds *r, int cpu)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->cpus[i].cpu == cpu)
			return true;
	return false;
}

int ftrounds_more(struct rounds *r, const int *cpus, size_t n)
{
	struct round_cpu *v = realloc(r->cpus, (r->n + n + 1) * sizeof(*v));
	int rc = 0;

	if (!v)
		return PP_ENOMEM;
	r->cpus = v;
	for (size_t i = 0; i < n && !rc; i++) {
		if (has_cpu(r, cpus[i]))
			continue;
		v[r->n] = (struct round_cpu){.cpu = cpus[i], .fd = -1};
		rc = open_cpu(r, &v[r->n++]);
	}
	return rc;
}

static void close_pipe(struct rounds *r)
{
	for (int i = 0; i < 2; i++)
		if (r->pipe[i] >= 0)
			close(r->pipe[i]);
	r->pipe[0] = r->pipe[1] = -1;
}

int ftrounds_open(struct rounds *r, struct setup *s, const struct head *h, const char *file)
{
	*r = (struct rounds){.s = s,
			     .buffer = r->buffer,
			     .to = r->to,
			     .file = file,
			     .page_size = h->file.page_size,
			     .pipe = {-1, -1}};
	r->cap = ROUND_BYTES - ROUND_BYTES % r->page_size;
	if (!r->cap)
		r->cap = r->page_size;
	r->pages = malloc(LIVE_ROOM + r->cap);
	if (!r->pages)
		return PP_ENOMEM;
	if (r->to && (pipe2(r->pipe, O_CLOEXEC) ||
		      fcntl(r->pipe[1], F_SETPIPE_SZ, (int)r->cap) < (int)r->cap))
		close_pipe(r);
	r->wakes = ftfiles_has(&s->files, "buffer_percent");
	r->fixed = s->c->buffer_kb != 0;
	return ftrounds_more(r, h->cpus, h->n_cpus);
}

/* The bytes of data of a page; what its head tells of losses before it is counted. */
static size_t look_at(struct round_cpu *c, const uint8_t *page, size_t size)
{
	unsigned long commit, lost = 0;
	size_t at, head = 8 + sizeof(commit);

	memcpy(&commit, page + 8, sizeof(commit));
	if (!(commit & MISSED_EVENTS))
		return commit & COMMIT_MASK;
	at = head + (commit & COMMIT_MASK);
	if ((commit & MISSED_STORED) && at + sizeof(lost) <= size)
		memcpy(&lost, page + at, sizeof(lost));
	if (lost)
		c->lost += lost;
	else
		c->gaps++;
	return commit & COMMIT_MASK;
}

/*
 * Pages up to r->cap. *end: there are no more, or the last one was still being filled. To read on
 * would be without end where reading itself makes events.
 */
static int read_pages(struct rounds *r, struct round_cpu *c, size_t *n, bool *end)
{
	size_t page = r->page_size;

	*n = 0;
	*end = false;
	while (*n + page <= r->cap) {
		uint8_t *to = r->pages + LIVE_ROOM + *n;
		ssize_t got = read(c->fd, to, page);

		if (got < 0 && errno == EINTR)
			continue;
		/* A CPU that has not been online yet has no buffer. */
		if (got < 0 && errno != EAGAIN && errno != ENODEV)
			return pp_errno(errno);
		if (got <= 0) {
			*end = true;
			return 0;
		}
		/* Kernels hand out the whole page; what they may leave out of it is empty. */
		if ((size_t)got < page)
			memset(to + got, 0, page - (size_t)got);
		*n += page;
		if (look_at(c, to, page) < page / 2) {
			*end = true;
			return 0;
		}
	}
	return 0;
}

/*
 * Moves whole pages to a file, up to r->cap. *n 0: there is none, or they cannot be moved here.
 * What has left the buffer comes to the file, or it is an error.
 */
static int move_pages(struct rounds *r, const struct round_cpu *c, int to, size_t *n)
{
	ssize_t got = splice(c->fd, NULL, r->pipe[1], NULL, r->cap, SPLICE_F_NONBLOCK), done;
	size_t left;

	*n = got > 0 ? (size_t)got : 0;
	if (got < 0 && errno == EINVAL)
		close_pipe(r);
	for (left = *n; left; left -= (size_t)done) {
		done = splice(r->pipe[0], NULL, to, NULL, left, SPLICE_F_MOVE);
		if (done < 0 && errno == EINTR)
			done = 0;
		if (done < 0 && errno == EINVAL)
			break; /* a file that takes no pages */
		if (done < 0) {
			int errnum = errno;

			diag_error(r->s->d, NULL, -1, "cannot write: %s", strerror(errnum));
			return pp_errno(errnum);
		}
	}
	for (; left; left -= (size_t)done) {
		done = read(r->pipe[0], r->pages, left < r->cap ? left : r->cap);
		if (done <= 0 || out_write_all(to, r->pages, (size_t)done))
			return pp_errno(errno);
	}
	r->moved |= *n > 0;
	return 0;
}

uint64_t ftrounds_free_kb(void)
{
	struct buf text = BUF_INIT;
	const char *at;
	uint64_t kb = 0;

	if (!sysfile_read("/proc/meminfo", SYSFILE_MAX, &text)) {
		at = strstr(buf_str(&text), "MemAvailable:");
		kb = at ? strtoull(at + strlen("MemAvailable:"), NULL, 10) : 0;
	}
	buf_release(&text);
	return kb;
}

/* What per_cpu/cpuN/stats says was lost: events that were overwritten, or had no room. */
static int lost_by_stats(const struct rounds *r, int cpu, uint64_t *lost)
{
	static const char *const words[] = {"\noverrun: ", "\ndropped events: "};
	struct buf text = BUF_INIT;
	char name[64];
	int rc;

	snprintf(name, sizeof(name), "per_cpu/cpu%d/stats", cpu);
	rc = ftfiles_read(&r->s->files, name, &text);
	*lost = 0;
	for (size_t i = 0; i < 2 && !rc; i++) {
		const char *at = strstr(buf_str(&text), words[i]);

		rc = at ? 0 : PP_ECORRUPT;
		*lost += at ? strtoull(at + strlen(words[i]), NULL, 10) : 0;
	}
	buf_release(&text);
	return rc;
}

/*
 * Not before events were lost: while a buffer grows, most kernels record nothing (in
 * tracing_resize_ring_buffer of kernel/trace/trace.c), and nobody counts what that is.
 */
static void grow(struct rounds *r, struct round_cpu *c, uint64_t bytes)
{
	uint64_t lost;
	struct buf why = BUF_INIT;
	char name[64], value[32];

	if (r->fixed || r->no_room || bytes < c->buffer_kb * 512 || !c->buffer_kb)
		return;
	if (lost_by_stats(r, c->cpu, &lost) || lost == c->overrun)
		return;
	c->overrun = lost;
	if (c->buffer_kb * 2 > GROW_MAX_KB ||
	    c->buffer_kb + r->grown > ftrounds_free_kb() / GROW_SHARE) {
		r->no_room = true;
		return;
	}
	snprintf(name, sizeof(name), "per_cpu/cpu%d/buffer_size_kb", c->cpu);
	snprintf(value, sizeof(value), "%llu", (unsigned long long)c->buffer_kb * 2);
	if (ftfiles_write(&r->s->files, name, value, &why)) {
		r->no_room = true;
	} else {
		c->pauses++;
		r->grown += c->buffer_kb;
		c->buffer_kb *= 2;
	}
	buf_release(&why);
}

static int pass_cpu(struct rounds *r, size_t i, round_fn *fn, void *ctx, uint64_t *got)
{
	struct round_cpu *c = &r->cpus[i];
	int to = r->pipe[0] >= 0 ? r->to(ctx, r->buffer, c->cpu) : -1;
	uint64_t bytes = 0;
	bool end = false;
	size_t n;
	int rc = 0;

	while (!end && !rc && to >= 0 && r->pipe[0] >= 0 && bytes <= c->buffer_kb * 1024 + r->cap) {
		rc = move_pages(r, c, to, &n);
		bytes += n;
		end = !n;
	}
	end = bytes > 0;
	while (!end && !rc && bytes <= c->buffer_kb * 1024 + r->cap) {
		rc = read_pages(r, c, &n, &end);
		if (!rc && n)
			rc = fn(ctx, r->buffer, c->cpu, r->pages + LIVE_ROOM, n);
		bytes += n;
	}
	c->bytes += bytes;
	*got += bytes;
	if (!rc)
		grow(r, c, bytes);
	return rc;
}

int ftrounds_pass(struct rounds *r, round_fn *fn, void *ctx, uint64_t *got)
{
	int rc = 0;

	*got = 0;
	for (size_t i = 0; i < r->n && !rc; i++)
		rc = pass_cpu(r, i, fn, ctx, got);
	return rc;
}

uint64_t ftrounds_lost(const struct rounds *r)
{
	uint64_t sum = 0, lost;

	for (size_t i = 0; i < r->n; i++)
		if (!lost_by_stats(r, r->cpus[i].cpu, &lost))
			sum += lost;
	return sum;
}

void ftrounds_count(struct rounds *r)
{
	uint64_t lost;

	for (size_t i = 0; i < r->n && r->moved; i++)
		if (!lost_by_stats(r, r->cpus[i].cpu, &lost)) {
			r->cpus[i].gaps = 0;
			r->cpus[i].lost = lost;
		}
}

uint64_t ftrounds_tell(const struct rounds *r, const char *action, struct diag *d)
{
	uint64_t lost = 0, gaps = 0;
	struct buf cpus = BUF_INIT;

	for (size_t i = 0; i < r->n; i++) {
		const struct round_cpu *c = &r->cpus[i];
		uint64_t unknown = c->gaps + c->pauses;

		lost += c->lost;
		gaps += unknown;
		if (c->lost || unknown)
			buf_addf(&cpus, "%sCPU %d: %s%" PRIu64, cpus.len ? ", " : "", c->cpu,
				 unknown ? "at least " : "", c->lost + unknown);
	}
	if (lost + gaps)
		diag_warn(d, NULL, -1, "lost %s%" PRIu64 " events (%s)%s", gaps ? "at least " : "",
			  lost + gaps, buf_str(&cpus), action);
	buf_release(&cpus);
	return lost + gaps;
}

void ftrounds_stats(const struct rounds *r, const char *buffer, struct buf *options)
{
	struct buf text = BUF_INIT;
	char name[64];

	if (*buffer) {
		buf_addf(&text, "\nBuffer: %s\n\n", buffer);
		trace_add_option(options, TRACE_OPT_CPUSTAT, buf_str(&text), text.len + 1);
	}
	for (size_t i = 0; i < r->n; i++) {
		buf_reset(&text);
		buf_addf(&text, "CPU: %d\n", r->cpus[i].cpu);
		snprintf(name, sizeof(name), "per_cpu/cpu%d/stats", r->cpus[i].cpu);
		ftfiles_read(&r->s->files, name, &text);
		trace_add_option(options, TRACE_OPT_CPUSTAT, buf_str(&text), text.len + 1);
	}
	buf_release(&text);
}

void ftrounds_close(struct rounds *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->cpus[i].fd >= 0)
			close(r->cpus[i].fd);
	if (r->pages)
		close_pipe(r);
	free(r->cpus);
	free(r->pages);
	*r = (struct rounds){0};
}
