/*
 * Private to lib/strace: the state of a trace, and what its files need of each other.
 */
#ifndef PP_STRACE_PARTS_H
#define PP_STRACE_PARTS_H

#include "base/buf.h"
#include "base/intern.h"
#include "base/out.h"
#include "stream/stream.h"
#include "strace/syscalls.h"
#include "strace/strace.h"
#include "table/gate.h"

#define STRACE_PATH_MAX 4096 /* bytes of a path that are kept */
#define TOLD_PATHS	2    /* paths of a call that can be told: rename has two */
#define STRACE_NUMBERS	512  /* calls below this number have their name in an array */
#define STRACE_FILES_MAX \
	(1u << 20) /* open files whose paths are kept; of further ones no path is */

/* What an event descriptor means. */
enum meaning {
	MEANING_NEW,
	MEANING_OTHER,
	MEANING_RAW_ENTER,
	MEANING_RAW_EXIT,
	MEANING_ENTER,
	MEANING_EXIT,
	MEANING_TOLD /* a probe: the path of the thread's next call, or of this one */
};
/* Bytes that a probe told. */
struct told_field {
	uint32_t offset, size; /* size 0: there is none */
	bool dynamic, relative;
};
struct event_arg {
	uint32_t name; /* text; of raw events 0 */
	uint32_t offset, size;
	enum arg_kind kind;
};
struct known_event {
	enum meaning meaning;
	uint32_t call;		/* text: its name; of raw events 0 */
	uint32_t nr, nr_size;	/* of raw events: where the number is */
	uint32_t ret, ret_size; /* of the end of a call */
	uint32_t extra;		/* where what BPF programs told begins; 0: nowhere */
	struct told_field path[TOLD_PATHS], sockaddr; /* of MEANING_TOLD */
	uint32_t nargs;
	bool together; /* its arguments are six numbers of 64 bits, side by side */
	struct event_arg arg[CALL_ARGS_MAX];
};

/* What is known of a name of a call. */
enum call_what {
	WHAT_SEEN = 1,
	WHAT_OPENS = 2, /* returns a descriptor of a path */
	WHAT_CLOSES = 4,
	WHAT_DOUBLES = 8,  /* returns another descriptor of a file */
	WHAT_MAKES = 16,   /* returns a descriptor of no path */
	WHAT_ADDRESS = 32, /* returns an address */
	WHAT_ENDS = 64,	   /* does not return */
	WHAT_CONNECTS = 128,
	WHAT_RESTARTS = 256 /* continues a call that a signal interrupted */
};
struct known_call {
	const struct call_args *args; /* NULL: not known */
	uint32_t nargs;
	uint32_t what;
	uint32_t row, generation; /* of the table: its row + 1, good while the generation stays */
};

struct thread {
	uint32_t tid, pid;
	uint32_t comm;			     /* text */
	uint32_t string;		     /* of the stream, which comm was last made of */
	uint32_t event;			     /* that began its call */
	uint32_t call;			     /* text: name of the call; 0: it is in none */
	uint32_t path[TOLD_PATHS], sockaddr; /* texts: what was told; 0: nothing */
	uint32_t interrupted;		     /* text: name of a call that is to be restarted */
	uint64_t start;
	uint64_t arg[CALL_ARGS_MAX];
	uint32_t nargs;
	enum ps_mark mark; /* of its beginning */
	bool narrow;	   /* its calls are of 32 bits on a machine of 64 */
	bool split;	   /* --strace: the line of the beginning was written */
};

struct strace_account {
	uint64_t samples, calls;
	uint64_t shown;	   /* calls */
	uint64_t filtered; /* calls that were not asked for */
	uint64_t unpassed; /* calls that did not pass a filter, and are not in `calls` */
	uint64_t unended, unbegun;
	uint64_t lost;
};

struct strace {
	struct strace_opts o;
	struct diag *d;
	struct out out;
	struct buf b;
	struct intern texts;
	struct known_event *events; /* by id */
	uint32_t nevents;
	struct known_call *calls; /* by text */
	uint32_t ncalls;
	struct thread *threads;
	uint32_t nthreads, cap_threads;
	struct map64 by_tid; /* number of a thread, from 1 on */
	uint32_t last;	     /* the thread of the last event, from 1 on; 0: none */
	struct map64 files;  /* text of a path, by pid and descriptor */
	uint64_t base;	     /* time of the first event */
	bool based, begun;
	bool lean; /* arguments, files and names of threads are not needed */
	bool arm;  /* flags of open are those of arm */
	char arch[32];
	const char *narrow_arch; /* of its calls of 32 bits; NULL: it has none */
	struct map64 narrow;	 /* processes whose calls are of 32 bits */
	/* Names of calls by number: text; 0: not asked yet. The second are those of 32 bits. */
	uint32_t numbers[2][STRACE_NUMBERS];
	struct map64 names;  /* the same of numbers that are greater */
	uint32_t begun_line; /* --strace: thread whose call has no line yet, from 1 on */
	bool told;	     /* a probe told a path */
	bool pathless;	     /* a path was written as its address */
	struct map64 wanted; /* by name: 1 no, 2 yes */
	struct tables tables;
	struct table *table; /* of calls; NULL: they are printed one by one */
	struct gates *gates;
	struct strace_account account;
};

/* A call that is to be written. */
struct call {
	const struct thread *t;
	uint32_t name; /* text */
	uint64_t start, end;
	bool begun, ended;
	int64_t ret;
};

/* ---- call_events.c ---- */

/* Finds out what an event means. 0 or PP_ENOMEM. */
int strace_event(struct strace *s, const struct ps_event *e);

/* A number of a payload; 0 if it is not there. */
static inline uint64_t strace_number(const struct ps_sample *p, uint32_t offset, uint32_t size)
{
	uint64_t v = 0;
	uint32_t v32;

	if (!ps_sample_has(p, payload) || offset > p->payload.len || size > p->payload.len - offset)
		return 0;
	if (size == 8) {
		memcpy(&v, p->payload.p + offset, 8);
	} else if (size == 4) {
		memcpy(&v32, p->payload.p + offset, 4);
		v = v32;
	}
	return v;
}

/* ---- abi.c ---- */

void strace_set_arch(struct strace *s, const char *arch, size_t len);

/* What records tell of processes. 0 or PP_ENOMEM. */
int strace_abi_mmap(struct strace *s, const struct sreader *r, const struct ps_mmap *m);
int strace_abi_fork(struct strace *s, uint32_t pid, uint32_t parent);
void strace_abi_exit(struct strace *s, uint32_t pid);

/* Sets whether the calls of a sample's thread are of 32 bits. 0 or PP_ENOMEM. */
int strace_abi_of(struct strace *s, const struct ps_sample *p, struct thread *t);

/* ---- told.c ---- */

/* Keeps what a probe told for the thread's call. 0 or PP_ENOMEM. */
int strace_told_by_probe(struct strace *s, struct thread *t, const struct ps_sample *p,
			 const struct known_event *k);

/* The same for what follows the arguments of a call that began. 0 or PP_ENOMEM. */
int strace_told_by_bpf(struct strace *s, struct thread *t, const struct ps_sample *p,
		       const struct known_event *k);

/* ---- call_names.c ---- */

/*
 * The name of a call by its number, as text; "syscall_N" if it has none. `narrow`: it is one of 32
 * bits. 0 or PP_ENOMEM.
 */
int strace_find_name(struct strace *s, bool narrow, uint64_t number, uint32_t *text);
static inline int strace_call_name(struct strace *s, bool narrow, uint64_t number, uint32_t *text)
{
	if (number >= STRACE_NUMBERS || !s->numbers[narrow][number])
		return strace_find_name(s, narrow, number, text);
	*text = s->numbers[narrow][number];
	return 0;
}

/* Forgets these names: the machine is another one. */
void strace_forget_names(struct strace *s);

/* What is known of a call; NULL: out of memory. Valid until the next is asked for. */
struct known_call *strace_learn(struct strace *s, uint32_t name);
static inline struct known_call *strace_known(struct strace *s, uint32_t name)
{
	return name < s->ncalls && s->calls[name].what ? &s->calls[name] : strace_learn(s, name);
}

/* Whether a call was asked for with -e. */
bool strace_wants(struct strace *s, uint32_t name);

const char *strace_text(const struct strace *s, uint32_t id, size_t *len);

/* ---- open_files.c ---- */

/* What a call that ended changes of the files of its process. 0 or PP_ENOMEM. */
int strace_files_after(struct strace *s, const struct call *c);

/* A process begins with its parent's files. */
int strace_files_fork(struct strace *s, uint32_t pid, uint32_t parent);

/* The path of a descriptor; 0: not known. */
uint32_t strace_file(const struct strace *s, uint32_t pid, uint64_t fd);

/* ---- args.c ---- */

/* The arguments, with their names or without; the result. */
void strace_add_args(struct strace *s, const struct call *c, const struct known_call *k,
		     bool names);
void strace_add_result(struct strace *s, const struct call *c, const struct known_call *k);

static inline bool strace_failed(const struct call *c)
{
	return c->ended && c->ret < 0 && c->ret >= -4095;
}

/* ---- split_lines.c: the lines of --strace ---- */

/* A call began. */
void strace_line_begin(struct strace *s, struct thread *t);

/* It ended; or will not be seen to end. */
void strace_line_end(struct strace *s, const struct call *c, const struct known_call *k);

/* ---- write_calls.c ---- */

/* Writes a call in the form that was asked for, or counts it. 0 or an error. */
int strace_write(struct strace *s, const struct call *c);

/* The table of --summary, and the conditions on it. 0, PP_EUSAGE or PP_ENOMEM: reported. */
int strace_make_table(struct strace *s);

#endif
