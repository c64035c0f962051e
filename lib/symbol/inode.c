/* Compares files with the inodes of a recording. */
#include "symbol/inode.h"

#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

bool inode_equal(const struct inode *a, const struct inode *b)
{
	return a->maj == b->maj && a->min == b->min && a->ino == b->ino &&
	       (a->generation == b->generation || !a->generation || !b->generation);
}

bool inode_is(const struct inode *recorded, int fd)
{
	struct inode is = {0};
	long generation = 0;
	struct statfs fs;
	struct stat st;

	if (!recorded->ino)
		return true;
	if (fstat(fd, &st) || fstatfs(fd, &fs))
		return false;
	if (fs.f_type == OVERLAYFS_SUPER_MAGIC) /* may have its own number in the upper bits */
		return (uint32_t)st.st_ino == (uint32_t)recorded->ino;
	is = (struct inode){major(st.st_dev), minor(st.st_dev), st.st_ino, 0};
	if ((uint32_t)fs.f_type == BTRFS_SUPER_MAGIC) {
		is.maj = recorded->maj;
		is.min = recorded->min;
	}
	/* The kernel writes an int, whatever the number of the request says. */
	if (!ioctl(fd, FS_IOC_GETVERSION, &generation))
		is.generation = (uint32_t)generation;
	return inode_equal(&is, recorded);
}
