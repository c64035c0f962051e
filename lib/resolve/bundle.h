/*
 * Writing a bundle: a tar archive of what symbols come from, compressed with zstd.
 *
 *	struct bundle *b;
 *	rc = bundle_open(&b, "out.tar.zst", diag);
 *	rc = bundle_elf(b, ".build-id/ab/cdef/elf", file);
 *	rc = bundle_bytes(b, "tmp/perf-12.map", text, len);
 *	rc = bundle_close(b, rc);
 *
 * The names inside are those that a root (root.h) is asked for. A name that is there already is not
 * written again.
 */
#ifndef PP_RESOLVE_BUNDLE_H
#define PP_RESOLVE_BUNDLE_H

#include "base/diag.h"
#include "symbol/elf_file.h"

struct bundle;

/* Makes the file; one whose name ends in ".tar" is not packed. What is wrong is reported to d. */
int bundle_open(struct bundle **b, const char *name, struct diag *d);

/* Adds a file. 0, or an error that has been said; after one nothing more is written. */
int bundle_elf(struct bundle *b, const char *path, const struct elf_file *f);
int bundle_bytes(struct bundle *b, const char *path, const void *bytes, size_t n);

uint32_t bundle_files(const struct bundle *b);

/*
 * Completes and frees it. After an error, its own or the caller's `err`, the file is removed, if it
 * is a regular one. PP_END: it is given up, and nothing is reported. The first error of all.
 */
int bundle_close(struct bundle *b, int err);

#endif
