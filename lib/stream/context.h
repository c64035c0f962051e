/*
 * What context records tell of tasks and cgroups, for fields that samples do not carry themselves;
 * private to the reader of streams (sreader_cgroup, sreader_inner_pid).
 */
#ifndef PP_STREAM_CONTEXT_H
#define PP_STREAM_CONTEXT_H

#include "base/intern.h"
#include "stream/stream.h"

#define CONTEXT_MAX (1u << 20) /* cgroups; processes: then these are forgotten */

struct context {
	struct intern cgroups; /* sources and ids */
	struct intern paths;
	uint32_t *path; /* by the id of `cgroups`: that of the path */
	uint32_t cap;
	struct map64 pids; /* source and process: its number in its own namespace */
};

/* Takes CGROUP and NAMESPACES. 0 or PP_ENOMEM. */
int context_take(struct context *x, const struct ps_record *rec);

const char *context_cgroup(const struct context *x, uint32_t source, uint64_t id, size_t *len);
bool context_inner_pid(const struct context *x, uint32_t source, uint32_t pid, uint32_t *inner);

void context_release(struct context *x);

#endif
