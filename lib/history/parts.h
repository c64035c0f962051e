/*
 * Private to lib/history: threads and CPUs of the scheduler, and what its files need of each other.
 */
#ifndef PP_HISTORY_PARTS_H
#define PP_HISTORY_PARTS_H

#include "base/buf.h"
#include "base/intern.h"
#include "base/out.h"
#include "event/own_fields.h"
#include "event/symbolic.h"
#include "history/history.h"

#define HISTORY_CPUS_MAX    65536
#define HISTORY_BUFFERS_MAX 256 /* recordings and trace buffers */
#define HISTORY_TASK	    31	/* bytes of a thread in a line: NAME[TID/PID] */
#define HISTORY_WIDTH	    30	/* of its column, until one is wider */
#define HISTORY_CODE	    3	/* bytes of the short name of a thread in a map, its NUL too */
#define HISTORY_CODES	    (26 * 10 + 26 * 26 + 26 * 36)

/* ---- events ---- */

enum history_what {
	HISTORY_NEW,
	HISTORY_OTHER,
	HISTORY_SWITCH,
	HISTORY_WAKEUP,
	HISTORY_WAKEUP_NEW,
	HISTORY_WAKING,
	HISTORY_MIGRATE
};

/* What the fields of an event are called: of sched_switch, and of the others. */
enum history_field { FIELD_A_COMM, FIELD_A_PID, FIELD_B, FIELD_C, FIELD_D, HISTORY_FIELDS };

struct history_event {
	enum history_what what;
	uint32_t buffer; /* number of the recording and trace buffer, for the keys of threads */
	struct payload fields; /* by enum history_field */
	struct task_states states;
};

/* An event of the scheduler. Names are not terminated. */
struct history_seen {
	enum history_what what;
	enum ps_mark mark;
	uint32_t buffer, cpu;
	uint64_t time;
	uint32_t pid, tid; /* that it was recorded in */
	struct qval comm;
	uint32_t a, b; /* switch: previous and next thread; else the thread that it is about */
	struct qval a_comm, b_comm;
	uint32_t from, to; /* migrate: CPUs; wakeup: to, PS_NONE not known */
	char state[TASK_STATE_TEXT];
	bool runnable; /* switch: the previous thread stays so */
};

/* ---- threads ---- */

/* How long something was, again and again; ns. */
struct history_stats {
	uint64_t n, min, max, sum;
	double mean, squares; /* sum of the squares of the differences from the mean */
};

struct history_thread {
	uint32_t tid, pid, ppid; /* PS_NONE not known */
	uint32_t comm;		 /* text */
	bool recorded;		 /* the name is of a context record: events do not change it */
	bool ended, idle;
	bool running;		   /* on a CPU, as far as is known */
	uint64_t last;		   /* when it was switched from; 0 never */
	char last_state;	   /* with which it was */
	uint64_t ready;		   /* when it became runnable before it ran; 0 not known */
	uint64_t early;		   /* it was woken while it ran, or went to sleep; 0 not */
	uint64_t run, delay, wait; /* ns, of the line that is written now */
	struct history_stats runs;
	uint64_t sleep, disk, preempted, delays; /* ns in all */
	uint64_t migrations;
	char code[HISTORY_CODE]; /* of a map; empty: none yet */
	uint32_t announced;	 /* text: the name that was told with it */
};

struct history_cpu {
	uint32_t current; /* thread + 1; 0 not known */
	uint64_t last;	  /* time of the last switch; 0 none */
	uint32_t idle;	  /* thread + 1 that stands for being idle */
	uint32_t before;  /* thread + 1 that ran before it was idle */
	uint32_t column;  /* of a compact map, from 1 */
};

struct history {
	struct history_opts o;
	struct diag *d;
	struct out out;
	struct buf b;
	struct intern texts, buffers;
	struct history_event *events; /* by id */
	uint32_t nevents;
	struct history_thread *threads;
	uint32_t nthreads, cap_threads;
	struct map64 by_tid; /* buffer and tid: thread + 1 */
	struct history_cpu *cpus;
	uint32_t ncpus, cap_cpus; /* how many there are, as far as is known; room */
	uint32_t *columns;	  /* of a compact map: CPUs */
	uint32_t ncolumns, cap_columns;
	uint64_t lost_at; /* time of the last loss of events */
	int width;	  /* of the column of threads */
	bool waking;	  /* sched_waking is recorded: sched_wakeup adds nothing */
	bool titled;	  /* the head was written */
	bool skipped;	  /* events did not pass a filter */
	struct history_seen seen;
	struct ps_record const *rec;
	const struct sreader *r;
	uint64_t first, end; /* times of switches */
	uint32_t codes;	     /* short names given out */
	uint32_t *by_code;   /* thread + 1 */
	uint64_t samples, switches, all_switches, shown, missing, nameless, lost, unknown_wakers;
};

/* ---- switch_event.c ---- */

/* Finds out what an event descriptor means. 0 or PP_ENOMEM. */
int history_bind(struct history *h, const struct ps_record *rec);
void history_unbind(struct history *h);
/* Fills h->seen; false: it is not a scheduler event, or is incomplete. */
bool history_decode(struct history *h);

/* ---- threads_and_cpus.c ---- */

/* The number of a trace buffer (NULL: the main one) of a recording. 0, PP_ELIMIT or PP_ENOMEM. */
int history_buffer(struct history *h, uint32_t source, const struct ps_str *name, uint32_t *id);
/* The thread of a number, made when it is new: its index, or a negative code. */
int64_t history_thread(struct history *h, uint32_t buffer, uint32_t tid);
/* The CPU, and its thread that stands for being idle. NULL: out of memory, or no such CPU. */
struct history_cpu *history_cpu(struct history *h, uint32_t cpu);
struct history_thread *history_idle(struct history *h, uint32_t cpu);
/* Gives a thread the name in an event. 0 or PP_ENOMEM. */
int history_rename(struct history *h, struct history_thread *t, const struct qval *name);
/* Context records. 0 or PP_ENOMEM. */
int history_context(struct history *h, const struct ps_record *rec);
/* A stream begins: what was known of threads and CPUs is of another recording. */
void history_forget(struct history *h);
/* NAME[TID/PID], at most HISTORY_TASK bytes. */
void history_task(const struct history *h, const struct history_thread *t, struct buf *b);
void history_count(struct history_stats *s, uint64_t v);

/* ---- run_lines.c ---- */

/* A line for what h->seen has, as far as it was asked for. 0 or an error. */
int history_times(struct history *h);
int history_lost(struct history *h, const struct ps_lost *l);

/* ---- threads_and_cpus.c ---- */

/* ms with three decimals, the part before the point in `width`, and a blank. */
void history_ms(struct buf *b, uint64_t ns, int width);
/* Seconds with six decimals, in `width`. */
void history_time(struct buf *b, uint64_t ns, int width);
/* Hands on what is in the buffer. 0 or the output's error. */
int history_write(struct history *h);

/* ---- thread_summary.c ---- */

void history_summarize(struct history *h);

/* ---- map.c ---- */

/* A line for the switch in h->seen. 0 or an error. */
int history_map(struct history *h);

#endif
