/* The function table of Go programs. */
#include "symbol/gopcln.h"

#include "base/cursor.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define GO_12  0xfffffffb
#define GO_116 0xfffffffa
#define GO_118 0xfffffff0
#define GO_120 0xfffffff1

#define FRAME_MAX (1 << 30)

struct gopcln {
	const uint8_t *bytes;
	size_t len;
	uint8_t *owned; /* NULL: the bytes are the file's */
	bool swap;
	unsigned ptr, quantum; /* bytes of a word, of the smallest instruction */
	uint64_t nfunc, text, names, names_end, pctab, funcs;
	bool relative; /* entries are offsets of `text`, in 32 bits */
	bool old;      /* names and functions are offsets of the table itself */
};

static struct cursor at(const struct gopcln *t, uint64_t offset)
{
	struct cursor c = cursor_make(t->bytes, t->len, t->swap);

	cursor_skip(&c, offset);
	return c;
}

static uint64_t word(const struct gopcln *t, struct cursor *c)
{
	return t->ptr == 8 ? get_u64(c) : get_u32(c);
}

static int read_head(struct gopcln *t, uint64_t text)
{
	struct cursor c = at(t, 0);
	uint32_t magic = get_u32(&c);

	cursor_skip(&c, 2);
	t->quantum = get_u8(&c);
	t->ptr = get_u8(&c);
	if (c.bad || (t->ptr != 8 && t->ptr != 4))
		return PP_ECORRUPT;
	t->nfunc = word(t, &c);
	t->names_end = t->len;
	switch (magic) {
	case GO_12:
		t->old = true;
		t->funcs = 8 + t->ptr;
		break;
	case GO_118:
	case GO_120:
	case GO_116:
		t->relative = magic != GO_116;
		word(t, &c);
		t->text = t->relative ? word(t, &c) : 0;
		t->names = word(t, &c);
		t->names_end = word(t, &c);
		word(t, &c);
		t->pctab = word(t, &c);
		t->funcs = word(t, &c);
		/* Go 1.26 leaves it to the module's data to say where the code begins. */
		if (!t->text)
			t->text = text;
		break;
	default: return PP_EUNSUPPORTED;
	}
	if (t->names_end > t->len || t->names_end < t->names)
		t->names_end = t->len;
	return c.bad || t->nfunc > GOPCLN_FUNCTIONS_MAX || t->nfunc > t->len / 8 ||
			       t->names > t->len
		       ? PP_ECORRUPT
		       : 0;
}

static unsigned entry_size(const struct gopcln *t)
{
	return t->relative ? 8 : 2 * t->ptr;
}

static uint64_t entry(const struct gopcln *t, struct cursor *c)
{
	return t->relative ? t->text + get_u32(c) : word(t, c);
}

/* A function's record from after its entry address on. */
static struct cursor record(const struct gopcln *t, uint64_t place)
{
	struct cursor c = at(t, (t->old ? 0 : t->funcs) + place);

	cursor_skip(&c, t->relative ? 4 : t->ptr);
	return c;
}

int gopcln_get(const struct gopcln *t, uint32_t i, struct gopcln_function *fn)
{
	struct cursor c = at(t, t->funcs + (uint64_t)i * entry_size(t)), next;
	size_t left;

	fn->addr = entry(t, &c);
	fn->record = t->relative ? get_u32(&c) : word(t, &c);
	fn->size = entry(t, &c) - fn->addr;
	if (c.bad)
		return PP_ECUT;
	next = record(t, fn->record);
	fn->name_at = get_u32(&next);
	c = at(t, t->names + fn->name_at);
	left = cursor_left(&c);
	fn->name = !next.bad && !c.bad && left && memchr(c.p, 0, left) ? (const char *)c.p : NULL;
	return 0;
}

uint32_t gopcln_count(const struct gopcln *t)
{
	return (uint32_t)t->nfunc;
}

int gopcln_find(const struct gopcln *t, uint64_t vaddr, struct gopcln_function *fn)
{
	uint32_t lo = 0, hi = (uint32_t)t->nfunc;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (gopcln_get(t, mid, fn))
			return PP_ENOENT;
		if (fn->addr <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && !gopcln_get(t, lo - 1, fn) && vaddr - fn->addr < fn->size ? 0 : PP_ENOENT;
}

void gopcln_names(const struct gopcln *t, const void **p, size_t *n)
{
	*p = t->bytes + t->names;
	*n = (size_t)(t->names_end - t->names);
}

static uint64_t varint(struct cursor *c)
{
	uint64_t v = 0;
	uint8_t b;

	for (unsigned shift = 0; shift < 63; shift += 7) {
		b = get_u8(c);
		v |= (uint64_t)(b & 0x7f) << shift;
		if (b < 0x80)
			return v;
	}
	c->bad = true;
	return 0;
}

int gopcln_frame(const struct gopcln *t, const struct gopcln_function *fn, uint64_t vaddr,
		 uint32_t *size, uint64_t *start, uint64_t *end)
{
	struct cursor c = record(t, fn->record);
	int64_t value = -1;
	uint64_t pc = fn->addr, table;

	cursor_skip(&c, 12); /* name, arguments, deferred returns */
	table = get_u32(&c);
	if (c.bad || !table)
		return PP_ENOENT;
	c = at(t, t->pctab + table);
	for (bool first = true; !c.bad; first = false) {
		uint64_t delta = varint(&c), step;

		if (!delta && !first)
			return PP_ENOENT;
		step = varint(&c) * t->quantum;
		value += (int64_t)(delta >> 1) ^ -(int64_t)(delta & 1);
		if (c.bad || value < 0 || value > FRAME_MAX || step > fn->size)
			return PP_ECORRUPT;
		*start = pc;
		*end = pc += step;
		*size = (uint32_t)value;
		if (vaddr < pc)
			return 0;
	}
	return PP_ECORRUPT;
}

/* ---- finding it ---- */

int gopcln_memory(struct gopcln **g, const uint8_t *bytes, size_t len, bool swap, uint64_t text)
{
	struct gopcln *t = calloc(1, sizeof(*t));
	int rc;

	*g = t;
	if (!t)
		return PP_ENOMEM;
	t->bytes = bytes;
	t->len = len;
	t->swap = swap;
	rc = read_head(t, text);
	if (rc) {
		free(t);
		*g = NULL;
	}
	return rc;
}

void gopcln_close(struct gopcln *t)
{
	if (t)
		free(t->owned);
	free(t);
}

static bool has_section(const struct elf_file *f, const char *name)
{
	GElf_Shdr sh;

	return elf_file_section(f, name, &sh) != NULL;
}

static bool has_sections(const struct elf_file *f)
{
	size_t n;

	return !elf_getshdrnum(elf_file_elf(f), &n) && n > 1;
}

/* A note of Go's linker: 4 bytes each of lengths and type, then the name. */
static bool has_note(const struct elf_file *f)
{
	uint8_t note[16];
	GElf_Phdr p;
	size_t n;

	if (elf_getphdrnum(elf_file_elf(f), &n))
		n = 0;
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(elf_file_elf(f), (int)i, &p) && p.p_type == PT_NOTE &&
		    !elf_file_read(f, p.p_offset, note, sizeof(note)) &&
		    !memcmp(note + 12, "Go\0", 4))
			return true;
	return false;
}

bool gopcln_is_go(const struct elf_file *f)
{
	return has_section(f, ".gopclntab") || has_section(f, ".go.buildinfo") ||
	       has_section(f, ".note.go.buildid") || (!has_sections(f) && has_note(f));
}

/* The text address that Go 1.26 keeps in its module data: runtime.text is .text's start there. */
static uint64_t text_start(const struct elf_file *f)
{
	GElf_Shdr sh;

	return elf_file_section(f, ".text", &sh) ? sh.sh_addr : 0;
}

static bool looks_like_table(const uint8_t *p, bool swap)
{
	struct cursor c = cursor_make(p, 8, swap);
	uint32_t magic = get_u32(&c);

	return (magic == GO_118 || magic == GO_120 || magic == GO_116) && !p[4] && !p[5] &&
	       (p[6] == 1 || p[6] == 2 || p[6] == 4) && (p[7] == 8 || p[7] == 4);
}

/* Whether it is one: its first function has a name. */
static int try(struct gopcln **g, const struct elf_file *f, const uint8_t *p, size_t n)
{
	struct gopcln_function fn;
	int rc = gopcln_memory(g, p, n, elf_file_swap(f), text_start(f));

	if (!rc && (gopcln_get(*g, 0, &fn) || !fn.name)) {
		gopcln_close(*g);
		*g = NULL;
		rc = PP_ECORRUPT;
	}
	return rc;
}

static int search(struct gopcln **g, const struct elf_file *f, const uint8_t *p, size_t n)
{
	int rc = PP_ENOENT;

	for (size_t i = 0; i + 8 <= n && rc && rc != PP_ENOMEM; i += 8)
		if (looks_like_table(p + i, elf_file_swap(f)))
			rc = try(g, f, p + i, n - i);
	return !rc || rc == PP_ENOMEM ? rc : PP_ENOENT;
}

/* With cgo and lld the table is somewhere in the data that is made read-only. */
static int search_section(struct gopcln **g, const struct elf_file *f, const char *section)
{
	GElf_Shdr sh;
	Elf_Scn *scn = elf_file_section(f, section, &sh);
	Elf_Data *data = scn ? elf_file_data(scn, &sh) : NULL;

	if (!data || !data->d_buf || data->d_size > GOPCLN_MAX)
		return PP_ENOENT;
	return search(g, f, data->d_buf, data->d_size);
}

static int search_segments(struct gopcln **g, const struct elf_file *f)
{
	const struct elf_segments *s = elf_file_segments(f);
	int rc = PP_ENOENT;

	for (uint32_t i = 0; i < s->n && rc == PP_ENOENT; i++) {
		uint64_t n = s->seg[i].filesz;
		uint8_t *p;

		if (s->seg[i].exec || n > GOPCLN_MAX || n > elf_file_size(f))
			continue;
		p = malloc(n ? n : 1);
		if (!p)
			return PP_ENOMEM;
		rc = elf_file_read(f, s->seg[i].offset, p, n) ? PP_ENOENT : search(g, f, p, n);
		if (!rc)
			(*g)->owned = p;
		else
			free(p);
	}
	return rc;
}

int gopcln_open(struct gopcln **g, const struct elf_file *f)
{
	static const char *const sections[] = {".gopclntab", ".data.rel.ro.gopclntab",
					       ".data.rel.ro", ".rodata"};
	int rc = PP_ENOENT;

	*g = NULL;
	if (!gopcln_is_go(f))
		return PP_ENOENT;
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]) && rc == PP_ENOENT; i++)
		rc = search_section(g, f, sections[i]);
	return rc == PP_ENOENT && !has_sections(f) ? search_segments(g, f) : rc;
}
