/*
 * Parts of the interval engine. Private to lib/interval.
 *
 *	lat.c		records, descriptors, lost events, account
 *	lat_names.c	texts: threads, stacks, system calls, functions
 *	lat_stacks.c	call chains and stacks of points, for --emit
 *	lat_rows.c	from intervals to rows of tables
 *	lat_open.c	the intervals that are open
 *	pair.c		pairs of events
 *	sched.c		states of threads
 */
#ifndef PP_INTERVAL_LAT_PARTS_H
#define PP_INTERVAL_LAT_PARTS_H

#include "base/err.h"
#include "base/intern.h"
#include "expr/expr.h"
#include "interval/interval.h"
#include "interval/lat_filter.h"
#include "interval/lat_stacks.h"
#include "event/symbolic.h"

/* ---- kinds ---- */

/* The row of what was seen last: most intervals are of a few threads or names. */
#define LAT_RECENT_BITS 8
#define LAT_RECENT	(1u << LAT_RECENT_BITS)
struct lat_quick {
	uint64_t key;	     /* lat_quick_key */
	uint32_t generation; /* of the table + 1; 0: empty */
	uint32_t row;
};

/* Texts are at most LAT_NAMES_MAX and one more. how: state or cause; 0 where it is no term. */
static inline uint64_t lat_quick_key(uint32_t comm, uint32_t name, uint32_t how)
{
	_Static_assert(LAT_NAMES_MAX < UINT32_C(1) << 21, "three do not fit");
	return (uint64_t)how << 42 | (uint64_t)name << 21 | comm;
}

/* A counter that is to be incremented. */
#define LAT_PENDING 8
struct lat_pending {
	struct hist *h; /* NULL: none */
	uint32_t i;
};

struct lat_kind {
	const struct pair_kind *k;
	bool on;
	bool chosen; /* by name: more than the usual is said of it */
	uint64_t count[LAT_NCOUNTS];
	uint64_t
		by_end; /* of the intervals: the filter did not apply to the start, but let the end pass */
	struct table *table; /* made at the first interval */
	enum lat_term terms[LAT_BY_MAX];
	uint32_t values[LAT_BY_MAX]; /* of LAT_TERM_VALUE: the expression's number */
	uint32_t nterms;
	struct map64 texts;  /* ids of texts: numbers in the table + 1 */
	uint32_t generation; /* of the table, when texts was filled */
	bool quick;	     /* the terms are only those that lat_quick has */
	struct lat_quick *recent;
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
	uint64_t told;	      /* bits: kinds whose events that tell it again are passed over */
	uint32_t ncpus;
	struct sched_domain *sched; /* NULL: no event of the scheduler yet */
};

struct pair_bind;
struct pair_user;
struct sched_bind;

/* What an event descriptor of the stream is to us. */
struct lat_event {
	bool bound;
	uint32_t domain;
	struct pair_bind *pairs;
	uint32_t npairs;
	struct sched_bind *sched;
};

/* ---- open intervals ---- */

/* A key that is a text: this and the id of the text. Few numbers look like that. */
#define LAT_KEY_TEXT (UINT64_C(1) << 63)

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

void open_release(struct open_table *t);
uint32_t open_hash(uint32_t kind, uint32_t domain, const uint64_t *key);
/* The newest open one of the key: index, 0 if there is none. */
uint32_t open_find(const struct open_table *t, uint32_t hash, uint32_t kind, uint32_t domain,
		   const uint64_t *key);
/* Adds one, in front of `older` (what open_find gave). 0, PP_ENOMEM, PP_ELIMIT. */
int open_add(struct open_table *t, uint32_t hash, uint32_t kind, uint32_t domain,
	     const uint64_t *key, uint32_t older, struct open_entry **e);
/* Takes out the newest of its key. */
void open_del(struct open_table *t, uint32_t index);

/* ---- the engine ---- */

struct lat_strings {
	uint32_t *names; /* by string id of the stream: text, 0 not looked up */
	uint32_t cap;
};

/* Texts of the scheduler's intervals: N(NAME, text). */
#define SCHED_NAMES(N) \
	N(WOKEN, "woken") \
	N(PREEMPTED, "preempted") \
	N(NEW, "new") \
	N(IDLE, "swapper") \
	N(OFF, "?") \
	N(OUT, "R+")
enum sched_name {
#define N(name, text) SCHED_NAME_##name,
	SCHED_NAMES(N)
#undef N
		SCHED_NNAMES
};

struct lat {
	const struct lat_opts *o;
	struct diag *d;
	struct lat_kind *kinds;
	unsigned nkinds;
	struct pair_kind user; /* of -s and -e */
	char user_name[64];
	struct intern names;
	struct lat_strings strings;
	struct lat_strings stacks, chains; /* texts of them */
	struct lat_stacks *stacks_kept;	   /* NULL: nobody writes them */
	struct lat_event *events;
	struct lat_domain *domains;
	uint32_t nevents, ndomains;
	uint32_t main_domain[2]; /* source and number + 1 of the domain asked for last */
	struct open_table open;
	struct lat_filter filter;
	struct expr *by[LAT_BY_MAX];	/* expressions of --by */
	uint32_t by_hex;		/* bits: which of them have had an address of the kernel */
	uint64_t by_values[LAT_BY_MAX]; /* of the scheduler's interval that is being finished */
	struct pair_user *users;	/* events of -s and -e */
	uint32_t nby, nusers;
	uint64_t losses; /* LOST records so far */
	uint32_t sched_names[SCHED_NNAMES];
	bool texts_wanted, stacks_wanted; /* stacks as texts; these, or stacks_kept */
	bool any;
	bool names_full;
	char unit[16];
	char arch[32];
	uint64_t window;		    /* ns; 0: none */
	uint64_t window_first, window_last; /* beginnings of the first and the last */
	uint32_t widened;
	struct tables tables;
	struct lat_pending pending[LAT_PENDING];
	uint32_t npending;
	struct table *summary;
	struct table *threads;
	struct buf text;
};

/* lat.c */
int lat_domain_of(struct lat *l, uint32_t source, const char *buffer, size_t len, uint32_t *domain);
/* Whether events were lost since loss number `number`: on a CPU, or (PS_NONE) on any. */
static inline bool lat_lost_since(const struct lat_domain *d, uint64_t number, uint32_t cpu)
{
	if (cpu == PS_NONE)
		return d->lost > number;
	return d->lost_all > number || (cpu < d->ncpus && d->cpu_lost[cpu] > number);
}

/* lat_names.c */
int lat_text(struct lat *l, const char *s, size_t len, uint32_t *id);
/* The text of a string of the stream. */
int lat_string_new(struct lat *l, const struct sreader *r, uint32_t string, uint32_t *id);
static inline int lat_string(struct lat *l, const struct sreader *r, uint32_t string, uint32_t *id)
{
	*id = string < l->strings.cap ? l->strings.names[string] : 0;
	return *id ? 0 : lat_string_new(l, r, string, id);
}
const char *lat_syscall(const struct lat *l, uint64_t number);
void lat_names_see(struct lat *l, const struct ps_record *rec);
void lat_names_release(struct lat *l);

/* The stacks of a point that was asked for: lat_point's second half. */
int lat_point_stacks(struct lat *l, const struct sreader *r, const struct ps_record *rec,
		     struct lat_point *p);

static inline int lat_point(struct lat *l, const struct sreader *r, const struct ps_record *rec,
			    struct lat_point *p)
{
	const struct ps_sample *s = &rec->sample;

	p->time = s->time;
	p->cpu = s->cpu;
	p->pid = s->pid;
	p->chain = p->stack = p->text = 0;
	p->mark = s->flags & PS_MARK_MASK;
	p->missing = false;
	p->values = 0;
	return l->stacks_wanted ? lat_point_stacks(l, r, rec, p) : 0;
}

/* lat_rows.c */
int lat_rows_new(struct lat *l, struct buf *why);
void lat_rows_release(struct lat *l);
/*
 * An interval is complete, from one value to the other (times, as a rule): it is counted, by its
 * marks, and goes to the tables or the sink.
 */
int lat_interval(struct lat *l, struct interval *iv, uint64_t from, uint64_t to);
/*
 * The same of an interval that makes no difference but in a row that is known: false if that is not so, and
 * nothing was done. `key`: lat_quick_key. l->kinds[] has k.
 */
bool lat_interval_brief(struct lat *l, struct lat_kind *k, uint64_t key,
			const struct lat_point *start, const struct lat_point *end);
/* One that is open at the end: counted, and shown if asked for. */
int lat_open(struct lat *l, struct interval *iv, uint64_t from, uint64_t to);
int lat_rows_finish(struct lat *l);
/* The values of the expressions of --by that this event has and an earlier one had not. */
int lat_values(struct lat *l, const struct sreader *r, const struct ps_record *rec, uint64_t *v,
	       uint32_t *set, uint32_t *numbers);

/* pair.c */
/* The pairs of -s and -e. */
int pair_user(struct lat *l, struct buf *why);
void pair_user_free(struct lat *l);
unsigned pair_problems(const struct lat *l, struct buf *why);
int pair_see(struct lat *l, const struct sreader *r, const struct ps_record *rec);
int pair_bind(struct lat *l, const struct ps_event *e, struct lat_event *ev);
void pair_unbind(struct lat_event *ev);
int pair_sample(struct lat *l, struct lat_event *ev, const struct sreader *r,
		const struct ps_record *rec);
/* The stream ends: all that is open is counted, shown if asked for, and forgotten. */
int pair_end(struct lat *l);
/* Calls fn with each point of an open interval, until it fails. */
typedef int lat_point_fn(struct lat_stacks *k, struct lat_point *p);
int pair_points(struct lat *l, lat_point_fn *fn);

/* sched.c */
int sched_new(struct lat *l);
int sched_bind(struct lat *l, const struct ps_event *e, struct lat_event *ev);
void sched_unbind(struct lat_event *ev);
int sched_sample(struct lat *l, struct lat_event *ev, const struct sreader *r,
		 const struct ps_record *rec);
/* Context records: switches, names, ends of threads. */
int sched_context(struct lat *l, const struct sreader *r, const struct ps_record *rec);
int sched_end(struct lat *l);
/* As pair_points. Points that are not in use lose their stacks. */
int sched_points(struct lat *l, lat_point_fn *fn);
void sched_release(struct lat_domain *d);

#endif
