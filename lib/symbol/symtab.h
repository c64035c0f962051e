/*
 * A table of symbols: sorted, immutable, made for look-up by address.
 *
 *	struct symtab *t;	(from elf_symtab_load, kallsyms_parse, or a symtab_builder)
 *	struct symbol s;
 *	if (symtab_find(t, vaddr, &s) == 0)
 *		printf("%s+%#" PRIx64, symtab_text(t, s.name), vaddr - s.start);
 *	symtab_free(t);
 *
 * Addresses are ELF virtual addresses of the DSO (elf_file_vaddr converts a file offset), or
 * absolute ones for the tables of a kernel.
 *
 * Which symbol names an address: where ranges nest or overlap, the one that starts last. Of several
 * that start at the same address one is chosen by the rules of perf (symtab_build.h).
 */
#ifndef PP_SYMBOL_SYMTAB_H
#define PP_SYMBOL_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symtab;

struct symbol {
	uint64_t start, end; /* end is exclusive */
	uint32_t name;	     /* as in the file (mangled): symtab_text */
	uint32_t module;     /* kernel module or "bpf", without brackets: symtab_text; 0: none */
	uint32_t index;	     /* 0 .. symtab_count - 1: for what the caller remembers per symbol */
	bool open;	     /* its size is not known: it is taken to go on to the next symbol */
};

/* The symbol that covers addr: 0 and *out, or PP_ENOENT. t may be NULL. */
int symtab_find(const struct symtab *t, uint64_t addr, struct symbol *out);

/* The symbol with an index below symtab_count, in the order of start addresses. */
void symtab_get(const struct symtab *t, uint32_t index, struct symbol *out);
uint32_t symtab_count(const struct symtab *t);

/* The text of a name or module; lives as long as the table. "" for 0. */
const char *symtab_text(const struct symtab *t, uint32_t name);

void symtab_free(struct symtab *t); /* NULL is fine */

#endif
