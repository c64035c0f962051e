/* Turns the symbol tables of an ELF file into a symtab, with the rules of perf. */
#include "symbol/elf_symtab.h"

#include "base/err.h"
#include "symbol/elf_plt.h"
#include "symbol/gopcln.h"
#include "symbol/kmodule.h"
#include "symbol/symtab_build.h"

#include <stdlib.h>
#include <string.h>

/* What a symbol must know of its section. */
enum section_kind {
	SECTION_USABLE = 1, /* exists and is loaded */
	SECTION_LABELS = 2, /* labels in it count */
};

struct loader {
	const struct elf_file *file;
	const struct elf_symtab_opts *opts;
	struct symtab_builder b;
	uint8_t *kinds; /* by section index */
	size_t n_kinds;
	Elf_Data *syms, *xindex, *strs;
	uint32_t text; /* base of the string table in the builder */
	uint64_t delta;
	bool has_delta;
	bool blank;	  /* symbols were zeros, or their names */
	uint64_t *places; /* of a kernel module: by section index */
	size_t n_places;
};

static int read_sections(struct loader *l)
{
	Elf *elf = elf_file_elf(l->file);
	GElf_Shdr shdr;
	size_t n;

	if (elf_getshdrnum(elf, &n))
		return PP_ECORRUPT;
	l->kinds = calloc(n ? n : 1, 1);
	if (!l->kinds)
		return PP_ENOMEM;
	l->n_kinds = n;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		size_t i = elf_ndxscn(scn);
		const char *name;

		if (i >= n || !gelf_getshdr(scn, &shdr) || !(shdr.sh_flags & SHF_ALLOC))
			continue;
		name = elf_file_section_name(l->file, &shdr);
		l->kinds[i] = SECTION_USABLE;
		if (strstr(name, "text") || strstr(name, "data"))
			l->kinds[i] |= SECTION_LABELS;
	}
	return 0;
}

/* Symbols that mark code and data inside functions (psABIs of Arm, AArch64, RISC-V). */
static bool is_mapping_symbol(unsigned machine, const char *name)
{
	switch (machine) {
	case EM_ARM:
	case EM_AARCH64:
		return name[0] == '$' && name[1] && strchr("adtx", name[1]) &&
		       (!name[2] || name[2] == '.');
	case EM_RISCV:
		return (name[0] == '$' && name[1] && strchr("dx", name[1])) ||
		       (name[0] == '.' && name[1] == 'L');
	default: return false;
	}
}

static bool is_wanted(const struct loader *l, const GElf_Sym *sym, size_t section)
{
	unsigned type = GELF_ST_TYPE(sym->st_info), see = GELF_ST_VISIBILITY(sym->st_other);

	if (!sym->st_name || sym->st_shndx == SHN_UNDEF || section >= l->n_kinds ||
	    !(l->kinds[section] & SECTION_USABLE))
		return false;
	switch (type) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
	case STT_OBJECT: return true;
	case STT_NOTYPE:
		return (l->kinds[section] & SECTION_LABELS) && see != STV_HIDDEN &&
		       see != STV_INTERNAL;
	default: return false;
	}
}

static uint8_t binding(const GElf_Sym *sym)
{
	switch (GELF_ST_BIND(sym->st_info)) {
	case STB_WEAK: return SYMTAB_WEAK;
	case STB_GLOBAL: return SYMTAB_GLOBAL;
	default: return SYMTAB_LOCAL;
	}
}

static int add_symbol(struct loader *l, int index)
{
	unsigned machine = elf_file_machine(l->file);
	struct symtab_raw raw = {0};
	const char *name;
	GElf_Word extended = 0;
	size_t section;
	GElf_Sym sym;

	if (!gelf_getsymshndx(l->syms, l->xindex, index, &sym, &extended))
		return PP_ECORRUPT;
	if (sym.st_shndx >= SHN_LORESERVE && sym.st_shndx != SHN_XINDEX)
		return 0;
	section = sym.st_shndx == SHN_XINDEX ? extended : sym.st_shndx;
	l->blank |= !sym.st_name && !sym.st_info && !sym.st_shndx;
	if (!is_wanted(l, &sym, section) || sym.st_name >= l->strs->d_size)
		return 0;
	name = (const char *)l->b.text.data + l->text + sym.st_name;
	l->blank |= !name[0];
	if (!name[0] || is_mapping_symbol(machine, name))
		return 0;
	if (l->places) {
		if (section >= l->n_places || l->places[section] == KMODULE_NOWHERE)
			return 0;
		sym.st_value += l->places[section];
	}
	/* The lowest bit of a function's address says that it is Thumb code. */
	if (machine == EM_ARM && GELF_ST_TYPE(sym.st_info) == STT_FUNC)
		sym.st_value &= ~1ull;
	if (l->opts->ref_name && !l->has_delta && !strcmp(name, l->opts->ref_name)) {
		l->delta = l->opts->ref_addr - sym.st_value;
		l->has_delta = true;
	}
	raw.start = sym.st_value;
	raw.end = sym.st_size > UINT64_MAX - raw.start ? UINT64_MAX : raw.start + sym.st_size;
	raw.name = l->text + sym.st_name;
	raw.bind = binding(&sym);
	raw.ifunc = GELF_ST_TYPE(sym.st_info) == STT_GNU_IFUNC;
	return symtab_builder_add(&l->b, &raw);
}

/* The table of extended section indices that belongs to a symbol table, if it has one. */
static Elf_Data *find_xindex(const struct elf_file *f, size_t symtab)
{
	GElf_Shdr shdr;

	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf_file_elf(f), scn));)
		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_SYMTAB_SHNDX &&
		    shdr.sh_link == symtab)
			return elf_file_data(scn, &shdr);
	return NULL;
}

static int read_table(struct loader *l, uint32_t type)
{
	GElf_Shdr shdr, str;
	Elf_Scn *scn = elf_file_section_type(l->file, type, &shdr), *str_scn;
	size_t entry, n;
	int rc;

	if (!scn || !shdr.sh_size || shdr.sh_type == SHT_NOBITS)
		return 0;
	l->syms = elf_file_data(scn, &shdr);
	str_scn = elf_getscn(elf_file_elf(l->file), shdr.sh_link);
	if (!l->syms || !str_scn || !gelf_getshdr(str_scn, &str) || str.sh_type != SHT_STRTAB)
		return PP_ECORRUPT;
	l->strs = elf_file_data(str_scn, &str);
	if (!l->strs)
		return PP_ECORRUPT;
	l->xindex = find_xindex(l->file, elf_ndxscn(scn));
	rc = symtab_builder_text(&l->b, l->strs->d_buf, l->strs->d_size, &l->text);
	entry = gelf_fsize(elf_file_elf(l->file), ELF_T_SYM, 1, EV_CURRENT);
	n = entry ? l->syms->d_size / entry : 0;
	if (!rc && n > SYMTAB_MAX_SYMBOLS)
		rc = PP_ELIMIT;
	for (size_t i = 1; i < n && !rc; i++)
		rc = add_symbol(l, (int)i);
	return rc;
}

/* The .dynsym of a second file. */
static int add_dynsym(struct loader *l, const struct elf_file *f)
{
	int rc;

	free(l->kinds);
	l->kinds = NULL;
	l->file = f;
	rc = read_sections(l);
	return rc ? rc : read_table(l, SHT_DYNSYM);
}

/* The functions of a Go program whose symbols were stripped, by its own table. */
static int add_go(struct loader *l)
{
	struct gopcln_function fn;
	struct symtab_raw raw;
	const void *names;
	struct gopcln *g;
	uint32_t text;
	size_t n;
	int rc = gopcln_open(&g, l->file);

	if (rc)
		return rc == PP_ENOMEM ? rc : 0;
	gopcln_names(g, &names, &n);
	rc = symtab_builder_text(&l->b, names, n, &text);
	for (uint32_t i = 0; i < gopcln_count(g) && !rc && !gopcln_get(g, i, &fn); i++) {
		raw = (struct symtab_raw){.start = fn.addr,
					  .end = fn.addr + fn.size,
					  .name = text + fn.name_at,
					  .bind = SYMTAB_GLOBAL};
		if (fn.name && *fn.name && fn.size && raw.end > raw.start && fn.name_at < n)
			rc = symtab_builder_add(&l->b, &raw);
	}
	gopcln_close(g);
	return rc;
}

static int read_symbols(struct loader *l, enum symtab_reason *why)
{
	int rc = read_sections(l);
	bool has_table;

	*why = SYMTAB_CORRUPT;
	if (!rc)
		rc = read_table(l, SHT_SYMTAB);
	has_table = l->b.n;
	if (!rc && !l->b.n && !l->opts->symtab_only)
		rc = read_table(l, SHT_DYNSYM);
	if (!rc && l->opts->dynsym_of && l->opts->dynsym_of != l->file)
		rc = add_dynsym(l, l->opts->dynsym_of);
	if (!rc && !has_table)
		rc = add_go(l);
	if (!rc && !l->b.n && l->blank)
		rc = PP_ECORRUPT;
	if (!rc && l->opts->ref_name && !l->has_delta && l->b.n) {
		*why = SYMTAB_NO_REF;
		rc = PP_EMISMATCH;
	}
	for (uint32_t i = 0; i < l->b.n && !rc && l->delta; i++) {
		l->b.raw[i].start += l->delta;
		l->b.raw[i].end += l->delta;
		if (l->b.raw[i].end < l->b.raw[i].start)
			l->b.raw[i].end = UINT64_MAX;
	}
	return rc;
}

int elf_symtab_load(const struct elf_file *syms, const struct elf_file *runtime,
		    const struct elf_symtab_opts *opts, struct symtab **out,
		    enum symtab_reason *why)
{
	struct loader l = {.file = syms, .opts = opts};
	int rc;

	*why = SYMTAB_UNSUPPORTED;
	/* The addresses of a relocatable file (a .o, a kernel module) are those of its sections. */
	if (elf_file_type(syms) == ET_REL && !opts->module_base)
		return PP_EUNSUPPORTED;
	*why = SYMTAB_CORRUPT;
	rc = elf_file_type(syms) == ET_REL
		     ? kmodule_layout(syms, opts->module_base, &l.places, &l.n_places)
		     : 0;
	if (!rc)
		rc = read_symbols(&l, why);
	if (!rc)
		rc = symtab_builder_fix_ends(&l.b, SYMTAB_ENDS_NEXT);
	if (!rc)
		rc = symtab_builder_unify(&l.b);
	if (opts->delta)
		*opts->delta = l.delta;
	if (!rc && !opts->no_plt && !l.delta && !l.places)
		rc = elf_plt_add(runtime ? runtime : syms, &l.b);
	if (!rc && !l.b.n) {
		*why = SYMTAB_STRIPPED;
		rc = PP_ENOENT;
	}
	if (!rc)
		rc = symtab_builder_finish(&l.b, out);
	if (rc == PP_ENOMEM)
		*why = SYMTAB_NO_MEMORY;
	if (!rc)
		*why = SYMTAB_OK;
	symtab_builder_release(&l.b);
	free(l.kinds);
	free(l.places);
	return rc;
}
