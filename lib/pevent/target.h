/*
 * Which CPUs and threads events are for, from the options -a, -C, -p, -t and -u.
 *
 *	struct target t = {0};
 *	rc = target_find(&t, &(struct target_want){.pids = "12,34"}, 0, diag);
 *	for each t.cpus[i] and t.tids[k]: perf_event_open(&attr, t.tids[k], t.cpus[i], ...)
 *	target_release(&t);
 *
 * The lists are of threads that exist now; those that start later are for attr.inherit.
 */
#ifndef PP_PEVENT_TARGET_H
#define PP_PEVENT_TARGET_H

#include "base/diag.h"

#include <sys/types.h>

struct target_want {
	bool all_cpus;	  /* every task */
	const char *cpus; /* "0-3,6"; NULL: those that are online */
	const char *pids; /* "12,34": all threads of these processes */
	const char *tids; /* "12,34": these threads */
	const char *user; /* a name or number: all threads of this user's processes */
};

struct target {
	int *cpus;
	size_t n_cpus;
	int *away; /* CPUs that are also meant, but offline */
	size_t n_away;
	pid_t *pids; /* the processes that were named, or are a user's */
	size_t n_pids;
	pid_t *tids; /* {-1}: every task */
	size_t n_tids;
};

/* Whether specific tasks were asked for. */
static inline bool target_has_tasks(const struct target_want *w)
{
	return w->pids || w->tids || w->user;
}

/*
 * child: the process of a command that has not begun yet, used where neither all nor certain tasks
 * are wanted. 0, or a code that has been reported to d: PP_EUSAGE, PP_ENOENT, ...
 */
int target_find(struct target *t, const struct target_want *w, pid_t child, struct diag *d);
void target_release(struct target *t);

#endif
