/*
 * The symbols of a kernel from /proc/kallsyms or a saved copy.
 *
 *	struct kallsyms k;
 *	struct kallsyms_opts opts = {"_text", 0xffffffff9a400000};	(of its mapping)
 *	if (kallsyms_parse(text, len, &opts, &k, &why) == 0) {
 *		symtab_find(k.table, ip, &sym);
 *		kallsyms_release(&k);
 *	}
 *
 * Format: lines "ADDRESS TYPE NAME[\t[MODULE]]", see kernel/kallsyms.c and proc(5). Addresses are
 * absolute. As perf does, the types T, W, D and B in either case are taken, and every symbol
 * reaches to the next one, the last of the kernel or of a module to the end of the page after its
 * own. Of several with one address the most informative is taken: see symtab_builder_unify; the
 * names that the linker gives to the beginning and the end of a section are the least informative.
 */
#ifndef PP_SYMBOL_KALLSYMS_H
#define PP_SYMBOL_KALLSYMS_H

#include "symbol/reason.h"
#include "symbol/symtab.h"

#define KALLSYMS_MAX_BYTES   (512u << 20) /* 20 to 30 MB in practice */
#define KALLSYMS_MAX_MODULES 65536

struct kallsyms_opts {
	/*
	 * A symbol and the absolute address that it had when the recording was made: perf names the
	 * kernel's mapping "[kernel.kallsyms]_text" and gives the address as its page offset. When
	 * the file says otherwise, the kernel has been relocated since (KASLR): the symbols of the
	 * kernel are moved to where they were, and those of modules, whose places are unknown, left
	 * out. NULL: taken as they are.
	 */
	const char *ref_name;
	uint64_t ref_addr;
	bool last; /* of several symbols with one address the last in the file, as perf has it */
};

struct kallsyms {
	struct symtab *table;	     /* owned */
	uint64_t text, stext, etext; /* of _text, _stext, _etext as in the file; 0: not there */
	uint64_t delta;		     /* what was added to the kernel's addresses */
	uint32_t skipped;	     /* lines that are not of the format */
};

/* Parses len bytes of text. 0, or an error and *why. opts may be NULL. */
int kallsyms_parse(const void *text, size_t len, const struct kallsyms_opts *opts,
		   struct kallsyms *k, enum symtab_reason *why);

void kallsyms_release(struct kallsyms *k);

#endif
