/*
 * Private to lib/wall: the histories of threads. Each thread's time is cut into segments, one
 * after the other without a gap, from the beginning of the recording or its birth to the end or
 * its death; each is given to a sink when it is over:
 *
 *	struct wall w = {.segment = on_segment, .ctx = ...};
 *	rc = wall_engine_init(&w, &opts, diag);
 *	while (!(rc = sreader_next(r, &rec)) && !(rc = wall_engine_record(&w, r, rec)))
 *		;
 *	rc = wall_engine_end(&w);
 *
 * A switch that is not in the recording makes itself known by the next event of that CPU, which
 * shows the thread that was current: what ran before is known to have run up to the last event in
 * it, and what runs now may have begun at any time since. The time between is WALL_UNKNOWN of
 * both: it is counted as that, and not as running or waiting.
 */
#ifndef PP_WALL_HISTORIES_H
#define PP_WALL_HISTORIES_H

#include "base/diag.h"
#include "base/intern.h"
#include "event/own_fields.h"
#include "event/symbolic.h"
#include "interval/lat_stacks.h"

#define WALL_KEEP	 (FIELD_KEEP | SREADER_CHAINS)
#define WALL_THREADS_MAX (1u << 20) /* of a stream; what comes after them is left out */
#define WALL_CPUS_MAX	 (1u << 16)

enum wall_state {
	WALL_UNKNOWN,  /* switches are missing */
	WALL_RUNNING,  /* on a CPU */
	WALL_RUNNABLE, /* waiting for one */
	WALL_BLOCKED,  /* until another thread, a device or a timer wakes it */
	WALL_NSTATES
};

/* Who ended a wait. */
struct wall_wake {
	uint32_t thread; /* index; 0: not known */
	uint32_t stack;	 /* kept: where it was */
	uint64_t last;	 /* of that thread, then */
	uint32_t work;	 /* what that thread was given and worked on: number (requests.h); 0 none */
	uint32_t request; /* that a device was done with just before on that CPU; 0 none */
	bool within;	  /* while an interrupt was served on that CPU */
	bool hard;	  /* so says the event itself */
	bool unknown;	  /* sched_wakeup alone, on the woken thread's CPU: not who did it */
};

struct wall_segment {
	uint64_t begin, end;
	uint32_t thread;       /* index */
	uint32_t cpu;	       /* RUNNING; RUNNABLE: where it ran next, PS_NONE not known */
	uint32_t stack;	       /* kept; 0 none */
	uint8_t state;	       /* enum wall_state */
	bool sampled;	       /* RUNNING: the stack is that of a sample at the end */
	uint64_t interrupted;  /* ns of RUNNING in which interrupts ran */
	struct wall_wake wake; /* BLOCKED that was ended by one */
};

struct wall_thread {
	uint32_t source, tid, pid, comm; /* comm: text */
	uint8_t state;
	bool task;    /* a record mentions it: it is one that was to be recorded */
	bool fresh;   /* it began, or became another program, during the recording */
	bool inner;   /* and so did what made it */
	bool seen;    /* an event was about it, or in it */
	bool early;   /* it was woken while it ran, or went to sleep */
	bool exiting; /* it ends soon after `exit` */
	bool dead;
	bool gone; /* before the recording ended */
	uint32_t cpu;
	uint32_t work;		     /* a worker's: what it works on */
	uint32_t stack;		     /* where it waits */
	struct wall_wake wake, made; /* made: by whom */
	struct wall_wake child;	     /* the last process that it made and that has ended */
	uint64_t begin, since, exit, child_exit;
	uint64_t interrupted; /* since then */
	/* The sink's. last: the number of its last segment, if it numbers them. */
	uint64_t pending, last;
	uint32_t pending_stack;
};

struct wall_cpu {
	uint32_t source, cpu;
	uint32_t current; /* thread; 0 idle */
	uint32_t before;  /* tid of what ran before that */
	bool known, seen;
	bool losing; /* events were lost since the last one */
	uint64_t at; /* time of the last event in what runs */
	uint32_t depth;
	uint64_t interrupt; /* when the outermost one began */
	uint32_t request;   /* the last that was done here, since the last switch */
	uint64_t last;	    /* the sink's: the number of what ran last */
};

/* While events were lost. */
struct wall_loss {
	uint64_t from, to;
	uint32_t source; /* PS_NONE: of any */
};

struct wall_event;

struct wall_request;
struct wall_requests {
	struct wall_request *v; /* number % cap */
	uint32_t n, cap;	/* n: the number of the last one */
	struct map64 works;	/* queued, by address: their numbers */
};

/* What happened to a recording, for messages. */
struct wall_account {
	uint64_t samples, switches, missing, unwoken, unknown_wakers, cpu_samples, nameless,
		no_room, lost, other_buffers;
	uint64_t total, unknown; /* ns of all threads */
};

struct wall {
	struct diag *d;
	const struct wall_opts *o;
	/* Returns 0, PP_ENOMEM, or an error that ends the run. */
	int (*segment)(void *ctx, struct wall *w, const struct wall_segment *s);
	/* A thread ends after its last segment: at its death, or with the recording. NULL: none. */
	int (*end)(void *ctx, struct wall *w, struct wall_thread *t);
	/* Stacks were renumbered. NULL: it keeps none. */
	int (*moved)(void *ctx, struct wall *w);
	void *ctx;
	struct lat_stacks *kept;
	struct intern texts;
	struct wall_event **events;
	uint32_t nevents;
	struct wall_thread *threads; /* threads[0] is none */
	uint32_t nthreads, cap_threads;
	struct wall_cpu *cpus; /* cpus[0] is none */
	uint32_t ncpus, cap_cpus;
	struct wall_loss *losses; /* by their ends */
	uint32_t nlosses, cap_losses;
	struct map64 by_tid, by_cpu;
	struct map64 kinds; /* of stacks: wait_kinds.c */
	struct wall_requests requests;
	uint64_t begin, now;
	uint32_t here; /* the thread that the last sample was recorded in; 0 none */
	bool switch_events, wakeups, waking, tasks, other_tids;
	bool losing; /* a CPU is */
	struct wall_account account;
	const struct sreader *r;
	const struct ps_record *rec;
};

int wall_engine_init(struct wall *w, const struct wall_opts *o, struct diag *d);
void wall_engine_release(struct wall *w);
/* Any record, PS_HEADER included: threads are ended before it, and forgotten. */
int wall_engine_record(struct wall *w, const struct sreader *r, const struct ps_record *rec);
/* The end of a stream. */
int wall_engine_end(struct wall *w);

/* A CPU that has had events; NULL: it has not. */
struct wall_cpu *wall_cpu(struct wall *w, uint32_t source, uint32_t cpu);
/* What a stack that is kept is called after a sweep: for struct wall's `moved`. 0 or PP_ENOMEM. */
int wall_move(struct wall *w, uint32_t *stack);

/* Whether the recording was to have this thread; of others it has only wakeups. */
static inline bool wall_is_ours(const struct wall *w, const struct wall_thread *t)
{
	return t->task || !w->tasks;
}

/* ---- thread_event.c ---- */

enum wall_what {
	WALL_OTHER,
	WALL_CPU_SAMPLE,
	WALL_SWITCH,
	WALL_WAKEUP,
	WALL_WAKEUP_NEW,
	WALL_WAKING,
	WALL_IRQ_IN,
	WALL_IRQ_OUT,
	WALL_DISK,    /* a request is done */
	WALL_NETWORK, /* a packet has come */
	WALL_QUEUED,  /* work for a kernel thread */
	WALL_WORK_BEGIN,
	WALL_WORK_END,
};

/* An event, decoded. Names are not terminated. */
struct wall_seen {
	enum wall_what what;
	uint32_t prev, next; /* switch; others: next is the thread that is woken */
	struct qval prev_comm, next_comm;
	bool runnable, dead; /* switch: prev */
	bool hard;	     /* of a wakeup: by an interrupt */
	uint32_t target;     /* of sched_wakeup: CPU, PS_NONE not known */
	uint64_t id;	     /* disk: dev_t; work: its address */
	uint64_t sector, n;  /* disk; n: network as well */
	struct qval text;    /* disk: what was done, "RA"; network: the device */
};

int wall_bind(struct wall *w, const struct ps_record *rec);
void wall_unbind(struct wall *w);
/* False: the sample shows only its thread. */
bool wall_decode(struct wall *w, struct wall_seen *v);

#endif
