/* The paths of cgroups, and the numbers of processes in their own namespaces. */
#include "stream/context.h"

#include "base/err.h"

#include <stdlib.h>

struct cgroup_key {
	uint64_t id, source;
};

static int take_cgroup(struct context *x, const struct ps_record *rec)
{
	struct cgroup_key key = {rec->cgroup.id, rec->source};
	uint32_t id = 0, path = 0;
	int rc;

	if (x->cgroups.n >= CONTEXT_MAX || x->paths.n >= CONTEXT_MAX)
		return 0;
	rc = intern_add(&x->cgroups, &key, sizeof(key), &id, NULL);
	if (!rc)
		rc = intern_add(&x->paths, rec->cgroup.path.p, rec->cgroup.path.len, &path, NULL);
	if (rc)
		return rc;
	if (id >= x->cap) {
		uint32_t cap = x->cap ? 2 * x->cap : 64;
		uint32_t *v = realloc(x->path, cap * sizeof(*v));

		if (!v)
			return PP_ENOMEM;
		x->path = v;
		x->cap = cap;
	}
	x->path[id] = path;
	return 0;
}

static uint64_t pid_key(uint32_t source, uint32_t pid)
{
	return (uint64_t)source << 32 | pid;
}

static int take_namespaces(struct context *x, const struct ps_record *rec)
{
	const struct ps_namespaces *n = &rec->namespaces;
	uint32_t *at;

	if (n->pid != n->tid || !n->inner)
		return 0;
	if (x->pids.n >= CONTEXT_MAX)
		map64_clear(&x->pids);
	at = map64_put(&x->pids, pid_key(rec->source, n->pid), NULL);
	if (!at)
		return PP_ENOMEM;
	*at = n->inner;
	return 0;
}

int context_take(struct context *x, const struct ps_record *rec)
{
	return rec->type == PS_CGROUP	    ? take_cgroup(x, rec)
	       : rec->type == PS_NAMESPACES ? take_namespaces(x, rec)
					    : 0;
}

const char *context_cgroup(const struct context *x, uint32_t source, uint64_t id, size_t *len)
{
	struct cgroup_key key = {id, source};
	uint32_t at = intern_find(&x->cgroups, &key, sizeof(key));

	return at ? intern_get(&x->paths, x->path[at], len) : NULL;
}

bool context_inner_pid(const struct context *x, uint32_t source, uint32_t pid, uint32_t *inner)
{
	const uint32_t *at = map64_get(&x->pids, pid_key(source, pid));

	if (at)
		*inner = *at;
	return at != NULL;
}

void context_release(struct context *x)
{
	intern_release(&x->cgroups);
	intern_release(&x->paths);
	map64_release(&x->pids);
	free(x->path);
	*x = (struct context){0};
}
