/*
 * The tokens of expressions, and how errors in them are shown: what the language of conditions on
 * samples (expr.h) and that of conditions on tables (table/gate.h) have in common.
 *
 *	struct expr_lex l = {.src = {text, strlen(text)}, .arena = &arena, .why = &why};
 *	struct token t;
 *
 *	while (!(rc = expr_lex(&l, &t)) && t.kind != TOK_END)
 *		...
 *	if (t.kind == TOK_CLOSE)
 *		return expr_error(&l.src, t.at, t.end - t.at, &why, "there is nothing to close");
 */
#ifndef PP_EXPR_LEX_H
#define PP_EXPR_LEX_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The operators with two sides: O(id, text, level, group). A higher level binds tighter, as in C;
 * `in`, =~ and the like are at the level of ==.
 */
#define EXPR_OPERATORS(O) \
	O(OR, "||", 1, LOGIC) \
	O(AND, "&&", 2, LOGIC) \
	O(BITOR, "|", 3, ARITH) \
	O(BITXOR, "^", 4, ARITH) \
	O(BITAND, "&", 5, ARITH) \
	O(EQ, "==", 6, COMPARE) \
	O(NE, "!=", 6, COMPARE) \
	O(GLOB, "~", 6, MATCH) \
	O(REGEX, "=~", 6, MATCH) \
	O(NOTREGEX, "!~", 6, MATCH) \
	O(LT, "<", 7, COMPARE) \
	O(LE, "<=", 7, COMPARE) \
	O(GT, ">", 7, COMPARE) \
	O(GE, ">=", 7, COMPARE) \
	O(SHL, "<<", 8, ARITH) \
	O(SHR, ">>", 8, ARITH) \
	O(ADD, "+", 9, ARITH) \
	O(SUB, "-", 9, ARITH) \
	O(MUL, "*", 10, ARITH) \
	O(DIV, "/", 10, ARITH) \
	O(MOD, "%", 10, ARITH)

enum expr_op {
	OP_NONE,
#define O(id, text, level, group) OP_##id,
	EXPR_OPERATORS(O)
#undef O
		OPS,
};
enum expr_group { GROUP_LOGIC, GROUP_COMPARE, GROUP_MATCH, GROUP_ARITH };
struct expr_opdesc {
	const char *text;
	int level;
	enum expr_group group;
};
extern const struct expr_opdesc expr_ops[OPS];

/* The units of numbers: U(text, factor). */
#define EXPR_UNITS(U) \
	U("ns", 1) \
	U("us", 1000) \
	U("ms", 1000000) \
	U("s", 1000000000) \
	U("min", UINT64_C(60000000000)) \
	U("k", 1000) \
	U("M", 1000000) \
	U("G", 1000000000) \
	U("T", UINT64_C(1000000000000)) \
	U("Ki", 1024) \
	U("Mi", 1048576) \
	U("Gi", 1073741824) \
	U("Ti", UINT64_C(1099511627776))

/* ---- text and errors ---- */

struct expr_source {
	const char *text; /* terminated */
	size_t len;
};

/* "line 1, column 3: expected a value, found ')'", the line, the caret below `at`. */
__attribute__((format(printf, 5, 6))) void expr_say(const struct expr_source *src, size_t at,
						    size_t len, struct buf *why, const char *fmt,
						    ...);
#define expr_error(...) (expr_say(__VA_ARGS__), PP_EUSAGE)

/* ---- tokens ---- */

enum token_kind {
	TOK_END,
	TOK_NUMBER,
	TOK_STRING, /* quoted: s, len without the quotes */
	TOK_WORD,   /* a name, with dots and an index: "args[1]" */
	TOK_OP,	    /* op */
	TOK_NOT,
	TOK_OPEN,
	TOK_CLOSE,
	TOK_OPENBRACE,
	TOK_CLOSEBRACE,
	TOK_COMMA,
	TOK_RANGE, /* .. */
	TOK_COLON,
};

struct token {
	enum token_kind kind;
	enum expr_op op;
	size_t at, end; /* in the text */
	const char *s;	/* TOK_STRING: unescaped, in the arena; TOK_WORD */
	size_t len;
	char quote;
	uint64_t num;
	double real; /* the number with its fraction */
	bool hex;    /* written in base 16, 8 or 2: bits rather than an amount */
};

struct expr_lex {
	struct expr_source src;
	size_t pos;
	struct arena *arena;
	struct buf *why;
	bool fractions; /* numbers need not be whole: `real` counts */
};

/* 0, PP_EUSAGE (said), PP_ENOMEM. */
int expr_lex(struct expr_lex *l, struct token *t);

/* "expected a value, found ')'", at that token. */
void expr_say_expected(const struct expr_lex *l, const struct token *t, const char *what);
#define expr_expected(l, t, what) (expr_say_expected((l), (t), (what)), PP_EUSAGE)

#endif
