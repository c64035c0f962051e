/*
 * What latency tracers keep: the events of the longest latency that they have seen, apart from the
 * ring buffers, to be read as text. Its pages are those of everything else.
 */
#include "ftrace/parts.h"

#include "base/err.h"
#include "event/glob.h"

bool fttext_is(const char *tracer)
{
	static const char *const patterns[] = {"wakeup*", "irqsoff", "preemptoff",
					       "preemptirqsoff"};

	for (size_t i = 0; tracer && i < sizeof(patterns) / sizeof(patterns[0]); i++)
		if (glob_match(patterns[i], strlen(patterns[i]), tracer, strlen(tracer)))
			return true;
	return false;
}

bool fttext_has(const struct ftfiles *f)
{
	struct buf tracer = BUF_INIT;
	bool is = !ftfiles_value(f, "current_tracer", &tracer) && fttext_is(buf_str(&tracer));

	buf_release(&tracer);
	return is;
}

int fttext_read(const struct ftfiles *f, struct buf *text, struct diag *d)
{
	int rc = ftfiles_read(f, "trace", text);

	if (rc)
		diag_error(d, NULL, -1, "the findings of the tracer cannot be read: %s",
			   pp_strerror(rc));
	return rc;
}
