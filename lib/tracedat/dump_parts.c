/* The metadata of a trace.dat, part by part, as `trace-cmd dump --all` prints them. */
#include "tracedat/dump_parts.h"

#include "base/err.h"
#include "base/src.h"

#include <inttypes.h>
#include <stdlib.h>

#define SECTIONS_MAX 4096

/* ---- the parts ---- */

static int header(struct dump *p, struct tin *in, const char *magic, const char *what)
{
	const uint8_t *s = tin_bytes(in, strlen(magic) + 1);
	uint64_t size;

	if (s && memcmp(s, magic, strlen(magic)) != 0)
		return PP_ECORRUPT;
	size = tin_u64(in);
	buf_addf(&p->b, "\t[%s, %" PRId64 " bytes]\n", what, (int64_t)size);
	return in->err ? in->err : dump_text(p, in, size);
}

static int headers(struct dump *p, struct tin *in)
{
	int rc = header(p, in, "header_page", "Header page");

	return rc ? rc : header(p, in, "header_event", "Header event");
}

static int formats(struct dump *p, struct tin *in, uint32_t n)
{
	int rc = in->err;

	for (uint32_t i = 0; i < n && !rc; i++) {
		uint64_t size = tin_u64(in);

		rc = in->err ? in->err : dump_text(p, in, size);
	}
	return rc;
}

static int ftrace_formats(struct dump *p, struct tin *in)
{
	uint32_t n = tin_u32(in);

	buf_addf(&p->b, "\t[Ftrace format, %d events]\n", (int)n);
	return formats(p, in, n);
}

static int event_formats(struct dump *p, struct tin *in)
{
	uint32_t n = tin_u32(in);
	int rc = in->err;

	buf_addf(&p->b, "\t[Events format, %d systems]\n", (int)n);
	for (uint32_t i = 0; i < n && !rc; i++) {
		const char *system = dump_name(in);
		uint32_t events = tin_u32(in);

		buf_adds(&p->b, "\t\t");
		buf_add_safe(&p->b, system, strlen(system));
		buf_addf(&p->b, " %d [system, events]\n", (int)events);
		rc = formats(p, in, events);
	}
	return rc;
}

static int table(struct dump *p, struct tin *in, const char *what, bool wide)
{
	uint64_t size = wide ? tin_u64(in) : tin_u32(in);

	buf_addf(&p->b, "\t[%s, %d bytes]\n", what, (int)size);
	return in->err ? in->err : dump_text(p, in, size);
}

static int content(struct dump *p, struct tin *in, unsigned id)
{
	switch (id) {
	case TRACE_OPT_HEADER_INFO: return headers(p, in);
	case TRACE_OPT_FTRACE_EVENTS: return ftrace_formats(p, in);
	case TRACE_OPT_EVENT_FORMATS: return event_formats(p, in);
	case TRACE_OPT_KALLSYMS: return table(p, in, "Kallsyms", false);
	case TRACE_OPT_PRINTK: return table(p, in, "Trace printk", false);
	case TRACE_OPT_CMDLINES: return table(p, in, "Saved command lines", true);
	default: return dump_spill(p, in);
	}
}

/* ---- version 7 ---- */

/* The descriptions, which lie in sections of their own, wherever they are. */
static int find_strings(struct dump *p, uint64_t at)
{
	bool first = true;

	for (int i = 0; i < SECTIONS_MAX && at < p->t.size; i++) {
		uint16_t id = 0, flags = 0;
		uint64_t size;
		struct tin in;

		tin_file(&in, &p->t, at + 8, 8);
		size = tin_u64(&in);
		tin_release(&in);
		if (in.err)
			break;
		if (!tin_section(&in, &p->t, at, &id, &flags) && id == TRACE_OPT_STRINGS) {
			uint64_t n = in.end - in.pos, base = p->strings.len;
			const uint8_t *s = tin_bytes(&in, n);

			if (s && base + n <= TRACE_TABLE_MAX) {
				buf_adds(&p->b, "\t[String @ offset]\n");
				buf_add(&p->strings, s, n);
			}
			for (uint64_t k = base; k < p->strings.len;) {
				const char *str = (const char *)p->strings.data + k;

				buf_adds(&p->b, "\t\t");
				dump_quoted(p, str);
				buf_addf(&p->b, " @ %" PRIu64 "\n", k);
				k += strlen(str) + 1;
			}
			first = false;
		}
		tin_release(&in);
		if (size > p->t.size - at || size + DUMP_HEAD_BYTES > p->t.size - at)
			break;
		at += DUMP_HEAD_BYTES + size;
	}
	return first ? 0 : p->b.err;
}

static int walk(struct dump *p, uint64_t at, unsigned *count)
{
	int rc = 0;

	for (*count = 0; *count < SECTIONS_MAX && at < p->t.size && !rc; ++*count) {
		const char *what = "Unknown";
		uint32_t description;
		unsigned id, flags;
		struct tin in;
		uint64_t size;

		tin_file(&in, &p->t, at, DUMP_HEAD_BYTES + 8);
		id = tin_u16(&in);
		flags = tin_u16(&in);
		description = tin_u32(&in);
		size = tin_u64(&in);
		if (in.err) {
			tin_release(&in);
			break;
		}
		if (description < p->strings.len)
			what = (const char *)p->strings.data + description;
		buf_addf(&p->b, "\t[Section %2u @ %-16" PRId64 "\t", id, (int64_t)at);
		dump_quoted(p, what);
		buf_addf(&p->b, ", flags 0x%X, ", flags);
		if (!(flags & TRACE_SECTION_PACKED)) {
			buf_addf(&p->b, "%" PRId64 " bytes]\n", (int64_t)size);
		} else if (id == TRACE_OPT_BUFFER || id == TRACE_OPT_BUFFER_TEXT) {
			buf_addf(&p->b, "%" PRId64 " compressed bytes]\n", (int64_t)size);
		} else {
			uint32_t packed = tin_u32(&in), plain = tin_u32(&in);

			buf_addf(&p->b, "%d compressed, %d uncompressed]\n", (int)packed,
				 (int)plain);
		}
		tin_release(&in);
		rc = dump_spill(p, &in);
		at = size > p->t.size - at ? p->t.size : at + DUMP_HEAD_BYTES + size;
	}
	return rc;
}

static int listed_sections(struct dump *p, unsigned count)
{
	int rc = 0;

	for (unsigned i = p->nlisted; i-- > 0 && !rc;) {
		uint16_t id, flags;
		struct tin in;

		rc = dump_section_head(p, p->listed[i].offset);
		if (rc)
			break;
		rc = tin_section(&in, &p->t, p->listed[i].offset, &id, &flags);
		if (!rc)
			rc = content(p, &in, p->listed[i].id);
		tin_release(&in);
	}
	buf_addf(&p->b, "\t[%u sections]\n", count);
	return rc;
}

static int dump7(struct dump *p, struct tin *in)
{
	const char *packing = dump_name(in), *version = dump_name(in);
	unsigned sections = 0, count = 0;
	uint64_t next = tin_u64(in);
	int rc = in->err;

	buf_adds(&p->b, "\t\t");
	buf_add_safe(&p->b, packing, strlen(packing));
	buf_adds(&p->b, "\t[Compression algorithm]\n\t\t");
	buf_add_safe(&p->b, version, strlen(version));
	buf_adds(&p->b, "\t[Compression version]\n");
	p->t.packing = !strcmp(packing, "zlib")	  ? TRACE_ZLIB
		       : !strcmp(packing, "zstd") ? TRACE_ZSTD
						  : TRACE_PLAIN;
	if (!rc)
		rc = find_strings(p, in->pos);
	if (!rc)
		rc = walk(p, in->pos, &sections);
	for (bool more = false; !rc && next; more = true) {
		uint64_t at = next;
		uint16_t id, flags;
		struct tin section;

		if (more)
			buf_adds(&p->b, "\n\n");
		rc = dump_section_head(p, at);
		if (rc)
			break;
		rc = tin_section(&section, &p->t, at, &id, &flags);
		if (!rc)
			rc = dump_options(p, &section, &count, &next);
		tin_release(&section);
	}
	buf_addf(&p->b, "\t[%u options]\n", count);
	return rc ? rc : listed_sections(p, sections);
}

/* ---- version 6 ---- */

static int flyrecord(struct dump *p, struct tin *in, uint32_t cpus)
{
	uint64_t size;

	buf_adds(&p->b, "\t[Flyrecord tracing data]\n");
	for (uint32_t i = 0; i < cpus && !in->err; i++) {
		uint64_t at = tin_u64(in), n = tin_u64(in);

		buf_addf(&p->b, "\t %10.0" PRId64 " %10.0" PRId64 "\t[offset, size of cpu %u]\n",
			 (int64_t)at, (int64_t)n, i);
	}
	buf_adds(&p->b, "\t[Tracing clock]\n");
	if (!p->clock) {
		buf_adds(&p->b, "\t\t No tracing clock saved in the file\n");
		return dump_spill(p, in);
	}
	size = tin_u64(in);
	buf_adds(&p->b, "\t\t");
	return in->err ? in->err : dump_text(p, in, size);
}

static int dump6(struct dump *p, struct tin *in)
{
	unsigned count = 0;
	uint64_t next;
	uint32_t cpus;
	int rc = headers(p, in);

	for (unsigned id = TRACE_OPT_FTRACE_EVENTS; id <= TRACE_OPT_CMDLINES && !rc; id++)
		rc = content(p, in, id);
	cpus = tin_u32(in);
	buf_addf(&p->b, "\t%d [CPUs with tracing data]\n", (int)cpus);
	while (!rc && !in->err && in->end - in->pos >= 10) {
		const char *tag = (const char *)tin_bytes(in, 10);

		if (tag && !memcmp(tag, "options  ", 10)) {
			rc = dump_options(p, in, &count, &next);
			buf_addf(&p->b, "\t[%u options]\n", count);
		} else if (tag && !memcmp(tag, "latency  ", 10)) {
			buf_adds(&p->b, "\t[Latency tracing data]\n");
		} else if (tag && !memcmp(tag, "flyrecord", 10)) {
			rc = flyrecord(p, in, cpus);
		} else {
			break;
		}
	}
	return rc ? rc : in->err;
}

/* ---- all ---- */

static int all(struct dump *p, struct tin *in)
{
	const uint8_t *s = tin_bytes(in, TRACE_MAGIC_LEN);
	const char *version = s ? dump_name(in) : "";
	uint8_t big, long_size;
	int rc;

	s = tin_bytes(in, 2);
	if (!s)
		return in->err;
	big = s[0];
	long_size = s[1];
	p->t.version = (unsigned)strtoul(version, NULL, 10);
	p->t.big_endian = big;
	p->t.swap = p->t.big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	buf_adds(&p->b, "\n Tracing meta data in file ");
	buf_add_safe(&p->b, p->t.name, strlen(p->t.name));
	buf_adds(&p->b, ":\n\t[Initial format]\n\t\t");
	buf_add_safe(&p->b, version, strlen(version));
	buf_addf(&p->b, "\t[Version]\n\t\t%u\t[%s endian]\n\t\t%u\t[Bytes in a long]\n", big,
		 big ? "Big" : "Little", long_size);
	buf_addf(&p->b, "\t\t%d\t[Page size, bytes]\n", (int)tin_u32(in));
	if (p->t.version != 6 && p->t.version != 7) {
		diag_error(p->t.d, p->t.name, TRACE_MAGIC_LEN,
			   "trace.dat of version %.20s: only 6 and 7 are read", version);
		return PP_EUNSUPPORTED;
	}
	rc = p->t.version == 7 ? dump7(p, in) : dump6(p, in);
	return rc;
}

int trace_dump(struct src *s, struct out *o, struct diag *d)
{
	struct dump p = {.out = o};
	struct tin in;
	int rc = trace_init(&p.t, s, 1, NULL, d), said;

	if (rc)
		return rc;
	tin_file(&in, &p.t, 0, UINT64_MAX);
	rc = all(&p, &in);
	if (rc && rc != PP_EUNSUPPORTED && !o->err)
		diag_error(d, p.t.name, (int64_t)in.pos, "the metadata is damaged: %s",
			   pp_strerror(rc));
	in.err = 0;
	said = dump_spill(&p, &in);
	if (!rc)
		rc = said;
	tin_release(&in);
	buf_release(&p.b);
	buf_release(&p.strings);
	trace_release(&p.t);
	return rc;
}
