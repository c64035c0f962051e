/*
 * Arguments of a probe of the kernel: parameters, results and their parts, by the kernel's own
 * types (BTF).
 *
 *	struct kernel_site s = {.types = btf, .proto = proto, .entry = true, .diag = diag};
 *	why = kernel_argument(&s, "state=sk->__sk_common.skc_state", &fetches, &text);
 *
 * Where parameters lie is told by the calling convention of x86-64.
 */
#ifndef PP_PROBE_KERNEL_ARGS_H
#define PP_PROBE_KERNEL_ARGS_H

#include "base/diag.h"
#include "event/kbtf.h"
#include "probe/fetch.h"

/* Where the arguments are wanted. */
struct kernel_site {
	const struct kbtf *types; /* NULL: none */
	uint32_t proto;		  /* of the function; 0: it has no types */
	bool returns, entry;
	struct diag *diag;
};

/*
 * Adds what [NAME=]EXPR[:TYPE] stands for. NULL, or why it cannot be, which may lie in `why`. What
 * $params leaves out is reported to the diag.
 */
const char *kernel_argument(const struct kernel_site *s, const char *text, struct fetches *f,
			    struct buf *why);

/* Appends where a parameter is, for people. */
void kernel_param_place(const struct kernel_site *s, const char *name, struct buf *b);

#endif
