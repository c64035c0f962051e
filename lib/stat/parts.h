/*
 * Counting, for its files; private to lib/stat.
 *
 * stat.c: runs, intervals, the end.  counted_events.c: which events.  counter_attr.c: what the
 * kernel is asked for.  open_counters.c: their descriptors.  read_counters.c: from descriptors to
 * the table, and where CPUs are.  output.c: output.  commands.c: commands that come by a pipe.
 * cpu_changes.c: CPUs that come and go.  whom.c: CPUs and threads.  function_counts.c: functions
 * that are places of one event.  file_tables.c: more descriptors than may be open.
 */
#ifndef PP_STAT_PARTS_H
#define PP_STAT_PARTS_H

#include "count/form.h"
#include "pevent/online.h"
#include "record/command.h"
#include "stat/stat.h"
#include "table/table.h"

#include <time.h>

#define STAT_NS		  1000000000u /* of a second */
#define STAT_WATCH_PLACES 16	      /* of samples of places, in what epoll reports */
#define STAT_PLACES_MAX	  64	      /* events with places: one or two for each definition */

/* An event of a cgroup, or of all. */
struct stat_event {
	const struct pevent *ev;
	char *name;	    /* owned: with :u where the kernel side is forbidden */
	const char *cgroup; /* NULL: none */
	int cgroup_fd;	    /* -1: none */
	uint32_t set;	    /* of several cgroups the one whose events these are */
	uint32_t place;	    /* a place of the event, from 1: it has no descriptors; 0: all of it */
	bool supported, user_only;
	int *fds;		  /* [cpu * n_tids + tid], -1 where there is none */
	bool *leads;		  /* the same: it is switched on and off on its own */
	struct count_value *base; /* the same: what was counted there before the CPU went */
};

/* A buffer that the kernel writes samples to, of a CPU. */
struct stat_ring {
	struct perf_event_mmap_page *page; /* NULL: none */
	size_t size;			   /* of the mapping */
	int fd; /* of the event that owns it; it is closed with the others */
};

/*
 * Events that are probes at many places. The kernel takes long to switch off an event of its own
 * for each, so there is one, whose samples, which name the place, are counted here.
 */
struct stat_places {
	uint32_t first[STAT_PLACES_MAX]; /* of each such event the first place in `events` */
	uint32_t at[STAT_PLACES_MAX];	 /* and where its samples have the number of the place */
	uint32_t n;
	int *fds;		 /* [(event * n_cpus + cpu) * n_tids + tid] by target.cpus, or -1 */
	struct stat_ring *rings; /* of target.cpus */
	uint64_t taken, hits;	 /* samples that came; hits by counters that are closed */
};

struct stat_control {
	int in, ack; /* -1: none */
	bool own;    /* they were opened here */
};

struct stat_table;

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
	/* Further tables of files, for the descriptors of those from first_part on. */
	struct stat_table *more_files;
	size_t n_more_files, first_part;
	struct counts counts;
	struct command command;
	struct stat_control control;
	struct online online;
	struct stat_places places;
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
	int other;				      /* the process of --while, or -1 */
	bool close_out;
	bool system_wide;
	bool interrupted; /* by a signal: no further runs */
	bool over;	  /* before counting began */
	bool cut_short;	  /* the command was sent SIGTERM at the end */
	bool on;	  /* counters were enabled */
	bool uncounted;	  /* a CPU came and was not counted, or hits were lost */
};

/* counted_events.c */

/* The events to count, the usual ones if the user named none. */
int stat_events(struct counting *s);
void stat_events_release(struct counting *s);

/* whom.c */

/* The CPUs and threads to count on. 0 or a code that has been reported. */
int stat_find_target(struct counting *s);

/* Where a CPU is, by sysfs. */
void stat_place(int cpu, struct count_cpu *place);

/* counter_attr.c */

/* What the kernel is asked for. `leads`: it is switched on directly, or by exec. */
struct perf_event_attr stat_attr(const struct counting *s, const struct stat_event *e, bool leads);

/* Reports why an event was refused. The code. */
int stat_cannot(const struct counting *s, const struct stat_event *e, int errnum);

/* open_counters.c */

/* Opens all events for the CPUs and threads; they do not count yet. */
int stat_open(struct counting *s);
int stat_open_on(struct counting *s, size_t cpu); /* for one of the CPUs */
void stat_enable(struct counting *s, bool on);
void stat_close(struct counting *s);

/* file_tables.c */

/* A piece of work on the descriptors of some of the threads, which are numbers in s->tids. */
typedef int stat_part(struct counting *s, size_t from, size_t to);

/*
 * Makes room for the descriptors of a run: in one table of files, or in several if that is not
 * enough. Before the first of them is opened. 0 or PP_ENOMEM.
 */
int stat_files_begin(struct counting *s);
/* Does it for all threads, where their descriptors are open, in turn. The first error. */
int stat_files_each(struct counting *s, stat_part *part);
/* Closes what is open in the further tables. */
void stat_files_end(struct counting *s);

/* function_counts.c */

/* Before a run, if there are such events. 0 or a code that has been reported. */
int stat_places_begin(struct counting *s);

/* Opens them on one of s->cpus, of which -1 means all. */
int stat_places_open_on(struct counting *s, size_t cpu, size_t from, size_t to);
void stat_places_enable(const struct counting *s, bool on, size_t from, size_t to);

/* What has come, to the cells of the places. */
void stat_places_take(struct counting *s);

/* A CPU is gone: what it had counts. */
void stat_places_leave(struct counting *s, size_t cpu);

/* The end of a run, when nothing is counted any more: reports what was lost. */
void stat_places_end(struct counting *s);
void stat_places_close(struct counting *s);
void stat_places_release(struct counting *s);

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
