/*
 * Building a symtab.
 *
 *	struct symtab_builder b = {0};
 *	rc = symtab_builder_text(&b, bytes, len, &base);	(a string table, or single names)
 *	rc = symtab_builder_add(&b, &raw);			(once for each symbol)
 *	symtab_builder_fix_ends(&b, SYMTAB_ENDS_NEXT);
 *	symtab_builder_unify(&b);
 *	rc = symtab_builder_finish(&b, &table);
 *	symtab_builder_release(&b);
 *
 * The rules are those of perf (tools/perf/util/symbol.c), so that the names agree with perf script:
 * symbols are put in the order of their start addresses, those of one address in the order of
 * arrival; a symbol without a size then reaches to the next one; of those that start together the
 * best is kept: one with a size, not weak, global, with fewer leading underscores, with the longer
 * (demangled) name, finally the first.
 */
#ifndef PP_SYMBOL_SYMTAB_BUILD_H
#define PP_SYMBOL_SYMTAB_BUILD_H

#include "base/buf.h"
#include "symbol/symtab.h"

#define SYMTAB_MAX_SYMBOLS (1u << 25)	/* the largest known tables (browsers) have two million */
#define SYMTAB_MAX_TEXT	   (3ull << 30) /* bytes of names; offsets have 32 bits */

enum symtab_bind {
	SYMTAB_LOCAL,
	SYMTAB_GLOBAL,
	SYMTAB_WEAK,
};

struct symtab_raw {
	uint64_t start, end; /* equal: size unknown */
	uint32_t name, module;
	uint8_t bind;  /* enum symtab_bind */
	uint8_t ifunc; /* the symbol is an indirect function */
	uint8_t open;  /* its end is where the next one begins, for want of a size */
};

struct symtab_builder {
	struct symtab_raw *raw; /* owned */
	uint32_t n, cap;
	struct buf text; /* offset 0 holds the empty text */
	bool sorted;
};

enum symtab_ends {
	SYMTAB_ENDS_NEXT, /* up to the next symbol (ELF files) */
	/* The last of the kernel or of a module ends with the page after its own. */
	SYMTAB_ENDS_KALLSYMS,
	SYMTAB_ENDS_LAST, /* the same, but of several with one start only the last has a size */
};

void symtab_builder_release(struct symtab_builder *b);

/*
 * Adds n bytes of text, whose last byte should be NUL (one is added otherwise). *base is what to
 * add to an offset in them to get a name. 0, PP_ENOMEM or PP_ELIMIT.
 */
int symtab_builder_text(struct symtab_builder *b, const void *bytes, size_t n, uint32_t *base);

/* 0, PP_ENOMEM or PP_ELIMIT. The name must be the offset of a text of this builder. */
int symtab_builder_add(struct symtab_builder *b, const struct symtab_raw *raw);

/* Sorts by start, symbols with the same start in the order of arrival. 0 or PP_ENOMEM. */
int symtab_builder_sort(struct symtab_builder *b);

/* Sorts, and gives an end to the symbols that have none. 0 or PP_ENOMEM. */
int symtab_builder_fix_ends(struct symtab_builder *b, enum symtab_ends how);

/* Of the symbols that start at one address, keeps the best one. 0 or PP_ENOMEM. */
int symtab_builder_unify(struct symtab_builder *b);

/* Sorts and makes the table; the builder is empty afterwards. Owned by the caller. 0 or PP_ENOMEM.
 */
int symtab_builder_finish(struct symtab_builder *b, struct symtab **t);

#endif
