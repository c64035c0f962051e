/*
 * Recording with ftrace. Private to lib/ftrace: ftrace.h is the interface.
 *
 * The flow: wanted.c holds the words of the command line, switch_events.c and function_lists.c find
 * what they mean, setup.c brings all of it into an instance (tracefs_files.c writes, journal.c
 * keeps what was before), recording_head.c reads what a recording begins with, buffer_rounds.c
 * reads the pages of the ring buffers round by round, write_stream_form.c writes them as a stream
 * (tracedat/write_sections.h: as trace.dat), recording.c is the life of a recording, buffers.c that
 * of the ones that stay.
 */
#ifndef PP_FTRACE_PARTS_H
#define PP_FTRACE_PARTS_H

#include "base/intern.h"
#include "ftrace/tracefs_files.h"
#include "ftrace/ftrace.h"
#include "ftrace/journal.h"
#include "inplace/inplace.h"
#include "tracedat/write_sections.h"

#define FTRACE_NAME_MAX 100 /* bytes of the name of a buffer */

/* ---- setup.c ---- */

/* What is being traced, in an instance or at the top. */
struct setup {
	const struct ftrace_config *c;
	struct diag *d;
	const char *root;
	struct ftfiles files;
	struct journal *journal;
	struct ftrace_words events; /* "SYSTEM/EVENT" of what is switched on, in the arena */
	struct arena arena;
	pid_t command;	  /* 0: none */
	struct buf clock; /* the text of trace_clock */
	const struct inplace *probes;
	bool top;	/* it is not an instance */
	bool symbols;	/* what is recorded has addresses of the kernel */
	bool no_tracer; /* the tracer was refused, not something else */
};

/* Finds tracefs. */
int setup_root(const char **root, struct diag *d);

/*
 * Makes the instance `name` (NULL: the one of that journal), and sets everything up but
 * tracing_on; at the top if the tracer is refused in an instance. 0, or a code that was reported.
 */
int setup_begin(struct setup *s, const char *name);
/* Switches the events of probes on that were made for it. */
int setup_probes(struct setup *s, const struct inplace *probes);
int setup_on(struct setup *s, bool on);
void setup_release(struct setup *s);

/* ---- switch_events.c ---- */

int setup_events(struct setup *s, struct buf *why);

/* ---- function_lists.c ---- */

/* Writes one of the lists of functions. */
int setup_functions(struct setup *s, const char *file, const struct ftrace_words *words,
		    struct buf *why);
/* The functions that match a pattern, one per line. */
int functions_list(const char *root, const char *pattern, struct buf *text);

/* ---- recording_head.c ---- */

/* What a recording begins with, and the CPUs that there are. */
struct head {
	struct trace_head file;
	int *cpus; /* owned */
	size_t n_cpus;
};

/* `all`: the formats of all events, not of what is recorded. 0, or a code that was reported. */
int head_read(struct head *h, const struct setup *setups, size_t n, bool all);
void head_release(struct head *h);

/* ---- thread_names.c ---- */

/* The names of threads, as far as they were seen. */
struct names {
	struct map64 pids; /* to index + 1 */
	struct name {
		uint32_t pid;
		char comm[16];
	} * v;
	uint32_t n, cap;
	struct buf text; /* of saved_cmdlines */
	struct buf
		news; /* lines "PID COMM\n" of those that are new, or changed, since it was reset */
};

/* Those that run now. */
int comms_begin(struct names *n);
/* Those that the kernel has saved. */
int comms_look(struct names *n, const struct ftfiles *f);
/* All of them, "PID COMM\n" each. */
void comms_all(const struct names *n, struct buf *b);
void comms_release(struct names *n);

/* ---- buffer_rounds.c ---- */

#define LIVE_ROOM 24 /* bytes before the pages, for the head of their section */

/* Takes whole pages of a CPU, with room of LIVE_ROOM bytes before them. */
typedef int round_fn(void *ctx, size_t buffer, int cpu, uint8_t *pages, size_t n);

struct round_cpu {
	int cpu;
	int fd;
	uint64_t bytes;	    /* of pages that came */
	uint64_t lost;	    /* events, where their number is known */
	uint64_t gaps;	    /* places where it is not */
	uint64_t pauses;    /* while the buffer grew: nobody knows what was lost then */
	uint64_t overrun;   /* what was lost when it grew last */
	uint64_t buffer_kb; /* its size now */
};

/* The file that the pages of a CPU go to, as they are; -1: none, they have to be given. */
typedef int round_file_fn(void *ctx, size_t buffer, int cpu);

struct rounds {
	struct setup *s;
	size_t buffer;	   /* which of the recording's it is */
	round_file_fn *to; /* NULL: none */
	const char *file;  /* of per_cpu/cpuN */
	struct round_cpu *cpus;
	size_t n;
	uint32_t page_size;
	uint8_t *pages;
	size_t cap;
	int pipe[2]; /* through which pages are moved; -1: they are copied */
	bool moved;
	bool wakes; /* poll reports when a buffer fills */
	bool fixed; /* the size of buffers */
	bool no_room;
	uint64_t grown; /* kB that were added */
};

/* file: of per_cpu/cpuN, "trace_pipe_raw" or "snapshot_raw". */
int ftrounds_open(struct rounds *r, struct setup *s, const struct head *h, const char *file);
/* Opens those of CPUs that have come since. */
int ftrounds_more(struct rounds *r, const int *cpus, size_t n);
/* Reads all that is there. *got: bytes. 0, or an error of fn or of reading. */
int ftrounds_pass(struct rounds *r, round_fn *fn, void *ctx, uint64_t *got);
/* What the kernel says that was lost until now. */
uint64_t ftrounds_lost(const struct rounds *r);
/* Counts what was lost in pages that were not looked at. */
void ftrounds_count(struct rounds *r);
/* The sum of what was lost, and words about it. */
uint64_t ftrounds_tell(const struct rounds *r, const char *action, struct diag *d);
/* What per_cpu/cpuN/stats says, as options of a trace.dat. */
void ftrounds_stats(const struct rounds *r, const char *buffer, struct buf *options);
void ftrounds_close(struct rounds *r);
/* The free memory of the machine; 0: unknown. */
uint64_t ftrounds_free_kb(void);

/* ---- write_stream_form.c ---- */

/* The stream form. */
struct live {
	int fd;
	const volatile sig_atomic_t *stop;
	struct diag *d;
	size_t page_size;
	struct buf head;
};

/* A buffer of the recording. */
struct live_buffer {
	const char *name, *clock; /* clock: as trace_clock has it */
	bool is_text;
};

/* Errors of writing have been reported, but not that the reader is gone (PP_EPIPE). */
int live_begin(struct live *l, int fd, struct head *h, const struct live_buffer *buffers, size_t n,
	       const volatile sig_atomic_t *stop, struct diag *d);
int live_names(struct live *l, struct names *names);
int live_pages(struct live *l, size_t buffer, int cpu, uint8_t *pages, size_t n);
int live_text(struct live *l, size_t buffer, const struct buf *text);
int live_round(struct live *l);
int live_end(struct live *l, uint64_t lost);
void live_release(struct live *l);

/* ---- recording.c ---- */

/* Waits for the duration, the command, or the signal; of those that print something in the end. */
int record_wait(const struct ftrace_config *c, const volatile sig_atomic_t *stop, int *status,
		struct diag *d);

#endif
