/* ELF files: headers, segments, notes, links, damaged ones. */
#include "symbol/elf_symtab.h"

#include "base/err.h"
#include "elf_make.h"
#include "symbol/vdso.h"
#include "tap.h"

#include <sys/auxv.h>

#define GLOBAL STB_GLOBAL
#define LOCAL  STB_LOCAL

enum { TEXT = 1, DATA, COMMENT, SYMTAB, STRTAB };

/* A symbol as it is written, and whether it must be found at its own address. */
static const struct sym_row {
	const char *name;
	uint64_t value, size;
	int bind, type, see, section;
	bool found;
} syms[] = {
	{"alpha", 0x1000, 0x20, GLOBAL, STT_FUNC, 0, TEXT, true},
	{"_alpha_alias", 0x1000, 0x20, GLOBAL, STT_FUNC, 0, TEXT, false},
	{"indirect", 0x1020, 0x10, GLOBAL, STT_GNU_IFUNC, 0, TEXT, true},
	{"no_size", 0x1030, 0, LOCAL, STT_FUNC, 0, TEXT, true},
	{"a_label", 0x1040, 0, LOCAL, STT_NOTYPE, 0, TEXT, true},
	{"hidden_label", 0x1050, 0, LOCAL, STT_NOTYPE, STV_HIDDEN, TEXT, false},
	{"undefined", 0x1060, 16, GLOBAL, STT_FUNC, 0, SHN_UNDEF, false},
	{"absolute", 0x1070, 16, GLOBAL, STT_FUNC, 0, SHN_ABS, false},
	{"a_file", 0x1080, 16, LOCAL, STT_FILE, 0, TEXT, false},
	{"not_loaded", 0x1090, 16, LOCAL, STT_FUNC, 0, COMMENT, false},
	{"no_section", 0x10a0, 16, LOCAL, STT_FUNC, 0, 77, false},
	{"thread_local", 0x10b0, 16, LOCAL, STT_TLS, 0, DATA, false},
	{"omega", 0x10c0, 0x10, GLOBAL, STT_FUNC, 0, TEXT, true},
	{"an_object", 0x2000, 8, GLOBAL, STT_OBJECT, 0, DATA, true},
};
enum { N_SYMS = sizeof(syms) / sizeof(*syms) };

/* Header and segments take 64 + 2 * 56 bytes at most; the text then lies at a multiple of 8. */
static void make(struct buf *file, bool is64, bool big, int symtab_type, uint16_t type,
		 const struct sym_row *rows, size_t n)
{
	struct elf_make m = {.is64 = is64, .big = big, .machine = EM_MIPS, .type = type};
	struct buf table = BUF_INIT, names = BUF_INIT;
	uint8_t code[0x100] = {0};
	int s;

	buf_addc(&names, 0);
	elf_make_symbol(&m, &table, 0, 0, 0, 0, 0, 0, 0);
	for (size_t i = 0; i < n; i++) {
		elf_make_symbol(&m, &table, (uint32_t)names.len, rows[i].value, rows[i].size,
				rows[i].bind, rows[i].type, rows[i].see, rows[i].section);
		buf_add(&names, rows[i].name, strlen(rows[i].name) + 1);
	}
	elf_make_segment(&m, PT_LOAD, PF_R | PF_X, 0, 0x1000, 0x100);
	elf_make_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC, 0x1000, code, sizeof(code));
	elf_make_section(&m, ".data", SHT_PROGBITS, SHF_ALLOC, 0x2000, code, 16);
	elf_make_section(&m, ".comment", SHT_PROGBITS, 0, 0, code, 16);
	s = elf_make_section(&m, ".symtab", (uint32_t)symtab_type, 0, 0, table.data, table.len);
	m.sections[s - 1].link = STRTAB;
	m.sections[s - 1].entsize = is64 ? 24 : 16;
	elf_make_section(&m, ".strtab", SHT_STRTAB, 0, 0, names.data, names.len);
	elf_make_finish(&m, file);
	buf_release(&table);
	buf_release(&names);
}

static int load(const void *bytes, size_t n, const struct elf_symtab_opts *opts, struct symtab **t,
		enum symtab_reason *why)
{
	struct elf_symtab_opts none = {0};
	struct elf_file *f;
	int rc = elf_file_memory(&f, bytes, n, why);

	*t = NULL;
	if (rc)
		return rc;
	rc = elf_symtab_load(f, NULL, opts ? opts : &none, t, why);
	elf_file_close(f);
	return rc;
}

static const char *name_at(const struct symtab *t, uint64_t addr)
{
	struct symbol s;

	return symtab_find(t, addr, &s) ? "-" : symtab_text(t, s.name);
}

static void test_symbols(bool is64, bool big, int symtab_type)
{
	struct buf file = BUF_INIT;
	enum symtab_reason why;
	struct symtab *t;

	make(&file, is64, big, symtab_type, ET_DYN, syms, N_SYMS);
	is_int(load(file.data, file.len, NULL, &t, &why), 0, "%d bit, %s endian, table type %d",
	       is64 ? 64 : 32, big ? "big" : "little", symtab_type);
	for (int i = 0; i < N_SYMS; i++)
		ok(!strcmp(name_at(t, syms[i].value), syms[i].name) == syms[i].found, "%s: %s",
		   syms[i].name, syms[i].found ? "taken" : "left out");
	is_str(name_at(t, 0x103f), "no_size", "a function without a size reaches to the next");
	is_str(name_at(t, 0x10bf), "a_label", "so does a label");
	is_str(name_at(t, 0x10d0), "-", "one with a size ends");
	symtab_free(t);
	buf_release(&file);
}

/* A table whose bytes, or whose names, became zeros is not that of a stripped file. */
static void test_zeros(void)
{
	static const struct sym_row row = {"zeroed", 0x1010, 16,   STB_GLOBAL,
					   STT_FUNC, 0,	     TEXT, true};
	static const uint8_t value[8] = {0x10, 0x10};

	for (int names = 0; names < 2; names++) {
		struct buf file = BUF_INIT;
		enum symtab_reason why;
		struct symtab *t;
		uint8_t *at;

		make(&file, true, false, SHT_SYMTAB, ET_DYN, &row, 1);
		at = names ? memmem(file.data, file.len, "zeroed", 6)
			   : memmem(file.data, file.len, value, sizeof(value));
		if (!at)
			abort();
		memset(names ? at : at - 8, 0, names ? 6 : 24);
		is_int(load(file.data, file.len, NULL, &t, &why), PP_ECORRUPT, "%s",
		       names ? "names that are zeros" : "symbols that are zeros");
		is_int(why, SYMTAB_CORRUPT, "are damage");
		buf_release(&file);
	}
}

static void test_reasons(void)
{
	struct elf_symtab_opts kernel = {.symtab_only = true};
	struct elf_file *none;
	struct buf file = BUF_INIT;
	enum symtab_reason why;
	struct symtab *t;

	make(&file, true, false, SHT_SYMTAB, ET_DYN, NULL, 0);
	is_int(load(file.data, file.len, NULL, &t, &why), PP_ENOENT, "an empty table");
	is_int(why, SYMTAB_STRIPPED, "counts as stripped");
	buf_reset(&file);
	make(&file, true, false, SHT_DYNSYM, ET_DYN, syms, N_SYMS);
	is_int(load(file.data, file.len, &kernel, &t, &why), PP_ENOENT, ".dynsym of a kernel");
	is_int(why, SYMTAB_STRIPPED, "does not do");
	buf_reset(&file);
	make(&file, true, false, SHT_SYMTAB, ET_REL, syms, N_SYMS);
	is_int(load(file.data, file.len, NULL, &t, &why), PP_EUNSUPPORTED, "a relocatable file");
	is_int(why, SYMTAB_UNSUPPORTED, "is not supported");
	is_int(load("#!/bin/sh\n", 10, NULL, &t, &why), PP_EUNSUPPORTED, "a script");
	is_int(why, SYMTAB_NOT_ELF, "is no ELF file");
	is_int(load("", 0, NULL, &t, &why), PP_EUNSUPPORTED, "an empty file");
	is_int(why, SYMTAB_NOT_ELF, "neither");
	is_int(elf_file_open(&none, "/nonexistent", &why), PP_ENOENT, "no file");
	is_int(why, SYMTAB_NOT_FOUND, "is reported");
	is_int(elf_file_open(&none, "/dev/null", &why), PP_EUNSUPPORTED, "a device");
	is_int(why, SYMTAB_NOT_ELF, "is not read");
	for (int r = 0; r <= SYMTAB_NO_MEMORY; r++)
		ok(!symtab_reason_err((enum symtab_reason)r) == (r == SYMTAB_OK) &&
			   symtab_reason_text((enum symtab_reason)r)[0],
		   "reason %d: %s", r, symtab_reason_text((enum symtab_reason)r));
	buf_release(&file);
}

/* Every prefix gives a table or a reason; a table only where its bytes are whole. */
static void test_cut(void)
{
	struct buf file = BUF_INIT;
	int bad = 0;

	make(&file, true, false, SHT_SYMTAB, ET_DYN, syms, N_SYMS);
	for (size_t n = 0; n < file.len; n++) {
		uint8_t *copy = malloc(n ? n : 1);
		enum symtab_reason why;
		struct symtab *t;
		int rc;

		if (!copy)
			abort();
		memcpy(copy, file.data, n);
		rc = load(copy, n, NULL, &t, &why);
		bad += (rc == 0) != (why == SYMTAB_OK) || (rc == 0) != (t != NULL);
		symtab_free(t);
		free(copy);
	}
	is_int(bad, 0, "cut at every byte");
	buf_release(&file);
}

static void test_kernel_moved(void)
{
	struct elf_symtab_opts opts = {.ref_name = "alpha", .ref_addr = 0xffffffff9a001000};
	struct buf file = BUF_INIT;
	enum symtab_reason why;
	struct symtab *t;

	make(&file, true, false, SHT_SYMTAB, ET_EXEC, syms, N_SYMS);
	is_int(load(file.data, file.len, &opts, &t, &why), 0, "a kernel that ran elsewhere");
	is_str(name_at(t, 0xffffffff9a0010c0), "omega", "has its symbols there");
	is_str(name_at(t, 0x10c0), "-", "and only there");
	symtab_free(t);
	opts.ref_name = "_text";
	is_int(load(file.data, file.len, &opts, &t, &why), PP_EMISMATCH, "no such symbol");
	is_int(why, SYMTAB_NO_REF, "is reported");
	buf_release(&file);
}

static void test_mapping_symbols(void)
{
	static const struct {
		uint16_t machine;
		const char *name;
		uint64_t value, at;
		bool found;
	} rows[] = {
		{EM_ARM, "$a", 0x1000, 0x1000, false},
		{EM_ARM, "$t.12", 0x1000, 0x1000, false},
		{EM_ARM, "$money", 0x1000, 0x1000, true},
		{EM_AARCH64, "$x", 0x1000, 0x1000, false},
		{EM_RISCV, "$d", 0x1000, 0x1000, false},
		{EM_RISCV, ".L1", 0x1000, 0x1000, false},
		{EM_X86_64, "$x", 0x1000, 0x1000, true},
		{EM_ARM, "thumb", 0x1001, 0x1000, true},
		{EM_X86_64, "odd", 0x1001, 0x1000, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct sym_row row = {rows[i].name, rows[i].value, 4, LOCAL, STT_FUNC, 0,
				      TEXT,	    true};
		struct buf file = BUF_INIT;
		enum symtab_reason why;
		struct symtab *t;

		make(&file, true, false, SHT_SYMTAB, ET_DYN, &row, 1);
		file.data[18] = (uint8_t)rows[i].machine;
		file.data[19] = (uint8_t)(rows[i].machine >> 8);
		load(file.data, file.len, NULL, &t, &why);
		ok((strcmp(name_at(t, rows[i].at), "-") != 0) == rows[i].found,
		   "machine %d: %s is %s", rows[i].machine, rows[i].name,
		   rows[i].found ? "a function" : "none here");
		symtab_free(t);
		buf_release(&file);
	}
}

static void test_offsets(void)
{
	/* As GNU ld lays a position independent program out, with data that shares a page. */
	static const struct elf_segments s = {
		.n = 3,
		.seg = {{0, 0x628, 0, 0x628, false, false},
			{0x1040, 0x800, 0x401040, 0x800, true, false},
			{0x1840, 0x100, 0x603840, 0x900, false, false}}};
	static const struct {
		uint64_t offset, vaddr;
		int rc;
	} rows[] = {
		{0, 0x400000, 0},      {0x627, 0x400627, 0},	{0x1040, 0x401040, 0},
		{0x183f, 0x40183f, 0}, {0x1840, 0x401840, 0},	{0x1000, 0x401000, 0},
		{0x1940, 0x401940, 0}, {0x40000, 0, PP_ENOENT},
	};
	uint64_t v = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		is_int(elf_segments_vaddr(&s, rows[i].offset, &v), rows[i].rc, "offset %#x",
		       (unsigned)rows[i].offset);
		if (!rows[i].rc)
			is_u64(v, rows[i].vaddr, "its address");
	}
	is_int(elf_segments_offset(&s, 0x401050, &v), 0, "an address");
	is_u64(v, 0x1050, "has its offset");
	is_int(elf_segments_offset(&s, 0x700000, &v), PP_ENOENT, "or none");
}

/*
 * What objcopy --only-keep-debug leaves of segments, as readelf -l shows it: the address comes from
 * where the binary was mapped.
 */
static void test_hollow(void)
{
	static const struct {
		const char *what;
		struct elf_segments s;
		struct elf_mapping maps[2];
		size_t n;
		uint64_t offset, vaddr;
		int rc;
	} rows[] = {
		{"of lld, which does not begin at a page",
		 {2, {{0, 0x2fc, 0, 0x63c, false, false}, {0x640, 0, 0x1640, 0x1c0, true, true}}},
		 {{0, 0x1000}},
		 1,
		 0x700,
		 0x1700,
		 0},
		{"of gold, with the headers in it",
		 {1, {{0, 0x2f4, 0x400000, 0x30750, true, true}}},
		 {{0, 0x31000}},
		 1,
		 0x20100,
		 0x420100,
		 0},
		{"whose offset was that of another",
		 {2,
		  {{0, 0, 0x401000, 0x1a9, true, true},
		   {0, 0x2000, 0x402000, 0x2000, false, false}}},
		 {{0x1000, 0x1000}},
		 1,
		 0x1010,
		 0x401010,
		 0},
		{"of which a part was announced on its own",
		 {1, {{0, 0, 0x1000, 0x5000, true, true}}},
		 {{0x3000, 0x1000}, {0x1000, 0x2000}},
		 2,
		 0x3010,
		 0x3010,
		 0},
		{"of two, each by its size",
		 {2, {{0, 0, 0x1000, 0x1800, true, true}, {0, 0, 0x9000, 0x800, true, true}}},
		 {{0x1000, 0x2000}, {0x5000, 0x1000}},
		 2,
		 0x5010,
		 0x9010,
		 0},
		{"of two that cannot be told apart",
		 {2, {{0, 0, 0x1000, 0x800, true, true}, {0, 0, 0x9000, 0x800, true, true}}},
		 {{0x1000, 0x1000}},
		 1,
		 0x1010,
		 0,
		 PP_ENOENT},
		{"beyond its end",
		 {1, {{0, 0, 0x1000, 0x1000, true, true}}},
		 {{0x1000, 0x4000}},
		 1,
		 0x3010,
		 0,
		 PP_ENOENT},
		{"that is not mapped",
		 {1, {{0, 0, 0x1000, 0x1000, true, true}}},
		 {{0, 0}},
		 0,
		 0x1010,
		 0,
		 PP_ENOENT},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint64_t v = 0;

		is_int(elf_segments_vaddr(&rows[i].s, rows[i].offset, &v), PP_ENOENT,
		       "a hollow segment %s: its offset says nothing", rows[i].what);
		is_int(elf_segments_mapped(&rows[i].s, rows[i].maps, rows[i].n, 4096,
					   rows[i].offset, &v),
		       rows[i].rc, "a hollow segment %s: by the mapping", rows[i].what);
		is_u64(v, rows[i].vaddr, "its address");
	}
}

/* Where the kernel mapped this program's page of `addr`, by /proc: file offset minus address. */
static uint64_t mapping_shift(uintptr_t addr)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long from, to, offset;
	uint64_t shift = 0;
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %*s %lx", &from, &to, &offset) == 3 && addr >= from &&
		    addr < to)
			shift = (uint64_t)offset - from;
	if (f)
		fclose(f);
	return shift;
}

/* The linker and the kernel are the oracle: this program finds its own functions. */
static void test_self(void)
{
	struct elf_symtab_opts opts = {0};
	enum symtab_reason why;
	uint64_t vaddr = 0, ip = (uintptr_t)test_self + 1;
	struct elf_file *f;
	struct symtab *t = NULL;
	struct symbol s = {0};

	is_int(elf_file_open(&f, "/proc/self/exe", &why), 0, "opens itself");
	is_int(elf_symtab_load(f, NULL, &opts, &t, &why), 0, "loads its symbols");
	is_int(elf_segments_vaddr(elf_file_segments(f), ip + mapping_shift(ip), &vaddr), 0,
	       "an address of a running function");
	is_int(symtab_find(t, vaddr, &s), 0, "has a symbol");
	is_str(symtab_text(t, s.name), "test_self", "the right one");
	is_u64(vaddr - s.start, 1, "at the right offset");
	symtab_free(t);
	elf_file_close(f);
}

static void test_vdso(void)
{
	enum symtab_reason why = SYMTAB_OK;
	struct vdso *v;
	int rc = vdso_load(&v, &why), named = 0;

	if (!getauxval(AT_SYSINFO_EHDR)) {
		is_int(rc, PP_ENOENT, "no vdso, no symbols");
		return;
	}
	is_int(rc, 0, "the vdso has symbols: %s", symtab_reason_text(why));
	for (uint32_t i = 0; i < symtab_count(v->table); i++) {
		struct symbol s;

		symtab_get(v->table, i, &s);
		named += strstr(symtab_text(v->table, s.name), "gettime") != NULL;
	}
	ok(named > 0, "one of them gives the time");
	ok(v->segments.n > 0, "its offsets can be converted");
	vdso_free(v);
}

int main(void)
{
	test_symbols(true, false, SHT_SYMTAB);
	test_symbols(true, true, SHT_SYMTAB);
	test_symbols(false, false, SHT_DYNSYM);
	test_symbols(false, true, SHT_SYMTAB);
	test_reasons();
	test_zeros();
	test_cut();
	test_kernel_moved();
	test_mapping_symbols();
	test_offsets();
	test_hollow();
	test_self();
	test_vdso();
	return done();
}
