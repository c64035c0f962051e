/* Kernel modules: where their sections lie, names out of paths. */
#include "symbol/kmodule.h"

#include "base/err.h"
#include "elf_make.h"
#include "symbol/elf_symtab.h"
#include "symbol/tar.h"
#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

#define BASE 0xffffffffc0509000

/* ---- where code lies ---- */

static const struct {
	const char *name;
	uint64_t flags, align, size;
	uint64_t at; /* from the base; KMODULE_NOWHERE */
} sections[] = {
	{".note", SHF_ALLOC, 4, 36, KMODULE_NOWHERE},
	{".text", SHF_ALLOC | SHF_EXECINSTR, 16, 0x123, 0},
	{".init.text", SHF_ALLOC | SHF_EXECINSTR, 16, 0x80, KMODULE_NOWHERE},
	{".text.unlikely", SHF_ALLOC | SHF_EXECINSTR, 1, 0x11, 0x123},
	{".data", SHF_ALLOC | SHF_WRITE, 32, 0x40, KMODULE_NOWHERE},
	{".exit.text", SHF_ALLOC | SHF_EXECINSTR, 16, 0x20, 0x140},
	{".altinstr_aux", SHF_EXECINSTR, 1, 8, KMODULE_NOWHERE},
	{".noinstr.text", SHF_ALLOC | SHF_EXECINSTR, 64, 0x10, 0x180},
};
#define N_SECTIONS (sizeof(sections) / sizeof(sections[0]))

static const struct {
	const char *name; /* in the string table, with a blank before */
	uint64_t value;
	unsigned section; /* from 1 */
	uint64_t addr;	  /* from the base; KMODULE_NOWHERE: not taken */
} syms[] = {
	{"first", 0, 2, 0},
	{"second", 0x100, 2, 0x100},
	{"at_start", 0, 3, KMODULE_NOWHERE},
	{"cold", 4, 4, 0x127},
	{"data", 0, 5, KMODULE_NOWHERE},
	{"leave", 0, 6, 0x140},
	{"noinstr", 8, 8, 0x188},
};
#define N_SYMS (sizeof(syms) / sizeof(syms[0]))

static void make(struct buf *file, bool big)
{
	struct elf_make m = {.is64 = true, .big = big, .machine = EM_X86_64, .type = ET_REL};
	struct buf table = BUF_INIT, names = BUF_INIT;
	static const uint8_t code[0x200];
	int i;

	for (size_t k = 0; k < N_SECTIONS; k++) {
		elf_make_section(&m, sections[k].name, SHT_PROGBITS, sections[k].flags, 0, code,
				 sections[k].size);
		m.sections[m.n_sections - 1].align = sections[k].align;
	}
	i = elf_make_section(&m, ".symtab", SHT_SYMTAB, 0, 0, NULL, 0);
	buf_addc(&names, 0);
	elf_make_symbol(&m, &table, 0, 0, 0, 0, 0, 0, 0);
	for (size_t k = 0; k < N_SYMS; k++) {
		elf_make_symbol(&m, &table, (uint32_t)names.len, syms[k].value, 4, STB_GLOBAL,
				STT_FUNC, 0, (uint16_t)syms[k].section);
		buf_add(&names, syms[k].name, strlen(syms[k].name) + 1);
	}
	m.sections[i - 1].bytes = table.data;
	m.sections[i - 1].len = table.len;
	m.sections[i - 1].entsize = 24;
	m.sections[i - 1].link = (uint32_t)i + 1;
	elf_make_section(&m, ".strtab", SHT_STRTAB, 0, 0, names.data, names.len);
	elf_make_finish(&m, file);
	buf_release(&table);
	buf_release(&names);
}

static void test_layout(bool big)
{
	struct elf_symtab_opts opts = {.no_plt = true, .module_base = BASE};
	struct buf file = BUF_INIT;
	enum symtab_reason why;
	struct symtab *t = NULL;
	struct elf_file *f;
	uint64_t *addrs;
	size_t n;

	make(&file, big);
	if (elf_file_memory(&f, file.data, file.len, &why))
		abort();
	is_int(kmodule_layout(f, BASE, &addrs, &n), 0, "a module, %s", big ? "big" : "little");
	ok(n > N_SECTIONS, "with its sections");
	for (size_t k = 0; k < N_SECTIONS; k++)
		is_int((int64_t)(addrs[k + 1] == KMODULE_NOWHERE ? KMODULE_NOWHERE
								 : addrs[k + 1] - BASE),
		       (int64_t)sections[k].at, "place of %s", sections[k].name);
	free(addrs);
	is_int(elf_symtab_load(f, NULL, &opts, &t, &why), 0, "its symbols");
	for (size_t k = 0; k < N_SYMS; k++) {
		uint64_t at = BASE + (syms[k].addr == KMODULE_NOWHERE ? 0x100000 : syms[k].addr);
		struct symbol s;
		bool found = !symtab_find(t, at, &s) && s.start == at;

		is_str(found ? symtab_text(t, s.name) : NULL,
		       syms[k].addr == KMODULE_NOWHERE ? NULL : syms[k].name, "%s", syms[k].name);
	}
	symtab_free(t);
	opts.module_base = 0;
	is_int(elf_symtab_load(f, NULL, &opts, &t, &why), PP_EUNSUPPORTED, "without a place none");
	elf_file_close(f);
	buf_release(&file);
}

/* ---- which file ---- */

static const char index_text[] = "kernel/net/9p/9pnet.ko: kernel/fs/netfs/netfs.ko\n"
				 "kernel/arch/x86/crypto/crc32c-intel.ko.xz:\n"
				 "kernel/fs/ext4/ext4.ko.zst: kernel/fs/jbd2/jbd2.ko\n"
				 "updates/extra/my_mod.ko.gz:\n"
				 "/elsewhere/abs.ko:\n"
				 "kernel/none.kox:\n";

static const struct {
	const char *release, *name, *path; /* NULL: not found */
} paths[] = {
	{"6.1", "9pnet", "/lib/modules/6.1/kernel/net/9p/9pnet.ko"},
	{"6.1", "crc32c_intel", "/lib/modules/6.1/kernel/arch/x86/crypto/crc32c-intel.ko.xz"},
	{"6.1", "ext4", "/lib/modules/6.1/kernel/fs/ext4/ext4.ko.zst"},
	{"6.1", "my_mod", "/lib/modules/6.1/updates/extra/my_mod.ko.gz"},
	{"6.1", "my-mod", "/lib/modules/6.1/updates/extra/my_mod.ko.gz"},
	{"6.1", "abs", "/elsewhere/abs.ko"},
	{"6.1", "ext", NULL},
	{"6.1", "jbd2", NULL},
	{"6.1", "none", NULL},
	{"6.1", "", NULL},
	{"6.2", "ext4", NULL},
	{"", "ext4", NULL},
	{"..", "ext4", NULL},
	{"../lib/modules/6.1", "ext4", NULL},
};

static void test_paths(void)
{
	char name[] = "/tmp/perfpipe-kmodule.XXXXXX", path[ROOT_PATH_MAX];
	size_t len = sizeof(index_text) - 1;
	int fd = mkstemp(name);
	struct root *root;
	struct out o;

	if (fd < 0 || out_init(&o, fd) || tar_header(&o, "lib/modules/6.1/modules.dep", len) ||
	    out_add(&o, index_text, len) || tar_pad(&o, len) || tar_end(&o) || out_close(&o) ||
	    root_open(&root, name, NULL))
		abort();
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		int rc = kmodule_path(root, paths[i].release, paths[i].name, path);

		is_str(rc ? NULL : path, paths[i].path, "file of '%s' of '%s'", paths[i].name,
		       paths[i].release);
	}
	root_free(root);
	unlink(name);
}

int main(void)
{
	test_layout(false);
	test_layout(true);
	test_paths();
	return done();
}
