/* Names for the entries of the linkage table. */
#include "elf_make.h"
#include "symbol/elf_symtab.h"
#include "tap.h"

enum { DYNSYM = 1, DYNSTR, RELA, PLT, PLT_SEC };

static const char strings[] = "\0puts\0strlen\0chosen";
enum { PUTS = 1, STRLEN = 6, CHOSEN = 13 };

/* A slot of the global offset table, the relocation's type, and its symbol or addend. */
struct slot {
	uint64_t addr;
	unsigned type, symbol;
	uint64_t addend;
};

struct table {
	uint16_t machine;
	bool is64;
	struct slot slots[4];
	uint8_t plt[96];
	size_t plt_len, entsize;
	uint8_t sec[32];
	size_t sec_len;
};

static struct symtab *load(const struct table *p)
{
	struct elf_make m = {.is64 = p->is64, .machine = p->machine, .type = ET_DYN};
	struct buf syms = BUF_INIT, rela = BUF_INIT, file = BUF_INIT;
	struct elf_symtab_opts opts = {0};
	enum symtab_reason why;
	struct elf_file *f;
	struct symtab *t = NULL;

	elf_make_symbol(&m, &syms, 0, 0, 0, 0, 0, 0, 0);
	elf_make_symbol(&m, &syms, PUTS, 0, 0, STB_GLOBAL, STT_FUNC, 0, SHN_UNDEF);
	elf_make_symbol(&m, &syms, STRLEN, 0, 0, STB_GLOBAL, STT_FUNC, 0, SHN_UNDEF);
	elf_make_symbol(&m, &syms, CHOSEN, 0x9000, 16, STB_GLOBAL, STT_GNU_IFUNC, 0, PLT);
	for (int i = 0; i < 4 && p->slots[i].addr; i++) {
		const struct slot *s = &p->slots[i];

		elf_make_word(&m, &rela, s->addr);
		elf_make_word(&m, &rela,
			      p->is64 ? (uint64_t)s->symbol << 32 | s->type
				      : (uint64_t)s->symbol << 8 | s->type);
		if (p->is64)
			elf_make_word(&m, &rela, s->addend);
	}
	elf_make_section(&m, ".dynsym", SHT_DYNSYM, SHF_ALLOC, 0x200, syms.data, syms.len);
	m.sections[DYNSYM - 1].link = DYNSTR;
	m.sections[DYNSYM - 1].entsize = p->is64 ? 24 : 16;
	elf_make_section(&m, ".dynstr", SHT_STRTAB, SHF_ALLOC, 0x300, strings, sizeof(strings));
	elf_make_section(&m, p->is64 ? ".rela.plt" : ".rel.plt", p->is64 ? SHT_RELA : SHT_REL,
			 SHF_ALLOC, 0x400, rela.data, rela.len);
	m.sections[RELA - 1].link = DYNSYM;
	m.sections[RELA - 1].entsize = p->is64 ? 24 : 8;
	elf_make_section(&m, ".plt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, p->plt,
			 p->plt_len);
	m.sections[PLT - 1].entsize = p->entsize;
	if (p->sec_len) {
		elf_make_section(&m, ".plt.sec", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x2000,
				 p->sec, p->sec_len);
		m.sections[PLT_SEC - 1].entsize = 16;
	}
	elf_make_finish(&m, &file);
	if (!elf_file_memory(&f, file.data, file.len, &why)) {
		elf_symtab_load(f, NULL, &opts, &t, &why);
		elf_file_close(f);
	}
	buf_release(&syms);
	buf_release(&rela);
	buf_release(&file);
	return t;
}

/* Expected: names of 16-byte pieces from the start of .plt, and of .plt.sec. */
static void check(const struct table *p, const char *what, const char *const plt[],
		  const char *const sec[])
{
	struct symtab *t = load(p);
	struct symbol s;

	for (int k = 0; k < 2; k++) {
		const char *const *want = k ? sec : plt;

		for (int i = 0; want && want[i]; i++) {
			uint64_t at = (k ? 0x2000u : 0x1000u) + (uint64_t)i * 16 + 5;

			is_str(symtab_find(t, at, &s) ? "-" : symtab_text(t, s.name), want[i],
			       "%s, %s: %#x", what, k ? ".plt.sec" : ".plt", (unsigned)at);
		}
	}
	symtab_free(t);
}

/* jmp *0x3fe2(%rip) at 0x1010 goes through 0x4ff8, and so on: the slots lie backwards here. */
static void test_x86_64(void)
{
	static const struct table lazy = {
		.machine = EM_X86_64,
		.is64 = true,
		.entsize = 16,
		.plt_len = 64,
		.slots = {{0x5000, R_X86_64_JUMP_SLOT, 2, 0},
			  {0x4ff8, R_X86_64_JUMP_SLOT, 1, 0},
			  {0x5008, R_X86_64_IRELATIVE, 0, 0x9000}},
		.plt = {0xff, 0x35, 0xe2, 0x3f, 0, 0, 0xff, 0x25, 0xe4, 0x3f, 0, 0,    0, 0, 0, 0,
			0xff, 0x25, 0xe2, 0x3f, 0, 0, 0x68, 0,	  0,	0,    0, 0xe9, 0, 0, 0, 0,
			0xff, 0x25, 0xda, 0x3f, 0, 0, 0x68, 1,	  0,	0,    0, 0xe9, 0, 0, 0, 0,
			0xff, 0x25, 0xd2, 0x3f, 0, 0, 0x68, 2,	  0,	0,    0, 0xe9, 0, 0, 0, 0}};
	static const struct table ibt = {
		.machine = EM_X86_64,
		.is64 = true,
		.entsize = 16,
		.plt_len = 32,
		.sec_len = 32,
		.slots = {{0x5000, R_X86_64_JUMP_SLOT, 2, 0}, {0x5008, R_X86_64_JUMP_SLOT, 1, 0}},
		.plt = {0xff, 0x35, 0, 0, 0, 0, 0xf2, 0xff, 0x25},
		/* endbr64; bnd jmp *0x2ff5(%rip) */
		.sec = {0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 0xf5, 0x2f, 0, 0, 0, 0, 0, 0, 0,
			0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0xee, 0x2f, 0,    0, 0, 0, 0, 0, 0, 0}};
	static const char *const lazy_names[] = {".plt", "puts@plt", "strlen@plt", "chosen@plt",
						 NULL};
	static const char *const ibt_names[] = {".plt", ".plt", NULL};
	static const char *const sec_names[] = {"strlen@plt", "puts@plt", NULL};

	check(&lazy, "x86-64", lazy_names, NULL);
	check(&ibt, "x86-64 with branch tracking", ibt_names, sec_names);
}

static void test_i386(void)
{
	static const struct table t = {
		.machine = EM_386,
		.entsize = 16,
		.plt_len = 48,
		.slots = {{0x5000, R_386_JMP_SLOT, 2, 0}, {0x4ffc, R_386_JMP_SLOT, 1, 0}},
		.plt = {0xff, 0x35, 0xf4, 0x4f, 0, 0, 0xff, 0x25, 0xf8, 0x4f, 0, 0,    0, 0, 0, 0,
			0xff, 0x25, 0xfc, 0x4f, 0, 0, 0x68, 0,	  0,	0,    0, 0xe9, 0, 0, 0, 0,
			0xff, 0x25, 0x00, 0x50, 0, 0, 0x68, 1,	  0,	0,    0, 0xe9, 0, 0, 0, 0}};
	static const char *const names[] = {".plt", "puts@plt", "strlen@plt", NULL};

	check(&t, "i386", names, NULL);
}

/* adrp x16, 0x5000; ldr x17, [x16, #8]; add x16, x16, #8; br x17 */
static void test_aarch64(void)
{
	static const struct table t = {
		.machine = EM_AARCH64,
		.is64 = true,
		.entsize = 16,
		.plt_len = 64,
		.slots = {{0x5008, R_AARCH64_JUMP_SLOT, 1, 0}, {0x5010, R_AARCH64_JUMP_SLOT, 2, 0}},
		.plt = {0xf0, 0x7b, 0xbf, 0xa9, 0x30, 0x00, 0x00, 0x90, 0x11, 0x02, 0x40,
			0xf9, 0x10, 0x02, 0x00, 0x91, 0x20, 0x02, 0x1f, 0xd6, 0x1f, 0x20,
			0x03, 0xd5, 0x1f, 0x20, 0x03, 0xd5, 0x1f, 0x20, 0x03, 0xd5, 0x30,
			0x00, 0x00, 0x90, 0x11, 0x06, 0x40, 0xf9, 0x10, 0x22, 0x00, 0x91,
			0x20, 0x02, 0x1f, 0xd6, 0x30, 0x00, 0x00, 0x90, 0x11, 0x0a, 0x40,
			0xf9, 0x10, 0x42, 0x00, 0x91, 0x20, 0x02, 0x1f, 0xd6}};
	static const char *const names[] = {".plt", ".plt", "puts@plt", "strlen@plt", NULL};

	check(&t, "aarch64", names, NULL);
}

static void test_riscv(void)
{
	static const struct table t = {
		.machine = EM_RISCV,
		.is64 = true,
		.entsize = 16,
		.plt_len = 64,
		.slots = {{0x5008, R_RISCV_JUMP_SLOT, 2, 0}, {0x5010, R_RISCV_JUMP_SLOT, 1, 0}}};
	struct table odd = t;
	static const char *const names[] = {".plt", ".plt", "strlen@plt", "puts@plt", NULL};
	static const char *const none[] = {".plt", ".plt", ".plt", ".plt", NULL};

	check(&t, "riscv", names, NULL);
	odd.plt_len = 80;
	check(&odd, "riscv, an unknown layout", none, NULL);
}

int main(void)
{
	test_x86_64();
	test_i386();
	test_aarch64();
	test_riscv();
	return done();
}
