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

#define PARTS 128 /* that are handed over at a time */

/* What is waiting, in order: pieces of `data`, and what was lent. */
struct out_parts {
	struct iovec v[PARTS];
	int n;
	size_t taken; /* bytes of data that are in v */
	size_t lent;  /* bytes in v that are not in data */
};

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
	free(o->parts);
	o->parts = NULL;
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
	o->parts = calloc(1, sizeof(*o->parts));
	return o->parts && !madvise(o->pages, OUT_HUGE, MADV_HUGEPAGE) && renew_pages(o);
}

/* What was added to data since then becomes a part. */
static void take_part(struct out *o)
{
	struct out_parts *k = o->parts;

	if (o->len > k->taken)
		k->v[k->n++] = (struct iovec){o->data + k->taken, o->len - k->taken};
	k->taken = o->len;
}

int out_lend(struct out *o, const void *bytes, size_t n)
{
	struct out_parts *k;

	if (o->parts && o->parts->n > PARTS - 3)
		out_flush(o);
	k = o->parts;
	if (!k || o->data == o->own)
		return out_add(o, bytes, n);
	take_part(o);
	k->v[k->n++] = (struct iovec){(void *)(uintptr_t)bytes, n};
	k->lent += n;
	return o->err;
}

/* Takes n bytes from the parts, of which *i is the first; the rest of one stays. */
static void pass_parts(struct out_parts *k, int *i, size_t n)
{
	while (n && n >= k->v[*i].iov_len)
		n -= k->v[(*i)++].iov_len;
	if (n) {
		k->v[*i].iov_base = (uint8_t *)k->v[*i].iov_base + n;
		k->v[*i].iov_len -= n;
	}
}

/* Gives the pages of what is waiting to the pipe. The first part that it has not, of k->n. */
static int give_pages(struct out *o)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct out_parts *k = o->parts;
	int i = 0;

	take_part(o);
	while (i < k->n) {
		ssize_t n = vmsplice(o->fd, k->v + i, (size_t)(k->n - i), 0);

		if (n < 0 && errno == EINTR)
			continue;
		/* Not allowed, say: write(2) will do, or find the same error. */
		if (n <= 0) {
			o->mode = OUT_COPY;
			break;
		}
		o->written += (size_t)n;
		pass_parts(k, &i, (size_t)n);
	}
	/* What follows begins on a page of its own: that makes the most of the pipe's room. */
	o->given += (o->len + page - 1) / page * page;
	return i;
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

static int write_part(struct out *o, const uint8_t *p, size_t len)
{
	for (size_t done = 0; !o->err && done < len;) {
		ssize_t n = write(o->fd, p + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			o->err = pp_errno(errno);
		else
			done += (size_t)n;
		o->written += n < 0 ? 0 : (size_t)n;
	}
	return o->err;
}

/* To the pipe without a copy, as far as it takes them. */
static void write_pages(struct out *o)
{
	struct out_parts *k = o->parts;

	for (int i = give_pages(o); i < k->n && !o->err; i++)
		write_part(o, k->v[i].iov_base, k->v[i].iov_len);
	k->n = 0;
	k->taken = k->lent = 0;
}

int out_flush(struct out *o)
{
	bool lent = o->parts && o->parts->lent, full = lent || o->len >= OUT_BUFFER / 2;

	if (o->fn && !o->err && o->len) {
		o->err = o->fn(o->ctx, o->data, o->len);
		o->written += o->err ? 0 : o->len;
	} else if (full && !o->err && o->parts && o->data != o->own) {
		/* Of little, its pages would take more of the pipe's room than the bytes do. */
		write_pages(o);
	} else {
		write_part(o, o->data, o->len);
	}
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
