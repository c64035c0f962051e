#include "resolve/symopt.h"

#include "base/err.h"
#include "symbol/debuginfod.h"

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
	case SYMOPT_GUEST_KALLSYMS: o->r.guest_kallsyms = arg; return true;
	case SYMOPT_GUEST_VMLINUX: o->r.guest_vmlinux = arg; return true;
	case 'S': *rc = add_dir(o->symfs, &o->n_symfs, arg, why); return true;
	case 'D': *rc = add_dir(o->debug, &o->r.search.n_debug_dirs, arg, why); return true;
	case 'i': o->r.inlines = true; return true;
	case SYMOPT_SRCLINE: o->r.srcline = true; return true;
	case SYMOPT_NO_DEMANGLE: o->r.no_demangle = true; return true;
	case SYMOPT_LIKE_PERF: o->r.like_perf = true; return true;
	case SYMOPT_DEBUGINFOD:
		o->debuginfod_seconds = DEBUGINFOD_SECONDS;
		if (arg && opt_u64(arg, 1, 86400, &o->debuginfod_seconds)) {
			buf_addf(why, "--debuginfod: not a number of seconds from 1 to 86400: %s",
				 arg);
			*rc = PP_EUSAGE;
		}
		return true;
	case SYMOPT_MISSING: o->r.missing = true; return true;
	case SYMOPT_BUNDLE: o->r.bundle = arg; return true;
	default: return false;
	}
}

int symopt_ready(struct symopt *o, struct diag *d)
{
	for (; o->n_roots < o->n_symfs; o->n_roots++) {
		int rc = root_open(&o->roots[o->n_roots], o->symfs[o->n_roots], d);

		if (!o->roots[o->n_roots])
			return rc;
		o->damaged |= rc != 0;
	}
	o->r.search.debug_dirs = o->debug;
	o->r.search.symfs = (const struct root *const *)o->roots;
	o->r.search.n_symfs = o->n_roots;
	if (o->debuginfod_seconds) {
		if (debuginfod_new(&o->debuginfod, (unsigned)o->debuginfod_seconds, d))
			return PP_ENOMEM;
		o->r.search.fetch = debuginfod_fetch;
		o->r.search.fetch_ctx = o->debuginfod;
	}
	return 0;
}

void symopt_release(struct symopt *o)
{
	while (o->n_roots)
		root_free(o->roots[--o->n_roots]);
	debuginfod_free(o->debuginfod);
}

static int print_missing(struct resolver *r, int fd, struct diag *d)
{
	struct buf text = BUF_INIT;
	uint32_t rows;
	struct out o;
	int rc = resolver_missing(r, &text, &rows), closed;

	if (!rc)
		rc = out_init(&o, fd);
	if (!rc) {
		rc = out_add(&o, text.data, rows ? text.len : 0);
		closed = out_close(&o);
		rc = rc ? rc : closed;
	}
	if (!rc && !rows)
		diag_say(d, NULL, "every frame has a name");
	if (rc && rc != PP_EPIPE)
		diag_error(d, NULL, -1, "cannot write the table: %s", pp_strerror(rc));
	buf_release(&text);
	return rc ? PP_EXIT_FAIL : PP_EXIT_OK;
}

int symopt_result(const struct symopt *o, struct resolver *r, int fd, struct diag *d)
{
	int status = PP_EXIT_OK;

	if (o->r.bundle && resolver_bundle(r))
		status = PP_EXIT_FAIL;
	if (o->r.missing && print_missing(r, fd, d))
		status = PP_EXIT_FAIL;
	return status;
}
