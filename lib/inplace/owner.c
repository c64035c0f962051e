/* Groups of probes that belong to a process, and whether that is still there. */
#include "inplace/owner.h"

#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* When a process started, in ticks. PP_ENOENT: it has ended, even if nobody has waited for it. */
static int started_at(long pid, uint64_t *start)
{
	char path[64], text[1024], state, *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return pp_errno(errno);
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0) {
		int errnum = errno;

		close(fd);
		return errnum == ESRCH ? PP_ENOENT : pp_errno(errnum);
	}
	close(fd);
	text[n] = 0;
	/* The name, in parentheses, may have any characters. */
	at = strrchr(text, ')');
	if (!at || at[1] != ' ' || !at[2])
		return PP_ECORRUPT;
	state = at[2];
	for (int field = 2; field < 22; field++) {
		at = strchr(at + 1, ' ');
		if (!at)
			return PP_ECORRUPT;
	}
	*start = strtoull(at + 1, NULL, 10);
	return state == 'Z' || state == 'X' ? PP_ENOENT : 0;
}

static int namespace_of_pids(uint64_t *inode)
{
	struct stat st;

	if (stat("/proc/self/ns/pid", &st))
		return pp_errno(errno);
	*inode = st.st_ino;
	return 0;
}

int owner_group(char group[OWNER_GROUP_MAX + 1])
{
	uint64_t start = 0, ns = 0;
	int rc = started_at((long)getpid(), &start);

	if (!rc)
		rc = namespace_of_pids(&ns);
	if (!rc)
		snprintf(group, OWNER_GROUP_MAX + 1, OWNER_PREFIX "%ld_%" PRIu64 "_%" PRIx64,
			 (long)getpid(), start, ns);
	return rc;
}

bool owner_gone(const char *group)
{
	uint64_t start, ns, now_start = 0, our_ns = 0;
	char again[OWNER_GROUP_MAX + 1];
	long pid;
	int rc;

	if (sscanf(group, OWNER_PREFIX "%ld_%" SCNu64 "_%" SCNx64, &pid, &start, &ns) != 3)
		return false;
	/* Nothing but what owner_group writes. */
	snprintf(again, sizeof(again), OWNER_PREFIX "%ld_%" PRIu64 "_%" PRIx64, pid, start, ns);
	if (pid <= 0 || strcmp(again, group) != 0 || namespace_of_pids(&our_ns) || ns != our_ns)
		return false;
	rc = started_at(pid, &now_start);
	return rc == PP_ENOENT || (!rc && now_start != start);
}
