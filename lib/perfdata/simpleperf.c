/*
 * Names that a recording of simpleperf holds itself: of files in its header features 128 and 132,
 * in older ones in its records 32770 and 32771, and the kernel's in its record 32769. The layouts
 * are those of its record_file_format.h, record_file.proto and record.h. They become BLOBs.
 */
#include "perfdata/decoder.h"

#include "base/err.h"

#include <inttypes.h>
#include <stdlib.h>

enum file_type { FILE_KERNEL, FILE_MODULE, FILE_ELF, FILE_DEX };

#define LINES_MAX (1u << 20) /* bytes of lines that go into a BLOB */

/* A file with names. */
struct perf_names_file {
	uint32_t type;
	struct ps_str path;
	uint64_t vaddr, offset; /* an address, and where that is in the file: as in a BLOB */
};

/* Where names go to. */
struct names {
	struct perf_decoder *p;
	struct perf_names_file file;
	struct buf lines;
	int rc;
};

static int flush(struct names *n)
{
	struct ps_blob b = {.kind = PS_BLOB_SYMBOLS, .name = n->file.path, .vaddr = n->file.vaddr};

	if (!n->rc)
		n->rc = n->lines.err;
	b.offset = n->file.offset;
	b.data = ps_str(buf_str(&n->lines), n->lines.len);
	if (!n->rc && n->lines.len)
		n->rc = perf_put(n->p, PS_BLOB, &b);
	buf_reset(&n->lines);
	return n->rc;
}

/* simpleperf calls what has no name "unknown", and lets it be everywhere. */
static bool is_name(struct ps_str name, uint64_t len)
{
	return name.len && !(len == UINT64_MAX && name.len == 7 && !memcmp(name.p, "unknown", 7));
}

static void add_name(struct names *n, uint64_t start, uint64_t len, struct ps_str name)
{
	if (n->rc || !is_name(name, len))
		return;
	buf_addf(&n->lines, "%" PRIx64 " %" PRIx64 " ", start, len);
	for (size_t i = 0; i < name.len; i++)
		buf_addc(&n->lines, name.p[i] == '\n' ? ' ' : name.p[i]);
	buf_addc(&n->lines, '\n');
	if (n->lines.len >= LINES_MAX)
		flush(n);
}

static struct ps_str nul_text(struct cursor *c)
{
	size_t len;
	const char *s = perf_nul_text(c, &len);

	return ps_str(s, len);
}

/*
 * Where the addresses of the names are, by the kind of file: absolute ones are their own offsets.
 * offset: of vaddr in the file, or in a module's memory; UINT64_MAX: the recording does not have
 * it.
 */
static void set_place(struct perf_names_file *f, uint64_t vaddr, uint64_t offset)
{
	bool moved = f->type == FILE_ELF || f->type == FILE_MODULE;

	f->vaddr = moved ? vaddr : 0;
	f->offset = moved ? offset : 0;
	if (f->type == FILE_MODULE && offset == UINT64_MAX)
		f->offset = 0;
}

/* ---- feature 128 ---- */

/* A file: its names, or without `named` what comes before and after them. */
static int file_of_128(struct names *n, struct cursor c, bool named)
{
	struct ps_str path = nul_text(&c);
	uint32_t type = get_u32(&c), count;
	uint64_t vaddr = get_u64(&c), offset = UINT64_MAX;

	count = get_u32(&c);
	for (uint32_t i = 0; i < count && !c.bad && !n->rc; i++) {
		uint64_t start = get_u64(&c), len = get_u32(&c);
		struct ps_str name = nul_text(&c);

		if (named && !c.bad)
			add_name(n, start, len, name);
	}
	if ((type == FILE_ELF || type == FILE_MODULE) && cursor_left(&c))
		offset = get_u64(&c);
	n->file.type = type;
	n->file.path = path;
	set_place(&n->file, vaddr, offset);
	return c.bad ? PP_ECUT : n->rc;
}

/* ---- feature 132: protocol buffers ---- */

struct field {
	uint32_t number;
	uint64_t value;	     /* of a number */
	struct cursor bytes; /* of a text or a message */
};

static uint64_t get_varint(struct cursor *c)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte = get_u8(c);

		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
	c->bad = true;
	return 0;
}

static bool next_field(struct cursor *c, struct field *f)
{
	uint64_t key;

	if (!cursor_left(c) || c->bad)
		return false;
	key = get_varint(c);
	*f = (struct field){.number = key >> 3 <= UINT32_MAX ? (uint32_t)(key >> 3) : 0};
	switch (key & 7) {
	case 0: f->value = get_varint(c); break;
	case 1: f->value = get_u64(c); break;
	case 2: f->bytes = cursor_sub(c, get_varint(c)); break;
	case 5: f->value = get_u32(c); break;
	default: c->bad = true;
	}
	return !c->bad;
}

static struct ps_str field_text(const struct field *f)
{
	return ps_str((const char *)f->bytes.p, cursor_left(&f->bytes));
}

/* The number of a message's first field. */
static uint64_t first_number(struct cursor c)
{
	struct field f;
	uint64_t v = 0;

	while (next_field(&c, &f))
		if (f.number == 1)
			v = f.value;
	return v;
}

static bool name_of_132(struct names *n, struct cursor c)
{
	struct ps_str name = ps_str(NULL, 0);
	uint64_t start = 0, len = 0;
	struct field f;

	while (next_field(&c, &f)) {
		switch (f.number) {
		case 1: start = f.value; break;
		case 2: len = f.value; break;
		case 3: name = field_text(&f); break;
		}
	}
	if (!c.bad)
		add_name(n, start, len, name);
	return !c.bad;
}

static int file_of_132(struct names *n, struct cursor c, bool named)
{
	uint64_t vaddr = 0, offset = UINT64_MAX;
	struct perf_names_file file = {.path = ps_str(NULL, 0)};
	struct field f;

	while (!n->rc && next_field(&c, &f)) {
		switch (f.number) {
		case 1: file.path = field_text(&f); break;
		case 2: file.type = f.value <= UINT32_MAX ? (uint32_t)f.value : UINT32_MAX; break;
		case 3: vaddr = f.value; break;
		case 4: c.bad |= named && !name_of_132(n, f.bytes); break;
		case 6:
		case 7: offset = first_number(f.bytes); break;
		}
	}
	set_place(&file, vaddr, offset);
	n->file = file;
	return c.bad ? PP_ECUT : n->rc;
}

/* Files, each with its size before it. Those before a damaged one have their names. */
int perf_names_put(struct perf_decoder *p, uint32_t feature, struct cursor c)
{
	struct names n = {.p = p};
	int rc = 0;

	while (!rc && cursor_left(&c)) {
		uint32_t size = get_u32(&c);
		struct cursor one = cursor_sub(&c, size);

		for (int named = 0; named < 2 && !rc; named++)
			rc = c.bad			       ? PP_ECUT
			     : feature == FEAT_SIMPLEPERF_FILE ? file_of_128(&n, one, named)
							       : file_of_132(&n, one, named);
		if (!rc || rc == PP_ECUT || rc == PP_ECORRUPT)
			rc = flush(&n) ? n.rc : rc;
	}
	buf_release(&n.lines);
	return rc;
}

/* ---- records ---- */

void perf_names_release(struct perf_names *t)
{
	map64_release(&t->by_id);
	intern_release(&t->paths);
	free(t->files);
}

/*
 * A file: its kind, its number, in all but the oldest an address, its path. A path with a zero
 * among its first eight bytes is padded with zeroes to that length, and nothing follows.
 */
int perf_names_file(struct perf_decoder *p, struct cursor c)
{
	uint64_t type = get_u64(&c), id = get_u64(&c), vaddr = 0, offset = 0;
	struct perf_names *t = &p->names;
	struct perf_names_file *v;
	struct ps_str path;
	uint32_t *slot, known;

	if (cursor_left(&c) > 8 && !c.p[7] && c.p[8]) {
		vaddr = get_u64(&c);
		offset = UINT64_MAX;
	}
	path = nul_text(&c);
	if (c.bad || t->n == PERF_NAMES_FILES_MAX)
		return PP_ECUT;
	slot = map64_put(&t->by_id, id, NULL);
	v = reallocarray(t->files, t->n + 1, sizeof(*v));
	if (v)
		t->files = v;
	if (!v || !slot || intern_add(&t->paths, path.p, path.len, &known, NULL))
		return PP_ENOMEM;
	v[t->n] =
		(struct perf_names_file){.type = type <= UINT32_MAX ? (uint32_t)type : UINT32_MAX};
	v[t->n].path = ps_str(intern_get(&t->paths, known, NULL), path.len);
	set_place(&v[t->n], vaddr, offset);
	*slot = ++t->n;
	return 0;
}

int perf_names_symbol(struct perf_decoder *p, struct cursor c)
{
	uint64_t start = get_u64(&c), len = get_u64(&c);
	uint32_t *slot = map64_get(&p->names.by_id, get_u64(&c));
	struct names n = {.p = p};
	struct ps_str name = nul_text(&c);

	if (c.bad || !slot || !*slot)
		return PP_ECUT;
	n.file = p->names.files[*slot - 1];
	add_name(&n, start, len, name);
	flush(&n);
	buf_release(&n.lines);
	return n.rc;
}
