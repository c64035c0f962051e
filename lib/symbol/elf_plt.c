/* Names the entries of a linkage table by the relocations that belong to them. */
#include "symbol/elf_plt.h"

#include "base/cursor.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SLOTS (1u << 22) /* imported functions of one DSO: some ten thousand at most */

/* A slot of the global offset table and the function whose address the loader writes there. */
struct slot {
	uint64_t addr;
	uint32_t name;	 /* offset in the string table of the relocations' symbols, 0: none */
	uint64_t target; /* address of an indirect function when there is no name */
};

struct plt {
	const struct elf_file *f;
	struct symtab_builder *b;
	uint32_t n_sorted; /* symbols of the builder that can be searched */
	struct slot *slots;
	uint32_t n, cap;
	const Elf_Data *strs;
	struct buf name;
	size_t named; /* bytes of names so far */
};

static bool is_slot_type(unsigned machine, uint64_t type, bool *indirect)
{
	static const struct {
		unsigned machine, jump, data, indirect;
	} types[] = {
		{EM_X86_64, R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_IRELATIVE},
		{EM_386, R_386_JMP_SLOT, R_386_GLOB_DAT, R_386_IRELATIVE},
		{EM_AARCH64, R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT, R_AARCH64_IRELATIVE},
		{EM_ARM, R_ARM_JUMP_SLOT, R_ARM_GLOB_DAT, R_ARM_IRELATIVE},
		{EM_RISCV, R_RISCV_JUMP_SLOT, R_RISCV_64, R_RISCV_IRELATIVE},
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		if (types[i].machine != machine)
			continue;
		*indirect = type == types[i].indirect;
		return *indirect || type == types[i].jump || type == types[i].data;
	}
	return false;
}

static int add_slot(struct plt *p, const GElf_Rela *r, Elf_Data *syms)
{
	struct slot s = {.addr = r->r_offset};
	uint64_t index = GELF_R_SYM(r->r_info);
	bool indirect;
	GElf_Sym sym;

	if (!is_slot_type(elf_file_machine(p->f), GELF_R_TYPE(r->r_info), &indirect))
		return 0;
	if (indirect)
		s.target = (uint64_t)r->r_addend;
	else if (index && index <= INT32_MAX && gelf_getsym(syms, (int)index, &sym) &&
		 sym.st_name && p->strs && sym.st_name < p->strs->d_size)
		s.name = sym.st_name;
	else
		return 0;
	if (p->n == p->cap) {
		uint32_t cap = p->cap ? p->cap * 2 : 256;
		struct slot *grown;

		if (cap > MAX_SLOTS)
			return PP_ELIMIT;
		grown = realloc(p->slots, cap * sizeof(*grown));
		if (!grown)
			return PP_ENOMEM;
		p->slots = grown;
		p->cap = cap;
	}
	p->slots[p->n++] = s;
	return 0;
}

static int read_relocations(struct plt *p, Elf_Scn *scn, const GElf_Shdr *shdr, Elf_Data *syms)
{
	Elf_Data *d = elf_file_data(scn, shdr);
	bool rela = shdr->sh_type == SHT_RELA;
	size_t entry = gelf_fsize(elf_file_elf(p->f), rela ? ELF_T_RELA : ELF_T_REL, 1, EV_CURRENT);
	int rc = 0;

	for (size_t i = 0; d && entry && i < d->d_size / entry && i < INT32_MAX && !rc; i++) {
		GElf_Rela r = {0};
		GElf_Rel rel;

		if (rela) {
			if (!gelf_getrela(d, (int)i, &r))
				break;
		} else {
			if (!gelf_getrel(d, (int)i, &rel))
				break;
			r.r_offset = rel.r_offset;
			r.r_info = rel.r_info;
		}
		rc = add_slot(p, &r, syms);
	}
	return rc;
}

static int by_addr(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* The dynamic symbols, or in a static executable, which has indirect functions, the only ones. */
static int read_slots(struct plt *p, bool plt_only)
{
	GElf_Shdr shdr, str;
	Elf_Scn *scn = elf_file_section_type(p->f, SHT_DYNSYM, &shdr), *str_scn;
	Elf_Data *syms = NULL;
	int rc = 0;

	p->n = 0;
	if (scn) {
		syms = elf_file_data(scn, &shdr);
		str_scn = elf_getscn(elf_file_elf(p->f), shdr.sh_link);
		if (str_scn && gelf_getshdr(str_scn, &str) && str.sh_type == SHT_STRTAB)
			p->strs = elf_file_data(str_scn, &str);
	}
	for (scn = NULL; !rc && (scn = elf_nextscn(elf_file_elf(p->f), scn));) {
		const char *name;

		if (!gelf_getshdr(scn, &shdr) ||
		    (shdr.sh_type != SHT_RELA && shdr.sh_type != SHT_REL))
			continue;
		name = elf_file_section_name(p->f, &shdr);
		if (plt_only && strcmp(name, ".rela.plt") != 0 && strcmp(name, ".rel.plt") != 0)
			continue;
		rc = read_relocations(p, scn, &shdr, syms);
	}
	return rc;
}

/* The name of the symbol that starts at addr: an offset in the builder's text, or 0. */
static uint32_t name_at(const struct plt *p, uint64_t addr)
{
	uint32_t lo = 0, hi = p->n_sorted;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (p->b->raw[mid].start < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < p->n_sorted && p->b->raw[lo].start == addr ? p->b->raw[lo].name : 0;
}

static int add_named(struct plt *p, uint64_t start, uint64_t size, const char *name)
{
	struct symtab_raw raw = {.start = start, .end = start + size, .bind = SYMTAB_GLOBAL};
	int rc;

	/* A crafted table could name each of its entries with the same huge text. */
	p->named += strlen(name) + 1;
	if (raw.end <= start || p->named > ELF_PLT_TEXT_MAX)
		return 0;
	rc = symtab_builder_text(p->b, name, strlen(name) + 1, &raw.name);
	return rc ? rc : symtab_builder_add(p->b, &raw);
}

static int add_entry(struct plt *p, uint64_t start, uint64_t size, const struct slot *s)
{
	const char *name = "";
	size_t max = 0;

	if (s->name) {
		name = (const char *)p->strs->d_buf + s->name;
		max = p->strs->d_size - s->name;
	} else if (s->target) {
		uint32_t at = name_at(p, s->target);

		name = (const char *)p->b->text.data + at;
		max = strcspn(name, "@"); /* not with its version: memcpy@@GLIBC_2.14 */
	}
	max = strnlen(name, max < ELF_PLT_NAME_MAX ? max : ELF_PLT_NAME_MAX);
	if (!max)
		return 0;
	buf_reset(&p->name);
	buf_add(&p->name, name, max);
	buf_adds(&p->name, "@plt");
	return p->name.err ? p->name.err : add_named(p, start, size, buf_str(&p->name));
}

static int add_for_slot(struct plt *p, uint64_t start, uint64_t size, uint64_t slot_addr)
{
	struct slot key = {.addr = slot_addr};
	const struct slot *s = p->n ? bsearch(&key, p->slots, p->n, sizeof(key), by_addr) : NULL;

	return s ? add_entry(p, start, size, s) : 0;
}

/* An entry is [endbr] [bnd] jmp *slot: FF 25 with a displacement (x86-64) or an address (i386), or
 * FF A3 with an offset from the global offset table (i386, position independent). */
static int decode_x86(struct plt *p, const GElf_Shdr *shdr, const uint8_t *code, size_t n,
		      uint64_t got)
{
	bool is64 = elf_file_machine(p->f) == EM_X86_64;
	uint64_t size = shdr->sh_entsize == 8 || shdr->sh_entsize == 16 ? shdr->sh_entsize : 16;
	int rc = 0;

	for (uint64_t at = 0; at + size <= n && !rc; at += size) {
		struct cursor c = cursor_make(code + at, size, elf_file_swap(p->f));
		uint64_t slot;
		uint8_t mode;

		if (cursor_left(&c) >= 4 && c.p[0] == 0xf3 && c.p[1] == 0x0f && c.p[2] == 0x1e)
			cursor_skip(&c, 4);
		if (cursor_left(&c) && c.p[0] == 0xf2)
			cursor_skip(&c, 1);
		if (get_u8(&c) != 0xff)
			continue;
		mode = get_u8(&c);
		slot = (uint64_t)(int64_t)(int32_t)get_u32(&c);
		if (c.bad || (mode != 0x25 && (is64 || mode != 0xa3)))
			continue;
		if (is64)
			slot += shdr->sh_addr + at + (uint64_t)(c.p - (code + at));
		else
			slot = (uint32_t)(mode == 0xa3 ? slot + got : slot);
		rc = add_for_slot(p, shdr->sh_addr + at, size, slot);
	}
	return rc;
}

/* An entry is [bti] adrp x16, page; ldr x17, [x16, offset]; add; [autia]; br x17. Instructions are
 * little-endian whatever the data. */
static int decode_aarch64(struct plt *p, const GElf_Shdr *shdr, const uint8_t *code, size_t n)
{
	bool swap = __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__;
	struct cursor c = cursor_make(code, n, swap);
	uint64_t start = shdr->sh_addr, page = 0, slot = 0;
	int rc = 0;

	while (cursor_left(&c) >= 4 && !rc) {
		uint64_t pc = shdr->sh_addr + (uint64_t)(c.p - code);
		uint32_t insn = get_u32(&c);

		if (insn == 0xd503201f && start == pc) { /* nop between entries */
			start += 4;
		} else if ((insn & 0x9f00001f) == 0x90000010) { /* adrp x16 */
			uint32_t imm = (insn >> 5 & 0x7ffff) << 2 | (insn >> 29 & 3);
			int64_t pages = (int32_t)(imm << 11) >> 11;

			page = (pc & ~0xfffull) + ((uint64_t)pages << 12);
		} else if ((insn & 0xffc003ff) == 0xf9400211) { /* ldr x17, [x16, ...] */
			slot = page + (insn >> 10 & 0xfff) * 8;
		} else if (insn == 0xd61f0220) { /* br x17 */
			rc = add_for_slot(p, start, pc + 4 - start, slot);
			start = pc + 4;
		}
	}
	return rc;
}

/* How linkers lay out tables whose entries are not decoded: bytes of the header and of an entry. */
static const struct layout {
	unsigned machine, header, entry;
} layouts[] = {
	{EM_ARM, 20, 12}, /* GNU ld */
	{EM_ARM, 32, 16}, /* lld */
	{EM_RISCV, 32, 16},
};

/* Entries in the order of .rela.plt, after a header. A table of another size stays unnamed. */
static int in_order(struct plt *p, const GElf_Shdr *shdr)
{
	const struct layout *l = NULL;
	int rc = read_slots(p, true);

	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
		if (layouts[i].machine == elf_file_machine(p->f) &&
		    layouts[i].header + (uint64_t)p->n * layouts[i].entry == shdr->sh_size)
			l = &layouts[i];
	for (uint32_t i = 0; l && i < p->n && !rc; i++)
		rc = add_entry(p, shdr->sh_addr + l->header + (uint64_t)i * l->entry, l->entry,
			       &p->slots[i]);
	return rc;
}

static int read_plt(struct plt *p, const char *section, uint64_t got)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = elf_file_section(p->f, section, &shdr);
	Elf_Data *d = elf_file_data(scn, &shdr);
	int rc;

	if (!d || shdr.sh_type != SHT_PROGBITS)
		return 0;
	/* First, so that it shows only where no entry is found. */
	rc = add_named(p, shdr.sh_addr, d->d_size, ".plt");
	if (rc)
		return rc;
	switch (elf_file_machine(p->f)) {
	case EM_386:
	case EM_X86_64: return decode_x86(p, &shdr, d->d_buf, d->d_size, got);
	case EM_AARCH64: return decode_aarch64(p, &shdr, d->d_buf, d->d_size);
	case EM_ARM:
	case EM_RISCV: return in_order(p, &shdr);
	default: return 0;
	}
}

int elf_plt_add(const struct elf_file *f, struct symtab_builder *b)
{
	struct plt p = {.f = f, .b = b, .n_sorted = b->n};
	GElf_Shdr got;
	uint64_t got_addr = elf_file_section(f, ".got.plt", &got) ? got.sh_addr : 0;
	int rc = read_slots(&p, false);

	if (p.n)
		qsort(p.slots, p.n, sizeof(*p.slots), by_addr);
	if (!rc)
		rc = read_plt(&p, ".plt", got_addr);
	if (!rc)
		rc = read_plt(&p, ".plt.sec", got_addr);
	if (!rc)
		rc = read_plt(&p, ".plt.got", got_addr);
	free(p.slots);
	buf_release(&p.name);
	return rc;
}
