/*
 * Counting, for its files; private to lib/stat.
 *
 * stat.c: runs, intervals, the end.  counted_events.c: which events.  open_counters.c: their descriptors.
 * read_counters.c: from descriptors to the table.  topology.c: where CPUs are.  output.c: output.
 * commands.c: commands that come by a pipe.  cpu_changes.c: CPUs that come and go.
 * whom.c: CPUs and threads.
 */
#ifndef PP_STAT_PARTS_H
#define PP_STAT_PARTS_H

#include "count/form.h"
#include "pevent/online.h"
#include "record/command.h"
#include "stat/stat.h"
#include "table/table.h"

#include <time.h>

#define STAT_NS 1000000000u /* of a second */

/* An event of a cgroup, or of all. */
struct stat_event {
	const struct pevent *ev;
	char *name;	    /* owned: with :u where the kernel side is forbidden */
	const char *cgroup; /* NULL: none */
	int cgroup_fd;	    /* -1: none */
	uint32_t set;	    /* of several cgroups the one whose events these are */
	bool supported, user_only;
	int *fds;		  /* [cpu * n_tids + tid], -1 where there is none */
	bool *leads;		  /* the same: it is switched on and off on its own */
	struct count_value *base; /* the same: what was counted there before the CPU went */
};

struct stat_control {
	int in, ack; /* -1: none */
	bool own;    /* they were opened here */
};

/* What is counted, and where it goes. */
struct counting {
	const struct stat_config *c;
	struct diag *d;
	struct pevents usual; /* events that the user did not name */
	struct stat_event *events;
	char *cgroup_names; /* owned: each_cgroup, taken apart */
	struct target target;
	const int *cpus;
	size_t n_cpus, n_tids;
	pid_t *tids;	 /* of the target, or one of these: */
	pid_t *all_tids; /* the same */
	struct counts counts;
	struct command command;
	struct stat_control control;
	struct online online;
	sigset_t old_mask;
	/* Output. */
	struct count_form form;
	struct tables tables; /* of TSV */
	struct buf text, title;
	char thousands[8];
	/* Times. */
	uint64_t began, ended, last; /* of the run, of the interval before: CLOCK_MONOTONIC, ns */
	double *runs;		     /* seconds of each run */
	unsigned n_runs, cap_runs;
	uint32_t n_events;
	int any_cpu; /* -1, what the list of CPUs is for tasks */
	pid_t command_tid;
	int out;
	int epoll, signals, timer, tick, cpus_change; /* the last: of online_listen */
	bool close_out;
	bool system_wide;
	bool interrupted; /* by a signal: no further runs */
	bool over;	  /* before counting began */
	bool cut_short;	  /* the command was sent SIGTERM at the end */
	bool on;	  /* counters were enabled */
	bool uncounted;	  /* a CPU came and was not counted */
};

/* counted_events.c */

/* The events to count, the usual ones if the user named none. */
int stat_events(struct counting *s);
void stat_events_release(struct counting *s);

/* whom.c */

/* The CPUs and threads to count on. 0 or a code that has been told. */
int stat_find_target(struct counting *s);

/* topology.c */

/* Where a CPU is, by sysfs. */
void stat_place(int cpu, struct count_cpu *place);

/* open_counters.c */

/* Opens all events for the CPUs and threads; they do not count yet. */
int stat_open(struct counting *s);
int stat_open_on(struct counting *s, size_t cpu); /* for one of the CPUs */
void stat_enable(struct counting *s, bool on);
void stat_close(struct counting *s);

/* cpu_changes.c */

/* Room for CPUs of the target that may come. 0 or a code. */
int stat_expect_cpus(struct counting *s);

/* Before a run: which CPUs there are. */
int stat_begin_cpus(struct counting *s);

/*
 * Looks whether CPUs have come or gone: counts on those, keeps what these have counted. At the end
 * it is too late to count on those, which is reported.
 */
int stat_look_at_cpus(struct counting *s, bool at_end);

/* read_counters.c */

/* What a counter says now. */
int stat_read_counter(const struct counting *s, const struct stat_event *e, int fd,
		      struct count_value *value);

/* The table, for the events, CPUs and threads. */
int stat_lay_out(struct counting *s);

/* What the descriptors say now, into its cells. */
int stat_read(struct counting *s);

/* output.c */

int stat_output(struct counting *s);
int stat_print_interval(struct counting *s);
int stat_print(struct counting *s);
/* The end of all output. The first error of all. */
int stat_output_close(struct counting *s);

/* commands.c */

int stat_control_open(struct stat_control *k, const char *how, struct diag *d);
/* What has come, each command answered. *stop: counting is to end. 0 or PP_END: no more will come.
 */
int stat_control_take(struct stat_control *k, struct counting *s, bool *stop);
void stat_control_close(struct stat_control *k);

/* CLOCK_MONOTONIC in ns. */
static inline uint64_t stat_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * STAT_NS + (uint64_t)t.tv_nsec;
}

#endif
