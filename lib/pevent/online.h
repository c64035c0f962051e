/*
 * The CPUs that are online, and how that changes: CPUs can be switched off and on while the machine
 * runs (see "cpu-hotplug" of the kernel's documentation).
 *
 *	struct online o = {0};
 *	rc = online_look(&o, &changed);			(now and then)
 *	if (!rc && changed && online_has(&o, 1) && !online_had(&o, 1))
 *		CPU 1 has come
 *	online_release(&o);
 *
 * online_listen says when to look.
 */
#ifndef PP_PEVENT_ONLINE_H
#define PP_PEVENT_ONLINE_H

#include "base/buf.h"

#include <stdbool.h>

#define ONLINE_FILE "/sys/devices/system/cpu/online"

/* Zeroed: nothing is known yet. */
struct online {
	struct buf text; /* as it was read */
	int *cpus;	 /* in order */
	size_t n;
	int *before; /* at the look at which they changed */
	size_t n_before;
};

/* *changed: since the last look; the first one is a change from none. 0 or a code. */
int online_look(struct online *o, bool *changed);

bool online_has(const struct online *o, int cpu);
bool online_had(const struct online *o, int cpu);

/* The CPUs that the machine has, online or not: a list owned by the caller. 0 or a code. */
int online_present(int **cpus, size_t *n);

/* A CPU counts as gone until the next look: it will have come, if it is online. */
void online_forget(struct online *o, int cpu);

/*
 * A descriptor that becomes readable when devices change, CPUs among them, so that nobody has to
 * look again and again (NETLINK_KOBJECT_UEVENT of netlink(7)); -1: there is none here.
 */
int online_listen(void);

/* Reads its messages. CPUs that went are forgotten, even if they are back by the next look.
 */
void online_hear(struct online *o, int fd);

void online_release(struct online *o);

#endif
