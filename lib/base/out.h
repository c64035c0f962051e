/*
 * Checked, buffered output to a file descriptor.
 *
 *	struct out o;
 *	out_init(&o, STDOUT_FILENO);
 *	out_add(&o, bytes, n);
 *	rc = out_close(&o);		(flushes, and checks the close)
 *
 * An error is remembered and returned by every later call. The buffer is written when it is full or
 * on out_flush.
 *
 * Large output into a pipe is not copied: the pages in which it was made become the
 * pipe's (vmsplice(2)), and are never touched again, so that it makes no difference who reads the
 * pipe, and how (read, splice, tee). New ones take their place. That is faster than copying where
 * the kernel gives them as huge pages only, so it is done only there. So are bytes of a mapped file
 * that is to be copied into the pipe (out_lend).
 */
#ifndef PP_BASE_OUT_H
#define PP_BASE_OUT_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define OUT_BUFFER   262144	/* bytes collected before a write */
#define OUT_HUGE     (1u << 21) /* usually of a huge page */
#define OUT_LENT_MIN 2048	/* bytes that are not copied */
/* of pipes, at both ends: room while the other end works, not waits */
#define OUT_PIPE (1u << 20)

/* Replaces write(2): all n bytes, or an error. It may change the bytes. */
typedef int out_fn(void *ctx, uint8_t *bytes, size_t n);

struct out {
	int fd;
	out_fn *fn; /* NULL: write to fd */
	void *ctx;
	int err;	  /* first error, 0 if none */
	uint8_t *data;	  /* in own or in pages */
	size_t len, cap;  /* bytes waiting, room for bytes */
	uint64_t written; /* bytes handed to the kernel */
	uint8_t *own;
	size_t own_cap;
	enum out_pages { OUT_COPY, OUT_PAGES_LATER, OUT_PAGES } mode;
	uint8_t *pages; /* OUT_HUGE bytes, the first `given` of which a pipe has; or NULL */
	size_t given;
	struct out_parts *parts; /* of pages and what was lent in between; or NULL */
	const uint8_t *lasting;	 /* bytes that may be lent, ... */
	size_t nlasting;	 /* ... so many */
};

int out_init(struct out *o, int fd);

/* Whether it goes into a pipe, in which more bytes cost little. */
bool out_is_pipe(const struct out *o);

/* Output to a function; fd is -1. */
int out_init_fn(struct out *o, out_fn *fn, void *ctx);

/* Output that is added to a buffer, which must outlive it; fd is -1. */
int out_init_buf(struct out *o, struct buf *b);

int out_flush(struct out *o);
/* The same for src_on_pause: -1, and the error is in o->err. */
int out_hand_on(void *o);
int out_grow(struct out *o, size_t n);

/* Room for n bytes at o->data + o->len; the caller writes them and adds to o->len. */
static inline uint8_t *out_room(struct out *o, size_t n)
{
	if (o->cap - o->len < n && out_grow(o, n))
		return NULL;
	return o->data + o->len;
}

static inline int out_add(struct out *o, const void *bytes, size_t n)
{
	uint8_t *p = out_room(o, n);

	if (!p)
		return o->err;
	if (n)
		memcpy(p, bytes, n);
	o->len += n;
	return 0;
}

/*
 * Adds bytes that stay where they are until out_flush, and in the file that they are mapped from:
 * to a pipe they are not copied.
 */
int out_lend(struct out *o, const void *bytes, size_t n);

/* Whether bytes are worth it, and among those that the caller has set as lasting. */
static inline bool out_lasts(const struct out *o, const void *bytes, size_t n)
{
	size_t at = (uintptr_t)bytes - (uintptr_t)o->lasting;

	return n >= OUT_LENT_MIN && at < o->nlasting && n <= o->nlasting - at;
}

/* Adds the contents of b, which is empty afterwards. 0, or the error of b or o. */
int out_take(struct out *o, struct buf *b);

/* Writes the rest, closes the descriptor, frees the buffer. Returns the first error of all. */
int out_close(struct out *o);

/* Frees the buffer without writing; the descriptor stays open. */
void out_release(struct out *o);

/* Writes n bytes to a descriptor, without a buffer. 0 or a code of pp_errno. */
int out_write_all(int fd, const void *bytes, size_t n);

#endif
