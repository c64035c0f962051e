/*
 * Private to lib/expr: what the compiler of expressions (compile.c: comparisons, conditions)
 * needs of that of values (value.c: words, names, arithmetic).
 *
 *	struct operand a = value_compile(c, node, &scope);
 *	if (a.where != GIVES_NOTHING)
 *		code_load(c, &a, c->p->n);		(its value is on the stack then)
 *
 * What runs out of memory sets c->err and goes on.
 */
#ifndef PP_EXPR_VALUE_H
#define PP_EXPR_VALUE_H

#include "expr/parts.h"

/* What a value is made of: known now, in a field, or on top of the stack. */
struct operand {
	enum { GIVES_NOTHING, GIVES_CONST, GIVES_FIELD, GIVES_TOP } where;
	enum qkind kind;
	struct qval k;
	uint32_t field;			 /* GIVES_FIELD: index in the program's fields */
	struct expr_node *node;		 /* where it comes from */
	bool bare;			 /* a word that may be a text */
	bool by_name;			 /* of the field's number its name is meant */
	bool hex;			 /* of a number as it is written */
	uint32_t bits;			 /* of the field that a number came from; 0: not from one */
	bool is_signed;			 /* of that field */
	const struct names_table *names; /* of the name that a number was */
};

/* The field on the other side, whose names a word may be. */
struct scope {
	struct ps_str field; /* p NULL: none */
	const struct names_table *names;
};

struct compiler {
	struct expr *x;
	const struct ps_event *e;
	struct value_names names;
	struct program *p;
	int err;
};

/* Appends an instruction. */
struct expr_insn *code_emit(struct compiler *c, enum insn_code code);

/* Puts the value of an operand on the stack, by code at `at`. */
void code_load(struct compiler *c, const struct operand *o, uint32_t at);

/* Both operands, in their order; the code of the left one ends at `between`. */
void code_load_both(struct compiler *c, const struct operand *a, const struct operand *b,
		    uint32_t between);

/* Compiles a value; what does not come out leaves no code. scope may be NULL. */
struct operand value_compile(struct compiler *c, struct expr_node *n, const struct scope *scope);

/* The scope for one side: what the other side has, else what holds outside (may be NULL). */
struct scope value_scope(struct compiler *c, const struct expr_node *other,
			 const struct scope *outside);

struct operand value_text(struct expr_node *n);

/* A text where a number is wanted: a name of the other side's field, 'S'. */
bool value_to_int(struct operand *o, const struct scope *scope);

/* The number of a field becomes its name: a function, the path of a cgroup. */
bool value_to_name(const struct compiler *c, struct operand *o);
bool value_has_names(const struct compiler *c, const struct operand *o);

#endif
