/*
 * Recording with ftrace. Private to lib/ftrace: ftrace.h is the door.
 *
 * The flow: config.c holds the words of the command line, events.c and functions.c find what they
 * mean, setup.c brings all of it into an instance (files.c writes, journal.c keeps what was
 * before), head.c reads what a recording begins with, rounds.c reads the pages of the ring buffers
 * round by round, file.c and live.c write them as trace.dat and as a stream, record.c is the life
 * of a recording, buffers.c that of the ones that stay.
 */
#ifndef PP_FTRACE_PARTS_H
#define PP_FTRACE_PARTS_H

#include "base/intern.h"
#include "ftrace/files.h"
#include "ftrace/ftrace.h"
#include "ftrace/journal.h"
#include "inplace/inplace.h"

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
	pid_t command; /* 0: none */
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

/* ---- events.c ---- */

int setup_events(struct setup *s, struct buf *why);

/* ---- functions.c ---- */

/* Writes one of the lists of functions. */
int setup_functions(struct setup *s, const char *file, const struct ftrace_words *words,
		    struct buf *why);
/* The functions that fit a pattern, a line each. */
int functions_list(const char *root, const char *pattern, struct buf *text);

/* ---- head.c ---- */

/* What a recording begins with, in the form of the sections of a trace.dat. */
struct head {
	struct buf header_info, ftrace_formats, formats, kallsyms, printk;
	struct buf uname;
	struct buf clock; /* the text of trace_clock */
	uint32_t page_size;
	int *cpus; /* owned */
	size_t n_cpus;
	uint32_t cpu_count; /* the machine's */
};

/* `all`: the formats of all events. 0, or a code that was reported. */
int head_read(struct head *h, const struct setup *s, bool all);
void head_release(struct head *h);

/* Numbers of the format, in the byte order of this machine. */
static inline void add_u16(struct buf *b, uint16_t v)
{
	buf_add(b, &v, sizeof(v));
}
static inline void add_u32(struct buf *b, uint32_t v)
{
	buf_add(b, &v, sizeof(v));
}
static inline void add_u64(struct buf *b, uint64_t v)
{
	buf_add(b, &v, sizeof(v));
}

/* The first bytes, up to the page size; version "6", "7", "stream". */
void head_magic(struct buf *b, const char *version, uint32_t page_size);
/* An option of a trace.dat. */
void head_option(struct buf *b, unsigned id, const void *data, size_t n);
/* The options that tell of the machine and the recorder. */
void head_options(const struct head *h, struct buf *b);

/* ---- names.c ---- */

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

/* ---- rounds.c ---- */

#define LIVE_ROOM 24 /* bytes before the pages, for the head of their section */

/* Takes whole pages of a CPU, with room of LIVE_ROOM bytes before them. */
typedef int round_fn(void *ctx, size_t cpu, uint8_t *pages, size_t n);

struct round_cpu {
	int cpu;
	int fd;
	uint64_t bytes;	    /* of pages that came */
	uint64_t lost;	    /* events, where their number is known */
	uint64_t gaps;	    /* places where it is not */
	uint64_t buffer_kb; /* its size now */
};

struct rounds {
	struct setup *s;
	const struct head *head;
	struct round_cpu *cpus; /* as head->cpus */
	size_t n;
	uint8_t *pages;
	size_t cap;
	bool wakes; /* poll tells when a buffer fills */
	bool fixed; /* the size of buffers */
	bool no_room;
	uint64_t grown; /* kB that were added */
};

/* file: of per_cpu/cpuN, "trace_pipe_raw" or "snapshot_raw". */
int ftrounds_open(struct rounds *r, struct setup *s, const struct head *h, const char *file);
/* Reads all that is there. *got: bytes. 0, or an error of fn or of reading. */
int ftrounds_pass(struct rounds *r, round_fn *fn, void *ctx, uint64_t *got);
/* The sum of what was lost, and words about it. */
uint64_t ftrounds_tell(const struct rounds *r, const char *action, struct diag *d);
/* What per_cpu/cpuN/stats says. */
void ftrounds_stats(const struct rounds *r, size_t i, struct buf *text);
void ftrounds_close(struct rounds *r);

/* ---- file.c ---- */

/* A trace.dat that is being written. */
struct datfile {
	const char *path;
	const struct head *head;
	struct diag *d;
	int fd;
	int *parts; /* files of the pages of each CPU */
	size_t n;
	bool keep; /* they stay */
	unsigned version;
	int pack_level;
	uint64_t len;
	uint64_t link; /* where the place of the next options is written */
};

/* Writes the head, and makes a file PATH.cpuN for each CPU. 0, or a code that was reported. */
int datfile_begin(struct datfile *f, const char *path, const struct head *h, unsigned version,
		  int pack_level, struct diag *d);
/* The same with files of pages that are there, FROM.cpuN, and stay. */
int datfile_of(struct datfile *f, const char *path, const char *from, const struct head *h,
	       unsigned version, int pack_level, struct diag *d);
int datfile_pages(void *f, size_t cpu, uint8_t *pages, size_t n);
/* The end: the pages of the CPUs come to the file. */
int datfile_end(struct datfile *f, const struct names *names, const struct rounds *r);
void datfile_release(struct datfile *f);

/* ---- live.c ---- */

/* The stream form. */
struct live {
	int fd;
	const volatile sig_atomic_t *stop;
	struct diag *d;
	size_t page_size;
	struct buf head;
};

/* Errors of writing have been reported, but not that the reader is gone (PP_EPIPE). */
int live_begin(struct live *l, int fd, const struct head *h, const volatile sig_atomic_t *stop,
	       struct diag *d);
int live_names(struct live *l, struct names *names);
int live_pages(struct live *l, int cpu, uint8_t *pages, size_t n);
int live_round(struct live *l);
int live_end(struct live *l, uint64_t lost);
void live_release(struct live *l);

/* ---- record.c ---- */

/* Waits for the duration, the command, or the signal; of those that print something in the end. */
int record_wait(const struct ftrace_config *c, const volatile sig_atomic_t *stop, int *status,
		struct diag *d);

#endif
