/* Reads the functions of a binary from whatever tells of them. */
#include "inspect/funcs.h"

#include "base/cursor.h"
#include "base/err.h"
#include "unwind/cfi.h"

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

/* A function that begins at an address, if it is not among the first `known`, which are sorted. */
static int add_frame(struct funcs *t, uint32_t known, const struct binary *b, struct cfi *cfi,
		     uint64_t addr)
{
	const struct funcs named = {.v = t->v, .n = known};
	struct func fn = {.addr = addr, .source = FUNC_FRAME};
	struct buf name = BUF_INIT;
	struct cfi_function f;
	int rc;

	if (funcs_at(&named, addr))
		return 0;
	rc = cfi_function(cfi, addr, &f);
	if (rc || f.start != addr || f.end == addr)
		return rc == PP_ENOMEM ? rc : 0;
	fn.size = f.end - addr;
	cfi_function_name(&f, b->path, &name);
	fn.name = arena_dup(&t->names, buf_str(&name), name.len);
	rc = name.err ? name.err : fn.name ? funcs_add(t, &fn) : PP_ENOMEM;
	buf_release(&name);
	return rc;
}

/* The table of .eh_frame_hdr, in the form that all linkers write. LSB 5.0, "eh_frame_hdr". */
static int each_frame(struct funcs *t, const struct binary *b, struct cfi *cfi)
{
	GElf_Shdr sh;
	Elf_Scn *scn = elf_file_section(b->elf, ".eh_frame_hdr", &sh);
	Elf_Data *data = scn ? elf_file_data(scn, &sh) : NULL;
	struct cursor c;
	uint32_t n, known = t->n;
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

		get_u32(&c);
		if (c.bad)
			break;
		rc = add_frame(t, known, b, cfi, addr);
	}
	return rc;
}

/* Functions without a name, called as in stacks. */
static int add_frames(struct funcs *t, const struct binary *b)
{
	struct rows rows = {0};
	struct cfi *cfi = NULL;
	uint32_t known = t->n;
	GElf_Ehdr eh;
	int rc = cfi_new(&cfi, &rows);

	if (!rc)
		rc = cfi_add(cfi, b->elf, true);
	if (!rc)
		rc = each_frame(t, b, cfi);
	if (!rc && gelf_getehdr(elf_file_elf(b->elf), &eh) && eh.e_entry)
		rc = add_frame(t, known, b, cfi, eh.e_entry);
	/* A table that cannot be read is another thing than one that is not there. */
	if (!rc)
		rc = cfi_failed(cfi);
	cfi_free(cfi);
	rows_release(&rows);
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
