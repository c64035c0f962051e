/*
 * Names for the entries of the procedure linkage table, which no symbol table holds.
 *
 * On x86-64, i386 and AArch64 each entry's jump is decoded, so that .plt, .plt.sec and .plt.got are
 * named whatever the linker's order; on ARM and RISC-V the entries are in the order of .rela.plt.
 *
 *	rc = elf_plt_add(file, &builder);	(after symtab_builder_unify)
 */
#ifndef PP_SYMBOL_ELF_PLT_H
#define PP_SYMBOL_ELF_PLT_H

#include "symbol/elf_file.h"
#include "symbol/symtab_build.h"

#define ELF_PLT_NAME_MAX 65536	     /* bytes of a name; longer ones are cut */
#define ELF_PLT_TEXT_MAX (32u << 20) /* of all names of a DSO; the rest stays unnamed */

/*
 * Adds the symbols. The builder's present ones must be sorted: they name the entries of indirect
 * functions. 0 (also without a table), PP_ENOMEM or PP_ELIMIT.
 */
int elf_plt_add(const struct elf_file *f, struct symtab_builder *b);

#endif
