/*
 * Private to lib/table/phist*.c: the state of a count, and what its files need of each other.
 */
#ifndef PP_TABLE_PHIST_PARTS_H
#define PP_TABLE_PHIST_PARTS_H

#include "count/recorded_counts.h"
#include "event/event_numbers.h"
#include "expr/expr.h"
#include "table/gate.h"
#include "table/periods.h"
#include "table/phist.h"

/* samples = counted + filtered + no_field + no_key + no_time + joined. */
struct phist_account {
	uint64_t samples, counted;
	uint64_t filtered; /* a filter before has not let them pass */
	uint64_t no_field; /* have none of the fields, or they are not numbers */
	uint64_t texts;	   /* of these: have it, but it is a text */
	uint64_t no_key;   /* have no key */
	uint64_t no_time;  /* with windows: were recorded without time */
	uint64_t joined;   /* stacks that belong to the sample before them */
	uint64_t raw;	   /* counted, but with addresses where functions were asked for */
};

struct phist {
	struct phist_opts o;
	struct diag *d;
	const char *input; /* its name, if it is one */
	struct phist_account account;
	struct expr *fields, *by; /* NULL: none */
	unsigned nfields, nby;
	struct tables tables;
	struct table *t; /* made when the first sample counts: it shows the kinds of the keys */
	uint64_t first_time, last_time; /* of the windows */
	uint64_t window;		/* their width now */
	uint32_t last_event;		/* descriptor of the last sample */
	bool mixed;			/* its events have periods of different units */
	struct qval key_values[TABLE_KEYS_MAX], field_values[TABLE_VALUES_MAX]; /* of a sample */
	struct buf text;		/* of a key that is put together */
	struct buf raw[TABLE_KEYS_MAX]; /* of keys that are addresses instead of functions */
	struct event_numbers events;
	struct gates *gates;	     /* NULL: none */
	struct count_reader *counts; /* made when there is something for it */
	struct table_opts every;     /* of the periods */
	struct periods periods;
	bool by_period; /* there are any */
	bool merge;	/* the inputs are tables */
	bool twice;	/* an automatic width was doubled last, not multiplied by 5 */
};

/* ---- phist_sample.c ---- */

/* Takes a sample. 0, PP_ENOMEM or PP_ELIMIT. */
int phist_sample(struct phist *p, const struct sreader *r, const struct ps_record *rec);

/* ---- phist_count.c ---- */

/* Takes a record other than a sample, for the counts of perf stat. 0 or an error. */
int phist_count(struct phist *p, const struct sreader *r, const struct ps_record *rec);

/* Says what is wrong with the counts; the status that follows from it, if `status` is better. */
int phist_counted(struct phist *p, int status);

/* Adds a table without rows that has the names of such tables, for gates. 0 or PP_ENOMEM. */
int phist_count_names(struct tables *ts);

#endif
