/*
 * The ELF reader, with libelf beneath it: headers, notes, links, symbols, linkage table, mini
 * debuginfo, kernel modules.
 */
#include "symbol/elf_symtab.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_up(const struct symtab *t)
{
	struct symbol s, found;

	for (uint32_t i = 0; i < symtab_count(t); i++) {
		symtab_get(t, i, &s);
		if (s.end > s.start && (symtab_find(t, s.start, &found) || found.start > s.start))
			abort();
		if (!symtab_find(t, s.end, &found) && (found.start > s.end || found.end <= s.end))
			abort();
		(void)*symtab_text(t, s.name);
	}
}

/* The file packed inside, with what the outer one adds. */
static void inner(const struct elf_file *outer)
{
	struct elf_symtab_opts opts = {.dynsym_of = outer};
	enum symtab_reason why;
	struct symtab *t = NULL;
	struct elf_file *f;

	if (elf_file_debugdata(&f, outer, &why))
		return;
	if (!elf_symtab_load(f, outer, &opts, &t, &why)) {
		look_up(t);
		symtab_free(t);
	}
	elf_file_close(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_symtab_opts opts = {0};
	char link[ELF_DEBUGLINK_MAX];
	enum symtab_reason why;
	struct symtab *t = NULL;
	struct build_id id;
	const char *alt;
	struct elf_file *f;
	uint64_t addr;
	uint32_t crc;

	if (elf_file_memory(&f, data, size, &why))
		return why == SYMTAB_OK;
	elf_file_build_id(f, &id);
	elf_file_debuglink(f, link, &crc);
	if (!elf_file_altlink(f, &alt, &id) && strlen(alt) >= size)
		abort();
	inner(f);
	for (uint64_t off = 0; off < size; off += size / 16 + 1)
		if (!elf_segments_vaddr(elf_file_segments(f), off, &addr))
			elf_segments_offset(elf_file_segments(f), addr, &addr);
	if (!elf_symtab_load(f, NULL, &opts, &t, &why)) {
		look_up(t);
		symtab_free(t);
	}
	opts.module_base = 0xffffffffc0000000;
	if (!elf_symtab_load(f, NULL, &opts, &t, &why)) {
		look_up(t);
		symtab_free(t);
	}
	opts.ref_name = "main";
	opts.ref_addr = 0xffffffff81000000;
	if (!elf_symtab_load(f, NULL, &opts, &t, &why)) {
		look_up(t);
		symtab_free(t);
	}
	elf_file_close(f);
	return 0;
}
