/*
 * --dump: every record of a perf.data as it lies in the file, with its bytes and what they mean, in
 * the form of `perf script -D`. Samples are in dump_sample.c, perf's own records in dump_own.c.
 */
#include "perfdata/dump_records.h"

#include "base/err.h"

#include <inttypes.h>

static const char *type_name(uint32_t type)
{
	switch (type) {
#define R(name, number, text) \
	case number: return #name;
		PERF_RECORD_TYPES(R)
#undef R
	}
	return NULL;
}

/* Sixteen bytes a line, in hexadecimal and as text. */
static void add_bytes(struct buf *b, const uint8_t *bytes, size_t n)
{
	buf_addf(b, ".\n. ... raw event: size %zu bytes\n", n);
	for (size_t at = 0; at < n; at += 16) {
		buf_adds(b, ".  ");
		buf_add_hex(b, at, 4, '0');
		buf_adds(b, ": ");
		for (size_t i = at; i < at + 16; i++) {
			buf_addc(b, ' ');
			if (i < n)
				buf_add_hex(b, bytes[i], 2, '0');
			else
				buf_adds(b, "  ");
		}
		buf_adds(b, "  ");
		for (size_t i = at; i < at + 16; i++) {
			char c = i < n ? (char)bytes[i] : ' ';

			buf_addc(b, c >= ' ' && c < 127 ? c : '.');
		}
		buf_addc(b, '\n');
	}
}

/* The text at the cursor, up to its NUL. */
static void add_text(struct buf *b, struct cursor *c)
{
	size_t len;
	const char *s = get_text(c, cursor_left(c), &len);

	if (s)
		buf_add_safe(b, s, len);
}

/* ---- the kernel's records ---- */

static void dump_mmap(struct buf *b, struct cursor *c, uint16_t misc)
{
	int32_t pid = (int32_t)get_u32(c), tid = (int32_t)get_u32(c);
	uint64_t addr = get_u64(c), len = get_u64(c), pgoff = get_u64(c);

	buf_addf(b, " %" PRId32 "/%" PRId32 ": [%#" PRIx64 "(%#" PRIx64 ") @ %#" PRIx64 "]: %c ",
		 pid, tid, addr, len, pgoff, misc & PERF_MISC_MMAP_DATA ? 'r' : 'x');
	add_text(b, c);
}

static void dump_mmap2(struct buf *b, struct cursor *c, uint16_t misc)
{
	int32_t pid = (int32_t)get_u32(c), tid = (int32_t)get_u32(c);
	uint64_t addr = get_u64(c), len = get_u64(c), pgoff = get_u64(c);
	uint32_t prot, flags;

	buf_addf(b, " %" PRId32 "/%" PRId32 ": [%#" PRIx64 "(%#" PRIx64 ") @ %#" PRIx64 " ", pid,
		 tid, addr, len, pgoff);
	if (perf_mmap2_has_build_id(*c, misc)) {
		uint8_t n = get_u8(c);
		const uint8_t *id;

		cursor_skip(c, 3);
		id = get_bytes(c, 20);
		buf_addc(b, '<');
		for (uint8_t i = 0; id && i < n && i < 20; i++)
			buf_add_hex(b, id[i], 2, '0');
		buf_addc(b, '>');
	} else {
		uint32_t maj = get_u32(c), min = get_u32(c);
		uint64_t ino = get_u64(c), generation = get_u64(c);

		buf_addf(b, "%02" PRIx32 ":%02" PRIx32 " %" PRIu64 " %" PRIu64, maj, min, ino,
			 generation);
	}
	prot = get_u32(c);
	flags = get_u32(c);
	buf_addf(b, "]: %c%c%c%c ", prot & 1 ? 'r' : '-', prot & 2 ? 'w' : '-',
		 prot & 4 ? 'x' : '-', flags & 1 ? 's' : 'p');
	add_text(b, c);
}

static void dump_comm(struct buf *b, struct cursor *c, uint16_t misc)
{
	int32_t pid = (int32_t)get_u32(c), tid = (int32_t)get_u32(c);

	buf_adds(b, misc & PERF_MISC_COMM_EXEC ? " exec: " : ": ");
	add_text(b, c);
	buf_addf(b, ":%" PRId32 "/%" PRId32, pid, tid);
}

static void dump_task(struct buf *b, struct cursor *c)
{
	int32_t pid = (int32_t)get_u32(c), ppid = (int32_t)get_u32(c);
	int32_t tid = (int32_t)get_u32(c), ptid = (int32_t)get_u32(c);

	buf_addf(b, "(%" PRId32 ":%" PRId32 "):(%" PRId32 ":%" PRId32 ")", pid, tid, ppid, ptid);
}

static void dump_read(const struct perf_info *p, struct buf *b, struct cursor *c, uint64_t id)
{
	static const struct {
		uint64_t bit;
		const char *name;
	} parts[] = {{1, "time enabled"}, {2, "time running"}, {4, "id"}, {16, "lost"}};
	const struct perf_attr *a = perf_attr_find(p, id);
	int32_t pid = (int32_t)get_u32(c), tid = (int32_t)get_u32(c);

	buf_addf(b, ": %" PRId32 " %" PRId32 " ", pid, tid);
	if (a && a->name)
		buf_add_safe(b, a->name, strlen(a->name));
	buf_addf(b, " %" PRIu64, get_u64(c));
	for (size_t i = 0; a && i < sizeof(parts) / sizeof(parts[0]); i++)
		if (a->read_format & parts[i].bit)
			buf_addf(b, "\n... %-12s : %" PRIu64, parts[i].name, get_u64(c));
}

static void dump_aux(struct buf *b, struct cursor *c)
{
	uint64_t offset = get_u64(c), size = get_u64(c), flags = get_u64(c);

	buf_addf(b, " offset: %#" PRIx64 " size: %#" PRIx64 " flags: %#" PRIx64 " [%s%s%s%s]",
		 offset, size, flags, flags & 1 ? "T" : "", flags & 2 ? "O" : "",
		 flags & 4 ? "P" : "", flags & 8 ? "C" : "");
}

static void dump_switch(struct buf *b, struct cursor *c, uint16_t misc, bool wide)
{
	bool out = misc & PERF_MISC_SWITCH_OUT;
	const char *way = !out			     ? "IN         "
			  : misc & PERF_MISC_PREEMPT ? "OUT preempt"
						     : "OUT        ";

	buf_addf(b, " %s", way);
	if (wide) {
		int32_t pid = (int32_t)get_u32(c), tid = (int32_t)get_u32(c);

		buf_addf(b, "  %s pid/tid: %5" PRId32 "/%-5" PRId32, out ? "next" : "prev", pid,
			 tid);
	}
}

static void dump_namespaces(struct buf *b, struct cursor *c)
{
	static const char *const names[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};
	int32_t pid = (int32_t)get_u32(c), tid = (int32_t)get_u32(c);
	uint64_t n = get_u64(c);

	buf_addf(b, " %" PRId32 "/%" PRId32 " - nr_namespaces: %" PRIu64 "\n\t\t[", pid, tid, n);
	for (uint64_t i = 0; i < n && !c->bad; i++) {
		uint64_t dev = get_u64(c), ino = get_u64(c);

		buf_addf(b, "%s%" PRIu64 "/%s: %" PRIu64 "/%#" PRIx64,
			 !i	 ? ""
			 : i % 4 ? ", "
				 : ",\n\t\t ",
			 i, i < 7 ? names[i] : "?", dev, ino);
	}
	buf_addc(b, ']');
}

static void dump_ksymbol(struct buf *b, struct cursor *c)
{
	uint64_t addr = get_u64(c);
	uint32_t len = get_u32(c);
	uint16_t type = get_u16(c), flags = get_u16(c);

	buf_addf(b, " addr %" PRIx64 " len %" PRIu32 " type %" PRIu16 " flags 0x%x name ", addr,
		 len, type, flags);
	add_text(b, c);
}

static void dump_text_poke(struct buf *b, struct cursor *c)
{
	uint64_t addr = get_u64(c);
	uint16_t before = get_u16(c), after = get_u16(c);
	const uint8_t *bytes = get_bytes(c, (uint64_t)before + after);

	buf_addf(b, " %#" PRIx64 " old len %u new len %u", addr, before, after);
	for (int i = 0; bytes && i < before + after; i++)
		buf_addf(b, "%s %02x",
			 i == 0	       ? "\n            old bytes:"
			 : i == before ? "\n            new bytes:"
				       : "",
			 bytes[i]);
}

static void dump_throttle(struct buf *b, struct cursor *c)
{
	uint64_t time = get_u64(c), id = get_u64(c), stream_id = get_u64(c);

	buf_addf(b, ": time %" PRIu64 " id %" PRIu64 " stream_id %" PRIu64, time, id, stream_id);
}

static void dump_lost(struct buf *b, struct cursor *c)
{
	uint64_t id = get_u64(c), lost = get_u64(c);

	buf_addf(b, ": id:%" PRIu64 ": lost:%" PRIu64, id, lost);
}

static void dump_lost_samples(struct buf *b, struct cursor *c, uint16_t misc, uint64_t id)
{
	buf_addf(b, ": id:%" PRIu64 ": lost samples :%" PRIu64 "%s", id, get_u64(c),
		 misc & PERF_MISC_LOST_SAMPLES_BPF ? " (BPF)" : "");
}

static void dump_deferred(struct buf *b, struct cursor *c)
{
	uint64_t cookie = get_u64(c), n = get_u64(c);

	buf_addf(b, ": cookie %#" PRIx64 "\n... user chain: nr:%" PRIu64, cookie, n);
	for (uint64_t i = 0; i < n && !c->bad; i++)
		buf_addf(b, "\n..... %2" PRIu64 ": %016" PRIx64, i, get_u64(c));
}

static void dump_kernel(const struct perf_info *p, struct buf *b, struct cursor *c, uint32_t type,
			uint16_t misc, const struct perf_id *id)
{
	switch (type) {
	case PERF_REC_MMAP: dump_mmap(b, c, misc); break;
	case PERF_REC_MMAP2: dump_mmap2(b, c, misc); break;
	case PERF_REC_COMM: dump_comm(b, c, misc); break;
	case PERF_REC_FORK:
	case PERF_REC_EXIT: dump_task(b, c); break;
	case PERF_REC_LOST: dump_lost(b, c); break;
	case PERF_REC_LOST_SAMPLES: dump_lost_samples(b, c, misc, id->id); break;
	case PERF_REC_THROTTLE:
	case PERF_REC_UNTHROTTLE: dump_throttle(b, c); break;
	case PERF_REC_READ: dump_read(p, b, c, id->id); break;
	case PERF_REC_AUX: dump_aux(b, c); break;
	case PERF_REC_ITRACE_START: {
		uint32_t pid = get_u32(c), tid = get_u32(c);

		buf_addf(b, " pid: %" PRIu32 " tid: %" PRIu32, pid, tid);
		break;
	}
	case PERF_REC_SWITCH: dump_switch(b, c, misc, false); break;
	case PERF_REC_SWITCH_CPU_WIDE: dump_switch(b, c, misc, true); break;
	case PERF_REC_NAMESPACES: dump_namespaces(b, c); break;
	case PERF_REC_KSYMBOL: dump_ksymbol(b, c); break;
	case PERF_REC_BPF_EVENT: {
		uint16_t kind = get_u16(c), flags = get_u16(c);

		buf_addf(b, " type %u, flags %u, id %" PRIu32, kind, flags, get_u32(c));
		break;
	}
	case PERF_REC_CGROUP:
		buf_addf(b, " cgroup: %" PRIu64 " ", get_u64(c));
		add_text(b, c);
		break;
	case PERF_REC_TEXT_POKE: dump_text_poke(b, c); break;
	case PERF_REC_AUX_OUTPUT_HW_ID: buf_addf(b, " hw_id: %#" PRIx64, get_u64(c)); break;
	case PERF_REC_CALLCHAIN_DEFERRED: dump_deferred(b, c); break;
	default: break;
	}
}

/* ---- all ---- */

/* "3 123456789 0x1f8 [0x30]: PERF_RECORD_COMM": CPU and time where they were recorded. */
static void add_head(struct buf *b, const struct perf_raw *raw, const struct perf_id *id)
{
	const char *name = type_name(raw->type);

	if (id->cpu != PS_NONE)
		buf_addf(b, "%" PRIu32 " ", id->cpu);
	buf_addf(b, "%" PRIu64 " 0x%" PRIx64 " [%#zx]: ", id->time, perf_raw_offset(raw),
		 raw->size);
	if (name)
		buf_addf(b, "PERF_RECORD_%s", name);
	else
		buf_addf(b, "record of type %" PRIu32, raw->type);
}

/* Samples have the names of their threads. */
static int note_comm(struct perf_dumper *p, struct cursor c)
{
	uint32_t tid, id;
	const char *name;
	size_t len;
	int rc;

	get_u32(&c); /* process */
	tid = get_u32(&c);
	name = get_text(&c, cursor_left(&c), &len);
	if (c.bad || !name)
		return 0;
	rc = intern_add(&p->names, name, len, &id, NULL);
	return rc ? rc : perf_threads_set(&p->threads, tid, id);
}

static int note_fork(struct perf_dumper *p, struct cursor c)
{
	uint32_t tid, ptid;

	get_u64(&c); /* processes */
	tid = get_u32(&c);
	ptid = get_u32(&c);
	return c.bad ? 0 : perf_threads_inherit(&p->threads, tid, ptid);
}

static int note(struct perf_dumper *p, const struct perf_raw *raw)
{
	struct cursor c = perf_raw_body(raw, p->r.info.swap);

	switch (raw->type) {
	case PERF_REC_COMM: return note_comm(p, c);
	case PERF_REC_FORK: return note_fork(p, c);
	default: return 0;
	}
}

static int dump_record(void *ctx, const struct perf_raw *raw)
{
	struct perf_id id = {.cpu = PS_NONE, .pid = PS_NONE, .tid = PS_NONE};
	struct perf_dumper *p = ctx;
	struct cursor c = perf_raw_body(raw, p->r.info.swap);
	struct buf *b = &p->text;
	int rc = note(p, raw);

	if (rc)
		return rc;
	buf_reset(b);
	buf_addf(b, "\n0x%" PRIx64 "@", perf_raw_offset(raw));
	buf_add_safe(b, p->r.info.name, strlen(p->r.info.name));
	buf_addf(b, "%s [%#zx]: event: %" PRIu32 "\n",
		 raw->block->inflated ? " (decompressed)" : "", raw->size, raw->type);
	add_bytes(b, raw->rec, raw->size);
	buf_addc(b, '\n');
	if (raw->type == PERF_REC_SAMPLE) {
		perf_dump_sample(p, &c, raw);
	} else if (raw->type < PERF_REC_USER_START) {
		perf_record_id(&p->r.info, raw->rec, raw->size, &id);
		add_head(b, raw, &id);
		dump_kernel(&p->r.info, b, &c, raw->type, raw->misc, &id);
	} else {
		add_head(b, raw, &id);
		perf_dump_own(&p->r.info, b, &c, raw->type, raw->misc);
	}
	buf_adds(b, c.bad ? " (cut off)\n" : "\n");
	rc = b->err ? b->err : out_add(p->out, b->data, b->len);
	return rc ? rc : c.bad && raw->type != PERF_REC_SAMPLE ? PP_ECUT : 0;
}

/* The features of a pipe are records, which have been printed. */
static int no_feature(void *ctx, uint32_t feature, struct cursor c)
{
	(void)ctx;
	(void)feature;
	(void)c;
	return 0;
}

int perf_dump(struct src *s, struct out *o, struct diag *d)
{
	struct perf_dumper p = {.out = o};
	int rc;

	perf_reader_init(&p.r, s, d, &p.blocks);
	p.r.sink = (struct perf_sink){dump_record, no_feature, &p};
	rc = perf_reader_open(&p.r);
	if (!rc)
		rc = perf_reader_header(&p.r, true);
	if (!rc) {
		rc = perf_reader_ended(&p.r, perf_reader_records(&p.r));
		rc = o->err ? o->err : rc ? rc : p.r.info.damage;
	}
	perf_reader_release(&p.r);
	perf_threads_release(&p.threads);
	intern_release(&p.names);
	buf_release(&p.text);
	blocks_release(&p.blocks);
	return rc;
}
