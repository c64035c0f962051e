/* What is found to be wrong with a trace.dat. */
#include "tracedat/parts.h"

void trace_damage(struct trace *t, int err, int64_t offset, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	diag_vwarn(t->d, t->name, offset, fmt, ap);
	va_end(ap);
	if (!t->damage)
		t->damage = err;
}
