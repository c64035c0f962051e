/*
 * The functions of a binary, with every name that each has.
 *
 *	struct funcs t;
 *	rc = funcs_load(&t, binary);
 *	for (uint32_t i = 0; i < t.n; i++)
 *		puts(t.v[i].name);
 *	funcs_release(&t);
 *
 * From the symbol tables (of the binary, of its debug file, .gnu_debugdata), and the function table
 * that every Go program has. If there is none of them, the call frame information still shows
 * where functions begin: they are named as in stacks ("gzip+0x4a20", cfi_function_name). Names
 * are as in the file, and live as long as the binary and the table.
 */
#ifndef PP_INSPECT_FUNCS_H
#define PP_INSPECT_FUNCS_H

#include "base/arena.h"
#include "inspect/binary.h"
#include "symbol/gopcln.h"

#define FUNCS_MAX (1u << 24) /* functions of a binary */

enum func_source { FUNC_SYMTAB, FUNC_DYNSYM, FUNC_MINI, FUNC_GO, FUNC_FRAME };

struct func {
	const char *name;    /* as in the file */
	uint64_t addr, size; /* size 0: not known */
	uint8_t source;	     /* enum func_source */
	bool ifunc;	     /* its code only selects the function that is called */
};

struct funcs {
	struct func *v; /* in the order of addresses; equal ones in file order */
	uint32_t n, cap;
	struct arena names;
	struct elf_file *mini;
	struct gopcln *go; /* NULL: there is none */
};

int funcs_load(struct funcs *t, struct binary *b);
void funcs_release(struct funcs *t);

/* Adds one; for the readers of tables. 0, PP_ELIMIT, PP_ENOMEM. */
int funcs_add(struct funcs *t, const struct func *f);

/* The function that covers an address; NULL: none. */
const struct func *funcs_at(const struct funcs *t, uint64_t addr);

/* The name of a source: "symtab", "go", ... */
const char *func_source_name(enum func_source s);

#endif
