/* The head of a trace.dat and its sections. */
#include "tracedat/parts.h"

#include "base/err.h"
#include "base/src.h"
#include "event/probe_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The error of a part that could not be read, unless it ends everything. */
static int part(struct trace *t, int rc, uint64_t offset, const char *what)
{
	if (!rc || rc == PP_ENOMEM || t->w->err)
		return rc;
	trace_damage(t, rc == PP_ECUT ? PP_ECUT : PP_ECORRUPT, (int64_t)offset, "%s: %s", what,
		     pp_strerror(rc));
	return 0;
}

/* ---- data sections ---- */

static int by_buffer(const void *a, const void *b)
{
	const struct trace_cpu *x = a, *y = b;

	if (x->buffer != y->buffer)
		return x->buffer->index < y->buffer->index ? -1 : 1;
	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

/* The main buffer first, CPUs by number: what comes first of equal times. */
static void sort_cpus(struct trace *t)
{
	for (uint32_t i = 0; i < t->nbuffers; i++) {
		if (*t->buffers[i].name)
			continue;
		for (uint32_t k = 0; k < i; k++)
			t->buffers[k].index++;
		t->buffers[i].index = 0;
		break;
	}
	if (t->nbuffers && *t->buffers[0].name && !t->buffers[0].index)
		for (uint32_t i = 0; i < t->nbuffers; i++)
			t->buffers[i].index++; /* there is no main one */
	if (t->ncpus)
		qsort(t->cpus, t->ncpus, sizeof(*t->cpus), by_buffer);
}

static int open_buffers(struct trace *t)
{
	int rc = 0;

	if (t->version == 6) {
		struct trace_buffer *b = t->buffers;

		return b && b->text ? trace_text_of_file(t, b, b->offset, t->size - b->offset) : 0;
	}
	for (uint32_t i = 0; i < t->nbuffers && !rc; i++) {
		struct trace_buffer *b = &t->buffers[i];
		uint16_t id, flags;
		uint64_t size;
		struct tin in;

		tin_file(&in, t, b->offset, UINT64_MAX);
		id = tin_u16(&in);
		flags = tin_u16(&in);
		tin_u32(&in);
		size = tin_u64(&in);
		rc = in.err;
		if (!rc && id != TRACE_OPT_BUFFER && id != TRACE_OPT_BUFFER_TEXT)
			rc = PP_ECORRUPT;
		b->packed = flags & TRACE_SECTION_PACKED;
		/* Packed text tells its end itself. */
		if (b->packed || size > t->size - in.pos)
			size = t->size - in.pos;
		if (!rc && b->text)
			rc = trace_text_of_file(t, b, in.pos, size);
		tin_release(&in);
		/* Data without packing can be read without their section's head. */
		rc = part(t, rc, b->offset, "the head of a buffer's section is damaged");
	}
	return rc;
}

/* ---- version 7 ---- */

/* The kernel's types: all of the section. */
static int types_of(struct trace *t, struct tin *in)
{
	uint64_t size = in->end - in->pos;
	const uint8_t *data = size <= TRACE_TABLE_MAX ? tin_bytes(in, size) : NULL;

	if (!data)
		return in->err ? in->err : PP_ELIMIT;
	return size ? trace_blob(t, PS_BLOB_BTF, data, size, true) : 0;
}

int trace_content(struct trace *t, struct tin *in, unsigned id)
{
	switch (id) {
	case TRACE_OPT_HEADER_INFO: return trace_headers(t, in);
	case TRACE_OPT_FTRACE_EVENTS: return trace_ftrace_formats(t, in);
	case TRACE_OPT_EVENT_FORMATS: return trace_system_formats(t, in);
	case TRACE_OPT_KALLSYMS: return trace_table(t, in, PS_BLOB_KALLSYMS, 4);
	case TRACE_OPT_PRINTK: return trace_table(t, in, PS_BLOB_PRINTK, 4);
	case TRACE_OPT_BTF_FILE: return types_of(t, in);
	default: return trace_table(t, in, PS_BLOB_CMDLINES, 8);
	}
}

static int read_section(struct trace *t, unsigned id)
{
	uint16_t got = (uint16_t)id, flags;
	struct tin in;
	int rc = 0;

	if (t->version == 6)
		tin_file(&in, t, t->sections[id], UINT64_MAX);
	else
		rc = tin_section(&in, t, t->sections[id], &got, &flags);
	if (!rc && got != id)
		rc = PP_ECORRUPT;
	if (!rc)
		rc = trace_content(t, &in, id);
	tin_release(&in);
	return part(t, rc, t->sections[id], "a section is damaged");
}

static int read7(struct trace *t, struct tin *in)
{
	const char *packing = tin_text(in);
	uint64_t options;
	int rc;

	tin_text(in); /* version of the compression */
	options = tin_u64(in);
	if (in->err)
		return in->err;
	if (!strcmp(packing, "zlib")) {
		t->packing = TRACE_ZLIB;
	} else if (!strcmp(packing, "zstd")) {
		t->packing = TRACE_ZSTD;
	} else if (strcmp(packing, "none") != 0) {
		diag_error(t->d, t->name, -1, "compression %.40s is not supported", packing);
		return PP_EUNSUPPORTED;
	}
	rc = trace_meta(t, "compression", packing, strlen(packing));
	if (!options) {
		trace_damage(t, PP_ECUT, -1, "the recording was never finished: it has no options");
		t->options_cut = true;
	}
	if (!rc)
		rc = trace_options7(t, options);
	if (!rc && t->options_cut)
		trace_find_sections(t, in->pos);
	if (!rc && t->sections[TRACE_OPT_HEADER_INFO])
		rc = read_section(t, TRACE_OPT_HEADER_INFO);
	if (!rc && t->options_cut)
		rc = trace_find_buffers(t, in->pos);
	return rc;
}

/* ---- version 6 ---- */

/*
 * What follows the number of CPUs, also of each further buffer: options, and where the data are, or
 * the text of a latency tracer, up to the end of the file.
 */
static int buffer6(struct trace *t, struct tin *in, struct trace_buffer *b)
{
	const uint8_t *p = tin_bytes(in, 10);
	int rc = 0;

	if (p && !memcmp(p, "options", 7)) {
		rc = trace_options6(t, in);
		p = rc ? NULL : tin_bytes(in, 10);
	}
	if (rc || !p)
		return rc ? rc : in->err;
	if (!memcmp(p, "latency", 7)) {
		b->text = true;
		b->offset = in->pos;
		return 0;
	}
	if (memcmp(p, "flyrecord", 9) != 0)
		return PP_ECORRUPT;
	for (uint32_t i = 0, n = t->nr_cpus; i < n && !rc; i++) {
		uint64_t offset = tin_u64(in), size = tin_u64(in);

		rc = in->err ? in->err : trace_add_cpu(t, b, i, offset, size);
	}
	return rc;
}

/* The text of trace_clock follows the places of the data. */
static void clock6(struct trace *t, struct tin *in)
{
	uint64_t size = tin_u64(in);
	const uint8_t *p = size && size <= TRACE_STRING_MAX ? tin_bytes(in, size) : NULL;

	if (p)
		trace_clock(t, (const char *)p, size);
}

/* A table is read when the source has been announced. */
static void skip_table(struct trace *t, struct tin *in, unsigned id)
{
	uint64_t size;

	t->sections[id] = in->pos;
	size = id == TRACE_OPT_CMDLINES ? tin_u64(in) : tin_u32(in);
	if (!in->err && size > in->end - in->pos)
		in->err = PP_ECUT;
	if (!in->err)
		in->pos += size;
	if (in->err)
		t->sections[id] = 0;
}

static int read6(struct trace *t, struct tin *in)
{
	struct trace_buffer *b;
	int rc = trace_headers(t, in);

	if (!rc)
		rc = trace_ftrace_formats(t, in);
	if (!rc)
		rc = trace_system_formats(t, in);
	if (rc)
		return rc;
	skip_table(t, in, TRACE_OPT_KALLSYMS);
	skip_table(t, in, TRACE_OPT_PRINTK);
	skip_table(t, in, TRACE_OPT_CMDLINES);
	t->nr_cpus = tin_u32(in);
	rc = in->err ? in->err : trace_add_buffer(t, "", &b);
	if (!rc)
		rc = buffer6(t, in, b);
	if (!rc && !b->text)
		clock6(t, in);
	/* Buffers are added by options: of the buffers themselves, too. */
	for (uint32_t i = 1; i < t->nbuffers && !rc; i++) {
		struct tin at;

		tin_file(&at, t, t->buffers[i].offset, UINT64_MAX);
		rc = part(t, buffer6(t, &at, &t->buffers[i]), t->buffers[i].offset,
			  "the head of a buffer is damaged");
		tin_release(&at);
	}
	return rc;
}

/* ---- all ---- */

int trace_byte_order(struct trace *t, const uint8_t *p)
{
	if (p[0] > 1 || (p[1] != 4 && p[1] != 8)) {
		diag_error(t->d, t->name, -1, "byte order %u or a long of %u bytes makes no sense",
			   p[0], p[1]);
		return PP_EUNSUPPORTED;
	}
	t->big_endian = p[0];
	t->swap = t->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	t->long_size = p[1];
	t->header_size = 8 + t->long_size;
	return 0;
}

static int read_head(struct trace *t, struct tin *in)
{
	const uint8_t *p = tin_bytes(in, TRACE_MAGIC_LEN);
	const char *version;
	int rc;

	if (p && memcmp(p, TRACE_MAGIC, TRACE_MAGIC_LEN) != 0)
		return PP_ECORRUPT;
	version = tin_text(in);
	p = tin_bytes(in, 2);
	if (!p)
		return in->err;
	t->version = (unsigned)strtoul(version, NULL, 10);
	if (!strcmp(version, TRACE_LIVE)) {
		diag_error(t->d, t->name, -1,
			   "this is the stream form of a trace.dat: only its events can be shown");
		return PP_EUNSUPPORTED;
	}
	if (t->version != 6 && t->version != 7) {
		diag_error(t->d, t->name, TRACE_MAGIC_LEN,
			   "trace.dat of version %.20s: only 6 and 7 are read", version);
		return PP_EUNSUPPORTED;
	}
	rc = trace_byte_order(t, p);
	if (rc)
		return rc;
	t->page_size = tin_u32(in);
	return in->err;
}

/* What the printer needs to know before the first event. */
static int put_summary(struct trace *t)
{
	uint32_t cpus = t->nr_cpus;
	char text[32];
	int rc;

	for (uint32_t i = 0; i < t->ncpus; i++)
		if (!t->cpus[i].buffer->index && t->cpus[i].cpu >= cpus &&
		    t->cpus[i].cpu < TRACE_CPUS_MAX)
			cpus = t->cpus[i].cpu + 1;
	snprintf(text, sizeof(text), "%u", cpus);
	rc = trace_meta(t, "cpus", text, strlen(text));
	if (!rc)
		rc = trace_meta(t, "time_unit", t->ticks ? "ticks" : "ns", t->ticks ? 5 : 2);
	for (uint32_t i = 0; i < t->nbuffers && !rc; i++)
		if (*t->buffers[i].name)
			rc = trace_meta(t, "buffer", t->buffers[i].name,
					strlen(t->buffers[i].name));
	return rc;
}

int trace_begin_events(struct trace *t)
{
	sort_cpus(t);
	return put_summary(t);
}

/* The metadata: then everything about the recording is known, and where its data are. */
int trace_metadata(struct trace *t)
{
	bool finished;
	struct tin in;
	int rc;

	tin_file(&in, t, 0, UINT64_MAX);
	rc = read_head(t, &in);
	if (!rc) {
		rc = t->version == 6 ? read6(t, &in) : read7(t, &in);
		/* What was read before the damage may do. */
		if (t->version == 6)
			rc = part(t, rc, in.pos, "the metadata is damaged");
	}
	tin_release(&in);
	if (!rc)
		rc = trace_announce(t);
	for (unsigned id = TRACE_OPT_FTRACE_EVENTS; id <= TRACE_OPT_CMDLINES && !rc; id++)
		if (t->sections[id])
			rc = read_section(t, id);
	if (!rc && t->sections[TRACE_OPT_BTF_FILE])
		rc = read_section(t, TRACE_OPT_BTF_FILE);
	finished = t->nbuffers;
	if (!rc && !finished)
		rc = trace_leftovers(t);
	if (!rc)
		rc = trace_begin_events(t);
	return rc || !finished ? rc : open_buffers(t);
}

void trace_release(struct trace *t)
{
	trace_unpackers_end(t);
	for (uint32_t i = 0; i < t->ncpus; i++) {
		trace_cpu_release(&t->cpus[i]);
	}
	for (uint32_t i = 0; i < t->nevents; i++) {
		buf_release(&t->events[i].fields);
		probe_parts_free(t->events[i].parts);
	}
	for (uint32_t i = 0; i < t->nshifts; i++)
		free(t->shifts[i].v);
	free(t->shifts);
	free(t->cpus);
	free(t->buffers);
	free(t->counts.v);
	free(t->counts.names);
	free(t->events);
	free(t->by_id);
	free(t->cmdlines);
	free(t->ips);
	map64_release(&t->descriptors);
	map64_release(&t->pids);
	intern_release(&t->strings);
	hashids_release(&t->chains);
	buf_release(&t->payload);
	buf_release(&t->packed);
	buf_release(&t->metas);
	arena_release(&t->arena);
	trace_zstd_release(&t->zstd);
}

void trace_init_live(struct trace *t, struct src *s, uint32_t source, struct swriter *w,
		     struct diag *d)
{
	*t = (struct trace){
		.src = s,
		.w = w,
		.d = d,
		.name = src_name(s),
		.source = source,
		.type_size = 2,
		.stack_type = UINT32_MAX,
		.user_type = UINT32_MAX,
		.pid_at = 4,
		.chains = {.max_ids = TRACE_CHAIN_IDS, .max_bytes = TRACE_CHAIN_BYTES},
	};
}

int trace_init(struct trace *t, struct src *s, uint32_t source, struct swriter *w, struct diag *d)
{
	int rc = src_spool(s, d);

	trace_init_live(t, s, source, w, d);
	if (!rc)
		t->size = src_size(s);
	return rc;
}
