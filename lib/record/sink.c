/* Output that does not wait: while a reader is slow, the rings are still drained into memory. */
#include "base/err.h"
#include "base/out.h"
#include "record/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

void sink_init(struct sink *s, int fd)
{
	struct stat st;
	char path[64];

	*s = (struct sink){.fd = fd, .own = -1};
	if (fstat(fd, &st) || !S_ISFIFO(st.st_mode))
		return;
	/* A description of our own: O_NONBLOCK on the given one would hit all who share it. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	s->own = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	/* A large pipe means fewer switches to the reader; what is refused does not matter. */
	(void)fcntl(fd, F_SETPIPE_SZ, OUT_PIPE);
}

static int fail(struct sink *s, int errnum)
{
	s->errnum = errnum;
	return s->err = pp_errno(errnum);
}

int sink_close(struct sink *s)
{
	if (s->own >= 0)
		close(s->own);
	if (close(s->fd) && !s->err)
		fail(s, errno);
	buf_release(&s->wait);
	s->own = s->fd = -1;
	s->head = 0;
	return s->err;
}

/* 0 and *n bytes written, which is less than all when the pipe is full. */
static int write_some(struct sink *s, const struct iovec *v, size_t count, size_t *n)
{
	for (;;) {
		ssize_t w = writev(s->own >= 0 ? s->own : s->fd, v,
				   count < IOV_MAX ? (int)count : IOV_MAX);

		*n = w > 0 ? (size_t)w : 0;
		s->bytes += *n;
		if (w >= 0 || errno == EAGAIN)
			return 0;
		if (errno != EINTR)
			return fail(s, errno);
	}
}

int sink_flush(struct sink *s)
{
	while (!s->err && sink_waiting(s)) {
		struct iovec v = {s->wait.data + s->head, sink_waiting(s)};
		size_t n;

		if (write_some(s, &v, 1, &n))
			break;
		s->head += n;
		if (n < v.iov_len && s->own >= 0)
			break;
	}
	if (!sink_waiting(s)) {
		s->head = 0;
		buf_reset(&s->wait);
	}
	return s->err;
}

static int keep(struct sink *s, const struct iovec *v)
{
	/* The written part is given up when it is the larger one: each byte moves once at most. */
	if (s->head > sink_waiting(s)) {
		memmove(s->wait.data, s->wait.data + s->head, sink_waiting(s));
		s->wait.len -= s->head;
		s->head = 0;
	}
	buf_add(&s->wait, v->iov_base, v->iov_len);
	return s->wait.err ? fail(s, ENOMEM) : 0;
}

int sink_putv(struct sink *s, struct iovec *v, size_t n)
{
	sink_flush(s);
	while (!s->err && n && !sink_waiting(s)) {
		size_t done, asked = 0;
		bool full;

		for (size_t i = 0; i < n && i < IOV_MAX; i++)
			asked += v[i].iov_len;
		if (write_some(s, v, n, &done))
			break;
		full = done < asked;
		while (n && done >= v->iov_len) {
			done -= v->iov_len;
			v++, n--;
		}
		if (n && done) {
			v->iov_base = (uint8_t *)v->iov_base + done;
			v->iov_len -= done;
		}
		if (full && s->own >= 0)
			break;
	}
	for (; n && !s->err; v++, n--)
		keep(s, v);
	return s->err;
}

int sink_put(struct sink *s, const void *bytes, size_t n)
{
	struct iovec v = {(void *)(uintptr_t)bytes, n};

	return sink_putv(s, &v, 1);
}
