/*
 * Recording: what pcap-perf asks of the kernel, and the perf.data stream that it makes of it.
 *
 *	struct record_config c = {.freq = 99, .all_cpus = true, .fd = 1};
 *	struct record_stats st;
 *	rc = record_events_add(&c.events, "cycles:u,sched:*", NULL, &why);
 *	rc = record_events_filter(&c.events, "prev_pid != 0", &why);
 *	c.duration_ns = 10 * 1000000000ull;
 *	rc = record_run(&c, diag, &st);
 *	record_events_release(&c.events);
 *
 * Without record_events_add it records the default event.
 *
 * The output is perf.data in its pipe format (see perfdata/format.h), which needs no seeking: the
 * attributes, names and formats of the events, then the tasks that exist already, written as if
 * they had just started, then what the kernel's ring buffers yield. The sources of the formats are
 * perf_event_open(2), <linux/perf_event.h> and perf.data-file-format.txt of the kernel tree.
 */
#ifndef PP_RECORD_H
#define PP_RECORD_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define RECORD_EVENTS_MAX    8192  /* events of one recording, globs expanded */
#define RECORD_PAGES_DEFAULT 128   /* pages of a ring buffer */
#define RECORD_PAGES_STACKS  1024  /* likewise, for copies of stacks */
#define RECORD_PAGES_MAX     65536 /* likewise */
#define RECORD_FREQ_DEFAULT  4000  /* Hz */
#define RECORD_PRECISE_MAX   4	   /* record_event.precise: as precise as the machine allows */

/* An event as the user named it. */
struct record_event {
	char *name;	   /* as perf shows it: "cycles:u", "sched:sched_switch" */
	char *system, *tp; /* a tracepoint's two names; NULL for other events */
	char *filter;	   /* the kernel's filter expression, or NULL */
	uint32_t type;	   /* PERF_TYPE_* */
	uint64_t config;   /* the event's number within the type */
	uint8_t precise;   /* 0 to 3, or RECORD_PRECISE_MAX */
	bool modifiers;	   /* the user said which levels (u, k, h) to record */
	bool exclude_user, exclude_kernel, exclude_hv;
	bool exclude_host, exclude_guest, exclude_idle, pinned;
};

/* A growing list of events; zero it to begin. The texts live in the arena. */
struct record_events {
	struct record_event *v;
	size_t n, cap;
	size_t last; /* the first event of the last record_events_add */
	struct arena arena;
};

/*
 * Adds the events of a comma-separated list: hardware, software and cache events by perf's names,
 * rNNN, and system:name tracepoints, where both parts may be globs; all but rNNN with modifiers
 * after a colon. tracefs is the directory above events/, NULL to look where it is usually mounted.
 * Returns 0; PP_EUSAGE (not the syntax, or an event that no machine has), PP_ENOENT (no such
 * tracepoint, or no tracefs), PP_EACCES, PP_ELIMIT or PP_ENOMEM, with the reason in `why`.
 */
int record_events_add(struct record_events *e, const char *list, const char *tracefs,
		      struct buf *why);

/*
 * Sets the filter expression of the tracepoints of the last record_events_add; a second one for
 * the same events is joined by &&. 0, PP_EUSAGE (with the reason in `why`) or PP_ENOMEM.
 */
int record_events_filter(struct record_events *e, const char *expr, struct buf *why);

void record_events_release(struct record_events *e);

/* How call chains are recorded. */
enum record_chains {
	RECORD_NO_CHAINS,
	RECORD_CHAINS_FP,    /* the kernel walks frame pointers */
	RECORD_CHAINS_DWARF, /* registers and a copy of the user stack, which psym unwinds */
	RECORD_CHAINS_LBR,   /* the processor's last branches, used as a stack of calls */
};

#define RECORD_STACK_DEFAULT 16384 /* bytes of a copy of the user stack */
#define RECORD_STACK_MAX     65528 /* the kernel's limit */

struct record_config {
	struct record_events events; /* none: cycles, or cpu-clock where there is no PMU */
	uint64_t freq;		     /* samples per second of each event; 0: not given */
	uint64_t period;	     /* events per sample; 0: not given; goes before freq */
	bool freq_max;		     /* as fast as the kernel allows */
	bool all_cpus;		     /* every task on the CPUs; otherwise pids or command */
	enum record_chains chains;
	uint32_t stack_size; /* of RECORD_CHAINS_DWARF, a multiple of 8; 0: the default */
	const char *cpus;    /* with all_cpus: "0-3,6"; NULL: those that are online */
	const char *pids;    /* "12,34": the threads of these processes and their children */
	uint32_t pages;	     /* of each CPU's buffer: a power of two; 0: the default */
	bool use_clock;	     /* stamp by `clock`, not by the scheduler's clock */
	clockid_t clock;
	uint64_t duration_ns; /* 0: until a signal or the end of the command */
	char **command;	      /* NULL, or argv of what to run */
	int argc;	      /* this program's own arguments, for the record */
	char **argv;
	int fd; /* where the recording goes; record_run closes it */
};

/*
 * Options in words: a frequency in Hz or "max"; a period; a power of two of pages; a clock as perf
 * and clock_gettime(2) name it; a way to record call chains, as fp, dwarf, dwarf,SIZE or lbr.
 * 0 or PP_EUSAGE with the reason in `why`.
 */
int record_set_chains(struct record_config *c, const char *arg, struct buf *why);
int record_set_freq(struct record_config *c, const char *arg, struct buf *why);
int record_set_period(struct record_config *c, const char *arg, struct buf *why);
int record_set_pages(struct record_config *c, const char *arg, struct buf *why);
int record_set_clock(struct record_config *c, const char *arg, struct buf *why);

/*
 * When to end: no word at all, SECONDS (decimals are fine), or a command and its arguments; words
 * ends with NULL. A lone number is a command if `command` is set ("--" stood before it). Nothing
 * else to record makes it all CPUs. 0 or PP_EUSAGE.
 */
int record_set_end(struct record_config *c, char **words, bool command, struct buf *why);

/*
 * Sets fd to a new file, or to stdout for NULL and "-", which must not be a terminal. 0, PP_EIO, or
 * PP_EUSAGE, reported to d.
 */
int record_open_output(struct record_config *c, const char *path, struct diag *d);

struct record_stats {
	uint64_t samples; /* in the recording */
	uint64_t lost;	  /* events that the kernel had no room for */
	uint64_t bytes;	  /* written */
};

/*
 * Records until the duration is over, the command has ended, all of `pids` have ended, or SIGINT or
 * SIGTERM comes, whichever is first; a command that still runs then is sent SIGTERM. Signals that
 * it handles are blocked while it runs, and the mask is restored. Returns 0; PP_EPIPE when the
 * reader of the output is gone; PP_EUSAGE for contradictions; or another code; all but PP_EPIPE
 * have been told to d, as have losses. The statistics are valid in each case.
 */
int record_run(const struct record_config *c, struct diag *d, struct record_stats *st);

#endif
