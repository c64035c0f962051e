/*
 * Unwind rows from machine code, for functions without an unwind table: of x86-64 and aarch64.
 *
 *	struct code_function f = {.machine = EM_X86_64, .start = vaddr, .bytes = p, .len = n};
 *	struct code_rows c = {0};
 *	rc = code_rows(&f, rows, &c);
 *	... for i < c.n: the addresses [c.v[i].start, c.v[i].end) have the row c.v[i].row ...
 *	code_rows_release(&c);
 *
 * The instructions are followed from the function's first one, where a call leaves the stack in a
 * known state, along all branches and through jump tables: which registers hold the stack pointer
 * of the caller plus or less a number, and where its registers were saved. What comes out are rows
 * as those of CFI. Where paths disagree, or the stack pointer becomes unknown and no other register
 * or place keeps it, there is no row.
 *
 * Any bytes can be used: code of a file, or what was read from a process. The caller knows where
 * the function begins; everything depends on that. To find it in a file: cfi.h, which
 * uses this for addresses that no table covers.
 */
#ifndef PP_UNWIND_MACHINE_CODE_H
#define PP_UNWIND_MACHINE_CODE_H

#include "unwind/rows.h"

#define CODE_FUNCTION_MAX (512u << 10) /* bytes of a function */

/* Reads bytes that a program cannot change, for jump tables: 0, or an error. */
typedef int (*code_read_fn)(void *ctx, uint64_t vaddr, void *to, size_t n);

struct code_function {
	unsigned machine; /* EM_X86_64, EM_AARCH64, of little endian */
	uint64_t start;	  /* the address of the first byte */
	const uint8_t *bytes;
	size_t len;
	/*
	 * Where it ends is not known: it does at the first place on a multiple of 16 to which none
	 * of its branches leads.
	 */
	bool open;
	bool reached; /* rows only for what its first instruction leads to */
	bool by_sp;   /* rows go by the stack pointer where they can, not by the frame pointer */
	code_read_fn read; /* NULL: no tables can be read */
	void *ctx;
};

struct code_span {
	uint64_t start, end;
	uint32_t row;
};

struct code_rows {
	struct code_span *v; /* owned; in the order of addresses, with gaps */
	uint32_t n, cap;
	uint64_t end; /* of the function; with `open` it can be before that of the bytes */
};

/* 0, PP_EUNSUPPORTED (another machine), PP_ELIMIT, PP_ENOMEM. The rows are added to those in c. */
int code_rows(const struct code_function *f, struct rows *rows, struct code_rows *c);
void code_rows_release(struct code_rows *c);

#endif
