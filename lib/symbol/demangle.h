/*
 * Demangling: C++ (Itanium ABI), Rust (legacy and v0) and OCaml names as perf script shows them:
 * without parameters, Rust without its hash; D names with their parameters.
 *
 *	struct buf b = BUF_INIT;
 *	puts(demangle("_ZN3foo3barEv", &b));	foo::bar
 *	buf_release(&b);
 *
 * What follows an '@' ("@plt", a symbol version) is kept as it is. The work is done by libiberty;
 * hostile names cannot make it recurse without end or write more than a named maximum.
 */
#ifndef PP_SYMBOL_DEMANGLE_H
#define PP_SYMBOL_DEMANGLE_H

#include "base/buf.h"

#include <stdbool.h>

#define DEMANGLE_MAX_IN	    16384 /* longer names stay as they are */
#define DEMANGLE_MAX_D	    4096  /* D names */
#define DEMANGLE_MAX_D_REFS 40	  /* back references of a D name, each marked by the letter Q */
#define DEMANGLE_MAX_OUT \
	65536 /* so do those whose text would be longer: a few bytes can stand for GBs */

/*
 * The demangled name, in b (overwritten), or `name` itself when it is not mangled, too long, or
 * memory is short (then b->err is set).
 */
const char *demangle(const char *name, struct buf *b);

/*
 * The same for a name of Haskell, as GHC encodes it: "Main_zdwleaf_info" is Main.$wleaf, and
 * "base_GHCziBase_map_info" is base:GHC.Base.map. Names of other languages can look like these.
 */
const char *demangle_ghc(const char *name, struct buf *b);

/* Whether a name is one of OCaml's: "camlMODULE__NAME_STAMP". */
bool demangle_is_ocaml(const char *name);

#endif
