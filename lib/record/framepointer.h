/*
 * Whether a program was compiled with frame pointers, which decides how its stacks can be
 * recorded.
 *
 *	rc = framepointer_look("/bin/bash", &share, &go);	(share: 96)
 */
#ifndef PP_RECORD_FRAMEPOINTER_H
#define PP_RECORD_FRAMEPOINTER_H

#include <stdbool.h>

/*
 * Whether the program has frame pointers: by the first instructions of its functions, of which its
 * .eh_frame_hdr has a table. *share: of a hundred functions, 0 where there is no table. *go: it was
 * made by Go's linker. 0, or PP_ENOENT where the file cannot be read.
 */
int framepointer_look(const char *path, unsigned *share, bool *go);
int framepointer_of(int fd, unsigned *share, bool *go); /* of an open file */

#endif
