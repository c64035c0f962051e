/* Reading of trace.dat metadata: from the file or unpacked. */
#include "tracedat/parts.h"

#include "base/err.h"
#include "base/src.h"

#include <stdlib.h>

/* ---- damage ---- */

void trace_damage(struct trace *t, int err, int64_t offset, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	diag_vwarn(t->d, t->name, offset, fmt, ap);
	va_end(ap);
	if (!t->damage)
		t->damage = err;
}

/* ---- reading ---- */

#define WINDOW 65536 /* bytes read at a time */

void tin_file(struct tin *in, struct trace *t, uint64_t offset, uint64_t len)
{
	*in = (struct tin){.t = t, .pos = offset, .end = offset};
	if (offset < t->size)
		in->end = len < t->size - offset ? offset + len : t->size;
}

void tin_mem(struct tin *in, struct trace *t, const uint8_t *mem, uint64_t len)
{
	static const uint8_t none[1];

	*in = (struct tin){.t = t, .mem = mem ? mem : none, .end = mem ? len : 0};
}

void tin_release(struct tin *in)
{
	buf_release(&in->window);
	free(in->unpacked);
	in->unpacked = NULL;
}

const uint8_t *tin_bytes(struct tin *in, uint64_t n)
{
	uint64_t want = n > WINDOW ? n : WINDOW, at = in->pos;

	if (in->err || n > in->end - in->pos) {
		if (!in->err)
			in->err = PP_ECUT;
		return NULL;
	}
	in->pos += n;
	if (in->mem)
		return in->mem + at;
	if (at >= in->window_at && at + n <= in->window_at + in->window.len)
		return in->window.data + (at - in->window_at);
	if (want > in->end - at)
		want = in->end - at;
	buf_reset(&in->window);
	if (buf_reserve(&in->window, want)) {
		in->err = PP_ENOMEM;
		return NULL;
	}
	in->err = src_pread(in->t->src, in->window.data, want, at);
	in->window.len = want;
	in->window_at = at;
	return in->err ? NULL : in->window.data;
}

uint16_t tin_u16(struct tin *in)
{
	const uint8_t *p = tin_bytes(in, 2);

	return p ? (uint16_t)trace_number(in->t, p, 2) : 0;
}

uint32_t tin_u32(struct tin *in)
{
	const uint8_t *p = tin_bytes(in, 4);

	return p ? (uint32_t)trace_number(in->t, p, 4) : 0;
}

uint64_t tin_u64(struct tin *in)
{
	const uint8_t *p = tin_bytes(in, 8);

	return p ? trace_number(in->t, p, 8) : 0;
}

const char *tin_text(struct tin *in)
{
	uint64_t left = in->end - in->pos;
	uint64_t start = in->pos;
	const uint8_t *p, *nul;
	char *s;

	if (left > TRACE_STRING_MAX)
		left = TRACE_STRING_MAX;
	p = tin_bytes(in, left);
	nul = p && left ? memchr(p, 0, left) : NULL;
	if (!nul) {
		if (!in->err)
			in->err = left == TRACE_STRING_MAX ? PP_ELIMIT : PP_ECUT;
		return NULL;
	}
	in->pos = start + (uint64_t)(nul - p) + 1;
	s = arena_dup(&in->t->arena, p, (size_t)(nul - p));
	if (!s)
		in->err = PP_ENOMEM;
	return s;
}

/* ---- sections ---- */

/* The content of a section: u32 packed size, u32 size, packed bytes. */
static int unpack_section(struct tin *in)
{
	uint32_t n = tin_u32(in), size = tin_u32(in);
	const uint8_t *packed;
	uint8_t *to;
	int rc;

	if (in->err)
		return in->err;
	if (size > TRACE_SECTION_MAX)
		return PP_ELIMIT;
	packed = tin_bytes(in, n);
	if (!packed)
		return in->err;
	to = malloc(size ? size : 1);
	if (!to)
		return PP_ENOMEM;
	rc = trace_unpack(in->t, &in->t->zstd, packed, n, to, size);
	if (rc) {
		free(to);
		return rc;
	}
	tin_release(in);
	tin_mem(in, in->t, to, size);
	in->unpacked = to;
	return 0;
}

int tin_section(struct tin *in, struct trace *t, uint64_t offset, uint16_t *id, uint16_t *flags)
{
	uint64_t size;

	tin_file(in, t, offset, UINT64_MAX);
	*id = tin_u16(in);
	*flags = tin_u16(in);
	tin_u32(in); /* a description */
	size = tin_u64(in);
	if (in->err)
		return in->err;
	if (*id == TRACE_OPT_BUFFER || *id == TRACE_OPT_BUFFER_TEXT)
		return 0;
	/* The size of a section that is packed is that of the packed bytes, or was never set. */
	if (!(*flags & TRACE_SECTION_PACKED) && size < in->end - in->pos)
		in->end = in->pos + size;
	return *flags & TRACE_SECTION_PACKED ? unpack_section(in) : 0;
}
