/*
 * What a function returns: where it is when the function returns, by the calling convention.
 *
 *	why = result_loc(binary, &scopes, &loc);
 *
 * C and C++: System V ABI for x86-64, 3.2.3. Rust: two numbers in two registers, as rustc has it.
 * Go: go_abi.h.
 */
#ifndef PP_INSPECT_RESULT_H
#define PP_INSPECT_RESULT_H

#include "inspect/loc.h"
#include "inspect/scope.h"

/* The place of the result of the function of a scope, at its RET. NULL, or why it has none. */
const char *result_loc(struct binary *b, struct scopes *s, struct loc *l);

#endif
