/*
 * Recording with ftrace: what pcap-ftrace asks of tracefs, and the trace.dat that it makes from it.
 *
 *	struct ftrace_config c = {.fd = 1};
 *	struct ftrace_stats st;
 *	rc = ftrace_add_event(&c, "sched", &why);
 *	rc = ftrace_filter(&c, "prev_pid != 0", &why);
 *	c.duration_ns = 10 * 1000000000ull;
 *	rc = ftrace_record(&c, diag, &st);
 *	ftrace_config_release(&c);
 *
 * A recording has an ftrace instance of its own, which is removed at the end. What the kernel
 * has only once for the whole machine is set globally, recorded in a journal, and restored
 * (journal.h).
 * Sources: Documentation/trace/ftrace.rst, events.rst and histogram.rst of the kernel; for the
 * files, trace-cmd.dat.v6(5) and trace-cmd.dat.v7(5); for the form in a pipe, perfpipe-formats(7).
 */
#ifndef PP_FTRACE_FTRACE_H
#define PP_FTRACE_FTRACE_H

#include "base/buf.h"
#include "base/diag.h"
#include "record/probes.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Texts of the command line, not owned. */
struct ftrace_words {
	const char **v;
	size_t n, cap;
};

/* One -e: a pattern, whether it leaves out matches, and settings for these events. */
struct ftrace_event {
	const char *pattern;
	bool not ;
	bool maybe; /* there may be none */
	const char *filter;
	struct ftrace_words triggers;
};

struct ftrace_config {
	const char *name;	    /* of an additional buffer; "": the main one */
	struct ftrace_config *next; /* the next buffer (only buffer settings count), or NULL */
	struct ftrace_event *events;
	size_t n_events, cap_events;
	bool not ; /* what follows is left out (-v) */

	const char *tracer; /* NULL: none */
	struct ftrace_words functions, not_functions, graph, not_graph;
	uint32_t depth;	    /* of function_graph; 0: as deep as it goes */
	const char *clock;  /* NULL: the kernel's default */
	const char *cpus;   /* "0-3"; NULL: all */
	uint64_t buffer_kb; /* of each CPU; 0: by the rate of events */
	struct ftrace_words options;
	bool stacks;	    /* of each event */
	bool func_stacks;   /* of each function */
	bool profile;	    /* the events that show where time goes */
	const char *thresh; /* tracing_thresh, us */
	int realtime;	    /* priority; 0: none */

	/* of all buffers */
	struct probe_words probes; /* in the main one */
	const char *pids;	   /* "12,34"; NULL: all */
	bool only_command;
	bool children;	      /* of these, too */
	pid_t while_pid;      /* until this process ends; 0: none */
	uint64_t duration_ns; /* 0: until a signal or the end of the command */
	uint64_t interval_ns; /* at most this long between reads; 0: the default */
	char **command;	      /* NULL, or argv of what to run */
	char **argv;
	int argc;
	bool date; /* the time of day of the first buffer's clock is recorded */

	const char *output; /* NULL: stdout */
	unsigned version;   /* of trace.dat: 6, 7 */
	int pack_level;	    /* of zstd; 0: not compressed */
};

/* An additional buffer after the last one. 0 or PP_EUSAGE, PP_ENOMEM with the reason in why. */
int ftrace_add_buffer(struct ftrace_config *c, const char *name, struct buf *why);

int ftrace_words_add(struct ftrace_words *w, const char *text);

/* 0, or PP_EUSAGE or PP_ENOMEM with the reason in why. */
int ftrace_add_event(struct ftrace_config *c, const char *pattern, struct buf *why);
int ftrace_filter(struct ftrace_config *c, const char *expr, struct buf *why);
int ftrace_trigger(struct ftrace_config *c, const char *trigger, struct buf *why);

void ftrace_config_release(struct ftrace_config *c);

struct ftrace_stats {
	uint64_t lost;	/* events that the kernel had no room for */
	uint64_t bytes; /* of pages */
	int command;	/* exit status of the command, 128 + the signal that ended it; 0 */
};

/*
 * Records until the duration is over, the command has ended, or *stop is set by a signal handler.
 * Returns 0; PP_EPIPE when the reader of the output is gone; PP_EUSAGE; or another code: all but
 * PP_EPIPE have been reported to d. The machine is as it was before.
 */
int ftrace_record(const struct ftrace_config *c, const volatile sig_atomic_t *stop, struct diag *d,
		  struct ftrace_stats *st);

/* ---- buffers that stay ---- */

/* Sets the configuration up as a buffer that continues to record after this process. */
int ftrace_start(const struct ftrace_config *c, const char *name, struct diag *d);
/* Switches it off or on again; its recorded events remain. */
int ftrace_switch(const char *name, bool on, struct diag *d);
int ftrace_clear(const char *name, struct diag *d);
/*
 * Prints it as text; cpus: of these CPUs, one after another, or NULL. It records nothing meanwhile.
 */
int ftrace_show(const char *name, const char *cpus, int fd, struct diag *d);
/* Moves its recorded events into c->output; it records nothing meanwhile. */
int ftrace_extract(const struct ftrace_config *c, const char *name, struct diag *d,
		   struct ftrace_stats *st);
/*
 * Makes c->output from FILE.cpuN, the pages that a recorder of this kernel left when it was killed.
 * Those are kept.
 */
int ftrace_restore(const struct ftrace_config *c, const char *file, struct diag *d);
/* Takes a snapshot, and prints it in the same way. */
int ftrace_snapshot(const char *name, const char *cpus, int fd, struct diag *d);
/* Restores the settings changed for it, or for all (NULL). */
int ftrace_reset(const char *name, struct diag *d);
/* Switches everything off that anybody has set; without `sure` it only reports. */
int ftrace_reset_all(bool sure, struct diag *d);
/* What is switched on, and by whom. */
int ftrace_status(struct buf *text, struct diag *d);
/* What there is: events, tracers, clocks, options, functions; words: which of them, by GLOB. */
int ftrace_list(char *const *words, struct buf *text, struct diag *d);
/* The events of this machine whose text cannot be printed from their format, one per line. */
int ftrace_check_events(struct buf *failed, struct diag *d);
/* Makes a histogram in the kernel, and prints it at the end. */
int ftrace_hist(const struct ftrace_config *c, const char *spec, const volatile sig_atomic_t *stop,
		struct diag *d);
/* The deepest kernel stack since the stack tracer was switched on, which it is meanwhile. */
int ftrace_stack(const struct ftrace_config *c, const volatile sig_atomic_t *stop, struct diag *d);

#endif
