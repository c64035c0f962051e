/*
 * Names of functions as they are before a compiler or linker adds to them: what a rebuild changes
 * is left out, so that the same function has the same name in both builds.
 *
 *	struct buf b = BUF_INIT;
 *	canon_name("deflate_fast.constprop.0", 24, &b);		("deflate_fast")
 *
 * Left out: suffixes of gcc and clang (.isra.0 .part.1 .constprop.2 .cold .lto_priv.3 .llvm.4
 * .__uniq.5), [clone ...] of demanglers, the hash of a Rust symbol (::h0123456789abcdef), offsets
 * of up to three digits (+0x1f; functions of stripped files have longer ones: gzip+0x4a20), the
 * mark _[i] of inlined functions. A name that is only an address becomes [unknown]. Other marks,
 * such as _[k], stay.
 */
#ifndef PP_FOLD_CANON_H
#define PP_FOLD_CANON_H

#include "base/buf.h"

/* Replaces the content of b. Out of memory: b->err. */
void canon_name(const char *name, size_t len, struct buf *b);

#endif
