/*
 * Private to lib/interval/sched*.c: the states of threads.
 *
 * A thread is running, runnable (on a run queue), or blocked (with a state of the kernel: S, D,
 * ...); or what it does is not known: before its first event, and when events were lost. So its
 * times add up to that from the beginning of the recording, or its birth, to the end, or its death.
 *
 *	event			running		runnable	blocked		unknown
 *	sched_switch to it	(missed)	running		running (2)	running
 *	sched_switch from it	by prev_state	(missed)	(missed)	by prev_state
 *	sched_wakeup, _new	stays (1)	stays		runnable	runnable
 *
 * A thread in which an event was recorded, and which is thought to be off the CPU, was switched in
 * before that: the switch is missing (sched.c).
 *
 * (1) It was about to sleep: the switch will say that it is still runnable.
 * (2) Woken by a sched_waking that was seen: it is runnable from that on. Without any, it is taken
 *     for blocked up to here, and no interval "blocked" or "runq" is made.
 */
#ifndef PP_INTERVAL_SCHED_PARTS_H
#define PP_INTERVAL_SCHED_PARTS_H

#include "interval/engine.h"

#include <string.h>

#define SCHED_COMM   16	  /* bytes of a thread's name in the events */
#define SCHED_STATES 1024 /* values of prev_state whose text is kept */

enum sched_state { SCHED_UNKNOWN, SCHED_RUNNING, SCHED_RUNNABLE, SCHED_SLEEPING, SCHED_NSTATES };

struct sched_thread {
	uint32_t tid, pid, comm;
	uint8_t state;	 /* enum sched_state */
	bool dying;	 /* sched_process_exit came: it will not be switched in again */
	uint32_t cpu;	 /* where it runs, or ran */
	uint64_t raw[2]; /* comm as in the last event */
	uint64_t since;	 /* time of the last change of state */
	uint64_t number; /* of the loss that came last before that change */
	uint32_t text;	 /* prev_state of the last switch from it */
	uint32_t cause;	 /* of being runnable */
	struct lat_who waker;
	struct lat_point start;	 /* of the state */
	struct lat_point off;	 /* the switch from it; time 0: none */
	struct lat_point wake;	 /* the waker's, of the wakeup; time 0: none */
	struct lat_point waking; /* sched_waking; time 0: none */
	struct lat_point migrate;
	struct lat_who wakers; /* who did sched_waking */
	bool born;	       /* sched_wakeup_new was seen, and it has not run yet */
	bool any;	       /* an event of it was seen */
	/* When it was switched in: up to `more` before start.time, or `less` after. */
	struct lat_slack guess;
	uint64_t aside; /* of the loss that came last before waking or migrate */
	/* For the table of threads. */
	uint64_t begin;		       /* the recording's, or its birth */
	uint64_t total[SCHED_NSTATES]; /* ns */
	uint64_t switches, preempted, migrations;
	uint32_t next_free;
};

struct sched_cpu {
	uint32_t current;	/* index of the thread that runs; 0 not known */
	bool idle;		/* nothing runs */
	bool seen;		/* a switch was seen */
	uint64_t number;	/* of the last loss before that */
	uint64_t at;		/* time of the last event in what runs */
	uint32_t prev;		/* tid of what ran before */
	struct lat_point start; /* of being idle */
};

struct sched_domain {
	struct sched_thread *v; /* v[0] is none */
	uint32_t n, cap, free;
	struct map64 by_tid;
	struct sched_cpu *cpus;
	uint32_t ncpus;
	bool switches; /* sched_switch was seen: SWITCH records tell nothing new */
	bool wakeups;  /* sched_wakeup or sched_waking was seen */
	bool same;     /* samples number threads as the events do; of another PID namespace: */
	bool other;    /* they do not */
	bool no_room;
};

enum sched_kind_of_event {
	SCHED_EV_SWITCH,
	SCHED_EV_WAKEUP,
	SCHED_EV_WAKEUP_NEW,
	SCHED_EV_WAKING,
	SCHED_EV_MIGRATE,
};

/*
 * Bytes of the payload that is made of an event whose fields do not lie as the kernel lays them
 * out.
 */
#define SCHED_LOOSE 52
struct sched_loose;

/* Where the fields of an event lie. */
struct sched_bind {
	struct sched_loose *loose; /* NULL: where the kernel has them */
	enum sched_kind_of_event kind;
	uint32_t need; /* bytes of the payload */
	/*
	 * comm: PS_NONE if it is not an array of fixed size, as in sched_migrate_task of Linux 6.18
	 */
	uint32_t comm, pid, prev_state, state_size, next_comm, next_pid;
	uint32_t success; /* of old kernels; 0: there is none */
	uint32_t target;  /* of sched_wakeup: the CPU that it is for; 0: there is none */
	struct task_states states;
	uint32_t texts[SCHED_STATES]; /* of prev_state: text * 2 + stays runnable; 0 not yet */
};

/* ---- sched_thread.c ---- */

/* The number of the thread of a tid, made when it is new; 0: there are too many. 0 or PP_ENOMEM. */
int sched_thread_new(struct engine *en, struct lat_domain *d, uint32_t tid, uint32_t *index);
static inline int sched_thread_get(struct engine *en, struct lat_domain *d, uint32_t tid,
				   uint32_t *index)
{
	const uint32_t *known = map64_get(&d->sched->by_tid, tid);

	*index = known ? *known : 0;
	return known ? 0 : sched_thread_new(en, d, tid, index);
}
/* NULL: out of memory, or a number that no CPU has. */
struct sched_cpu *sched_cpu_new(struct sched_domain *sd, uint32_t cpu);
static inline struct sched_cpu *sched_cpu_get(struct sched_domain *sd, uint32_t cpu)
{
	return cpu < sd->ncpus ? &sd->cpus[cpu] : sched_cpu_new(sd, cpu);
}
/* Up to `now` it was in the state that it is in. */
static inline void sched_thread_account(struct sched_thread *t, uint64_t now)
{
	if (now > t->since) {
		t->total[t->state] += now - t->since;
		t->since = now;
	}
}
/* It has ended, or the recording has: its row is made, and its place is free. 0 or PP_ENOMEM. */
int sched_thread_end(struct engine *en, struct lat_domain *d, uint32_t index, uint64_t now);
/* What is open of a thread is counted as something else than an interval. */
void sched_thread_drop(struct engine *en, const struct sched_thread *t, enum lat_count as);

/* ---- sched_loose.c ---- */

/* Binds an event by the names of its fields. 0, PP_ENOENT (some are missing), PP_ENOMEM. */
int sched_loose_bind(struct sched_bind *b, const struct ps_event *e);
void sched_loose_free(struct sched_loose *loose);
/* A sample's fields where the others have them; false: some are missing. */
bool sched_loose_get(const struct sched_bind *b, const struct sreader *r,
		     const struct ps_record *rec, uint8_t payload[SCHED_LOOSE]);

/* ---- sched_values.c ---- */

/* Remembers the values of --by that an event has, in its point. 0 or PP_ENOMEM. */
int sched_values_of(struct engine *en, const struct sreader *r, const struct ps_record *rec,
		    struct lat_point *p);
/* The values of an interval: those of its start, and those of its end that the start has not. */
void sched_values(struct engine *en, struct interval *iv);

/* ---- sched.c ---- */

/* What a switch shows about one of its threads. */
struct sched_side {
	uint32_t tid, pid;   /* pid: PS_NONE not known */
	const uint8_t *comm; /* SCHED_COMM bytes; NULL not known */
};

/* Gives a thread another name, of SCHED_COMM bytes. 0 or PP_ENOMEM. */
int sched_rename(struct engine *en, struct sched_thread *t, const uint8_t *comm);

/*
 * The thread of a side, its name taken over; c: where it may run, or NULL. *index 0: no room, or
 * the tid is PS_NONE, which belongs to no thread.
 */
static inline int sched_side_thread(struct engine *en, struct lat_domain *d,
				    const struct sched_cpu *c, const struct sched_side *s,
				    uint32_t *index)
{
	struct sched_domain *sd = d->sched;
	struct sched_thread *t;
	int rc = 0;

	*index = 0;
	if (s->tid == PS_NONE)
		return 0;
	if (c && c->current && sd->v[c->current].tid == s->tid)
		*index = c->current;
	else
		rc = sched_thread_get(en, d, s->tid, index);
	/* Where there are no threads, there is none with that number. */
	if (!sd->v)
		*index = 0;
	if (rc || !*index)
		return rc;
	t = &sd->v[*index];
	if (s->pid != PS_NONE)
		t->pid = s->pid;
	if (!s->comm || (t->comm && !memcmp(s->comm, t->raw, sizeof(t->raw))))
		return 0;
	return sched_rename(en, t, s->comm);
}

/* When events were lost that may have been of this thread, nothing is known of it. */
void sched_settle_lost(struct engine *en, const struct lat_domain *d, struct sched_thread *t);
static inline void sched_settle(struct engine *en, const struct lat_domain *d,
				struct sched_thread *t)
{
	if (!t->any && t->begin < d->first)
		t->begin = t->since = d->first;
	if (d->lost)
		sched_settle_lost(en, d, t);
}

/* Sets waking or migrate. */
void sched_set_aside(struct engine *en, struct sched_thread *t, struct lat_point *to,
		     const struct lat_point *p, enum sched_kind kind);

/* A wakeup at p. */
int sched_become_runnable(struct engine *en, struct lat_domain *d, struct sched_thread *t,
			  const struct lat_point *p, const struct lat_who *waker, uint32_t cause);

/*
 * The sample is of a thread that is not thought to run on its CPU: switches are missing, if it
 * proves that. 0 or an error.
 */
int sched_surprise(struct engine *en, struct lat_domain *d, struct sched_cpu *c,
		   const struct ps_sample *s);

/* Any sample shows what runs on its CPU. */
static inline int sched_see(struct engine *en, struct lat_domain *d, const struct ps_sample *s)
{
	struct sched_domain *sd = d->sched;
	struct sched_cpu *c = s->cpu < sd->ncpus ? &sd->cpus[s->cpu] : NULL;

	if (!c || (!c->current && !c->idle))
		return 0;
	if (s->tid != (c->idle ? 0 : sd->v[c->current].tid))
		return sched_surprise(en, d, c, s);
	c->at = s->time;
	return 0;
}

/* The two halves of a switch. `text`: the state with which prev goes, `runnable` or not. */
int sched_cpu_out(struct engine *en, struct lat_domain *d, const struct sched_side *prev,
		  const struct lat_point *p, uint32_t text, bool runnable);
int sched_cpu_in(struct engine *en, struct lat_domain *d, const struct sched_side *next,
		 const struct lat_point *p);

/* An interval of a thread that begins at `start`; the end is to be set. */
void sched_interval(const struct lat_domain *d, const struct engine *en,
		    const struct sched_thread *t, enum sched_kind kind,
		    const struct lat_point *start, struct interval *iv);

/* An interval from a point that is set, which is cleared, to `end`. */
int sched_finish_point(struct engine *en, struct lat_domain *d, const struct sched_thread *t,
		       enum sched_kind kind, struct lat_point *start, const struct lat_point *end);

#endif
