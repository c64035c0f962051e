/*
 * Whether a file is the one that was mapped: the device, inode and generation that MMAP2 records
 * have (perf_event_open(2)) where they have no build-id.
 *
 *	struct inode id = {8, 1, 123456, 0};
 *	if (!inode_is(&id, fd))
 *		why = SYMTAB_REPLACED;
 */
#ifndef PP_SYMBOL_INODE_H
#define PP_SYMBOL_INODE_H

#include <stdbool.h>
#include <stdint.h>

struct inode {
	uint32_t maj, min;
	uint64_t ino;	     /* 0: not recorded */
	uint64_t generation; /* 0: not recorded, as in what was made from /proc */
};

/* Whether two records mean the same file. */
bool inode_equal(const struct inode *a, const struct inode *b);

/*
 * Whether an open file is the recorded one, as far as its file system shows: kernels report the
 * device of a part of a btrfs, and inodes of an overlay, not as stat(2) does. True if nothing was
 * recorded.
 */
bool inode_is(const struct inode *recorded, int fd);

#endif
