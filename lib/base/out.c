#include "base/out.h"

#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int out_init(struct out *o, int fd)
{
	*o = (struct out){.fd = fd, .cap = OUT_BUFFER};
	o->data = malloc(o->cap);
	if (!o->data) {
		o->cap = 0;
		return o->err = PP_ENOMEM;
	}
	/* A larger pipe means fewer switches between writer and reader; failure does not matter. */
	if (fd >= 0)
		(void)fcntl(fd, F_SETPIPE_SZ, OUT_PIPE);
	return 0;
}

int out_init_fn(struct out *o, out_fn *fn, void *ctx)
{
	int rc = out_init(o, -1);

	o->fn = fn;
	o->ctx = ctx;
	return rc;
}

int out_flush(struct out *o)
{
	size_t done = 0;

	if (o->fn && !o->err && o->len) {
		o->err = o->fn(o->ctx, o->data, o->len);
		done = o->len;
	}
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
	return o->err;
}

int out_grow(struct out *o, size_t n)
{
	uint8_t *data;

	if (o->err || out_flush(o))
		return o->err;
	if (n <= o->cap)
		return 0;
	data = realloc(o->data, n);
	if (!data)
		return o->err = PP_ENOMEM;
	o->data = data;
	o->cap = n;
	return 0;
}

int out_close(struct out *o)
{
	out_flush(o);
	if (o->fd >= 0 && close(o->fd) && !o->err)
		o->err = pp_errno(errno);
	o->fd = -1;
	free(o->data);
	o->data = NULL;
	o->cap = 0;
	return o->err;
}

void out_release(struct out *o)
{
	free(o->data);
	*o = (struct out){.fd = -1};
}

int out_write_all(int fd, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	while (n) {
		ssize_t w = write(fd, p, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return PP_EIO;
		p += w;
		n -= (size_t)w;
	}
	return 0;
}
