/* The texts of a trace.dat: page header, event formats, tables; and the events' descriptors. */
#include "tracedat/parts.h"

#include "base/err.h"
#include "event/probe_parts.h"
#include "event/fields.h"

#include <stdio.h>
#include <stdlib.h>

#define BLOB_PART (1u << 20) /* bytes of a table in one record */

/* ---- field tables ---- */

static bool find_field(const struct buf *table, const char *name, struct ps_event_field *f)
{
	const struct ps_event e = {.fields = {(const char *)table->data, (uint32_t)table->len}};

	return ps_event_field_find(&e, name, strlen(name), f);
}

/* The common fields are the same in all events. */
static void common_fields(struct trace *t, const struct buf *table)
{
	struct ps_event_field type, pid;

	if (!find_field(table, "common_type", &type) || !find_field(table, "common_pid", &pid) ||
	    (type.size != 1 && type.size != 2 && type.size != 4) || pid.size != 4 ||
	    type.offset > 4096 || pid.offset > 4096)
		return;
	t->type_at = type.offset;
	t->type_size = type.size;
	t->pid_at = pid.offset;
	t->common_known = true;
}

static void kind_of(struct trace_event *e)
{
	const char *names[2] = {"ip", "parent_ip"};
	struct ps_event_field f;

	if (strcmp(e->system, "ftrace") != 0)
		return;
	if (!strcmp(e->name, "function")) {
		e->kind = TRACE_FUNCTION;
	} else if (!strcmp(e->name, "kernel_stack")) {
		e->kind = TRACE_KERNEL_STACK;
		names[0] = "size";
		names[1] = "caller";
	} else if (!strcmp(e->name, "user_stack")) {
		e->kind = TRACE_USER_STACK;
		names[0] = "tgid";
		names[1] = "caller";
	} else {
		return;
	}
	for (int i = 0; i < 2; i++) {
		if (find_field(&e->fields, names[i], &f)) {
			e->at[i] = f.offset;
			e->size[i] = e->kind == TRACE_FUNCTION ? f.element : f.size;
		} else if (e->kind == TRACE_FUNCTION || i) {
			e->kind = TRACE_EVENT;
		}
	}
}

void trace_event_make(struct trace *t, struct trace_event *e)
{
	struct buf joined = BUF_INIT;

	if (e->ready)
		return;
	e->ready = true;
	if (probe_parts_new(&e->parts, e->format, e->len, &joined))
		joined.err = PP_ENOMEM;
	if (e->parts) {
		char *copy = arena_dup(&t->arena, joined.data, joined.len);

		e->format = copy ? copy : e->format;
		e->len = copy ? joined.len : e->len;
	}
	fields_of_format(e->format, e->len, t->long_size, &e->fields);
	buf_inherit(&e->fields, &joined);
	buf_release(&joined);
	kind_of(e);
}

/* ---- formats ---- */

/* What follows `key` at the beginning of a line, up to its end. */
static const char *line_value(const char *text, size_t len, const char *key, size_t *n)
{
	size_t klen = strlen(key);
	const char *p = text, *end = text + len;

	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		if (!nl)
			nl = end;
		if ((size_t)(nl - p) >= klen && !memcmp(p, key, klen)) {
			*n = (size_t)(nl - p) - klen;
			return p + klen;
		}
		p = nl + 1;
	}
	return NULL;
}

static int new_event(struct trace *t, uint32_t id, struct trace_event **e)
{
	if (!t->by_id) {
		t->by_id = calloc(TRACE_EVENTS_MAX, sizeof(*t->by_id));
		if (!t->by_id)
			return PP_ENOMEM;
	}
	if (t->nevents >= TRACE_EVENTS_MAX)
		return PP_ELIMIT;
	if (t->nevents == t->events_cap) {
		uint32_t cap = t->events_cap ? t->events_cap * 2 : 256;
		struct trace_event *v = realloc(t->events, cap * sizeof(*v));

		if (!v)
			return PP_ENOMEM;
		t->events = v;
		t->events_cap = cap;
	}
	*e = &t->events[t->nevents++];
	**e = (struct trace_event){.id = id};
	t->by_id[id] = t->nevents;
	return 0;
}

static int add_format(struct trace *t, const char *system, const uint8_t *text, size_t len)
{
	const char *format, *name, *id;
	size_t nlen, ilen;
	struct trace_event *e;
	unsigned long number;
	int rc;

	t->format_bytes += len;
	if (t->format_bytes > TRACE_FORMATS_SUM)
		return PP_ELIMIT;
	format = arena_dup(&t->arena, text, len);
	if (!format)
		return PP_ENOMEM;
	name = line_value(format, len, "name: ", &nlen);
	id = line_value(format, len, "ID: ", &ilen);
	number = id ? strtoul(id, NULL, 10) : TRACE_EVENTS_MAX;
	if (!name || number >= TRACE_EVENTS_MAX) {
		trace_damage(t, PP_ECORRUPT, -1, "a format of an event of %.100s makes no sense",
			     system);
		return 0;
	}
	rc = new_event(t, (uint32_t)number, &e);
	if (rc)
		return rc;
	e->system = system;
	e->name = arena_dup(&t->arena, name, nlen);
	e->format = format;
	e->len = len;
	if (!e->name)
		return PP_ENOMEM;
	if (!strcmp(system, "ftrace") && !strcmp(e->name, "kernel_stack"))
		t->stack_type = e->id;
	if (!strcmp(system, "ftrace") && !strcmp(e->name, "user_stack"))
		t->user_type = e->id;
	if (!t->common_known) {
		trace_event_make(t, e);
		if (e->fields.err)
			return e->fields.err;
		common_fields(t, &e->fields);
	}
	return 0;
}

static int formats(struct trace *t, struct tin *in, const char *system)
{
	uint32_t n = tin_u32(in);
	int rc = 0;

	for (uint32_t i = 0; i < n && !rc && !in->err; i++) {
		uint64_t size = tin_u64(in);
		const uint8_t *text;

		if (size > TRACE_FORMAT_MAX)
			return PP_ELIMIT;
		text = tin_bytes(in, size);
		if (text)
			rc = add_format(t, system, text, (size_t)size);
	}
	return rc ? rc : in->err;
}

int trace_ftrace_formats(struct trace *t, struct tin *in)
{
	return formats(t, in, "ftrace");
}

int trace_system_formats(struct trace *t, struct tin *in)
{
	uint32_t n = tin_u32(in);
	int rc = 0;

	if (n > TRACE_SYSTEMS_MAX)
		return PP_ELIMIT;
	for (uint32_t i = 0; i < n && !rc && !in->err; i++) {
		const char *system = tin_text(in);

		rc = system ? formats(t, in, system) : in->err;
	}
	return rc ? rc : in->err;
}

/*
 * header_page tells the layout of a page: a u64 time, the commit counter, which is a long of the
 * kernel, and the data. header_event is the same in all kernels since 2.6.31.
 */
int trace_headers(struct trace *t, struct tin *in)
{
	static const char *const names[] = {"header_page", "header_event"};

	for (int i = 0; i < 2; i++) {
		size_t n = strlen(names[i]) + 1;
		const uint8_t *p = tin_bytes(in, n);
		struct buf table = BUF_INIT;
		struct ps_event_field f;
		uint64_t size;

		if (p && memcmp(p, names[i], n) != 0)
			return PP_ECORRUPT;
		size = tin_u64(in);
		if (size > TRACE_FORMAT_MAX)
			return PP_ELIMIT;
		p = tin_bytes(in, size);
		if (!p)
			return in->err;
		if (i)
			break;
		if (fields_of_format((const char *)p, size, t->long_size, &table)) {
			buf_release(&table);
			return PP_ENOMEM;
		}
		if (find_field(&table, "commit", &f) && (f.size == 4 || f.size == 8))
			t->long_size = f.size;
		t->header_size = 8 + t->long_size;
		if (find_field(&table, "data", &f) && f.offset >= 8 + t->long_size &&
		    f.offset <= 4096)
			t->header_size = f.offset;
		buf_release(&table);
	}
	return in->err;
}

/* ---- tables ---- */

int trace_blob(struct trace *t, uint32_t kind, const uint8_t *data, uint64_t len, bool last)
{
	uint64_t at = 0;
	int rc;

	do {
		uint64_t n = len - at < BLOB_PART ? len - at : BLOB_PART;
		struct ps_blob b = {.kind = kind, .flags = last && at + n == len};

		b.data = ps_str((const char *)data + at, (size_t)n);
		rc = swriter_put(t->w, PS_BLOB, t->source, &b);
		at += n;
	} while (!rc && at < len);
	return rc;
}

/* A thread that has another name from now on. */
static int rename_thread(struct trace *t, struct trace_cmdline *c, const char *comm, size_t len)
{
	if (c->len == len && !memcmp(c->comm, comm, len))
		return 0;
	c->comm = arena_dup(&t->arena, comm, len);
	c->len = (uint32_t)len;
	c->string = 0;
	for (uint32_t i = 0; i < t->ncpus; i++)
		t->cpus[i].pid_known = false;
	return c->comm ? 0 : PP_ENOMEM;
}

static int add_cmdline(struct trace *t, uint32_t pid, const char *comm, size_t len)
{
	struct trace_cmdline *c;
	bool fresh;
	uint32_t *slot;

	if (t->ncmdlines >= TRACE_CMDLINES_MAX)
		return 0;
	slot = map64_put(&t->pids, pid, &fresh);
	if (!slot)
		return PP_ENOMEM;
	if (!fresh)
		return t->live ? rename_thread(t, &t->cmdlines[*slot - 1], comm, len) : 0;
	if (t->ncmdlines == t->cmdlines_cap) {
		uint32_t cap = t->cmdlines_cap ? t->cmdlines_cap * 2 : 256;
		struct trace_cmdline *v = realloc(t->cmdlines, cap * sizeof(*v));

		if (!v)
			return PP_ENOMEM;
		t->cmdlines = v;
		t->cmdlines_cap = cap;
	}
	c = &t->cmdlines[t->ncmdlines++];
	*slot = t->ncmdlines;
	*c = (struct trace_cmdline){.len = (uint32_t)len};
	c->comm = arena_dup(&t->arena, comm, len);
	return c->comm ? 0 : PP_ENOMEM;
}

/*
 * Lines "PID COMMAND". Those of threads that had no name are added to `news`; new names of others
 * come with their samples.
 */
static int read_cmdlines(struct trace *t, const char *p, size_t len, struct buf *news)
{
	const char *end = p + len;
	int rc = 0;

	while (p < end && !rc) {
		const char *nl = memchr(p, '\n', (size_t)(end - p)), *line = p;
		uint32_t known = t->ncmdlines;
		uint64_t pid = 0;

		if (!nl)
			nl = end;
		while (p < nl && *p == ' ')
			p++;
		for (; p < nl && *p >= '0' && *p <= '9' && pid < 1u << 30; p++)
			pid = pid * 10 + (uint64_t)(*p - '0');
		while (p < nl && *p == ' ')
			p++;
		if (p < nl)
			rc = add_cmdline(t, (uint32_t)pid, p, strnlen(p, (size_t)(nl - p)));
		if (t->live && t->ncmdlines > known) {
			buf_add(news, line, (size_t)(nl - line));
			buf_addc(news, '\n');
		}
		p = nl + 1;
	}
	return rc ? rc : news->err;
}

int trace_table(struct trace *t, struct tin *in, uint32_t kind, unsigned size_bytes)
{
	uint64_t size = size_bytes == 4 ? tin_u32(in) : tin_u64(in);
	struct buf news = BUF_INIT;
	const uint8_t *data;
	int rc = 0;

	if (size > TRACE_TABLE_MAX)
		return PP_ELIMIT;
	data = tin_bytes(in, size);
	if (in->err)
		return in->err;
	if (kind == PS_BLOB_CMDLINES)
		rc = read_cmdlines(t, (const char *)data, (size_t)size, &news);
	if (kind == PS_BLOB_CMDLINES && t->live) {
		data = news.data;
		size = news.len;
	}
	if (!rc && size)
		rc = trace_blob(t, kind, data, size, true);
	buf_release(&news);
	return rc;
}

/* ---- descriptors ---- */

/*
 * What the blk tracer writes has no format in tracefs. Its id is the one after user_stack, its
 * layout that of struct blk_io_trace, whose head the common fields overwrite.
 */
static int blk_format(struct trace *t, uint32_t id, struct trace_event *e)
{
	static const char body[] =
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
		"\n"
		"\tfield:u64 sector;\toffset:16;\tsize:8;\tsigned:0;\n"
		"\tfield:u32 bytes;\toffset:24;\tsize:4;\tsigned:0;\n"
		"\tfield:u32 action;\toffset:28;\tsize:4;\tsigned:0;\n"
		"\tfield:int pid;\toffset:32;\tsize:4;\tsigned:1;\n"
		"\tfield:u32 device;\toffset:36;\tsize:4;\tsigned:0;\n"
		"\tfield:int cpu;\toffset:40;\tsize:4;\tsigned:1;\n"
		"\tfield:short error;\toffset:44;\tsize:2;\tsigned:1;\n"
		"\tfield:unsigned short pdu_len;\toffset:46;\tsize:2;\tsigned:0;\n"
		"\n"
		"print fmt: \"%d\", REC->pid\n";
	struct buf b = BUF_INIT;

	buf_addf(&b, "name: blktrace\nID: %u\nformat:\n%s", id, body);
	e->name = "blktrace";
	e->format = b.err ? NULL : arena_dup(&t->arena, b.data, b.len);
	e->len = b.len;
	buf_release(&b);
	return e->format ? 0 : PP_ENOMEM;
}

int trace_event_missing(struct trace *t, uint32_t id, struct trace_event **out)
{
	struct trace_event *before = id ? trace_event_find(t, id - 1) : NULL, *e;
	bool blk =
		before && !strcmp(before->name, "user_stack") && !strcmp(before->system, "ftrace");
	char name[32];
	int rc;

	if (id >= TRACE_EVENTS_MAX)
		return PP_ECORRUPT;
	rc = new_event(t, id, &e);
	if (rc)
		return rc;
	*out = e;
	e->system = "ftrace";
	if (blk) {
		rc = blk_format(t, id, e);
	} else {
		snprintf(name, sizeof(name), "unknown-%u", id);
		e->name = arena_dup(&t->arena, name, strlen(name));
		e->format = "";
		rc = e->name ? 0 : PP_ENOMEM;
		trace_damage(t, PP_ECORRUPT, -1, "event %u has no format", id);
	}
	if (!rc)
		trace_event_make(t, e);
	return rc;
}

/* Writes a descriptor. */
static int describe(struct trace *t, const struct trace_event *e, const struct trace_buffer *b,
		    uint32_t *slot)
{
	struct ps_event d = {.perf_type = 2 /* PERF_TYPE_TRACEPOINT */, .config = e->id};
	struct buf name = BUF_INIT;
	int rc;

	if (e->fields.err)
		return e->fields.err;
	if (t->ndescriptors >= PS_ID_MAX - 1)
		return PP_ELIMIT;
	*slot = ++t->ndescriptors;
	buf_addf(&name, "%s:%s", e->system, e->name);
	d.id = *slot;
	d.flags = e->kind == TRACE_FUNCTION ? PS_EVENT_CHAINS : 0;
	d.name = ps_str(buf_str(&name), name.len);
	d.unit = ps_str("events", 6);
	d.buffer = ps_str(b->name, strlen(b->name));
	d.fields = ps_str(buf_str(&e->fields), e->fields.len);
	d.format = ps_str(e->format, e->len);
	rc = name.err ? name.err : swriter_put(t->w, PS_EVENT, t->source, &d);
	buf_release(&name);
	return rc;
}

int trace_descriptor(struct trace *t, struct trace_event *e, const struct trace_buffer *b,
		     uint32_t *id)
{
	uint32_t *slot = &e->descriptor;
	int rc = 0;

	if (b->index)
		slot = map64_put(&t->descriptors, (uint64_t)b->index << 32 | e->id, NULL);
	if (!slot)
		return PP_ENOMEM;
	if (!*slot)
		rc = describe(t, e, b, slot);
	*id = *slot;
	return rc;
}
