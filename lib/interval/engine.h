/*
 * Private to lib/interval: what the engines that find intervals (pair.c, sched.c) see of plat.
 *
 * They get samples and context records, and give intervals to a sink:
 *
 *	struct engine en = {.d = diag, .sink = {.ctx = rows, .interval = add, ...}};
 *	rc = pair_sample(&en, &event, r, rec);
 *	rc = sched_sample(&en, &event, r, rec);
 *
 * What they have in common is here: the kinds with their accounts, the trace buffers that events
 * come from with their losses, texts, and the expressions of --by. Tables, lists and streams are
 * the sink's.
 */
#ifndef PP_INTERVAL_ENGINE_H
#define PP_INTERVAL_ENGINE_H

#include "base/err.h"
#include "base/intern.h"
#include "event/symbolic.h"
#include "expr/expr.h"
#include "interval/interval.h"
#include "interval/lat_filter.h"
#include "interval/lat_stacks.h"

/* ---- the sink ---- */

/* What happened in a thread's time, for the table of threads. */
struct lat_thread {
	uint32_t pid, tid, comm;
	uint64_t begin;
	uint64_t wall, run, runnable, blocked, unknown; /* ns */
	uint64_t switches, preempted, migrations;
};

/* All return 0, PP_ENOMEM, or an error that ends the run. */
struct lat_sink {
	void *ctx;
	/* An interval is complete, from one value to the other (usually times). */
	int (*interval)(void *ctx, struct interval *iv, uint64_t from, uint64_t to);
	/*
	 * One that makes no difference but in a row that is known: false if that is not so, and
	 * nothing was done. key: lat_quick_key.
	 */
	bool (*brief)(void *ctx, uint32_t kind, uint64_t key, const struct lat_point *start,
		      const struct lat_point *end);
	/* One that is open at the end. */
	int (*open)(void *ctx, struct interval *iv, uint64_t from, uint64_t to);
	/* A thread has ended, or the recording has. NULL: nobody asks. */
	int (*thread)(void *ctx, const struct lat_thread *t);
};

/* Texts are at most LAT_NAMES_MAX and one more. how: state or cause; 0 if it is not a term. */
static inline uint64_t lat_quick_key(uint32_t comm, uint32_t name, uint32_t how)
{
	_Static_assert(LAT_NAMES_MAX < UINT32_C(1) << 21, "three do not fit");
	return (uint64_t)how << 42 | (uint64_t)name << 21 | comm;
}

/* ---- kinds ---- */

struct lat_kind {
	const struct pair_kind *k;
	bool on;
	bool quick; /* an interval may be one for lat_sink.brief */
	uint64_t count[LAT_NCOUNTS];
	struct lat_bounds bounds; /* of count[LAT_ESTIMATED] */
};

/* ---- where events come from ---- */

struct sched_domain;

/* A trace buffer of a recording: its events have nothing to do with those of another. */
struct lat_domain {
	uint32_t source;
	uint32_t buffer;      /* name; 0: the main one */
	uint64_t first, last; /* times of its events */
	uint64_t lost;	      /* number of the last loss, on whatever CPU */
	uint64_t lost_all;    /* of the last one that may have been on any */
	uint64_t *cpu_lost;   /* the same of a CPU */
	uint64_t told;	      /* bits: kinds whose events of `again` are skipped */
	uint32_t ncpus;
	struct sched_domain *sched; /* NULL: no event of the scheduler yet */
};

struct pair_bind;
struct pair_user;
struct sched_bind;

/* What an event descriptor of the stream is to the engines. */
struct lat_event {
	bool bound;
	uint32_t domain;
	struct pair_bind *pairs;
	uint32_t npairs;
	struct sched_bind *sched;
};

/* ---- texts ---- */

struct lat_strings {
	uint32_t *names; /* by id of the stream: text, 0 not looked up */
	uint32_t cap;
};

struct lat_names {
	struct intern names;
	struct lat_strings strings, stacks, chains;
	struct buf text; /* that is being put together */
	bool full;
	char unit[16]; /* of the recording's clock */
	char arch[32];
};

/* A key that is a text: this and the id of the text. Few numbers look like that. */
#define LAT_KEY_TEXT (UINT64_C(1) << 63)

/* ---- expressions of --by ---- */

struct lat_by {
	struct expr *v[LAT_BY_MAX];
	uint32_t n;
	uint32_t hex; /* bits: which of them have had an address of the kernel */
};

/* ---- open pairs ---- */

struct open_entry {
	uint32_t hash, next; /* next: of the same key, older; or of the free list */
	uint32_t kind, domain;
	uint32_t shown; /* which of the keys is shown as the key */
	uint32_t depth; /* how many older ones of the key there are */
	uint32_t name;
	uint64_t key[PAIR_KEYS];
	uint64_t number; /* of the loss that came last before it */
	uint64_t value, amount;
	struct lat_who who;
	struct lat_point start;
	bool cancelled, again;
	uint64_t by[LAT_BY_MAX];
	uint32_t set, numbers; /* as in struct interval */
};

#define OPEN_FREE UINT32_MAX /* kind of an entry of the free list */

struct open_table {
	struct open_entry *v; /* v[0] is none */
	uint32_t *slots;      /* index of the newest of a key, or 0 */
	uint32_t n, cap, free, mask, used;
};

/* ---- the engines ---- */

/* An end that was not recorded is known about: struct interval's `less` and `more`. */
struct lat_slack {
	bool on;
	uint64_t less, more;
};

/* Texts of the scheduler's intervals: N(NAME, text). */
#define SCHED_NAMES(N) \
	N(WOKEN, "woken") \
	N(PREEMPTED, "preempted") \
	N(NEW, "new") \
	N(IDLE, "swapper") \
	N(OFF, "?") \
	N(OUT, "R+") \
	N(NOT_KNOWN, "[not known]")
enum sched_name {
#define N(name, text) SCHED_NAME_##name,
	SCHED_NAMES(N)
#undef N
		SCHED_NNAMES
};

struct engine {
	struct diag *d;
	struct lat_sink sink;
	struct lat_kind *kinds;
	unsigned nkinds;
	struct lat_names texts;
	struct lat_by by;
	struct lat_filter filter;
	lat_symbol_fn *symbol; /* NULL: addresses stay numbers */
	lat_symbol_fn *device; /* NULL: devices are two numbers */
	void *symbol_ctx;
	/* Points: their stacks as texts, and for a stream (NULL: nobody writes them). */
	struct lat_stacks *stacks_kept;
	bool texts_wanted, stacks_wanted;
	bool raw;	    /* numbers have no names */
	bool outermost;	    /* calls within calls do not count */
	bool across_losses; /* what was open when events were lost counts */
	/* Where events come from. */
	struct lat_domain *domains;
	uint32_t ndomains;
	uint32_t main_domain[2]; /* source and number + 1 of the domain asked for last */
	uint64_t losses;	 /* LOST records so far */
	/* Of pair.c: what is open; the kind and the events of -s and -e. */
	struct open_table open;
	struct pair_kind user;
	struct pair_user *users;
	uint32_t nusers;
	struct open_table
		calls;	    /* that have not returned, by thread: what -s X__return needs of X */
	struct expr *bytes; /* what of them, or of the start, is the amount; NULL */
	uint64_t doubtful;  /* of what is open in the end, with across_losses */
	/* Flushes of devices' caches that are done, and the requests that they were for. */
	uint64_t flushes, flushed;
	/* Of sched.c. */
	uint32_t sched_names[SCHED_NNAMES];
	uint64_t by_values[LAT_BY_MAX]; /* of the interval that is being finished */
	struct lat_slack slack;		/* the same: what is not known of its ends */
	uint32_t cpus;			/* that had a switch, of all recordings */
	struct buf thinned;		/* names of events that are not all there, one per line */
	uint64_t unknown_wakers;	/* wakeups that do not tell who did them */
	uint64_t unwoken; /* of those blocked and restarted: no wakeup was recorded of any thread */
};

/* ---- engine_domain.c ---- */

/* The number of the domain of a recording's trace buffer, made when it is new. 0 or PP_ENOMEM. */
int engine_domain(struct engine *en, uint32_t source, const char *buffer, size_t len,
		  uint32_t *domain);
/* Events were lost: what was open then has no end that can be trusted. 0 or PP_ENOMEM. */
int engine_lost(struct engine *en, const struct ps_record *rec);
/* Forgets all domains, whose `sched` is released already. */
void engine_forget_domains(struct engine *en);

/* Whether events were lost since loss number `number`: on a CPU, or (PS_NONE) on any. */
static inline bool engine_lost_since(const struct lat_domain *d, uint64_t number, uint32_t cpu)
{
	if (cpu == PS_NONE)
		return d->lost > number;
	return d->lost_all > number || (cpu < d->ncpus && d->cpu_lost[cpu] > number);
}

/* ---- engine_names.c ---- */

/* The id of a text, 0 of none. 0 or PP_ENOMEM. */
int engine_text(struct engine *en, const char *s, size_t len, uint32_t *id);
/* The text of an id; never NULL. */
const char *engine_name(const struct engine *en, uint32_t id, size_t *len);
/* The text of a string of the stream. */
int engine_string_new(struct engine *en, const struct sreader *r, uint32_t string, uint32_t *id);
static inline int engine_string(struct engine *en, const struct sreader *r, uint32_t string,
				uint32_t *id)
{
	*id = string < en->texts.strings.cap ? en->texts.strings.names[string] : 0;
	return *id ? 0 : engine_string_new(en, r, string, id);
}
/* The name of a system call of the recorded machine; NULL: not known. */
const char *engine_syscall(const struct engine *en, uint64_t number);
/* The unit of a kind's durations. */
const char *engine_unit(const struct engine *en, uint32_t kind);
/* As lat_key and lat_key_is_number (interval.h). */
bool engine_key_is_number(const struct engine *en, const struct interval *iv);
void engine_key(const struct engine *en, const struct interval *iv, struct buf *b);
/* Takes note of a record other than a sample: definitions, the machine, the clock. */
void engine_names_see(struct engine *en, const struct ps_record *rec);
void engine_names_release(struct engine *en);
/* The stacks of a point that were asked for: engine_point's second half. */
int engine_point_stacks(struct engine *en, const struct sreader *r, const struct ps_record *rec,
			struct lat_point *p);

/* The point of a sample. 0 or PP_ENOMEM. */
static inline int engine_point(struct engine *en, const struct sreader *r,
			       const struct ps_record *rec, struct lat_point *p)
{
	const struct ps_sample *s = &rec->sample;

	p->time = s->time;
	p->cpu = s->cpu;
	p->pid = s->pid;
	p->chain = p->stack = p->text = 0;
	p->mark = s->flags & PS_MARK_MASK;
	p->missing = false;
	p->values = 0;
	return en->stacks_wanted ? engine_point_stacks(en, r, rec, p) : 0;
}

/* ---- engine_by.c ---- */

/* The number of an expression, compiled when it is new. 0, PP_ELIMIT, PP_ENOMEM, PP_EUSAGE. */
int engine_by_add(struct engine *en, const char *s, size_t n, uint32_t *number, struct buf *why);
/* The values of the expressions that this event has and an earlier one had not. 0 or PP_ENOMEM. */
int engine_values(struct engine *en, const struct sreader *r, const struct ps_record *rec,
		  uint64_t *v, uint32_t *set, uint32_t *numbers);
int engine_by_see(struct engine *en, const struct sreader *r, const struct ps_record *rec);
void engine_by_release(struct engine *en);

/* ---- pair_user.c ---- */

/* The pairs of -s and -e. 0, PP_ENOMEM, or PP_EUSAGE with what is wrong in `why`. */
int pair_user(struct engine *en, const struct lat_pair *p, struct buf *why);
void pair_user_free(struct engine *en);
unsigned pair_problems(const struct engine *en, struct buf *why);
int pair_see(struct engine *en, const struct sreader *r, const struct ps_record *rec);

/* ---- pair_bind.c ---- */

int pair_bind(struct engine *en, const struct ps_event *event, struct lat_event *ev);
void pair_unbind(struct lat_event *ev);

/* ---- pair.c ---- */

int pair_sample(struct engine *en, struct lat_event *ev, const struct sreader *r,
		const struct ps_record *rec);
/* The stream ends: all that is open is counted, given to the sink, and forgotten. */
int pair_end(struct engine *en);
/* Calls fn with each point of an open interval, until it fails. */
typedef int lat_point_fn(struct lat_stacks *k, struct lat_point *p);
int pair_points(struct engine *en, lat_point_fn *fn);
void pair_release(struct engine *en);

/* ---- sched_bind.c ---- */

int sched_new(struct engine *en);
int sched_bind(struct engine *en, const struct ps_event *event, struct lat_event *ev);
void sched_unbind(struct lat_event *ev);

/* ---- sched_event.c ---- */

int sched_sample(struct engine *en, struct lat_event *ev, const struct sreader *r,
		 const struct ps_record *rec);
/* Another sample, of a domain with `sched`: it shows which thread runs. */
int sched_other_sample(struct engine *en, struct lat_domain *d, const struct ps_sample *s);
/* Context records: switches, names, ends of threads. */
int sched_context(struct engine *en, const struct sreader *r, const struct ps_record *rec);

/* ---- sched_end.c ---- */

/* The stream ends: what is open is counted and given to the sink, and so are the threads. */
int sched_end(struct engine *en);
/* As pair_points. Points that are not in use lose their stacks. */
int sched_points(struct engine *en, lat_point_fn *fn);

/* ---- sched_thread.c ---- */

void sched_release(struct lat_domain *d);

#endif
