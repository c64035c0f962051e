#include "symbol/symopt.h"

#include "base/err.h"

static int add_dir(const char **dirs, size_t *n, const char *arg, struct buf *why)
{
	if (*n == SYMOPT_DIRS_MAX) {
		buf_addf(why, "more than %d directories", SYMOPT_DIRS_MAX);
		return PP_EUSAGE;
	}
	dirs[(*n)++] = arg;
	return 0;
}

bool symopt_option(struct symopt *o, int id, const char *arg, struct buf *why, int *rc)
{
	*rc = 0;
	switch (id) {
	case 'k': o->r.kallsyms = arg; return true;
	case 'K': o->r.vmlinux = arg; return true;
	case 'S': *rc = add_dir(o->symfs, &o->n_symfs, arg, why); return true;
	case 'D': *rc = add_dir(o->debug, &o->r.search.n_debug_dirs, arg, why); return true;
	case SYMOPT_NO_DEMANGLE: o->r.no_demangle = true; return true;
	case SYMOPT_LIKE_PERF: o->r.like_perf = true; return true;
	default: return false;
	}
}

int symopt_ready(struct symopt *o, struct diag *d)
{
	for (; o->n_roots < o->n_symfs; o->n_roots++) {
		int rc = root_open(&o->roots[o->n_roots], o->symfs[o->n_roots], d);

		if (rc)
			return rc;
	}
	o->r.search.debug_dirs = o->debug;
	o->r.search.symfs = (const struct root *const *)o->roots;
	o->r.search.n_symfs = o->n_roots;
	return 0;
}

void symopt_release(struct symopt *o)
{
	while (o->n_roots)
		root_free(o->roots[--o->n_roots]);
}
