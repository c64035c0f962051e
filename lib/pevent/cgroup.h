/*
 * Cgroups by name, for PERF_FLAG_PID_CGROUP of perf_event_open(2).
 *
 *	rc = cgroup_open("docker/9c2281", &fd, &full, &why);	(close(fd))
 *
 * The name is a directory below the hierarchy that perf events use: the one of the controller
 * perf_event of version 1, if it is mounted, otherwise version 2. It may be given from the root
 * of the
 * file system or of the hierarchy; its last part may be the beginning of a name, if there is one
 * such directory only; and it may be anywhere below, as docker/ID does in
 * system.slice/docker-ID.scope.
 */
#ifndef PP_PEVENT_CGROUP_H
#define PP_PEVENT_CGROUP_H

#include "base/buf.h"

/*
 * *fd is the directory; `full` gets its name from the hierarchy's root ("/a/b"). 0; PP_ENOENT,
 * PP_EUSAGE (several match) or another code with the reason in `why`.
 */
int cgroup_open(const char *name, int *fd, struct buf *full, struct buf *why);

/* Calls visit for each cgroup, the root ("/") first: its id, which samples carry, and its name. */
typedef int cgroup_visit(void *ctx, uint64_t id, const char *name);
int cgroup_each(cgroup_visit *visit, void *ctx);

#endif
