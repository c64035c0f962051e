/* The function table of Go programs. */
#include "inspect/gopcln.h"

#include "base/cursor.h"
#include "base/err.h"

#include <string.h>

#define GO_12  0xfffffffb
#define GO_116 0xfffffffa
#define GO_118 0xfffffff0
#define GO_120 0xfffffff1

struct table {
	const uint8_t *bytes;
	size_t len;
	bool swap;
	unsigned ptr; /* bytes of a word */
	uint64_t nfunc, text, names, funcs;
	bool relative; /* entries are offsets of `text`, in 32 bits */
	bool old;      /* names and functions are offsets of the table itself */
};

static struct cursor at(const struct table *t, uint64_t offset)
{
	struct cursor c = cursor_make(t->bytes, t->len, t->swap);

	cursor_skip(&c, offset);
	return c;
}

static uint64_t word(const struct table *t, struct cursor *c)
{
	return t->ptr == 8 ? get_u64(c) : get_u32(c);
}

static int read_head(struct table *t, uint64_t text)
{
	struct cursor c = at(t, 0);
	uint32_t magic = get_u32(&c);

	cursor_skip(&c, 3);
	t->ptr = get_u8(&c);
	if (c.bad || (t->ptr != 8 && t->ptr != 4))
		return PP_ECORRUPT;
	t->nfunc = word(t, &c);
	switch (magic) {
	case GO_12:
		t->old = true;
		t->funcs = 8 + t->ptr;
		break;
	case GO_116:
		word(t, &c);
		t->names = word(t, &c);
		word(t, &c);
		word(t, &c);
		word(t, &c);
		t->funcs = word(t, &c);
		break;
	case GO_118:
	case GO_120:
		word(t, &c);
		t->text = word(t, &c);
		t->names = word(t, &c);
		word(t, &c);
		word(t, &c);
		word(t, &c);
		t->funcs = word(t, &c);
		t->relative = true;
		/* Go 1.26 leaves it to the module's data to say where the code begins. */
		if (!t->text)
			t->text = text;
		break;
	default: return PP_EUNSUPPORTED;
	}
	return c.bad || t->nfunc > FUNCS_MAX ? PP_ECORRUPT : 0;
}

static uint64_t entry(const struct table *t, struct cursor *c)
{
	return t->relative ? t->text + get_u32(c) : word(t, c);
}

/* The name of a function by its record, whose place is given from the begin of the functions. */
static const char *name_of(const struct table *t, uint64_t record)
{
	struct cursor c = at(t, (t->old ? 0 : t->funcs) + record);
	const char *s;
	size_t left;

	if (t->relative)
		get_u32(&c);
	else
		word(t, &c);
	c = at(t, t->names + get_u32(&c));
	left = cursor_left(&c);
	s = (const char *)c.p;
	return !c.bad && left && memchr(s, 0, left) ? s : NULL;
}

int gopcln_parse(struct funcs *f, const uint8_t *bytes, size_t len, bool swap, uint64_t text)
{
	struct table t = {.bytes = bytes, .len = len, .swap = swap};
	struct cursor c;
	int rc = read_head(&t, text);

	if (rc)
		return rc;
	c = at(&t, t.funcs);
	for (uint64_t i = 0; !rc && i < t.nfunc; i++) {
		struct func fn = {.source = FUNC_GO};
		struct cursor next;
		uint64_t record;

		fn.addr = entry(&t, &c);
		record = t.relative ? get_u32(&c) : word(&t, &c);
		next = c;
		fn.size = entry(&t, &next) - fn.addr;
		if (next.bad)
			return PP_ECUT;
		fn.name = name_of(&t, record);
		if (fn.name && *fn.name && fn.size && fn.size <= BINARY_CODE_MAX)
			rc = funcs_add(f, &fn);
	}
	return rc;
}

/* The text address that Go 1.26 keeps in its module data: runtime.text is .text's start there. */
static uint64_t text_start(const struct binary *b)
{
	GElf_Shdr sh;

	return elf_file_section(b->elf, ".text", &sh) ? sh.sh_addr : 0;
}

static bool looks_like_table(const uint8_t *p, bool swap)
{
	struct cursor c = cursor_make(p, 8, swap);
	uint32_t magic = get_u32(&c);

	return (magic == GO_118 || magic == GO_120 || magic == GO_116) && !p[4] && !p[5] &&
	       (p[6] == 1 || p[6] == 2 || p[6] == 4) && (p[7] == 8 || p[7] == 4);
}

/* With cgo and lld the table is somewhere in the data that is made read-only. */
static int search(struct funcs *t, const struct binary *b, const char *section)
{
	GElf_Shdr sh;
	Elf_Scn *scn = elf_file_section(b->elf, section, &sh);
	Elf_Data *data = scn ? elf_file_data(scn, &sh) : NULL;
	bool swap = elf_file_swap(b->elf);
	const uint8_t *p;

	if (!data || !data->d_buf || data->d_size > GOPCLN_MAX)
		return PP_ENOENT;
	p = data->d_buf;
	for (size_t i = 0; i + 8 <= data->d_size; i += 8)
		if (looks_like_table(p + i, swap) &&
		    gopcln_parse(t, p + i, data->d_size - i, swap, text_start(b)) == 0)
			return 0;
	return PP_ENOENT;
}

int gopcln_load(struct funcs *t, struct binary *b)
{
	static const char *const sections[] = {".gopclntab", ".data.rel.ro.gopclntab",
					       ".data.rel.ro", ".rodata"};
	uint32_t had = t->n;

	if (!b->go)
		return PP_ENOENT;
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		int rc = search(t, b, sections[i]);

		if (rc != PP_ENOENT)
			return rc;
		t->n = had;
	}
	return PP_ENOENT;
}
