/*
 * Intervals: pairs of events, from one to the other, and what happened to their durations.
 *
 *	struct lat *l;
 *	struct lat_opts o = {.by = "comm"};
 *	rc = lat_new(&l, &o, diag, &why);
 *	while (!(rc = sreader_next(r, &rec)) && !(rc = lat_record(l, r, rec)))
 *		;
 *	lat_finish(l);
 *	tables_write(lat_tables(l), &opts, &out);
 *	lat_free(l);
 *
 * The reader has to keep LAT_KEEP. Which events are pairs is in pair.h, and the kinds of the
 * scheduler, a state machine for each thread, in sched.h.
 *
 * An interval counts when its start event passed (pfilter), or when the expression did not apply to
 * the start and the end passed. All events are seen, whatever their mark.
 *
 * Times are ns of the recording's clock, unless the recording says that its clock has no known
 * unit. Memory is bounded by the maxima below, whatever the number of events; what did not fit is
 * counted.
 */
#ifndef PP_INTERVAL_LAT_H
#define PP_INTERVAL_LAT_H

#include "base/out.h"
#include "interval/pair.h"
#include "table/table.h"
#include "stream/stream.h"

#define LAT_KEEP	(SREADER_EVENTS | SREADER_CHAINS | SREADER_SYMBOLS | SREADER_DSOS)
#define LAT_OPEN_MAX	(1u << 20) /* intervals that are open at a time */
#define LAT_THREADS_MAX (1u << 18) /* threads that are alive at a time */
#define LAT_NAMES_MAX	(1u << 20) /* different texts: names of threads, of intervals, stacks */
#define LAT_NAMES_BYTES (512u << 20)
#define LAT_CPUS_MAX	65536
#define LAT_DOMAINS_MAX 256  /* recordings and trace buffers */
#define LAT_EVENTS_MAX	64   /* -s and -e options */
#define LAT_NEST_MAX	1024 /* intervals of one key that are open inside each other */
#define LAT_BY_MAX	8    /* keys of --by */
#define LAT_PIDS_MAX	64   /* processes of --pid */
#define LAT_WINDOWS	400  /* windows of time, if their width is LAT_WINDOW_AUTO */
#define LAT_WINDOW_AUTO UINT64_MAX

/*
 * What happened to the starts: A(NAME, name, what it is). starts is the sum of those from intervals
 * to no_room.
 */
#define LAT_ACCOUNT(A) \
	A(STARTS, "starts", "events that began one") \
	A(INTERVALS, "intervals", "which have ended") \
	A(FILTERED, "filtered", "ended, but neither event passed the filter, or of others") \
	A(NEGATIVE, "negative", "ended before they began: not counted further") \
	A(OPEN, "open", "not ended when the recording was") \
	A(RESTARTED, "restarted", "discarded: begun again, or their end was not recorded") \
	A(CANCELLED, "cancelled", "cancelled, as timers are, or such that they never end") \
	A(LOST, "lost", "discarded: events were lost in between") \
	A(NO_ROOM, "no_room", "discarded: more were open at a time than plat can follow") \
	A(NO_START, "no_start", "ends whose start was not seen") \
	A(ESTIMATED, "estimated", "of the intervals: an end was not recorded, but is known about")
enum lat_count {
#define A(name, text, what) LAT_##name,
	LAT_ACCOUNT(A)
#undef A
		LAT_NCOUNTS
};

/*
 * What an interval has beside its duration, for --by: T(NAME, name, key kind, what it is).
 */
#define LAT_TERMS(T) \
	T(NAME, "name", TEXT, "what the kind calls it: system call, interrupt, ...") \
	T(COMM, "comm", TEXT, "name of the thread") \
	T(PID, "pid", SIGNED, "process; -1 not known") \
	T(TID, "tid", SIGNED, "thread") \
	T(CPU, "cpu", SIGNED, "CPU where it began") \
	T(END_CPU, "end_cpu", SIGNED, "CPU where it ended") \
	T(MOVED, "moved", SIGNED, \
	  "1: it ended on a different CPU from the one it began on; otherwise 0") \
	T(KIND, "kind", TEXT, "kind of interval") \
	T(STATE, "state", TEXT, "offcpu, blocked: state of the thread, R+ preempted") \
	T(CAUSE, "cause", TEXT, "runq: woken, preempted, new") \
	T(WAKER, "waker", TEXT, "name of the thread that woke it up") \
	T(WAKER_TID, "waker_tid", SIGNED, "that thread") \
	T(KEY, "key", HEX, "what paired the events; of several the last, with -s and -e all") \
	T(STACK, "stack", TEXT, "stack of the start") \
	T(END_STACK, "end_stack", TEXT, "stack of the end") \
	T(WAKER_STACK, "waker_stack", TEXT, "stack of the waker")
enum lat_term {
#define T(name, text, kind, what) LAT_TERM_##name,
	LAT_TERMS(T)
#undef T
		LAT_TERM_VALUE, /* an expression on the start event, or on the end */
};

/* A pair of -s and -e. */
struct lat_pair {
	const char *starts[LAT_EVENTS_MAX], *ends[LAT_EVENTS_MAX]; /* EVENT[:KEY][ if CONDITION] */
	uint32_t nstarts, nends;
	const char *name; /* of the kind; NULL: "pair" */
	enum pair_restart restart;
	const char *bytes;  /* expressions: the first with a value is what --unmatched adds up */
	bool outermost;	    /* of -s X__return: not if X was called by another one of them */
	bool across_losses; /* intervals open when events were lost are not discarded */
};

/* Options of it: 0, or PP_EUSAGE with what is wrong in `why`. The text must outlive the pair. */
int lat_pair_add(const char **list, uint32_t *n, const char *arg, struct buf *why);
int lat_pair_restart(struct lat_pair *p, const char *arg, struct buf *why);

/*
 * The kernel function at an address, the name of a device: NULL if it is not known. The text lives
 * until the next call.
 */
typedef const char *lat_symbol_fn(void *ctx, uint32_t source, uint64_t addr, size_t *len);

/* Called for each interval (lat_interval.h) that counts. 0, or an error that ends the run. */
struct interval;
struct lat;
typedef int lat_sink_fn(void *ctx, const struct lat *l, const struct interval *iv);

struct lat_opts {
	const char *kinds; /* names separated by commas; NULL: all in the input but `more` ones */
	uint32_t pids[LAT_PIDS_MAX], npids; /* only intervals of these processes; none: of all */
	const char *comms; /* only of threads by name: shell patterns with commas; NULL: all */
	const char *by;	   /* names of LAT_TERMS and expressions, with commas; NULL: the kind's */
	uint64_t window; /* ns; not 0: rows for each window of the start time; or LAT_WINDOW_AUTO */
	uint64_t step;	 /* width of linear buckets; 0: none */
	bool stacks;	 /* stacks are needed as texts, although no key is one */
	bool points;	 /* the sink writes chains and stacks of points (interval.h) */
	uint32_t stacks_max; /* different ones that are kept for that; 0: 2^20 */
	bool unmatched;	     /* make tables of what is open at the end */
	uint64_t older;	     /* ns: only of those that old by then */
	bool threads;	     /* make a table of the threads' times */
	struct lat_pair pair;
	bool raw;	       /* numbers as they are, even if they have names */
	lat_symbol_fn *symbol; /* NULL: addresses stay numbers */
	lat_symbol_fn *device; /* of a block device by its dev_t; NULL: two numbers */
	void *symbol_ctx;
	lat_sink_fn *sink; /* NULL: intervals are added up in tables */
	lat_sink_fn *open; /* gets those that are open at the end, up to it; NULL: none */
	void *sink_ctx;
};

/* 0; PP_EUSAGE with what is wrong in `why`; PP_ENOMEM. The options must outlive it. */
int lat_new(struct lat **l, const struct lat_opts *o, struct diag *d, struct buf *why);
void lat_free(struct lat *l); /* NULL is fine */

/* Takes any record, PS_HEADER included. 0, PP_ENOMEM, or what the sink returned. */
int lat_record(struct lat *l, const struct sreader *r, const struct ps_record *rec);

/*
 * If the sink writes points, called between records: what no open interval refers to is let go,
 * when it has become much. 0 or PP_ENOMEM.
 */
int lat_bound(struct lat *l);

/* The end of all input: open intervals are accounted for. 0 or PP_ENOMEM. */
int lat_finish(struct lat *l);

/*
 * lat_finish in two steps. The second can also be taken while the input continues, to write the
 * tables, if those that are derived are removed before the next time (tables_drop_derived).
 */
int lat_end(struct lat *l);
int lat_complete(struct lat *l);

/* The results: LAT_SUMMARY with a row for each kind, and a table for each kind. */
#define LAT_SUMMARY "intervals"
struct tables *lat_tables(struct lat *l);

/*
 * Adds tables without rows, which have the names of values and keys that lat_tables can have. 0 or
 * PP_ENOMEM.
 */
int lat_names(struct lat *l, struct tables *ts);

/* The account of kind i (pair_kinds, then the pair of -s and -e): NULL after the last one. */
const uint64_t *lat_account(const struct lat *l, unsigned i, const char **name);

/*
 * What is known of the intervals of a kind of which an end was not recorded: the sum of their
 * durations as they are counted, and between what it is in truth; ns.
 */
struct lat_bounds {
	uint64_t sum, low, high;
};
const struct lat_bounds *lat_bounds(const struct lat *l, unsigned i);

/*
 * How many switches or wakeups are missing for a kind of the scheduler's: intervals with an
 * estimated end, and those that were given up since they began again. 0 for other kinds.
 */
uint64_t lat_missing(const struct lat *l, unsigned i);

/* Wakeups whose waker is not known (sched_event.c). */
uint64_t lat_unknown_wakers(const struct lat *l);

/* Of the intervals open at the end: how many since before events were lost (across_losses). */
uint64_t lat_doubtful(const struct lat *l);

/* Of block-io: flushes that are done, and requests that had asked for them: one may serve many. */
uint64_t lat_flushes(const struct lat *l, uint64_t *requests);

/* The names of paired events of which not all were recorded, one per line. */
const struct buf *lat_thinned(const struct lat *l);

/* Whether it was asked for. */
bool lat_kind_on(const struct lat *l, unsigned i);

/* Adds the account as the table "account", a row for each kind that had events. 0 or PP_ENOMEM. */
int lat_account_table(struct lat *l);

/*
 * What is wrong with the names of --by, -s and -e in the light of the events seen; see expr.h. It
 * is reported once. *by: how many of those are of --by.
 */
unsigned lat_problems(const struct lat *l, struct buf *why, unsigned *by);

/*
 * Whether --by names this term; the text of its expression i, p NULL after the last one. (The
 * values are in struct interval.)
 */
bool lat_by_term(const struct lat *l, enum lat_term term);
struct ps_str lat_by_text(const struct lat *l, uint32_t i);
/* Whether its numbers are addresses, as far as they have been seen. */
bool lat_by_is_address(const struct lat *l, uint32_t i);

/* A text of the engine (struct interval); never NULL. */
const char *lat_name(const struct lat *l, uint32_t id, size_t *len);

/* The unit of a kind's durations: "ns", or what the recording's clock or the event counts. */
const char *lat_kind_unit(const struct lat *l, unsigned i);

/*
 * The unit of what is still open, such as the bytes of memory; NULL: it is not asked for, or has
 * none.
 */
const char *lat_amount_unit(const struct lat *l, unsigned i);

/* A stream's context record of a name: the text that stands for a string of the stream. */
int lat_text_of(struct lat *l, const struct sreader *r, uint32_t string, uint32_t *id);

#endif
