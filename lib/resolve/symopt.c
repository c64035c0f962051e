/* The options that say where symbols come from. */
#include "resolve/symopt.h"

#include "base/err.h"
#include "base/out_end.h"
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

enum {
	DEMANGLE = OPT_NO_SHORT,
	NO_DEMANGLE,
	NO_GUESSED,
	SRCLINE,
	LIKE_PERF,
	MISSING,
	BUNDLE,
	DEBUGINFOD,
	GUEST_KALLSYMS,
	GUEST_VMLINUX,
	TRUST_HOST,
	FORCE,
	KEEP_STACKS,
	NO_STITCH,
};

const struct opt symopt_options[] = {
	{'k', "kallsyms", "FILE", "kernel symbols from a saved /proc/kallsyms"},
	{'K', "vmlinux", "FILE", "kernel symbols from a vmlinux"},
	{GUEST_KALLSYMS, "guest-kallsyms", "FILE",
	 "kernel symbols of guests from a saved /proc/kallsyms of theirs"},
	{GUEST_VMLINUX, "guest-vmlinux", "FILE", "kernel symbols of guests from their vmlinux"},
	{'S', "symfs", "DIR", "look for binaries first in DIR or a tar archive (repeatable)"},
	{'D', "debug-dir", "DIR",
	 "look for debug files below DIR (default /usr/lib/debug; repeatable)"},
	{DEBUGINFOD, "debuginfod", "[SECONDS]",
	 "ask debuginfod servers for debug files (default 60 seconds in total)"},
	{TRUST_HOST, "trust-host", NULL,
	 "treat a recording that does not show its machine as from this one"},
	{FORCE, "force", NULL, "use files without a build-id even if they were replaced"},
	{'i', "inline", NULL, "show functions that are inlined, from debug information"},
	{SRCLINE, "srcline", NULL, "give frames their source lines"},
	{NO_GUESSED, "no-guessed", NULL,
	 "do not name functions of stripped files by their address"},
	{DEMANGLE, "demangle", "KIND", "ghc: also decode the names of Haskell"},
	{NO_DEMANGLE, "no-demangle", NULL, "keep mangled C++, Rust, D and OCaml names"},
	{KEEP_STACKS, "keep-stacks", NULL, "leave copies of user stacks in the output"},
	{NO_STITCH, "no-stitch", NULL,
	 "leave stacks as they are whose copy ended, without callers"},
	{LIKE_PERF, "like-perf", NULL, "decide as perf does even where it is wrong, to compare"},
	{MISSING, "missing", NULL,
	 "print what is missing for addresses without a name, not the stream"},
	{BUNDLE, "bundle", "FILE", "pack what the symbols come from into FILE, for --symfs"},
	{0},
};

static int debuginfod_limit(struct symopt *o, const char *arg, struct buf *why)
{
	o->debuginfod_seconds = DEBUGINFOD_SECONDS;
	if (!arg || !opt_u64(arg, 1, 86400, &o->debuginfod_seconds))
		return 0;
	buf_adds(why, "--debuginfod: not a number of seconds from 1 to 86400: ");
	buf_add_safe(why, arg, strlen(arg));
	return PP_EUSAGE;
}

static int demangle_kind(struct symopt *o, const char *arg, struct buf *why)
{
	o->r.demangle_ghc = !strcmp(arg, "ghc");
	if (o->r.demangle_ghc)
		return 0;
	buf_adds(why, "--demangle: not ghc: ");
	buf_add_safe(why, arg, strlen(arg));
	return PP_EUSAGE;
}

int symopt_option(void *opts, int id, const char *arg, struct buf *why)
{
	struct symopt *o = opts;

	switch (id) {
	case 'k': o->r.kallsyms = arg; break;
	case 'K': o->r.vmlinux = arg; break;
	case GUEST_KALLSYMS: o->r.guest_kallsyms = arg; break;
	case GUEST_VMLINUX: o->r.guest_vmlinux = arg; break;
	case 'S': return add_dir(o->symfs, &o->n_symfs, arg, why);
	case 'D': return add_dir(o->debug, &o->r.search.n_debug_dirs, arg, why);
	case 'i': o->r.inlines = true; break;
	case TRUST_HOST: o->r.trust_host = true; break;
	case FORCE: o->r.force = true; break;
	case SRCLINE: o->r.srcline = true; break;
	case NO_GUESSED: o->r.no_guessed = true; break;
	case DEMANGLE: return demangle_kind(o, arg, why);
	case NO_DEMANGLE: o->r.no_demangle = true; break;
	case KEEP_STACKS: o->r.keep_stacks = true; break;
	case NO_STITCH: o->r.no_stitch = true; break;
	case LIKE_PERF: o->r.like_perf = true; break;
	case DEBUGINFOD: return debuginfod_limit(o, arg, why);
	case MISSING: o->r.missing = true; break;
	case BUNDLE: o->r.bundle = arg; break;
	}
	return 0;
}

/* Files that the user named are needed: without one of them nothing is done. */
static int check_files(const struct resolver_opts *r, struct diag *d)
{
	const char *const files[] = {r->kallsyms, r->vmlinux, r->guest_kallsyms, r->guest_vmlinux};
	int rc = 0;

	for (size_t i = 0; i < sizeof(files) / sizeof(*files) && !rc; i++)
		if (files[i])
			rc = root_check(files[i], d);
	return rc;
}

int symopt_ready(struct symopt *o, struct diag *d)
{
	int err = check_files(&o->r, d);

	if (err)
		return err;
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
	int rc = resolver_missing(r, &text, &rows);

	if (!rc && !rows) {
		diag_say(d, NULL, "every frame has a name");
		buf_reset(&text);
	}
	rc = rc ? out_report(rc, d) : out_text(fd, &text, d);
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
