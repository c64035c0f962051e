/*
 * The command line options that say where symbols come from.
 *
 *	struct symopt o = {0};
 *	(SYMOPT_OPTIONS in the table of options, symopt_option for each that is given)
 *	if (!symopt_ready(&o, diag))
 *		resolver_new(&r, &o.r, ...);
 *	symopt_release(&o);			(after resolver_free)
 */
#ifndef PP_RESOLVE_SYMOPT_H
#define PP_RESOLVE_SYMOPT_H

#include "base/opt.h"
#include "resolve/resolve.h"

#define SYMOPT_DIRS_MAX 64

enum symopt_id {
	SYMOPT_FIRST = OPT_NO_SHORT + 100,
	SYMOPT_NO_DEMANGLE = SYMOPT_FIRST,
	SYMOPT_SRCLINE,
	SYMOPT_LIKE_PERF,
	SYMOPT_MISSING,
	SYMOPT_BUNDLE,
	SYMOPT_DEBUGINFOD,
	SYMOPT_GUEST_KALLSYMS,
	SYMOPT_GUEST_VMLINUX,
};

#define SYMOPT_OPTIONS \
	{'k', "kallsyms", "FILE", "kernel symbols from a saved /proc/kallsyms"}, \
		{'K', "vmlinux", "FILE", "kernel symbols from a vmlinux"}, \
		{SYMOPT_GUEST_KALLSYMS, "guest-kallsyms", "FILE", \
		 "kernel symbols of guests from a saved /proc/kallsyms of theirs"}, \
		{SYMOPT_GUEST_VMLINUX, "guest-vmlinux", "FILE", \
		 "kernel symbols of guests from their vmlinux"}, \
		{'S', "symfs", "DIR", \
		 "look for binaries in DIR or a tar archive first (repeatable)"}, \
		{'D', "debug-dir", "DIR", \
		 "debug files are below DIR (default /usr/lib/debug; repeatable)"}, \
		{SYMOPT_DEBUGINFOD, "debuginfod", "[SECONDS]", \
		 "ask debuginfod servers for debug files (default 60 seconds in all)"}, \
		{'i', "inline", NULL, "show functions that are inlined, from debug information"}, \
		{SYMOPT_SRCLINE, "srcline", NULL, "give frames their source lines"}, \
		{SYMOPT_NO_DEMANGLE, "no-demangle", NULL, "keep mangled C++, Rust and D names"}, \
		{SYMOPT_LIKE_PERF, "like-perf", NULL, \
		 "decide as perf does also where it errs, to compare"}, \
		{SYMOPT_MISSING, "missing", NULL, \
		 "print what addresses without a name lack, not the stream"}, \
	{ \
		SYMOPT_BUNDLE, "bundle", "FILE", \
			"pack what the symbols come from into FILE, for --symfs" \
	}

struct symopt {
	struct resolver_opts r;
	const char *symfs[SYMOPT_DIRS_MAX], *debug[SYMOPT_DIRS_MAX];
	size_t n_symfs, n_roots;
	uint64_t debuginfod_seconds; /* 0: not to be asked */
	struct debuginfod *debuginfod;
	struct root *roots[SYMOPT_DIRS_MAX];
	bool damaged; /* an archive among them was: after symopt_ready */
};

/* As ssink_option (filter/ssink.h). */
bool symopt_option(struct symopt *o, int id, const char *arg, struct buf *why, int *rc);

/* Opens what the options name: 0, or an error that has been said to d. */
int symopt_ready(struct symopt *o, struct diag *d);
void symopt_release(struct symopt *o);

/* Whether something else than the stream is the result. */
static inline bool symopt_no_stream(const struct symopt *o)
{
	return o->r.missing || o->r.bundle;
}

/* That result, when the input has been read: the table on fd, the bundle. An exit status. */
int symopt_result(const struct symopt *o, struct resolver *r, int fd, struct diag *d);

#endif
