/*
 * Arguments of a probe as people write them: variables, registers, memory, $params.
 *
 *	struct arg_site site = {.b = binary, .scopes = &scopes, .from = scopes.n - 1, .pc = pc};
 *	rc = arg_resolve(&site, "p->msec", &fetches, &why);
 *
 * [NAME=]EXPR[:TYPE], where EXPR is a variable with ->, ., [N] and * before it; $params, $vars,
 * $argN, $retval, $comm, $stack, $stackN; or the kernel's own syntax (%di, +0(%si), @+0x4010, \1).
 */
#ifndef PP_PROBE_ARG_H
#define PP_PROBE_ARG_H

#include "probe/fetch.h"
#include "inspect/scope.h"

struct arg_site {
	struct binary *b;
	struct scopes *scopes; /* n is 0 where nothing is known of the code */
	unsigned from;	       /* the scope whose variables come first */
	uint64_t pc;
	uint64_t body;		  /* where the frame is set up; 0: it is, or that is not known */
	bool entry;		  /* pc is where calls of the function begin */
	bool returns;		  /* pc is an instruction that returns */
	bool kernel_returns;	  /* the kernel's own return probe: $retval is its */
	bool late;		  /* out: a variable needs the frame */
	uint32_t skipped;	  /* out: variables of $params and $vars that are not there */
	struct buf skipped_names; /* which, and why; the caller's to release */
};

/* 0; PP_EUSAGE or PP_ENOENT with what is wrong in `why`; PP_ENOMEM. */
int arg_resolve(struct arg_site *site, const char *text, struct fetches *f, struct buf *why);

/*
 * Copies an expression of the kernel's syntax to out, with its names of registers, and registers
 * for $argN and $retval where the kernel does not know those. *bits: 32 if it is the half of a
 * register. The site needs no binary. 0, or as above.
 */
int arg_kernel_syntax(const struct arg_site *site, const char *s, struct buf *out, unsigned *bits,
		      struct buf *why);

/*
 * Gives the register of the result the name that the kernel's own return probes have for it, in
 * the arguments from number `from` on.
 */
void arg_name_result(struct fetches *f, uint32_t from);

#endif
