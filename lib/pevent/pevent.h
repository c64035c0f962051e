/*
 * Events of perf_event_open(2): from the words of -e to attributes, for recording and counting.
 *
 *	struct pevents e = {0};			(e.sys, e.tracefs: NULL for the machine's own)
 *	struct buf why = BUF_INIT;
 *
 *	rc = pevents_add(&e, "{cycles,instructions}:u,sched:sched_*", &why);
 *	rc = pevents_filter(&e, "prev_pid != 0", &why);
 *	for (size_t i = 0; i < e.n; i++) {
 *		struct perf_event_attr attr = e.v[i].attr;	(e.v[i].name as perf shows it)
 *		...
 *	}
 *	pevents_release(&e);
 *
 * What -e takes: several, separated by commas, each with modifiers after a colon (or after the
 * last slash):
 *
 *	NAME			hardware, software, cache and tool events by perf's names
 *	NAME			an event that a PMU below sysfs names, as "mem-loads" or "tsc"
 *	PMU/TERM[=VALUE],.../	the PMU's formats, its named events; see the table of terms
 *	EVENT/TERM[=VALUE],.../	the terms that say how to record, for any event
 *	rNNN, TYPE:CONFIG	numbers: a raw event, in hexadecimal; any type and config
 *	mem:ADDR[/LEN][:rwx]	a breakpoint
 *	SYSTEM:NAME		tracepoints; both parts may be globs
 *	!SYSTEM:NAME		leaves out tracepoints named before, but in groups
 *	[NAME]{EVENT,EVENT,...}	a group, counted together or not at all
 *
 * The attribute is complete in what says *what* is counted (type, config, breakpoint,
 * exclusions, precise_ip, pinned, exclusive). What is done with it is left to the caller: sampling,
 * read_format, inherit, opening, IOC_SET_FILTER with `filter`; lowering precise_ip step by step
 * where precise_max is set; leaving out exclude_guest where the PMU does not take it; the tool
 * events, which the kernel does not know; the CPUs of a PMU that counts for a whole socket.
 *
 * Sources: perf_event_open(2), <linux/perf_event.h>, Documentation/ABI/testing/
 * sysfs-bus-event_source-devices-* of the kernel, and perf-list(1) for names and modifiers.
 */
#ifndef PP_PEVENT_PEVENT_H
#define PP_PEVENT_PEVENT_H

#include "base/arena.h"
#include "base/buf.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PEVENTS_MAX	   8192 /* events of one list, globs expanded */
#define PEVENT_PRECISE_MAX 3	/* perf_event_attr.precise_ip */

/* What a term can say, or leave open. */
enum pevent_choice { PEVENT_OPEN, PEVENT_NO, PEVENT_YES };

/* Events that the kernel does not count: `type` and `config` are those of the software's dummy. */
enum pevent_tool { PEVENT_NO_TOOL, PEVENT_DURATION_TIME, PEVENT_USER_TIME, PEVENT_SYSTEM_TIME };

/* An event. All texts live in the list's arena. */
struct pevent {
	struct perf_event_attr attr; /* what is counted; the rest is 0 but size */
	char *name;		     /* as perf shows it: "cycles:u", "cpu/event=0x0e/", or name= */
	char *system, *tp;	     /* a tracepoint's two names, else NULL */
	char *shown;		     /* the system's name in the recording; NULL: the same */
	uint32_t pattern;	     /* 0, or a number for each pattern that named several */
	const char *const *places;   /* names of the places that its field "place" numbers from 1 */
	uint32_t n_places;	     /* 0: it has no such field */
	char *filter;		     /* the kernel's filter expression, or NULL */
	char *cgroup;		     /* set by pevents_cgroups, or NULL */
	enum pevent_tool tool;

	bool precise_max;	 /* :P, as precise as the machine allows: attr.precise_ip is 3 */
	bool levels;		 /* the user said which levels (u, k, h) to count */
	bool levels_fixed_guest; /* the user said G or H */
	bool counted_too;	 /* :S, samples of the group's leader have the counts of all */
	bool weak; /* :W, the group is given up when it cannot be scheduled together */

	uint32_t group;	  /* 0: none; events with the same number are a group, the first leads */
	char *group_name; /* "NAME{...}", or NULL */

	char *pmu;     /* name below sysfs, or NULL */
	char *cpus;    /* the list of CPUs to open it on ("0,18"), or NULL: all */
	bool cpus_all; /* `cpus` says where the PMU is (hybrid), not who counts for a socket */
	double scale;  /* of the count, by sysfs; 0 if it has none */
	char *unit;    /* of the scaled count ("Joules"), or NULL */
	bool per_pkg, snapshot; /* sysfs: one count for a socket; a level and no sum */

	/* Terms that say how to record; 0, NULL and PEVENT_OPEN where they are not given. */
	uint64_t period, freq; /* freq UINT64_MAX: max */
	char *callgraph;       /* "fp", "dwarf", "lbr", "no" */
	char *branch;	       /* branch_type= */
	uint32_t stack_size;   /* bytes of the stack that dwarf copies */
	uint32_t max_stack;    /* frames of a chain */
	uint32_t aux_sample_size;
	enum pevent_choice time, inherit, overwrite, percore, aux_output;
};

/* A growing list of events; zero it to begin. */
struct pevents {
	struct pevent *v;
	size_t n, cap;
	size_t last;	     /* the first event of the last pevents_add */
	uint32_t groups;     /* number of groups made */
	uint32_t patterns;   /* and of patterns given */
	const char *sys;     /* "/sys", or a tree like it; NULL for /sys */
	const char *tracefs; /* the directory above events/; NULL to look where it is mounted */
	struct arena arena;
};

/*
 * Adds the events of a list. Returns 0; PP_EUSAGE (not the syntax, or an event that no machine
 * has), PP_ENOENT (this machine has no such event, PMU or tracepoint, or no tracefs), PP_EACCES,
 * PP_EUNSUPPORTED, PP_ELIMIT or PP_ENOMEM, with the reason in `why`.
 */
int pevents_add(struct pevents *e, const char *list, struct buf *why);

/*
 * Sets the filter expression of the tracepoints (and PMUs with address filters) of the last
 * pevents_add; a second one for the same events is joined by &&. 0, PP_EUSAGE (with the reason in
 * `why`) or PP_ENOMEM.
 */
int pevents_filter(struct pevents *e, const char *expr, struct buf *why);

/* Kinds of memory accesses, and the cycles from which on loads are sampled unless it is told. */
enum { PEVENT_LOADS = 1, PEVENT_STORES = 2 };
#define PEVENT_LDLAT 30

/*
 * Appends to `words` the list of events, for pevents_add, by which the machine samples memory
 * accesses of these kinds, loads from `ldlat` cycles on (0: PEVENT_LDLAT). 0; PP_ENOENT with the
 * reason in `why`: there are none; PP_ENOMEM.
 */
int pevents_memory(const struct pevents *e, unsigned kinds, unsigned ldlat, struct buf *words,
		   struct buf *why);

/*
 * Gives each event its cgroup, in order: "A,B" for two events; one name is for all of the last
 * pevents_add, an empty one is for none. 0, PP_EUSAGE or PP_ENOMEM.
 */
int pevents_cgroups(struct pevents *e, const char *list, struct buf *why);

void pevents_release(struct pevents *e);

/*
 * What this machine offers, as lines "NAME<blanks>CLASS<blanks>NOTE", to b. Each word is a class
 * (hw, sw, cache, tool, raw, pmu, tracepoint, sdt, mem), a glob, or part of a name; none: all. For
 * a single tracepoint that is named in full its fields follow with their types: what a filter may
 * name. `has` says whether the kernel takes an attribute (pevent_has, or a test's own); NULL: all
 * are listed. Returns 0, PP_ENOENT when nothing fits, with the reason in `why`, or PP_ENOMEM.
 */
typedef bool pevent_has_fn(const struct perf_event_attr *attr);
bool pevent_has(const struct perf_event_attr *attr);
int pevents_list(const struct pevents *where, char *const *words, pevent_has_fn *has, struct buf *b,
		 struct buf *why);

/*
 * Functions that a probe can be set on, as the kernel lists them (available_filter_functions), one
 * a line, that fit the glob. 0, PP_ENOENT, PP_EACCES with the reason in `why`, or PP_ENOMEM.
 */
int pevents_list_functions(const struct pevents *where, const char *glob, struct buf *b,
			   struct buf *why);

#endif
