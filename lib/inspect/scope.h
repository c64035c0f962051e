/*
 * What is visible at an address: the function, what is inlined there, their variables.
 *
 *	struct scopes s;
 *	if (scopes_at(&s, binary, pc) == 0)
 *		scopes_each(&s, s.n - 1, on_variable, ctx);
 *
 * Scopes nest as gdb nests them: blocks in functions, and an inlined function in what it was
 * inlined into. A name means the variable of the innermost scope that has it.
 */
#ifndef PP_INSPECT_SCOPE_H
#define PP_INSPECT_SCOPE_H

#include "inspect/binary.h"

#define SCOPES_MAX     128	  /* that are in each other */
#define SCOPE_VARS_MAX (1u << 16) /* entries of one scope that are passed */

struct scopes {
	struct binary *b;
	Dwarf_Die unit;
	Dwarf_Die die[SCOPES_MAX]; /* die[0] is the function */
	unsigned n;
};

struct variable {
	Dwarf_Die die;
	const char *name;
	bool param, gone; /* gone: optimized out by the compiler */
	unsigned scope;	  /* index in scopes */
};

/* Non-zero ends the walk and is its result. */
typedef int variable_fn(void *ctx, const struct variable *v);

/* The scopes at pc: 0; PP_ENOENT: nothing describes the address; PP_ENOMEM. */
int scopes_at(struct scopes *s, struct binary *b, uint64_t pc);

/* The variables of die[from] and all scopes that it is in, from the inside to the outside. */
int scopes_each(const struct scopes *s, unsigned from, variable_fn *fn, void *ctx);

/* A variable by name, as seen from die[from]; then of the unit. 0 or PP_ENOENT. */
int scopes_find(const struct scopes *s, unsigned from, const char *name, size_t len,
		struct variable *v);

/* The variables outside functions, of the unit; for -V with --externs. */
int scopes_globals(const struct scopes *s, variable_fn *fn, void *ctx);

/* A global variable of any unit: 0 or PP_ENOENT. */
int scopes_global(struct binary *b, const char *name, size_t len, Dwarf_Die *die);

/* Of a function or inlined call: its name with everything it is in, mangled where it has such. */
const char *scope_name(Dwarf_Die *die);

/* Where the compiler ended the function's set-up; 0: not known. */
uint64_t scope_body(struct scopes *s);

/* Whether the unit was made by LLVM, whose frames are addressed by registers. */
bool scope_is_llvm(const struct scopes *s);

#endif
