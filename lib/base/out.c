/* Buffered output to a descriptor or a function; pages that a pipe takes without a copy. */
#include "base/out.h"

#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

static void use_own(struct out *o)
{
	o->data = o->own;
	o->cap = o->own_cap;
}

/* What is no pipe has no size. */
bool out_is_pipe(const struct out *o)
{
	return o->fd >= 0 && fcntl(o->fd, F_GETPIPE_SZ) > 0;
}

int out_init(struct out *o, int fd)
{
	*o = (struct out){.fd = fd, .own_cap = OUT_BUFFER};
	o->own = malloc(o->own_cap);
	if (!o->own) {
		o->own_cap = 0;
		return o->err = PP_ENOMEM;
	}
	use_own(o);
	/* A larger pipe means fewer switches between writer and reader. */
	if (out_is_pipe(o)) {
		(void)fcntl(fd, F_SETPIPE_SZ, OUT_PIPE);
		o->mode = OUT_PAGES_LATER;
	}
	return 0;
}

int out_init_fn(struct out *o, out_fn *fn, void *ctx)
{
	int rc = out_init(o, -1);

	o->fn = fn;
	o->ctx = ctx;
	return rc;
}

static int add_to_buf(void *ctx, uint8_t *bytes, size_t n)
{
	struct buf *b = ctx;

	buf_add(b, bytes, n);
	return b->err;
}

int out_init_buf(struct out *o, struct buf *b)
{
	return out_init_fn(o, add_to_buf, b);
}

/* ---- pages for a pipe ---- */

static void no_pages(struct out *o)
{
	if (o->pages)
		munmap(o->pages, OUT_HUGE);
	o->pages = NULL;
	o->mode = OUT_COPY;
}

/* Page faults of this thread that needed no disk. */
static long faults(void)
{
	struct rusage u;

	return getrusage(RUSAGE_THREAD, &u) ? 0 : u.ru_minflt;
}

/* New pages in the place of those that the pipe has. False: they are no huge ones. */
static bool renew_pages(struct out *o)
{
	volatile uint8_t *p = o->pages;
	long before;

	o->given = 0;
	if (madvise(o->pages, OUT_HUGE, MADV_DONTNEED))
		return false;
	*p = 0;
	before = faults();
	p[OUT_HUGE / 2] = 0;
	return faults() == before;
}

static bool make_pages(struct out *o)
{
	uint8_t *p = mmap(NULL, 2 * (size_t)OUT_HUGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t before;

	if (p == MAP_FAILED)
		return false;
	before = (OUT_HUGE - (uintptr_t)p % OUT_HUGE) % OUT_HUGE;
	if (before)
		munmap(p, before);
	o->pages = p + before;
	munmap(o->pages + OUT_HUGE, OUT_HUGE - before);
	return !madvise(o->pages, OUT_HUGE, MADV_HUGEPAGE) && renew_pages(o);
}

/*
 * Gives the pages of what is waiting to the pipe. The bytes that it has; less: not all could be
 * given.
 */
static size_t give_pages(struct out *o)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), done = 0;

	while (done < o->len) {
		struct iovec v = {o->data + done, o->len - done};
		ssize_t n = vmsplice(o->fd, &v, 1, 0);

		if (n < 0 && errno == EINTR)
			continue;
		/* Not allowed, say: write(2) will do, or find the same error. */
		if (n <= 0) {
			o->mode = OUT_COPY;
			break;
		}
		done += (size_t)n;
	}
	/* What follows begins on a page of its own: that makes the most of the pipe's room. */
	o->given += (o->len + page - 1) / page * page;
	return done;
}

/* Where the next bytes are to be collected. */
static void next_buffer(struct out *o, bool full)
{
	bool good = o->mode != OUT_COPY;

	if (o->mode == OUT_PAGES_LATER && full) {
		good = make_pages(o);
		o->mode = OUT_PAGES;
	} else if (o->mode == OUT_PAGES && OUT_HUGE - o->given < OUT_BUFFER) {
		good = renew_pages(o);
	}
	if (!good)
		no_pages(o);
	use_own(o);
	if (o->mode == OUT_PAGES) {
		o->data = o->pages + o->given;
		o->cap = OUT_BUFFER;
	}
}

/* ---- writing ---- */

int out_flush(struct out *o)
{
	bool full = o->len >= OUT_BUFFER / 2;
	size_t done = 0;

	if (o->fn && !o->err && o->len) {
		o->err = o->fn(o->ctx, o->data, o->len);
		done = o->len;
	}
	/* Of little, its pages would take more of the pipe's room than the bytes do. */
	if (full && !o->err && o->mode == OUT_PAGES && o->data != o->own)
		done = give_pages(o);
	while (!o->err && done < o->len) {
		ssize_t n = write(o->fd, o->data + done, o->len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			o->err = pp_errno(errno);
		else
			done += (size_t)n;
	}
	o->written += done;
	o->len = 0;
	next_buffer(o, full && !o->err);
	return o->err;
}

int out_hand_on(void *o)
{
	out_flush(o);
	return -1;
}

int out_grow(struct out *o, size_t n)
{
	uint8_t *own;

	if (o->err || out_flush(o))
		return o->err;
	if (n <= o->cap)
		return 0;
	if (n > o->own_cap) {
		own = realloc(o->own, n);
		if (!own)
			return o->err = PP_ENOMEM;
		o->own = own;
		o->own_cap = n;
	}
	use_own(o);
	return 0;
}

int out_close(struct out *o)
{
	out_flush(o);
	if (o->fd >= 0 && close(o->fd) && !o->err)
		o->err = pp_errno(errno);
	out_release(o);
	return o->err;
}

void out_release(struct out *o)
{
	no_pages(o);
	free(o->own);
	*o = (struct out){.fd = -1, .err = o->err, .written = o->written};
}

int out_write_all(int fd, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	while (n) {
		ssize_t w = write(fd, p, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return pp_errno(errno);
		p += w;
		n -= (size_t)w;
	}
	return 0;
}

int out_take(struct out *o, struct buf *b)
{
	int rc = b->err;

	if (!rc && b->len)
		rc = out_add(o, b->data, b->len);
	buf_reset(b);
	return rc;
}
