/*
 * What is told beside a call's arguments: paths and addresses of sockets, by probes, and by the
 * records of perf trace's BPF programs.
 *
 * Those are bpf-output events called __augmented_syscalls__. They have what raw_syscalls:sys_enter
 * has, and after it either the bytes of a socket's address, or, for each argument that was read, a
 * u32 with its size, an s32 with the error, and its bytes. Newer ones have that head before a
 * socket's address, too.
 */
#include "base/err.h"
#include "strace/parts.h"

#define HEAD 8 /* bytes of a size and an error */

static int keep(struct strace *s, const char *bytes, size_t len, uint32_t *text)
{
	len = strnlen(bytes, len < STRACE_PATH_MAX ? len : STRACE_PATH_MAX);
	/* The kernel's word for memory that it could not read without waiting. */
	if (len == 7 && !memcmp(bytes, "(fault)", 7))
		return 0;
	return len ? intern_again(&s->texts, bytes, len, text) : 0;
}

static int keep_sockaddr(struct strace *s, const char *bytes, size_t len, uint32_t *text)
{
	struct buf b = BUF_INIT;
	int rc;

	value_add_sockaddr(&b, bytes, len);
	rc = b.err ? b.err : intern_again(&s->texts, b.data, b.len, text);
	buf_release(&b);
	return rc;
}

/* A field of a probe: false if it is not there. */
static bool field_of(const struct ps_sample *p, const struct told_field *f, const char **bytes,
		     size_t *len)
{
	uint64_t at = f->offset, n = f->size;

	if (!n || !ps_sample_has(p, payload))
		return false;
	if (f->dynamic) {
		uint64_t word = strace_number(p, f->offset, 4);

		at = (word & 0xffff) + (f->relative ? (uint64_t)f->offset + 4 : 0);
		n = word >> 16;
	}
	if (at > p->payload.len || n > p->payload.len - at)
		return false;
	*bytes = p->payload.p + at;
	*len = n;
	return true;
}

int strace_told_by_probe(struct strace *s, struct thread *t, const struct ps_sample *p,
			 const struct known_event *k)
{
	/* A function of the kernel that takes all paths is passed once for each of a call's. */
	bool second = t->call && t->path[0] && !k->path[1].size;
	const char *bytes;
	size_t len;
	int rc = 0;

	for (int i = 0; i < TOLD_PATHS && !rc; i++)
		if (field_of(p, &k->path[i], &bytes, &len))
			rc = keep(s, bytes, len, &t->path[second ? 1 : i]);
	if (!rc && field_of(p, &k->sockaddr, &bytes, &len))
		rc = keep_sockaddr(s, bytes, len, &t->sockaddr);
	return rc;
}

/* Takes a size, an error and bytes from the front; false: they are not there. */
static bool take(const char **at, size_t *left, const char **bytes, uint32_t *len)
{
	if (*left < HEAD)
		return false;
	memcpy(len, *at, 4);
	if (*len > *left - HEAD)
		return false;
	*bytes = *at + HEAD;
	*at += HEAD + *len;
	*left -= HEAD + *len;
	return true;
}

int strace_told_by_bpf(struct strace *s, struct thread *t, const struct ps_sample *p,
		       const struct known_event *k)
{
	const struct known_call *c = strace_known(s, t->call);
	const char *at, *bytes;
	size_t left, all;
	uint32_t len, n = 0;
	int rc = 0;

	if (!c)
		return PP_ENOMEM;
	s->told = true;
	if (!ps_sample_has(p, payload) || p->payload.len <= k->extra)
		return 0;
	at = p->payload.p + k->extra;
	all = left = p->payload.len - k->extra;
	for (uint32_t i = 0; i < c->nargs && !rc; i++) {
		if (c->args->arg[i].kind == ARG_SOCKADDR) {
			/* With a head: the rest is what the kernel adds to fill 8 bytes. */
			if (take(&at, &left, &bytes, &len) && left < HEAD)
				return keep_sockaddr(s, bytes, len, &t->sockaddr);
			at = p->payload.p + k->extra;
			len = t->arg[i + 1] < all ? (uint32_t)t->arg[i + 1] : (uint32_t)all;
			return keep_sockaddr(s, at, len, &t->sockaddr);
		}
		if (c->args->arg[i].kind != ARG_PATH || n == TOLD_PATHS)
			continue;
		if (!take(&at, &left, &bytes, &len))
			return 0;
		rc = keep(s, bytes, len, &t->path[n++]);
	}
	return rc;
}
