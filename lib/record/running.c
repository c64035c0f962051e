/* What the parts of a running recording share: messages, single records, the time. */
#include "base/err.h"
#include "record/parts.h"

#include <errno.h>

int os_error(struct recorder *r, const char *what)
{
	diag_error(r->d, NULL, -1, "%s: %s", what, strerror(errno));
	return PP_EIO;
}

int out_error(struct recorder *r, int rc)
{
	if (rc && rc != PP_EPIPE && r->sink.errnum)
		diag_error(r->d, r->c->path, -1, "cannot write: %s", strerror(r->sink.errnum));
	else if (rc && rc != PP_EPIPE)
		diag_error(r->d, r->c->path, -1, "%s", pp_strerror(rc));
	return rc;
}

int put_record(struct recorder *r, uint32_t type, uint16_t misc)
{
	struct perf_event_header h = {.type = type, .misc = misc, .size = sizeof(h)};

	return sink_put(&r->sink, &h, sizeof(h));
}

uint64_t now_ns(clockid_t clock)
{
	struct timespec t = {0};

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
