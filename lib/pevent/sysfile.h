/*
 * Small files below /proc, /sys and tracefs: numbers, words, whole files, lists of CPUs or
 * processes.
 *
 *	rc = sysfile_read("/proc/stat", SYSFILE_MAX, &b);
 *	rc = sysfile_u64("/proc/sys/kernel/perf_event_max_sample_rate", &v);
 *	rc = cpulist_parse("0-3,6", &cpus, &n);		(free(cpus))
 */
#ifndef PP_PEVENT_SYSFILE_H
#define PP_PEVENT_SYSFILE_H

#include "base/buf.h"

#include <sys/types.h>

#define SYSFILE_MAX (64u << 20) /* bytes of a file that is read whole */

/* Adds the whole file to b, at most max bytes (PP_ELIMIT if there are more). 0 or pp_errno. */
int sysfile_read(const char *path, size_t max, struct buf *b);

/* A decimal or 0x number at the start of the file. */
int sysfile_u64(const char *path, uint64_t *v);

/*
 * Raises the limit of open files as far as needed and permitted, for the privileged up to
 * fs.nr_open. Returns the resulting limit.
 */
uint64_t sysfile_raise_files(uint64_t need);

/* "0-3,6" to a sorted list without repetitions, owned by the caller. 0, PP_EUSAGE, PP_ENOMEM. */
int cpulist_parse(const char *s, int **cpus, size_t *n);

/* "12,34" to a list, owned by the caller. 0, PP_EUSAGE, PP_ENOMEM. */
int pidlist_parse(const char *s, pid_t **pids, size_t *n);

/* The entries of a directory, sorted. */
struct sysnames {
	char **v;
	size_t n, cap;
};

/* The entries that fit the glob; those that begin with a dot only if it does. 0 or pp_errno. */
int sysnames_read(struct sysnames *l, const char *dir, const char *glob);
void sysnames_release(struct sysnames *l);

/*
 * "be root, or have CAP_PERFMON": what would permit it. For root: that it does not have the
 * capability, as in a container.
 */
void sysfile_need_root(struct buf *why, const char *capability);

#endif
