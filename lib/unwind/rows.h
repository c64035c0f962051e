/*
 * Compact rows: the rules that lead from a frame to the frame of its caller.
 *
 * The instructions of a call frame table are run once for an address; the result is a row.
 * Nearly all rows are "CFA = register + n, registers saved at CFA - m", and a whole library has a
 * few hundred different ones, so that equal rows are kept once:
 *
 *	struct rows t = {0};
 *	rc = rows_add(&t, &made, &id);		(ids count from 1)
 *	const struct row *row = rows_get(&t, id);
 *	rows_release(&t);
 *
 * A row is valid for any module; where it needs a DWARF expression, it has a copy of its bytes.
 */
#ifndef PP_UNWIND_ROWS_H
#define PP_UNWIND_ROWS_H

#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNWIND_REGS   34   /* by DWARF number: 33 of aarch64, 17 of x86-64, and one to spare */
#define ROW_EXPR_MAX  512  /* bytes of an expression; compilers write up to 20 */
#define ROW_EXPRS_MAX 2048 /* bytes of all expressions of a row */
#define ROWS_MAX      (1u << 20)

/* How the canonical frame address, or a register of the caller, is found. */
enum row_how {
	ROW_SAME,	/* the caller's is this frame's */
	ROW_UNDEFINED,	/* it is lost; of the return address: there is no caller */
	ROW_OFFSET,	/* saved at CFA + value */
	ROW_VAL_OFFSET, /* it is CFA + value */
	ROW_REGISTER,	/* in register `value` */
	ROW_EXPR,	/* saved where the expression says */
	ROW_VAL_EXPR,	/* what the expression says */
};

/*
 * The rule of one register; value is the place of an expression in the row's bytes, len its
 * length.
 */
struct row_rule {
	uint8_t reg, how;
	uint16_t len;
	int32_t value;
};

enum row_flags {
	ROW_SIGNAL = 1,	   /* the frame of a signal handler's return: its caller was interrupted */
	ROW_OUTERMOST = 2, /* the return address is undefined */
	ROW_PLAIN = 4,	   /* CFA = register + value, and all rules are ROW_OFFSET */
	ROW_NONE = 8,	   /* there is no rule: the address has no entry, or a damaged one */
	ROW_DAMAGED = 16,  /* with ROW_NONE */
	ROW_CODE = 32,	   /* made from machine code: what it finds must be checked */
	ROW_TOP = 64,	   /* what it calls is the first function of another stack */
	ROW_LEAVES = 128,  /* what it calls runs on another stack; its caller goes on on its own */
};

struct row {
	uint8_t flags;
	uint8_t nrules;
	uint8_t ra;    /* the register of the return address */
	uint8_t slots; /* 0 */
	/* Of a plain one: what it reads, from CFA + low up to CFA + high; the registers it sets. */
	int32_t low, high;
	uint64_t sets;
	struct row_rule cfa;	/* how: ROW_REGISTER (reg + value) or ROW_VAL_EXPR */
	struct row_rule rule[]; /* nrules; the bytes of the expressions come after them */
};

struct rows {
	struct intern rows;
};

/* A row that is being made. */
struct row_maker {
	struct row_rule cfa, rule[UNWIND_REGS];
	uint8_t nrules, ra, flags;
	uint16_t nbytes;
	uint8_t bytes[ROW_EXPRS_MAX];
};

/* Adds an expression: its place in *rule. 0 or PP_ELIMIT. */
int row_expr(struct row_maker *m, const uint8_t *p, size_t n, struct row_rule *rule);

/* The id of a row, from 1. 0, PP_ENOMEM, PP_ELIMIT. */
int rows_add(struct rows *t, const struct row_maker *m, uint32_t *id);

/* Lives as long as the rows. */
static inline const struct row *rows_get(const struct rows *t, uint32_t id)
{
	return (const struct row *)(const void *)t->rows.entries[id - 1].bytes;
}

/* The bytes of a rule's expression. */
static inline const uint8_t *row_bytes(const struct row *row, const struct row_rule *rule)
{
	return (const uint8_t *)&row->rule[row->nrules] + rule->value;
}

void rows_release(struct rows *t);

#endif
