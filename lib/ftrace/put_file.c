/* Writing to a file of tracefs. */
#include "ftrace/put_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int ftput(const char *path, int flags, const char *value, size_t len)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | flags), errnum = 0;

	if (fd < 0)
		return errno;
	/* A file of lists takes a word a call; an empty value is what O_TRUNC has done. */
	while (len && !errnum) {
		ssize_t n = write(fd, value, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			errnum = n ? errno : EIO;
			break;
		}
		value += n;
		len -= (size_t)n;
	}
	/* Lists of functions take effect at the close. */
	if (close(fd) && !errnum)
		errnum = errno;
	return errnum;
}
