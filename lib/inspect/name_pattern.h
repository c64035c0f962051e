/*
 * Names of functions as users write them, and names of events as the kernel requires them.
 *
 *	struct name_pattern p;
 *	name_pattern_set(&p, "ns::*::run");
 *	if (name_match(&p, "_ZN2ns3Foo3runEv", &scratch) != NAME_NO) ...
 *	name_event("ns::Foo::run(int)", &buf);	ns_Foo_run
 *
 * A pattern matches the name as it is in the file; the demangled name without parameters; that
 * without template arguments and the hashes of Rust; or its last parts ("Type::run", "run").
 */
#ifndef PP_INSPECT_NAME_PATTERN_H
#define PP_INSPECT_NAME_PATTERN_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

#define NAME_EVENT_MAX 63 /* characters of an event's or group's name, by the kernel */
#define NAME_ARG_MAX   32 /* and of an argument's */
#define NAME_WORDS     4

struct name_pattern {
	const char *text; /* the caller's */
	size_t len;
	bool glob; /* it has * ? [ */
	/* Words that every name that fits has in it, also when it is mangled. */
	const char *word[NAME_WORDS];
	size_t word_len[NAME_WORDS];
	unsigned words;
	bool whole; /* they are whole identifiers */
};

struct name_scratch {
	struct buf demangled, bare;
};

/* How well a name matches, in growing order. */
enum name_fit { NAME_NO, NAME_PART, NAME_BARE, NAME_WHOLE };

/* Whether it has * ? [ other than as an operator or a type of a language. */
bool name_is_glob(const char *text);

void name_pattern_set(struct name_pattern *p, const char *text);
enum name_fit name_match(const struct name_pattern *p, const char *name, struct name_scratch *s);
void name_scratch_release(struct name_scratch *s);

/*
 * The name as users know it: demangled, also that of a Fortran module (__store_MOD_save is
 * store::save) and of OCaml (camlStore__save_85 is Store.save). May be `name` itself.
 */
const char *name_shown(const char *name, struct buf *b);

/*
 * The name without template arguments, parameters, and the hashes of Rust: "a::b<int>::c(d)" is
 * "a::b::c"; "<T as M>::f" stays.
 */
void name_bare(const char *demangled, struct buf *b);

/* Makes a valid name of an event: up to NAME_EVENT_MAX characters of [A-Za-z0-9_]. */
void name_event(const char *name, struct buf *b);

/* The same, up to max characters, for arguments. */
void name_valid(const char *name, size_t max, struct buf *b);

/* Whether a text is a name that the kernel accepts, at most max characters long. */
bool name_is_valid(const char *name, size_t len, size_t max);

/* Whether perf would take "GROUP:NAME" for something else: raw events, modifiers, cycles. */
bool name_confuses_perf(const char *name);

#endif
