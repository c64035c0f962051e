/*
 * Probes of the kernel as fprobes, which ftrace serves: "f:GROUP/EVENT FUNC[%return] ARG...". They
 * cost less than kprobes, and are for the beginning and the return of functions only.
 *
 *	if (fprobe_known(dir))
 *		rc = fprobe_use(&definer);
 *
 * Source: Documentation/trace/fprobetrace.rst of the kernel.
 */
#ifndef PP_PROBE_FPROBE_H
#define PP_PROBE_FPROBE_H

#include "probe/define.h"

/* Whether the README of a tracefs mentions fprobes; dir NULL: where it is mounted. */
bool fprobe_known(const char *dir);

/*
 * Makes fprobes ('f') of those events of d that can be: the others stay what they are, which is
 * noted. 0 or PP_ENOMEM.
 */
int fprobe_use(struct definer *d);

#endif
