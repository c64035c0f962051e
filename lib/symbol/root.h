/*
 * What stands for the root directory of the recorded machine: a directory of this one, or a tar
 * archive (plain, or compressed with gzip, xz or zstd; psym --bundle makes one).
 *
 *	struct root *r;
 *	rc = root_open(&r, "target.tar.zst", diag);
 *	rc = root_elf(r, "/usr/bin/true", NULL, &f, &why);
 *	root_free(r);
 *
 * An archive is copied to an unlinked temporary file and read from there; nothing is unpacked to
 * the file system.
 */
#ifndef PP_SYMBOL_ROOT_H
#define PP_SYMBOL_ROOT_H

#include "base/buf.h"
#include "base/diag.h"
#include "symbol/elf_file.h"

#include <sys/types.h>

#define ROOT_PATH_MAX 4096 /* bytes of a path below a root, with it and a NUL */

struct root;

/*
 * Reports what is wrong to d. A directory need not exist: then nothing is found in it. Of a damaged
 * archive what comes before is used; it is PP_ECORRUPT or PP_ECUT then, with *r.
 */
int root_open(struct root **r, const char *name, struct diag *d);
void root_free(struct root *r); /* NULL is fine */

/*
 * r may be NULL in what follows: this machine's root. The file must be closed before r is
 * freed. recorded: it has to be this one, where it is not from an archive; NULL: any.
 */
int root_elf(const struct root *r, const char *path, const struct inode *recorded,
	     struct elf_file **f, enum symtab_reason *why);

/* Appends a file of up to max bytes, unpacked if it is packed. 0, or an error and *why. */
int root_read(const struct root *r, const char *path, size_t max, struct buf *b,
	      enum symtab_reason *why);

/*
 * The same for a file of this machine that a process of `user`, or anybody, could have put there:
 * see beneath_open_owned. PP_EACCES and SYMTAB_OWNER if it cannot be trusted.
 */
int root_read_owned(const struct root *r, const char *path, uid_t user, size_t max, struct buf *b,
		    enum symtab_reason *why);

/*
 * The path below the root, for messages and, if it is not an archive's, for opening it. NULL: it
 * is too long.
 */
const char *root_path(const struct root *r, const char *path, char buf[ROOT_PATH_MAX]);

/*
 * Whether a file of this machine that the user named can be opened; reports what is wrong to d.
 * 0, or an error.
 */
int root_check(const char *path, struct diag *d);

#endif
