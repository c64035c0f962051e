/*
 * The name of a frame in folded text, by the conventions of stackcollapse-perf.pl, whatever the
 * input was:
 *
 *	struct fold_symbol s = {.func = "foo(int)", .func_len = 8, .dso = "/bin/x", .dso_len = 6};
 *	fold_tidy(&opts, &s, &name);			("foo")
 */
#ifndef PP_FOLD_TIDY_H
#define PP_FOLD_TIDY_H

#include "base/buf.h"
#include "fold/fold.h"

struct fold_symbol {
	const char *func; /* "[unknown]": there is none */
	size_t func_len;
	const char *dso; /* path, "[kernel.kallsyms]", "[unknown]" ... */
	size_t dso_len;
	const char *pc; /* the address as text; used with opts->addrs only */
	size_t pc_len;
	bool inlined;	/* not the outermost function at its address: marked with _[i] */
	bool java;	/* the command's name begins with java: fold_is_java */
	bool generated; /* code without a name that its process made */
};

/* Whether the text of a stack's first frame is that of a Java process. */
bool fold_is_java(const char *comm, size_t len);

/* Whether there is a /tmp/perf-PID.map in the path of a DSO: code that its process generated. */
bool fold_is_jit_map(const char *dso, size_t n);

/* Whether the frame has neither a function nor a DSO: it is called [unknown]. */
bool fold_is_unknown(const struct fold_symbol *s);

/*
 * Appends the name to b (b->err reports failure): unknown functions are called by their DSO's file
 * name in brackets, arguments and quotes are dropped, ';' becomes ':', and the marks _[i], _[k] and
 * _[j] are added as the options say.
 */
void fold_tidy(const struct fold_opts *opts, const struct fold_symbol *s, struct buf *b);

#endif
