/*
 * DWARF expressions in call frame tables: the address or the value of a register.
 *
 *	struct expr_env env = {.regs = ..., .known = ..., .read = read_memory, .ctx = u};
 *	rc = expr_run(&env, bytes, len, &cfa, &value);	(NULL: nothing is on the stack at first)
 *
 * Each read of memory goes through the caller. Format: DWARF 5, 2.5 and 6.4.2.
 */
#ifndef PP_UNWIND_DWARF_EXPR_H
#define PP_UNWIND_DWARF_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPR_STACK_MAX 64
#define EXPR_STEPS_MAX 1024 /* operations: an expression can have loops */

struct expr_env {
	const uint64_t *regs; /* by DWARF number */
	uint64_t known;	      /* a bit for each register that has a value */
	uint64_t bias;	      /* of the module: what is added to DW_OP_addr */
	uint8_t width;	      /* bytes of an address: 4 or 8 */
	bool swap;	      /* the expression is not in host byte order */
	/* Reads `size` bytes at an address as a number: 0, or an error that expr_run returns. */
	int (*read)(void *ctx, uint64_t addr, unsigned size, uint64_t *value);
	void *ctx;
};

/*
 * 0; PP_ENOENT: a register is not known; PP_ECORRUPT; PP_EUNSUPPORTED: an operation that such
 * tables do not have; or what `read` returned.
 */
int expr_run(const struct expr_env *env, const uint8_t *p, size_t n, const uint64_t *first,
	     uint64_t *value);

#endif
