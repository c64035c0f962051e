/*
 * Probes for as long as a recording runs: made before it, removed after it, and, if it was killed,
 * by the next one.
 *
 *	struct inplace in = INPLACE_NONE;
 *	rc = inplace_begin(&in, &words, "1234", NULL, NULL, &config.events, &config.mask, diag);
 *	... record_run(&config) or stat_run(&config) ...
 *	inplace_end(&in, diag);
 *
 * Signals that would end the process are held back from the one to the other. In the kernel the
 * probes are a group that belongs to this process (owner.h). In the recording they have the group
 * that the definition says. The kernel takes long to switch off many events, some 50 ms each: for
 * those who count, more than INPLACE_APART of a definition are places of one event, whose field
 * "place" has their number (pevent.h: places). Left to the caller: to call inplace_end on every way
 * out, after the events are closed.
 */
#ifndef PP_INPLACE_INPLACE_H
#define PP_INPLACE_INPLACE_H

#include "inplace/line.h"
#include "inplace/owner.h"
#include "pevent/pevent.h"
#include "record/probes.h"

#include <signal.h>

#define INPLACE_EVENTS_MAX \
	4096		/* events that are created; pprobe --each makes as many of a pattern */
#define INPLACE_APART 8 /* so many of a definition are events of their own, to count */

/* An event that was made. */
struct inplace_event {
	char group[LINE_NAME_MAX + 1];	/* that is shown */
	char event[LINE_NAME_MAX + 1];	/* wanted */
	char kernel[LINE_NAME_MAX + 1]; /* the event's name in our group */
	unsigned batch;			/* which definitions it was made for */
	uint32_t place; /* 0: an event of its own; else its number in the event `kernel` */
	const char *filter;
};

struct inplace {
	struct tracefs tracefs;
	char group[OWNER_GROUP_MAX + 1]; /* in the kernel; empty: nothing was begun */
	struct inplace_event *v;
	unsigned n, cap, batches;
	bool counting;		  /* set by who only counts: many probes are places of one event */
	bool used[TRACEFS_LISTS]; /* lists that have probes of ours */
	bool held;		  /* signals are held back */
	sigset_t old_mask;
};

#define INPLACE_NONE \
	{ \
		.n = 0 \
	}

/*
 * Makes the probes, and adds them to the events. Definitions without a file are for the program of
 * the first of `pids` ("12,34"; NULL: none), otherwise for that of the command (NULL: none);
 * cgroup:
 * whose events are added, NULL: everybody's. *mask becomes the signals that were blocked before,
 * for commands. Does nothing if there are no words. 0, or an error that was reported; inplace_end
 * follows either way.
 */
int inplace_begin(struct inplace *in, const struct probe_words *w, const char *pids,
		  char *const *command, const char *cgroup, struct pevents *events,
		  const sigset_t **mask, struct diag *d);

/*
 * The same without signals held back and without events: for callers that have another way to
 * clean up after a kill, and switch the events on by in->group and in->v.
 */
int inplace_make(struct inplace *in, const struct probe_words *w, const char *pids,
		 char *const *command, struct diag *d);

/* Removes the probes that were made. */
void inplace_end(struct inplace *in, struct diag *d);

/*
 * Removes the probes of recorders that have exited, where tracefs is in `dir`; NULL: where it is
 * mounted. What is in use stays, with a warning.
 */
int inplace_clean(const char *dir, struct diag *d);

#endif
