/* Reads the functions of a binary from whatever tells of them. */
#include "inspect/funcs.h"

#include "base/cursor.h"
#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool executable(Elf *elf, size_t section)
{
	Elf_Scn *scn = elf_getscn(elf, section);
	GElf_Shdr sh;

	return scn && gelf_getshdr(scn, &sh) && (sh.sh_flags & SHF_EXECINSTR);
}

/* OCaml marks where the code of a module begins and ends. */
static bool is_mark(const char *name)
{
	const char *end = strncmp(name, "caml", 4) ? NULL : strstr(name, "__code_");

	return end && (!strcmp(end, "__code_begin") || !strcmp(end, "__code_end"));
}

/* A function; or a label of hand-written code, which has no type. */
static bool is_function(Elf *elf, const GElf_Sym *sym, const char *name)
{
	unsigned type = GELF_ST_TYPE(sym->st_info);

	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx >= SHN_LORESERVE || !name || !*name ||
	    is_mark(name))
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	return type == STT_NOTYPE && name[0] != '$' && name[0] != '.' &&
	       executable(elf, sym->st_shndx);
}

static int add_symbols(struct funcs *t, const struct elf_file *f, uint32_t type,
		       enum func_source source)
{
	Elf *elf = elf_file_elf(f);
	GElf_Shdr sh;
	Elf_Scn *scn = elf_file_section_type(f, type, &sh);
	Elf_Data *data = scn ? elf_file_data(scn, &sh) : NULL;
	int rc = 0;

	if (scn && sh.sh_size && sh.sh_type != SHT_NOBITS && !data)
		return PP_EIO;
	if (!data)
		return 0;
	for (int i = 1; !rc; i++) {
		GElf_Sym sym;
		struct func fn = {.source = (uint8_t)source};

		if (!gelf_getsym(data, i, &sym))
			break;
		fn.name = elf_strptr(elf, sh.sh_link, sym.st_name);
		if (!is_function(elf, &sym, fn.name))
			continue;
		fn.addr = sym.st_value;
		fn.size = sym.st_size;
		fn.ifunc = GELF_ST_TYPE(sym.st_info) == STT_GNU_IFUNC;
		rc = funcs_add(t, &fn);
	}
	return rc;
}

/* An entry of .eh_frame: how many bytes of code it is about; 0: not known. */
static uint64_t frame_size(const struct binary *b, uint64_t addr)
{
	uint8_t head[16];
	struct cursor c = cursor_make(head, sizeof(head), elf_file_swap(b->elf));

	if (binary_read(b, addr, head, sizeof(head)))
		return 0;
	cursor_skip(&c, 12);
	return get_u32(&c);
}

/* The table of .eh_frame_hdr, in the form that all linkers write. LSB 5.0, "eh_frame_hdr". */
static int add_frames(struct funcs *t, const struct binary *b)
{
	GElf_Shdr sh;
	Elf_Scn *scn = elf_file_section(b->elf, ".eh_frame_hdr", &sh);
	Elf_Data *data = scn ? elf_file_data(scn, &sh) : NULL;
	struct cursor c;
	uint32_t n;
	int rc = 0;

	if (!data || !data->d_buf || data->d_size < 12)
		return 0;
	c = cursor_make(data->d_buf, data->d_size, elf_file_swap(b->elf));
	if (get_u8(&c) != 1 || get_u8(&c) != 0x1b || get_u8(&c) != 3 || get_u8(&c) != 0x3b)
		return 0;
	get_u32(&c);
	n = get_u32(&c);
	for (uint32_t i = 0; !rc && i < n; i++) {
		uint64_t addr = sh.sh_addr + (uint64_t)(int64_t)(int32_t)get_u32(&c);
		uint64_t entry = sh.sh_addr + (uint64_t)(int64_t)(int32_t)get_u32(&c);
		struct func fn = {.addr = addr, .source = FUNC_FRAME};
		char name[32];
		int len;

		if (c.bad)
			break;
		len = snprintf(name, sizeof(name), "fn_%llx", (unsigned long long)addr);
		fn.size = frame_size(b, entry);
		fn.name = arena_dup(&t->names, name, (size_t)len);
		if (!fn.name)
			return PP_ENOMEM;
		if (fn.size && !funcs_at(t, addr))
			rc = funcs_add(t, &fn);
	}
	return rc;
}

static int by_address(const void *a, const void *b)
{
	const struct func *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Takes out what is there twice, and gives those without a size one, up to the next. */
static void tidy(struct funcs *t, const struct binary *b)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n; i++) {
		struct func *f = &t->v[i];

		if (!binary_is_code(b, f->addr))
			continue;
		if (n && t->v[n - 1].addr == f->addr && !strcmp(t->v[n - 1].name, f->name))
			continue;
		t->v[n++] = *f;
	}
	t->n = n;
	for (uint32_t i = n; i-- > 0;) {
		uint64_t next = 0;

		for (uint32_t k = i + 1; k < n && k < i + 64 && !next; k++)
			if (t->v[k].addr > t->v[i].addr)
				next = t->v[k].addr;
		if (!t->v[i].size && next && next - t->v[i].addr < BINARY_CODE_MAX)
			t->v[i].size = next - t->v[i].addr;
	}
}

static void sort(struct funcs *t, const struct binary *b)
{
	if (t->n)
		qsort(t->v, t->n, sizeof(*t->v), by_address);
	tidy(t, b);
}

/* The functions of Go's own table. */
static int add_go(struct funcs *t, const struct binary *b)
{
	struct gopcln_function fn;
	int rc = gopcln_open(&t->go, b->elf);

	for (uint32_t i = 0; !rc && i < gopcln_count(t->go); i++) {
		rc = gopcln_get(t->go, i, &fn);
		if (!rc && fn.name && *fn.name && fn.size && fn.size <= BINARY_CODE_MAX)
			rc = funcs_add(t, &(struct func){.name = fn.name,
							 .addr = fn.addr,
							 .size = fn.size,
							 .source = FUNC_GO});
	}
	return rc == PP_ENOMEM || rc == PP_ELIMIT ? rc : 0;
}

int funcs_load(struct funcs *t, struct binary *b)
{
	struct elf_file *symbols = b->dso.symbols_elf ? b->dso.symbols_elf : b->elf;
	enum symtab_reason why;
	bool complete;
	int rc;

	memset(t, 0, sizeof(*t));
	rc = add_symbols(t, symbols, SHT_SYMTAB, FUNC_SYMTAB);
	complete = t->n > 0;
	if (!rc && symbols != b->elf)
		rc = add_symbols(t, b->elf, SHT_SYMTAB, FUNC_SYMTAB);
	if (!rc)
		rc = add_symbols(t, b->elf, SHT_DYNSYM, FUNC_DYNSYM);
	if (!rc && !complete && elf_file_debugdata(&t->mini, b->elf, &why) == 0)
		rc = add_symbols(t, t->mini, SHT_SYMTAB, FUNC_MINI);
	if (!rc && !complete)
		rc = add_go(t, b);
	if (!rc)
		sort(t, b);
	if (!rc && !complete) {
		rc = add_frames(t, b);
		if (!rc)
			sort(t, b);
	}
	if (rc)
		funcs_release(t);
	return rc;
}
