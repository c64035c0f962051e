/* Finds out what an input is, and has it read; streams in memory that are made of it. */
#include "conv/parts.h"

#include "base/err.h"
#include "base/plain.h"
#include "fold/fold.h"
#include "stream/foreign.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PEEK 4096

/* A recording goes through pdecode and psym first. */
static int refuse_recordings(struct src *s, const char *first, size_t n, struct diag *d)
{
	const struct ps_foreign *other = ps_foreign(first, n);

	if (!other)
		return 0;
	diag_error(d, src_name(s), -1, "is %s: %s", other->is,
		   other->recorded ? "pdecode and psym have to read it first" : other->remedy);
	return PP_EUNSUPPORTED;
}

/* Whether only a look at all of it can tell: text of pfold's kinds begins otherwise. */
static bool is_other(const uint8_t *p, size_t n)
{
	size_t i = 0;

	while (i < n && (p[i] == ' ' || (p[i] >= '\t' && p[i] <= '\r')))
		i++;
	if (i < n && p[i] == '{')
		return true;
	if (i < n && p[i] == '[') {
		do
			i++;
		while (i < n && (p[i] == ' ' || (p[i] >= '\t' && p[i] <= '\r')));
		return i < n && (p[i] == '{' || p[i] == ']');
	}
	return conv_format_of(p, n) != NULL;
}

static bool is_json(const uint8_t *p, size_t n)
{
	while (n && (*p == ' ' || (*p >= '\t' && *p <= '\r')))
		p++, n--;
	return n && (*p == '{' || *p == '[');
}

static int read_bytes(struct conv *c, struct src *s, const struct conv_format *from)
{
	struct conv_input in = {.name = src_name(s)};
	int rc = src_map(s, c->d, &in.bytes);

	if (rc && rc != PP_ECUT) {
		diag_error(c->d, in.name, -1, "cannot read: %s", pp_strerror(rc));
		return rc;
	}
	in.n = src_size(s);
	if (!from)
		from = conv_format_of(in.bytes, in.n);
	if (from)
		return from->read(c, &in);
	diag_error(c->d, in.name, -1,
		   is_json(in.bytes, in.n) ? "is JSON of an unknown kind: speedscope, Firefox "
					     "profiler (processed) and Chrome traces are known"
					   : "is of no format that pconv reads");
	return PP_EUNSUPPORTED;
}

static bool is_stream(const char *first, size_t n)
{
	return n >= sizeof(PS_MAGIC) - 1 && !memcmp(first, PS_MAGIC, sizeof(PS_MAGIC) - 1);
}

static int read_input(struct conv *c, const struct conv_format *from, struct src *s)
{
	char first[PEEK];
	size_t n;
	int rc = src_peek(s, first, sizeof(first), &n);

	if (rc)
		diag_error(c->d, src_name(s), -1, "cannot read: %s", pp_strerror(rc));
	else if (is_stream(first, n))
		return conv_from_stream(c, s);
	else if (!is_other((uint8_t *)first, n))
		rc = refuse_recordings(s, first, n, c->d);
	if (!rc && (from ? from->read != NULL : is_other((uint8_t *)first, n)))
		rc = read_bytes(c, s, from);
	else if (!rc)
		return conv_from_text(c, s, from && from->can & CONV_BARE);
	src_free(s);
	return rc;
}

int conv_read(struct conv *c, const struct conv_format *from, struct src *s)
{
	int rc = read_input(c, from, s);

	if (rc || !c->p->left_out)
		return rc;
	diag_error(c->d, NULL, -1, "stacks of more than %d frames: %" PRIu64 " frames are left out",
		   FOLD_DEPTH_MAX, c->p->left_out);
	c->p->left_out = 0;
	return PP_ECUT;
}

/* ---- through the event stream ---- */

struct memory {
	struct buf b;
	size_t at;
};

static int read_memory(void *ctx, void *buf, size_t n, size_t *got)
{
	struct memory *m = ctx;

	*got = m->b.len - m->at < n ? m->b.len - m->at : n;
	if (*got)
		memcpy(buf, m->b.data + m->at, *got);
	m->at += *got;
	return 0;
}

static void free_memory(void *ctx)
{
	struct memory *m = ctx;

	buf_release(&m->b);
	free(m);
}

/* A stream of what a source holds, which is freed. */
static int make_stream(struct conv *c, const struct conv_format *from, struct src *s)
{
	int rc = conv_begin(c, &conv_to_stream);

	if (!rc)
		rc = conv_read(c, from, s);
	else
		src_free(s);
	return conv_end(c, rc);
}

static int open_stream(const struct conv_opts *o, const char *file, bool text, struct src **s,
		       struct diag *d)
{
	struct conv c = {.d = d, .name = file};
	struct memory *m;
	struct out out;
	char first[PEEK];
	size_t n;
	int rc = plain_open(s, file, d);

	if (rc)
		return rc;
	rc = src_peek(*s, first, sizeof(first), &n);
	if (rc) {
		diag_error(d, file, -1, "cannot read: %s", pp_strerror(rc));
		src_free(*s);
		return rc;
	}
	if (is_stream(first, n) || (text && !(o->from ? o->from->read || o->from->can & CONV_BARE
						      : is_other((uint8_t *)first, n))))
		return 0;
	m = calloc(1, sizeof(*m));
	rc = m ? out_init_buf(&out, &m->b) : PP_ENOMEM;
	if (rc) {
		free(m);
		src_free(*s);
		return rc;
	}
	c.out = &out;
	rc = make_stream(&c, o->from, *s);
	if (!rc)
		rc = out_flush(&out);
	out_release(&out);
	conv_release(&c);
	if (rc) {
		free_memory(m);
		return rc;
	}
	return src_from_layer(s, (struct src_layer){read_memory, free_memory, m}, file);
}

int conv_open_stream(void *ctx, const char *file, struct src **s, struct diag *d)
{
	return open_stream(ctx, file, false, s, d);
}

int conv_open_foldable(const struct conv_opts *o, const char *file, struct src **s, struct diag *d)
{
	return open_stream(o, file, true, s, d);
}
