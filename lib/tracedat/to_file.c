/*
 * The stream form as a trace.dat: the same sections, with the pages of each CPU one after the
 * other, and the options that tell where they are. Nothing is decoded but the options.
 */
#include "tracedat/parts.h"

#include "base/array.h"
#include "base/err.h"
#include "base/src.h"
#include "tracedat/write_sections.h"

#include <stdlib.h>

struct to_file {
	struct src *src;
	struct diag *d;
	const struct trace_to_file *o;
	struct trace_head head;
	struct buf content,
		buffers;   /* buffers: the options that tell of them, one after the other */
	struct map64 pids; /* to index in names, + 1 */
	struct buf *names; /* the newest line of each thread */
	uint32_t n_names, cap_names;
	struct arena arena;
	struct twriter w;
	size_t n_buffers;
	bool begun, whole;
};

/* ---- the head ---- */

static int add_name(struct to_file *f, const char *line, size_t len)
{
	uint32_t *slot = map64_put(&f->pids, strtoull(line, NULL, 10), NULL), at;
	struct buf *v;

	if (!slot)
		return PP_ENOMEM;
	at = *slot ? *slot - 1 : f->n_names;
	v = array_widen(f->names, &f->cap_names, at, 512, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	f->names = v;
	if (!*slot)
		*slot = ++f->n_names;
	buf_reset(&v[at]);
	buf_add(&v[at], line, len);
	return v[at].err;
}

static int names(struct to_file *f)
{
	const char *p = buf_str(&f->content), *end = p + f->content.len;
	int rc = 0;

	for (p += f->content.len < 8 ? f->content.len : 8; p < end && !rc;) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t n = (size_t)((nl ? nl + 1 : end) - p);

		rc = add_name(f, p, n);
		p += n;
	}
	return rc;
}

/* Those of buffers wait until the file has begun. */
static int options(struct to_file *f)
{
	struct cursor c = cursor_make(f->content.data, f->content.len, false);

	while (cursor_left(&c)) {
		unsigned id = get_u16(&c);
		uint32_t len = get_u32(&c);
		const uint8_t *p = get_bytes(&c, len);

		if (!p)
			return PP_ECORRUPT;
		switch (id) {
		case TRACE_OPT_DONE: return f->head.options.err ? PP_ENOMEM : f->buffers.err;
		case TRACE_OPT_BUFFER:
		case TRACE_OPT_BUFFER_TEXT: trace_add_option(&f->buffers, id, p, len); continue;
		case TRACE_OPT_CPUCOUNT:
			if (len < 4)
				return PP_ECORRUPT;
			memcpy(&f->head.cpu_count, p, 4);
			break;
		case TRACE_OPT_TRACECLOCK:
			buf_add(&f->head.clock, p, strnlen((const char *)p, len));
			continue;
		}
		trace_add_option(&f->head.options, id, p, len);
	}
	return f->buffers.err;
}

/* ---- the file ---- */

/* u64 0, its name, its clock; of pages u32 their size, u32 CPUs, then of each u32, u64 0, u64 0. */
static int add_buffer(struct to_file *f, struct cursor *c, bool text)
{
	const char *name, *clock;
	uint32_t page_size, n;
	size_t index, len;
	int rc;

	cursor_skip(c, 8);
	len = strnlen((const char *)c->p, cursor_left(c));
	name = arena_dup(&f->arena, c->p, len);
	cursor_skip(c, len + 1);
	len = strnlen((const char *)c->p, cursor_left(c));
	clock = arena_dup(&f->arena, c->p, len);
	cursor_skip(c, len + 1);
	page_size = text ? 0 : get_u32(c);
	n = text ? 0 : get_u32(c);
	if (!name || !clock)
		return PP_ENOMEM;
	/* It becomes part of the name of a file. */
	if (c->bad || n > TRACE_CPUS_MAX || strchr(name, '/') || page_size > TRACE_PAGE_MAX)
		return PP_ECORRUPT;
	rc = twriter_buffer(&f->w, name, clock, page_size, &index);
	if (!rc && text)
		rc = twriter_text(&f->w, index, "", 0);
	f->n_buffers += !rc;
	for (; n && !rc; n--) {
		uint32_t cpu = get_u32(c);

		cursor_skip(c, 16);
		rc = c->bad || cpu >= TRACE_CPUS_MAX ? PP_ECORRUPT
						     : twriter_cpu(&f->w, index, (int)cpu);
	}
	return rc;
}

static int begin(struct to_file *f)
{
	struct cursor c = cursor_make(f->buffers.data, f->buffers.len, false);
	int rc;

	if (f->begun)
		return 0;
	f->begun = true;
	rc = twriter_begin(&f->w, f->o->path, &f->head, f->o->version, f->o->pack_level, f->d);
	while (!rc && cursor_left(&c)) {
		unsigned id = get_u16(&c);
		uint32_t len = get_u32(&c);
		const uint8_t *p = get_bytes(&c, len);
		struct cursor option = cursor_make(p ? p : c.p, p ? len : 0, false);

		rc = add_buffer(f, &option, id == TRACE_OPT_BUFFER_TEXT);
	}
	return rc ? rc : f->n_buffers ? 0 : PP_ECORRUPT;
}

static int data(struct to_file *f, bool text)
{
	struct cursor c = cursor_make(f->content.data, f->content.len, false);
	uint32_t buffer = get_u32(&c), cpu = text ? 0 : get_u32(&c);
	int rc = begin(f);
	size_t page;

	if (rc)
		return rc;
	if (c.bad || buffer >= f->n_buffers || cpu >= TRACE_CPUS_MAX)
		return PP_ECORRUPT;
	if (text)
		return twriter_text(&f->w, buffer, (const char *)c.p, cursor_left(&c));
	/* The last page may be without what it does not use. */
	page = f->w.buffers[buffer].page_size;
	if (!page)
		return PP_ECORRUPT;
	if (cursor_left(&c) % page) {
		size_t used = (size_t)(c.p - f->content.data);

		buf_fill(&f->content, 0, page - cursor_left(&c) % page);
		if (f->content.err)
			return PP_ENOMEM;
		c = cursor_make(f->content.data + used, f->content.len - used, false);
	}
	return twriter_pages(&f->w, buffer, (int)cpu, c.p, cursor_left(&c));
}

static int section(struct to_file *f)
{
	uint8_t head[TRACE_SECTION_HEAD] = {0};
	struct cursor c = cursor_make(head, sizeof(head), false);
	int rc = src_read_all(f->src, head, sizeof(head));
	uint64_t size;
	unsigned id;

	if (rc)
		return rc == PP_END ? PP_ECUT : rc;
	id = get_u16(&c);
	cursor_skip(&c, 6);
	size = get_u64(&c);
	if (size > TRACE_SECTION_MAX)
		return PP_ELIMIT;
	buf_reset(&f->content);
	rc = trace_take(f->src, &f->content, size);
	if (rc)
		return rc;
	switch (id) {
	case TRACE_OPT_DONE: return f->begun ? PP_ECORRUPT : options(f);
	case TRACE_OPT_HEADER_INFO:
	case TRACE_OPT_FTRACE_EVENTS:
	case TRACE_OPT_EVENT_FORMATS:
	case TRACE_OPT_KALLSYMS:
	case TRACE_OPT_PRINTK:
		if (f->begun)
			return PP_ECORRUPT;
		buf_reset(trace_head_section(&f->head, id));
		buf_join(trace_head_section(&f->head, id), &f->content);
		return trace_head_section(&f->head, id)->err;
	case TRACE_OPT_CMDLINES: return names(f);
	case TRACE_OPT_BUFFER_TEXT: return data(f, true);
	case TRACE_LIVE_PAGES: return data(f, false);
	case TRACE_LIVE_END: f->whole = true; return begin(f);
	default: return 0;
	}
}

/* ---- all of it ---- */

static int head(struct to_file *f)
{
	uint8_t bytes[TRACE_MAGIC_LEN + sizeof(TRACE_LIVE) + 6];
	const uint8_t *p = bytes + TRACE_MAGIC_LEN + sizeof(TRACE_LIVE);
	struct buf own = BUF_INIT;
	int rc;

	if (!trace_is_live(f->src)) {
		diag_error(
			f->d, src_name(f->src), 0,
			"only the stream form of a trace.dat, which pcap-ftrace writes to a pipe, "
			"can be converted to one");
		return PP_EUNSUPPORTED;
	}
	rc = src_read_all(f->src, bytes, sizeof(bytes));
	if (rc)
		return rc == PP_END ? PP_ECUT : rc;
	memcpy(&f->head.page_size, p + 2, 4);
	trace_add_magic(&own, TRACE_LIVE, f->head.page_size);
	if (own.err || memcmp(own.data, bytes, sizeof(bytes)) != 0) {
		diag_error(
			f->d, src_name(f->src), -1,
			"it is from a machine with another byte order or word size: it has to be "
			"converted on one of that kind");
		rc = own.err ? own.err : PP_EUNSUPPORTED;
	}
	buf_release(&own);
	return rc;
}

static int end(struct to_file *f)
{
	struct buf all = BUF_INIT;
	int rc;

	for (uint32_t i = 0; i < f->n_names; i++)
		buf_join(&all, &f->names[i]);
	rc = all.err ? all.err : twriter_end(&f->w, &all, NULL);
	buf_release(&all);
	return rc;
}

static int tell(const struct to_file *f, int rc)
{
	if (rc == PP_ECUT)
		diag_error(f->d, src_name(f->src), (int64_t)src_tell(f->src),
			   "the recorder ended before the recording did");
	else if (rc == PP_ECORRUPT || rc == PP_ENOMEM || rc == PP_ELIMIT)
		diag_error(f->d, src_name(f->src), (int64_t)src_tell(f->src), "%s",
			   pp_strerror(rc));
	return rc;
}

int trace_to_file(struct src *s, const struct trace_to_file *o, struct diag *d)
{
	struct to_file f = {.src = s, .d = d, .o = o, .w = {.fd = -1}};
	int rc = head(&f), last;

	while (!rc && !f.whole)
		rc = section(&f);
	tell(&f, rc);
	/* What has come is written, whatever happened then. */
	if (f.begun && f.n_buffers && (!rc || rc == PP_ECUT || rc == PP_ECORRUPT)) {
		last = end(&f);
		rc = last ? last : rc;
	}
	twriter_release(&f.w);
	trace_head_release(&f.head);
	for (uint32_t i = 0; i < f.n_names; i++)
		buf_release(&f.names[i]);
	free(f.names);
	map64_release(&f.pids);
	buf_release(&f.content);
	buf_release(&f.buffers);
	arena_release(&f.arena);
	return rc;
}
