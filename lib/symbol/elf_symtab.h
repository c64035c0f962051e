/*
 * The symbol table of an ELF file.
 *
 *	struct elf_symtab_opts opts = {0};
 *	rc = elf_symtab_load(debug_file, binary, &opts, &table, &why);
 *
 * What is taken agrees with perf (tools/perf/util/symbol-elf.c): of .symtab, else of .dynsym, the
 * functions, indirect functions and objects, and the labels (no type, not hidden) of sections with
 * "text" or "data" in their names; no absolute symbols, none in sections that are not loaded, no
 * mapping symbols of ARM, AArch64 and RISC-V. Entries of the procedure linkage table are named
 * "function@plt", what else lies in it ".plt".
 */
#ifndef PP_SYMBOL_ELF_SYMTAB_H
#define PP_SYMBOL_ELF_SYMTAB_H

#include "symbol/elf_file.h"
#include "symbol/reason.h"
#include "symbol/symtab.h"

struct elf_symtab_opts {
	/*
	 * For a vmlinux whose kernel ran relocated: a symbol of it ("_text", "_stext") and the
	 * absolute address that it had in the recording. All symbols are moved by the difference.
	 * NULL: not moved.
	 */
	const char *ref_name;
	uint64_t ref_addr;
	uint64_t *delta;  /* if not NULL, set to what was added to all addresses */
	bool no_plt;	  /* leave out the entries of the procedure linkage table */
	bool symtab_only; /* .dynsym alone counts as stripped (kernels) */
	/*
	 * Of a relocatable file, a kernel module: where its code begins; the symbols of its code
	 * are taken, with the addresses that they have then. 0: such files are not supported.
	 */
	uint64_t module_base;
	/* A file whose .dynsym is also taken: with mini debuginfo, which leaves those out. NULL. */
	const struct elf_file *dynsym_of;
};

/*
 * Loads the symbols of `syms`. `runtime` is the file that was run, if syms is its debug file, from
 * which the procedure linkage table is read; NULL or the same file otherwise. Both can be closed
 * afterwards. 0 with *out owned by the caller, or an error and *why.
 */
int elf_symtab_load(const struct elf_file *syms, const struct elf_file *runtime,
		    const struct elf_symtab_opts *opts, struct symtab **out,
		    enum symtab_reason *why);

#endif
