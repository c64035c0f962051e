/*
 * Opening the files that a recording or another user names: regular ones only, and, if a directory
 * stands for the recorded machine's root, none outside it.
 *
 *	int dir = beneath_dir("target-root");
 *	int fd = beneath_open(dir, "/usr/bin/true");
 *	if (fd < 0)
 *		why = symtab_reason_errno(errno);
 *
 * A device, a FIFO or a socket is not even opened, as that alone can have effects. Below a
 * directory ".." and symbolic links lead where they would if it were the root: openat2(2)
 * with RESOLVE_IN_ROOT; on kernels before 5.6 the path is followed here.
 */
#ifndef PP_SYMBOL_BENEATH_H
#define PP_SYMBOL_BENEATH_H

#include <stdio.h>
#include <sys/types.h>

#define BENEATH_ANYWHERE  (-100) /* AT_FDCWD: no directory stands for the root */
#define BENEATH_LINKS_MAX 40	 /* symbolic links on the way to a file, as Linux has it */
#define BENEATH_PATH_MAX  4096
#define BENEATH_TEXT_MAX  (64 << 20)
#define BENEATH_HOLES_MIN (64 << 20) /* bytes of a file whose holes are counted */
#define BENEATH_HOLES	  16	     /* of this many bytes, more than one has to exist */
#define BENEATH_NOBODY	  ((uid_t)-1)

/* A directory to open files below; closed by close(2). -1 and errno. */
int beneath_dir(const char *path);

/*
 * A descriptor for reading; -1 and errno: ENOTSUP for anything but a regular file; EFBIG for one of
 * which nearly all is holes, which costs its owner nothing, but its reader gigabytes of zeros.
 */
int beneath_open(int dir, const char *path);

/*
 * Where a path leads to below a directory: the same without links, ".." and leading slashes. What
 * it names need not be a file. 0; -1 and errno.
 */
int beneath_path(int dir, const char *path, char plain[BENEATH_PATH_MAX]);

/*
 * A text that a file names, such as a source, for reading with stdio; NULL and errno: EFBIG for one
 * of more than BENEATH_TEXT_MAX bytes.
 */
FILE *beneath_text(const char *path);

/*
 * As beneath_open, for a file that a process of `user` can have put there, or anybody in its place:
 * it is this user's, root's, or the caller's; where it is not the user's own, one that the user may
 * read. It has one name and is not a link, and root alone made the links on the way. `user`
 * BENEATH_NOBODY: not known; then the file must be root's or the caller's. EPERM otherwise.
 */
int beneath_open_owned(int dir, const char *path, uid_t user);

#endif
