/*
 * What a trace.dat says about itself: its facts, which are META records of its stream, and its
 * data.
 */
#include "tracedat/parts.h"

#include "base/err.h"
#include "base/src.h"

#include <inttypes.h>

struct header {
	struct sreader *back;
	struct buf text;
};

/* One line, whatever the value is. */
static void line(struct buf *b, const char *key, size_t key_len, const char *value, size_t len)
{
	while (len && (value[len - 1] == '\n' || !value[len - 1]))
		len--;
	while (len && *value == '\n')
		value++, len--;
	buf_adds(b, "# ");
	buf_add_safe(b, key, key_len);
	buf_adds(b, " : ");
	for (size_t at = 0; at <= len;) {
		const char *nl = memchr(value + at, '\n', len - at);
		size_t n = nl ? (size_t)(nl - value) - at : len - at;

		if (at && n)
			buf_adds(b, ", ");
		buf_add_safe(b, value + at, n);
		at += n + 1;
	}
	buf_addc(b, '\n');
}

static void source(struct buf *b, const struct ps_source *s)
{
	line(b, "file", 4, s->name.p, s->name.len);
	line(b, "clock", 5, s->clock.p ? s->clock.p : "", s->clock.len);
	buf_addf(b, "# byte order : %s endian\n# long : %u bits\n# page size : %u bytes\n",
		 s->big_endian ? "big" : "little", s->long_bits, s->page_size);
}

static int take(void *ctx, uint8_t *bytes, size_t n)
{
	struct header *h = ctx;
	const struct ps_record *rec;
	int rc;

	sreader_feed(h->back, bytes, n);
	while (!(rc = sreader_next(h->back, &rec))) {
		if (rec->type == PS_SOURCE)
			source(&h->text, &rec->src);
		else if (rec->type == PS_META)
			line(&h->text, rec->meta.key.p ? rec->meta.key.p : "", rec->meta.key.len,
			     rec->meta.value.p ? rec->meta.value.p : "", rec->meta.value.len);
	}
	return rc == PP_END ? h->text.err : rc;
}

/* Where the data are, and how many events there are formats of. */
static void data(struct buf *b, const struct trace *t)
{
	buf_addf(b, "# version of the file : %u\n# formats : %u\n", t->version, t->nevents);
	for (uint32_t i = 0; i < t->ncpus; i++) {
		const struct trace_cpu *c = &t->cpus[i];

		buf_adds(b, "# data : ");
		if (*c->buffer->name) {
			buf_adds(b, "buffer ");
			buf_add_safe(b, c->buffer->name, strlen(c->buffer->name));
			buf_adds(b, ", ");
		}
		buf_addf(b, "CPU %u, %" PRIu64 " bytes at %" PRIu64 "%s, pages of %u\n", c->cpu,
			 c->size, c->offset, c->buffer->packed ? ", packed" : "",
			 c->buffer->page_size);
	}
}

int trace_describe(struct src *s, struct out *o, struct diag *d)
{
	struct header h = {0};
	struct swriter w;
	struct out stream;
	struct trace t;
	int rc = trace_init(&t, s, 1, &w, d);

	if (rc)
		return rc;
	rc = out_init_fn(&stream, take, &h);
	if (!rc)
		rc = sreader_new_fed(&h.back, "(header)", 0, d);
	if (!rc) {
		swriter_init(&w, &stream);
		swriter_header(&w);
		rc = trace_metadata(&t);
		if (out_flush(&stream) && !rc)
			rc = stream.err;
		data(&h.text, &t);
		if (!rc)
			rc = t.damage;
		else if (!t.damage && rc != PP_EUNSUPPORTED)
			diag_error(d, t.name, -1, "the metadata: %s", pp_strerror(rc));
	}
	if (!h.text.err && h.text.len)
		out_add(o, h.text.data, h.text.len);
	buf_release(&h.text);
	sreader_free(h.back);
	out_release(&stream);
	trace_release(&t);
	return rc;
}

static int drop(void *ctx, uint8_t *bytes, size_t n)
{
	(void)ctx;
	(void)bytes;
	(void)n;
	return 0;
}

static int each_format(struct trace *t, int (*fn)(void *ctx, const struct ps_event *e), void *ctx)
{
	struct buf name = BUF_INIT;
	int rc = 0;

	for (uint32_t i = 0; i < t->nevents && !rc; i++) {
		const struct trace_event *e = &t->events[i];
		struct ps_event event = {.config = e->id, .format = ps_str(e->format, e->len)};

		buf_reset(&name);
		buf_addf(&name, "%s:%s", e->system, e->name);
		event.name = ps_str(buf_str(&name), name.len);
		rc = name.err ? name.err : fn(ctx, &event);
	}
	buf_release(&name);
	return rc;
}

int trace_formats(struct src *s, int (*fn)(void *ctx, const struct ps_event *e), void *ctx,
		  struct diag *d)
{
	struct swriter w;
	struct out nowhere;
	struct trace t;
	int rc = trace_init(&t, s, 1, &w, d);

	if (rc)
		return rc;
	rc = out_init_fn(&nowhere, drop, NULL);
	if (!rc) {
		swriter_init(&w, &nowhere);
		swriter_header(&w);
		rc = trace_metadata(&t);
		if (!rc)
			rc = each_format(&t, fn, ctx);
		rc = rc ? rc : t.damage;
	}
	out_release(&nowhere);
	trace_release(&t);
	return rc;
}
