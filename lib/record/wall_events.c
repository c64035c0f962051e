/* --wall: the events that tell where the time of threads goes by the wall clock. */
#include "record/pcap_perf_options.h"

#include "base/err.h"
#include "record/parts.h"

#include <inttypes.h>
#include <stdio.h>

#define WALL_FREQ 99 /* Hz, of the CPUs' samples */

/* An event that some kernels lack. */
static int add_if_there(struct pevents *e, const char *name, struct buf *why)
{
	size_t len = why->len;
	int rc = pevents_add(e, name, why);

	if (!rc || rc == PP_ENOMEM)
		return rc;
	why->len = len;
	if (why->data)
		why->data[len] = 0;
	return PP_ENOENT;
}

int record_add_wall(struct record_options *o, struct buf *why)
{
	struct record_config *c = &o->c;
	const struct target_want *whom = &c->whom;
	char clock[64];
	int rc;

	if (c->period || c->freq_max || c->no_samples) {
		buf_adds(why, "--wall takes samples at a frequency: -F HZ");
		return PP_EUSAGE;
	}
	snprintf(clock, sizeof(clock), "cpu-clock/freq=%" PRIu64 "/",
		 c->freq ? c->freq : WALL_FREQ);
	/* The frequency is that of the clock alone: of the others each one counts. */
	c->freq = 0;
	c->chains = c->chains ? c->chains : RECORD_CHAINS_AUTO;
	/* Of some tasks alone, it is these records that tell when they come back to a CPU. */
	c->switch_events |= whom->pids || whom->tids || whom->user || !whom->all_cpus;
	c->waits = true;
	rc = pevents_add(&c->events, clock, why);
	if (!rc)
		rc = pevents_add(&c->events, "sched:sched_switch", why);
	if (!rc)
		rc = pevents_add(&c->events, "sched:sched_wakeup_new", why);
	if (rc)
		return rc;
	/* sched_waking is raised in the waker, sched_wakeup where the woken thread is to run. */
	rc = add_if_there(&c->events, "sched:sched_waking", why);
	return rc == PP_ENOENT ? pevents_add(&c->events, "sched:sched_wakeup", why) : rc;
}
