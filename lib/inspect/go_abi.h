/*
 * Where parameters and results of Go functions are, by Go's calling convention.
 *
 *	if (binary->go && go_abi_param(&scopes, &variable, &place)) ... at the entry ...
 *	why = go_abi_result(&scopes, name, &loc);	at a RET
 *
 * The debug information omits unused parameters, and parts of others. Source: Go's
 * abi-internal.md, "Function call argument and result passing"; registers since Go 1.17.
 */
#ifndef PP_INSPECT_GO_ABI_H
#define PP_INSPECT_GO_ABI_H

#include "inspect/loc.h"
#include "inspect/scope.h"

/*
 * The place of a parameter of die[0] where the function begins. False: it is not a parameter of
 * it.
 */
bool go_abi_param(struct scopes *s, const struct variable *v, struct place *p);

/* The i-th result where the function returns, with its name: NULL, or why it has no place. */
const char *go_abi_result(struct scopes *s, unsigned i, struct loc *l, const char **name);

/* Whether a parameter is a result, as Go describes them. */
bool go_abi_is_result(const struct variable *v);

#endif
