/*
 * The command line options that say where symbols come from.
 *
 *	struct symopt o = {0};
 *	(a group of options: {symopt_options, symopt_option, &o})
 *	if (!symopt_ready(&o, diag))
 *		resolver_new(&r, &o.r, ...);
 *	symopt_release(&o);			(after resolver_free)
 */
#ifndef PP_RESOLVE_SYMOPT_H
#define PP_RESOLVE_SYMOPT_H

#include "base/opt.h"
#include "base/sandbox.h"
#include "resolve/resolve.h"

#define SYMOPT_DIRS_MAX 64

struct symopt {
	struct resolver_opts r;
	const char *symfs[SYMOPT_DIRS_MAX], *debug[SYMOPT_DIRS_MAX];
	size_t n_symfs, n_roots;
	uint64_t debuginfod_seconds; /* 0: not to be asked */
	struct debuginfod *debuginfod;
	struct root *roots[SYMOPT_DIRS_MAX];
	bool damaged; /* an archive among them was: after symopt_ready */
};

/* The options, and their handler, whose context is a struct symopt. */
extern const struct opt symopt_options[];
opt_handler symopt_option;

/* Opens what the options name: 0, or an error that has been said to d. */
int symopt_ready(struct symopt *o, struct diag *d);
void symopt_release(struct symopt *o);

/* Whether something else than the stream is the result. */
static inline bool symopt_no_stream(const struct symopt *o)
{
	return o->r.missing || o->r.bundle;
}

/* What a program that has these options cannot give up. */
static inline struct sandbox symopt_needs(const struct symopt *o)
{
	return (struct sandbox){.output = o->r.bundle,
				.programs = o->debuginfod_seconds || o->r.missing,
				.processes = true};
}

/* That result, when the input has been read: the table on fd, the bundle. An exit status. */
int symopt_result(const struct symopt *o, struct resolver *r, int fd, struct diag *d);

#endif
