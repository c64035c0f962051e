/*
 * Records of the stream, and what comes before the first: the SOURCE record with the recording's
 * clock, and the facts that were known before it.
 */
#include "perfdata/decoder.h"

#include "base/err.h"

#include <time.h>
#include <stdio.h>

/* ---- names of threads, as perf reports them ---- */

/*
 * perf's names: "swapper" for the idle thread, ":TID" for one whose name is not recorded. Where
 * perf writes ":-1" it is no number: the thread has ended, and it is called so.
 */
int perf_comm(struct perf_decoder *p, uint32_t tid, uint32_t *comm)
{
	char name[16];
	int n;

	*comm = perf_threads_get(&p->threads, tid);
	if (*comm)
		return 0;
	if (!tid)
		return perf_put_string(p, "swapper", 7, comm);
	if (tid == PS_NONE)
		return perf_put_string(p, "(exited)", 8, comm);
	n = snprintf(name, sizeof(name), ":%d", (int)tid);
	return perf_put_string(p, name, (size_t)n, comm);
}

/* ---- records ---- */

/* Clocks by the names that tracefs has for them. */
static const char *clock_name(const struct perf_decoder *p)
{
	static const struct {
		int32_t id;
		const char *name;
	} names[] = {
		{CLOCK_REALTIME, "realtime"},
		{CLOCK_MONOTONIC, "mono"},
		{CLOCK_MONOTONIC_RAW, "mono_raw"},
		{CLOCK_BOOTTIME, "boot"},
		{CLOCK_TAI, "tai"},
	};
	const struct perf_attr *a = p->r.info.attrs;

	if (!p->r.info.nattrs)
		return "";
	if (!(a->flags & PERF_ATTR_USE_CLOCKID))
		return "perf";
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].id == a->clockid)
			return names[i].name;
	return "";
}

static int put_meta(struct perf_decoder *p, const char *key, size_t klen, const char *value,
		    size_t len)
{
	struct ps_meta m = {.key = ps_str(key, klen), .value = ps_str(value, len)};

	return swriter_put(p->w, PS_META, p->source, &m);
}

int perf_announce(struct perf_decoder *p)
{
	struct ps_source s = {.kind = 1, .name = ps_str(p->r.info.name, strlen(p->r.info.name))};
	struct cursor c = cursor_make(buf_str(&p->out.metas), p->out.metas.len, false);
	const char *clock = clock_name(p);
	int rc;

	p->out.source = true;
	s.big_endian = p->r.info.big_endian;
	s.long_bits = p->r.info.facts.long_bits;
	s.page_size = perf_tracing_page_size(p->r.info.tracing);
	s.clock = ps_str(clock, strlen(clock));
	if (!s.long_bits && p->r.info.tracing)
		s.long_bits = 8 * perf_tracing_long_size(p->r.info.tracing);
	rc = swriter_put(p->w, PS_SOURCE, p->source, &s);
	while (!rc && cursor_left(&c)) {
		uint32_t klen = get_u32(&c), len = get_u32(&c);
		const char *key = (const char *)get_bytes(&c, klen);
		const char *value = (const char *)get_bytes(&c, len);

		rc = put_meta(p, key, klen, value, len);
	}
	buf_release(&p->out.metas);
	return rc;
}

int perf_meta(struct perf_decoder *p, const char *key, const char *value, size_t len)
{
	struct buf *b = &p->out.metas;
	uint32_t sizes[2] = {(uint32_t)strlen(key), (uint32_t)len};

	/* In the pipe form the attributes, which name the clock, come before the features. */
	if (p->out.source || b->len + len > PERF_TEXT_MAX) {
		if (!p->out.source && perf_announce(p))
			return p->w->err;
		return put_meta(p, key, sizes[0], value, len);
	}
	buf_add(b, sizes, sizeof(sizes));
	buf_add(b, key, sizes[0]);
	buf_add(b, value, len);
	return b->err;
}

int perf_meta_buf(struct perf_decoder *p, const char *key, bool cut, struct buf *value)
{
	int rc = value->err;

	if (!rc && cut)
		rc = PP_ECUT;
	if (!rc)
		rc = perf_meta(p, key, buf_str(value), value->len);
	buf_release(value);
	return rc;
}

int perf_put_string(struct perf_decoder *p, const char *s, size_t len, uint32_t *id)
{
	struct ps_string rec;
	bool fresh;
	int rc = intern_add(&p->out.strings, s, len, id, &fresh);

	if (rc || !fresh)
		return rc;
	if (*id >= PS_ID_MAX || p->out.strings.arena.total > PERF_NAMES_MAX)
		return PP_ELIMIT;
	rec = (struct ps_string){.id = *id, .text = ps_str(s, len)};
	return perf_put(p, PS_STRING, &rec);
}

/* A text that psym or a printer needs, in parts of a size that fits in a record. */
int perf_blob(struct perf_decoder *p, uint32_t kind, const void *data, uint64_t len)
{
	int rc = 0;

	for (uint64_t at = 0; at < len && !rc;) {
		uint64_t n = len - at < (1u << 20) ? len - at : (1u << 20);
		struct ps_blob b = {.kind = kind, .flags = at + n == len};

		b.data = ps_str((const char *)data + at, (size_t)n);
		rc = perf_put(p, PS_BLOB, &b);
		at += n;
	}
	return rc;
}
