/*
 * Recording: what pcap-perf asks of the kernel, and the perf.data stream that it makes from the
 * answers.
 *
 *	struct record_config c = {.freq = 99, .whom.all_cpus = true, .fd = 1};
 *	struct record_stats st;
 *	rc = pevents_add(&c.events, "cycles:u,sched:*", &why);
 *	rc = pevents_filter(&c.events, "prev_pid != 0", &why);
 *	c.duration_ns = 10 * 1000000000ull;
 *	rc = record_run(&c, diag, &st);
 *	pevents_release(&c.events);
 *
 * Without pevents_add it records the default event.
 *
 * The output is perf.data in its pipe format (see perfdata/format.h), which needs no seeking: the
 * attributes, names and formats of the events, then the existing tasks, written as if
 * they had just started, then what the kernel's ring buffers yield. The sources of the formats are
 * perf_event_open(2), <linux/perf_event.h> and perf.data-file-format.txt of the kernel tree.
 */
#ifndef PP_RECORD_RECORD_H
#define PP_RECORD_RECORD_H

#include "base/diag.h"
#include "pevent/pevent.h"
#include "pevent/target.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define RECORD_PAGES_DEFAULT 128   /* pages of a ring buffer */
#define RECORD_PAGES_BURST   1024  /* the same, for tracepoints and periods */
#define RECORD_PAGES_COPIES  8192  /* the same, for copies of stacks */
#define RECORD_PAGES_GROWN   16384 /* the same, where losses made it grow */
#define RECORD_PAGES_MAX     65536 /* the same */
#define RECORD_FREQ_DEFAULT  4000  /* Hz */

/* How call chains are recorded. */
enum record_chains {
	RECORD_NO_CHAINS,
	RECORD_CHAINS_FP,    /* the kernel walks frame pointers */
	RECORD_CHAINS_DWARF, /* registers and a copy of the user stack, which psym unwinds */
	RECORD_CHAINS_LBR,   /* the processor's last branches, used as a stack of calls */
	RECORD_CHAINS_AUTO,  /* copies of a size by the rate of events, or fp (chains.c) */
};

#define RECORD_STACK_DEFAULT 16384 /* bytes of a copy of the user stack */
#define RECORD_STACK_MAX     65528 /* the kernel's limit */

/* Which of the existing tasks and cgroups are written before the events (--synth). */
enum record_synth {
	RECORD_SYNTH_ALL,
	RECORD_SYNTH_NONE,
	RECORD_SYNTH_TASK,
	RECORD_SYNTH_MMAP,
	RECORD_SYNTH_CGROUP,
};

/* A time span, in ns from the start; `to` 0: open. */
struct record_span {
	uint64_t from, to;
};
#define RECORD_SPANS_MAX 64

struct record_config {
	struct pevents events; /* none: cycles, or cpu-clock where there is no PMU */
	struct target_want whom;
	const char *cgroup; /* of the default event */

	uint64_t freq;		       /* samples per second of each event; 0: not given */
	uint64_t period;	       /* events per sample; 0: not given; goes before freq */
	uint64_t branches;	       /* PERF_SAMPLE_BRANCH_*; 0: none */
	uint64_t sample;	       /* PERF_SAMPLE_* beside the usual fields */
	uint64_t regs_intr, regs_user; /* registers by number */

	uint64_t snapshot_size, snapshot_ns; /* all buffers; only what is not older; 0: not given */
	uint64_t duration_ns;		     /* 0: until a signal or the end of the command */
	uint64_t max_size;		     /* bytes; 0: no limit */
	uint64_t switch_size, switch_ns;     /* when a new file begins; 0: not by that */
	struct record_span spans[RECORD_SPANS_MAX];
	size_t n_spans;	     /* when events are on; 0: always */
	const char *control; /* "fd:3,4", "fifo:PATH" */
	bool perf_map;	     /* ask Java programs for one, before and after */
	const char *bundle;  /* an archive of the binaries with samples; NULL: none */

	char **command;	      /* NULL, or argv of what to run */
	const sigset_t *mask; /* signals that are blocked in it; NULL: as they are here */
	char **argv;	      /* this program's own arguments, for the record */
	const char *path;     /* of fd, if files are switched */
	int argc;
	int fd; /* where the recording goes; record_run closes it */

	enum record_chains chains;
	uint32_t stack_size; /* of RECORD_CHAINS_DWARF, a multiple of 8; 0: the default */
	uint32_t max_stack;  /* frames; 0: as many as the kernel takes */
	enum record_synth synth;
	clockid_t clock;
	uint32_t pages;	       /* of each CPU's buffer: a power of two; 0: by what is recorded */
	pid_t while_pid;       /* the recording ends with this process; 0: not with one */
	int realtime;	       /* priority; 0: none */
	int pack_level;	       /* of zstd, by which events are compressed; 0: they are not */
	uint32_t switch_files; /* files that are kept; 0: all */

	bool no_inherit, per_thread;
	bool freq_max; /* as fast as the kernel allows */
	bool strict_freq, no_samples;
	bool group, all_user, all_kernel;
	bool user_chains, kernel_chains; /* only one part of the chains */
	bool map_data, with_period, thread_counts, running_time;
	bool switch_events, namespaces, cgroups, no_bpf, no_build_ids;
	bool use_clock;	   /* stamp by `clock`, not by monotonic */
	bool no_buffering; /* wakes up for each event */
	bool snapshot;	   /* the buffers keep the newest events, which SIGUSR2 writes */
	bool disabled;	   /* begins disabled, for `control` */
	bool switch_signal, stamp_file;
	bool no_touch; /* pages of stacks that were never touched stay as they are */
	bool overhead; /* report what it cost */
	bool waits;    /* the events are in functions that wait, whose callers are the question */
	bool tally;    /* count the samples */
};

/*
 * Options in words: a frequency in Hz or "max"; a period; a power of two of pages; a clock as perf
 * and clock_gettime(2) name it; a way to record call chains, as fp, dwarf, dwarf,SIZE or lbr.
 * 0 or PP_EUSAGE with the reason in `why`.
 */
int record_set_chains(struct record_config *c, const char *arg, struct buf *why);
int record_set_delay(struct record_config *c, const char *arg, struct buf *why);
int record_set_max_size(struct record_config *c, const char *arg, struct buf *why);
int record_set_max_stack(struct record_config *c, const char *arg, struct buf *why);
int record_set_pack(struct record_config *c, const char *arg, struct buf *why);
int record_set_realtime(struct record_config *c, const char *arg, struct buf *why);
int record_set_snapshot(struct record_config *c, const char *arg, struct buf *why);
int record_set_switch(struct record_config *c, const char *arg, struct buf *why);
int record_set_switch_files(struct record_config *c, const char *arg, struct buf *why);
int record_set_synth(struct record_config *c, const char *arg, struct buf *why);
int record_set_while(struct record_config *c, const char *arg, struct buf *why);
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
	uint64_t samples; /* in the recording; 0 for tracepoints alone, unless `tally` is set */
	uint64_t lost;	  /* events for which the kernel had no room */
	uint64_t bytes;	  /* written */
	uint32_t missing; /* binaries not in the bundle, and new CPUs that are not recorded */
	int command;	  /* exit status of the command, 128 + the signal that ended it; 0 */
};

/*
 * Records until the duration is over, the command, all of `pids` or while_pid have ended, or SIGINT
 * or SIGTERM comes, whichever is first; a command that still runs then is sent SIGTERM. Signals
 * that it handles are blocked while it runs, and the mask is restored. Returns 0; PP_EPIPE when the
 * reader of the output is gone; PP_EUSAGE for contradictions; or another code; all but PP_EPIPE
 * have been reported to d, as have losses. The statistics are valid in each case.
 */
int record_run(const struct record_config *c, struct diag *d, struct record_stats *st);

#endif
