/*
 * Private to lib/expr: what the parser of regular expressions (regex.c) hands to the matcher
 * (regex_run.c): instructions one after another, as in Thompson's construction.
 */
#ifndef PP_EXPR_REGEX_PARTS_H
#define PP_EXPR_REGEX_PARTS_H

#include "expr/regex.h"

#include <stdint.h>

#define RX_CODE_MAX 8192 /* instructions */
#define RX_SETS_MAX 4096 /* different sets of bytes */

enum rx_op {
	RX_SET,	   /* takes a byte of the set `a` */
	RX_SPLIT,  /* goes on at `a` and at `b` */
	RX_JUMP,   /* goes on at `a` */
	RX_ASSERT, /* goes on if `a`, an enum rx_assert, holds here */
	RX_MATCH,
};

/* In the order of ` ' < > b B; ^ and $ are the first two. */
enum rx_assert { RX_BEGIN, RX_END, RX_WORD_BEGIN, RX_WORD_END, RX_BOUND, RX_NO_BOUND };

struct rx_insn {
	uint16_t op, a, b;
};

struct rx_set {
	uint64_t bits[4];
};

static inline bool rx_set_has(const struct rx_set *s, unsigned char c)
{
	return s->bits[c / 64] >> c % 64 & 1;
}

struct rx {
	struct rx_insn *code; /* owned */
	uint16_t ncode;
	struct rx_set *sets; /* owned */
	uint16_t nsets;
	bool checks; /* there are assertions */
	struct rx_run *run;
	struct rx_find *find; /* made when it is needed */
};

/* What the matcher remembers. 0 or PP_ENOMEM. */
int rx_run_new(struct rx *x);
void rx_run_free(struct rx_run *run); /* NULL is fine */
void rx_find_free(struct rx_find *f); /* NULL is fine */

/* Where a byte is, for assertions. */
enum rx_before { RX_AT_BEGIN, RX_AFTER_WORD, RX_AFTER_OTHER };

/* Whether an assertion holds before byte c, -1 at the end. */
bool rx_holds(enum rx_assert what, enum rx_before before, int c);
enum rx_before rx_before_of(int c);

#endif
