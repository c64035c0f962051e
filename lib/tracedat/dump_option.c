/*
 * The options of a trace.dat as `trace-cmd dump` prints them, and what its other parts print
 * with.
 */
#include "tracedat/dump_parts.h"

#include "base/err.h"

#include <inttypes.h>

#define CHUNK 1023 /* bytes of text that are taken at a time; a NUL ends each */

int dump_spill(struct dump *p, const struct tin *in)
{
	int rc = p->b.err;

	if (!rc && p->b.len)
		rc = out_add(p->out, p->b.data, p->b.len);
	buf_reset(&p->b);
	return rc ? rc : in->err;
}

static void add_safe(struct buf *b, const char *s, size_t n)
{
	while (n) {
		size_t run = 0;

		while (run < n && s[run] != '\n' && s[run] != '\t')
			run++;
		buf_add_safe(b, s, run);
		if (run < n)
			buf_addc(b, s[run++]);
		s += run;
		n -= run;
	}
}

int dump_text(struct dump *p, struct tin *in, uint64_t size)
{
	int rc = 0;

	while (size && !rc) {
		uint64_t n = size < CHUNK ? size : CHUNK;
		const char *s = (const char *)tin_bytes(in, n);

		if (s)
			add_safe(&p->b, s, strnlen(s, n));
		rc = dump_spill(p, in);
		size -= n;
	}
	buf_addc(&p->b, '\n');
	return rc;
}

const char *dump_name(struct tin *in)
{
	const char *s = tin_text(in);

	return s ? s : "";
}

void dump_quoted(struct dump *p, const char *s)
{
	buf_addc(&p->b, '"');
	buf_add_safe(&p->b, s, strlen(s));
	buf_addc(&p->b, '"');
}

/* ---- options ---- */

int dump_section_head(struct dump *p, uint64_t offset)
{
	const char *what = "Unknown";
	struct tin in;
	unsigned id, flags;
	uint32_t description;
	uint64_t size;

	tin_file(&in, &p->t, offset, DUMP_HEAD_BYTES);
	id = tin_u16(&in);
	flags = tin_u16(&in);
	description = tin_u32(&in);
	size = tin_u64(&in);
	if (description < p->strings.len)
		what = (const char *)p->strings.data + description;
	buf_addf(&p->b, "\t[Section %u @ %" PRId64 ": ", id, (int64_t)offset);
	dump_quoted(p, what);
	buf_addf(&p->b, ", flags 0x%X, %" PRId64 " bytes]\n", flags, (int64_t)size);
	tin_release(&in);
	return in.err;
}

static int buffer(struct dump *p, struct tin *in, uint32_t len, bool pages)
{
	uint64_t offset = tin_u64(in), sum = 0;
	const char *name = dump_name(in), *clock;
	uint32_t page_size = 0, n = 0;
	int rc = in->err;

	if (!rc && p->t.version >= 7)
		rc = dump_section_head(p, offset);
	buf_addf(&p->b, "\t\t[Option BUFFER, %u bytes]\n%" PRId64 " [offset]\n", len,
		 (int64_t)offset);
	dump_quoted(p, name);
	buf_adds(&p->b, " [name]\n");
	if (rc || p->t.version < 7)
		return rc;
	clock = dump_name(in);
	dump_quoted(p, clock);
	buf_adds(&p->b, " [clock]\n");
	if (pages) {
		page_size = tin_u32(in);
		n = tin_u32(in);
		buf_addf(&p->b, "%d [Page size, bytes]\n%d [CPUs]:\n", (int)page_size, (int)n);
	}
	for (uint32_t i = 0; i < n && !in->err; i++) {
		uint32_t cpu = tin_u32(in);
		uint64_t at = tin_u64(in), size = tin_u64(in);

		buf_addf(&p->b, "   %d %" PRId64 "\t%" PRId64 "\t[id, data offset and size]\n",
			 (int)cpu, (int64_t)at, (int64_t)size);
		sum += size;
	}
	buf_adds(&p->b, "\t[buffer ");
	dump_quoted(p, name);
	buf_adds(&p->b, ", ");
	dump_quoted(p, clock);
	if (pages)
		buf_addf(&p->b,
			 " clock, %d page size, %d cpus, %" PRId64 " bytes flyrecord data]\n",
			 (int)page_size, (int)n, (int64_t)sum);
	else
		buf_adds(&p->b, " clock, latency data]\n");
	return in->err;
}

/* What the times of each CPU are corrected by; all times, then all offsets, then all scalings. */
static void shifts(struct dump *p, struct tin *in)
{
	uint64_t id = tin_u64(in);
	uint32_t flags = tin_u32(in), n = tin_u32(in), cpu;
	uint64_t end = in->end, starts[3];
	struct tin at;

	buf_addf(&p->b,
		 "0x%" PRIX64 " [peer's trace id]\n0x%X [peer's protocol flags]\n"
		 "0x%X [peer's CPU count]\n",
		 id, flags, n);
	starts[0] = in->pos;
	for (cpu = 0; cpu < n && !in->err; cpu++) {
		uint32_t count = tin_u32(in);

		if (in->err || count > (end - in->pos) / 24)
			break;
		buf_addf(&p->b, "%u [samples count for CPU %u]\n", count, cpu);
		in->pos += 24 * (uint64_t)count;
	}
	if (cpu < n) {
		buf_adds(&p->b, "Broken time shift option\n");
		return;
	}
	starts[1] = in->pos; /* fractions, which older files lack */
	at = *in;
	at.pos = starts[0];
	for (cpu = 0; cpu < n; cpu++) {
		uint32_t count = tin_u32(&at);

		starts[2] = at.pos;
		for (uint32_t i = 0; i < count; i++) {
			uint64_t time, offset, scaling, fraction = 0;

			at.pos = starts[2] + 8 * (uint64_t)i;
			time = tin_u64(&at);
			at.pos = starts[2] + 8 * ((uint64_t)count + i);
			offset = tin_u64(&at);
			at.pos = starts[2] + 8 * (2 * (uint64_t)count + i);
			scaling = tin_u64(&at);
			if (end - starts[1] >= 8) {
				at.pos = starts[1];
				fraction = tin_u64(&at);
				starts[1] += 8;
			}
			buf_addf(&p->b,
				 "\t%" PRId64 " %" PRId64 " %" PRIu64 " %" PRIu64
				 "[offset * scaling >> fraction @ time]\n",
				 (int64_t)offset, (int64_t)scaling, fraction, time);
		}
		at.pos = starts[2] + 24 * (uint64_t)count;
	}
}

static void guest(struct dump *p, struct tin *in)
{
	const char *name = dump_name(in);
	uint64_t id;
	uint32_t n;

	buf_add_safe(&p->b, name, strlen(name));
	buf_adds(&p->b, " [Guest name]\n");
	id = tin_u64(in);
	if (in->err)
		return;
	buf_addf(&p->b, "0x%" PRIX64 " [trace id]\n", id);
	n = tin_u32(in);
	if (in->err)
		return;
	buf_addf(&p->b, "%d [Guest CPUs]\n", (int)n);
	for (uint32_t i = 0; i < n && in->end - in->pos >= 8; i++) {
		uint32_t cpu = tin_u32(in), pid = tin_u32(in);

		buf_addf(&p->b, "  %d %d [guest cpu, host pid]\n", (int)cpu, (int)pid);
	}
}

static void tsc2nsec(struct dump *p, struct tin *in)
{
	uint32_t mult = tin_u32(in), shift = tin_u32(in);
	uint64_t offset = tin_u64(in);

	buf_addf(&p->b, "%d %d %" PRIu64 " [multiplier, shift, offset]\n", (int)mult, (int)shift,
		 offset);
}

static uint64_t number(struct tin *in, uint32_t len)
{
	const uint8_t *s = tin_bytes(in, len);

	return s ? trace_number(in->t, s, len) : 0;
}

/* How the options are printed. */
enum form { FORM_TEXT, FORM_INT, FORM_HEX, FORM_SECTION, FORM_SPECIAL };
static const struct known {
	const char *name;
	enum form form;
} known[TRACE_OPT_KNOWN] = {
	[TRACE_OPT_DATE] = {"DATE", FORM_TEXT},
	[TRACE_OPT_CPUSTAT] = {"CPUSTAT", FORM_TEXT},
	[TRACE_OPT_BUFFER] = {"BUFFER", FORM_SPECIAL},
	[TRACE_OPT_TRACECLOCK] = {"TRACECLOCK", FORM_TEXT},
	[TRACE_OPT_UNAME] = {"UNAME", FORM_TEXT},
	[TRACE_OPT_HOOK] = {"HOOK", FORM_TEXT},
	[TRACE_OPT_OFFSET] = {"OFFSET", FORM_TEXT},
	[TRACE_OPT_CPUCOUNT] = {"CPUCOUNT", FORM_INT},
	[TRACE_OPT_VERSION] = {"VERSION", FORM_TEXT},
	[TRACE_OPT_PROCMAPS] = {"PROCMAPS", FORM_TEXT},
	[TRACE_OPT_TRACEID] = {"TRACEID", FORM_HEX},
	[TRACE_OPT_TIME_SHIFT] = {"TimeShift", FORM_SPECIAL},
	[TRACE_OPT_GUEST] = {"GUEST", FORM_SPECIAL},
	[TRACE_OPT_TSC2NSEC] = {"TSC2NSEC", FORM_SPECIAL},
	[TRACE_OPT_HEADER_INFO] = {"HEADERS", FORM_SECTION},
	[TRACE_OPT_FTRACE_EVENTS] = {"FTRACE EVENTS", FORM_SECTION},
	[TRACE_OPT_EVENT_FORMATS] = {"EVENT FORMATS", FORM_SECTION},
	[TRACE_OPT_KALLSYMS] = {"KALLSYMS", FORM_SECTION},
	[TRACE_OPT_PRINTK] = {"PRINTK", FORM_SECTION},
	[TRACE_OPT_CMDLINES] = {"CMDLINES", FORM_SECTION},
	[TRACE_OPT_BUFFER_TEXT] = {"BUFFER", FORM_SPECIAL},
	[TRACE_OPT_BTF_FILE] = {"BTF FILE", FORM_SECTION},
	[TRACE_OPT_LAST_BOOT_INFO] = {"LAST_BOOT_INFO", FORM_TEXT},
	[TRACE_OPT_MODULES_FILE] = {"MODULES_FILE", FORM_SECTION},
};

static int special(struct dump *p, struct tin *in, unsigned id, uint32_t len)
{
	if (id == TRACE_OPT_BUFFER || id == TRACE_OPT_BUFFER_TEXT)
		return buffer(p, in, len, id == TRACE_OPT_BUFFER);
	if (id == TRACE_OPT_TSC2NSEC)
		buf_addc(&p->b, '\n');
	buf_addf(&p->b, "\t\t[Option %s, %u bytes]\n", known[id].name, len);
	if (id == TRACE_OPT_TIME_SHIFT)
		shifts(p, in);
	else if (id == TRACE_OPT_GUEST)
		guest(p, in);
	else
		tsc2nsec(p, in);
	return 0;
}

static int section_option(struct dump *p, struct tin *in, unsigned id)
{
	uint64_t offset = tin_u64(in);

	buf_addf(&p->b, " @ %" PRId64 "\n", (int64_t)offset);
	if (p->nlisted < sizeof(p->listed) / sizeof(p->listed[0]))
		p->listed[p->nlisted++] = (struct dump_listed){id, offset};
	return in->err;
}

/* An option: the cursor is over its bytes. What it lacks is missing in the text, too. */
static int option(struct dump *p, struct tin *in, unsigned id, uint32_t len)
{
	const struct known *k = id < TRACE_OPT_KNOWN && known[id].name ? &known[id] : NULL;

	if (!k) {
		buf_addf(&p->b, " %u %u\t[Unknown option, size - skipping]\n", id, len);
		return 0;
	}
	if (k->form == FORM_SPECIAL)
		return special(p, in, id, len);
	buf_addf(&p->b, "\t\t[Option %s, %u bytes]", k->name, len);
	if (k->form == FORM_SECTION)
		return section_option(p, in, id);
	buf_addc(&p->b, '\n');
	if (k->form == FORM_TEXT)
		return len || id == TRACE_OPT_TRACECLOCK ? dump_text(p, in, len) : 0;
	buf_addf(&p->b, k->form == FORM_INT ? "%" PRId64 "\n" : "0x%" PRIX64 "\n", number(in, len));
	return in->err;
}

int dump_options(struct dump *p, struct tin *in, unsigned *count, uint64_t *next)
{
	int rc = 0;

	*next = 0;
	while (!rc) {
		unsigned id = tin_u16(in);
		uint32_t len = 0;
		struct tin one;

		if (!id && p->t.version < 7)
			return dump_spill(p, in);
		len = tin_u32(in);
		if (in->err || len > TRACE_OPTION_MAX || ++*count > TRACE_OPTIONS_MAX)
			return in->err ? in->err : PP_ELIMIT;
		tin_mem(&one, &p->t, tin_bytes(in, len), len);
		if (in->err)
			return in->err;
		if (!id) {
			buf_addf(&p->b, "\t\t[Option DONE, %u bytes]\n", len);
			*next = p->t.version >= 7 && len >= 8 ? tin_u64(&one) : 0;
			if (p->t.version >= 7 && len >= 8)
				buf_addf(&p->b, "%" PRId64 "\n", (int64_t)*next);
			return dump_spill(p, in);
		}
		p->clock = p->clock || id == TRACE_OPT_TRACECLOCK;
		rc = option(p, &one, id, len);
		if (!rc)
			rc = dump_spill(p, in);
	}
	return rc;
}
