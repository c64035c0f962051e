/*
 * Private to lib/interval: plat's side of the engines: which kinds, and from intervals to rows of
 * tables.
 */
#ifndef PP_INTERVAL_LAT_PARTS_H
#define PP_INTERVAL_LAT_PARTS_H

#include "interval/engine.h"

/* ---- rows ---- */

/* The row of what was seen last: most intervals are of a few threads or names. */
#define LAT_RECENT_BITS 8
#define LAT_RECENT	(1u << LAT_RECENT_BITS)
struct lat_quick {
	uint64_t key;	     /* lat_quick_key */
	uint32_t generation; /* of the table + 1; 0: empty */
	uint32_t row;
};

/* A counter that is to be incremented. */
#define LAT_PENDING 8
struct lat_pending {
	struct hist *h; /* NULL: none */
	uint32_t i;
};

/* The rows of a kind. */
struct lat_kind_rows {
	const struct pair_kind *k;
	struct lat_kind *account;
	bool quick;	     /* the terms are only those that lat_quick_key has */
	uint64_t by_end;     /* of its intervals: a filter passed the end alone */
	struct table *table; /* made at the first interval */
	enum lat_term terms[LAT_BY_MAX];
	uint32_t values[LAT_BY_MAX]; /* of LAT_TERM_VALUE: the expression's number */
	uint32_t nterms;
	struct map64 texts;  /* ids of texts: numbers in the table + 1 */
	uint32_t generation; /* of the table, when texts was filled */
	struct lat_quick *recent;
};

/* All rows, and the windows of time that they may be of. */
struct lat_rows {
	struct lat_kind_rows *kinds;
	struct tables tables;
	struct table *summary, *threads;
	uint64_t window;      /* ns; 0: none */
	uint64_t first, last; /* beginnings of the first and the last window */
	uint32_t widened;
	struct lat_pending pending[LAT_PENDING];
	uint32_t npending;
};

/* ---- the whole ---- */

struct lat {
	struct engine e;
	const struct lat_opts *o;
	struct lat_rows rows;
	struct lat_event *events; /* by descriptor */
	uint32_t nevents;
	bool any; /* a stream has begun */
};

/* ---- lat_terms.c ---- */

/* Sets the keys of all kinds. 0, PP_ENOMEM, or PP_EUSAGE with what is wrong in `why`. */
int lat_terms_new(struct lat *l, struct buf *why);
/* Makes the table of a kind, whose first interval this is. 0 or PP_ENOMEM. */
int lat_terms_table(struct lat *l, struct lat_kind_rows *k, const struct interval *iv);
/* Adds a table like it, without rows: its names are known before the input. 0 or PP_ENOMEM. */
int lat_terms_names(struct lat *l, struct lat_kind_rows *k, struct tables *ts);
/* Makes columns texts that hold numbers so far, where an interval has a text. 0 or PP_ENOMEM. */
int lat_terms_fit(struct lat *l, struct lat_kind_rows *k, uint32_t column,
		  const struct interval *iv);
/* The key of term i in a column. 0 or PP_ENOMEM. */
int lat_term_key(struct lat *l, struct lat_kind_rows *k, uint32_t i, uint32_t column,
		 const struct interval *iv, uint64_t *key);
/* A text as a key of a kind's table. 0 or PP_ENOMEM. */
int lat_text_key(struct lat *l, struct lat_kind_rows *k, uint32_t id, uint64_t *key);

/* ---- lat_rows.c ---- */

/* The columns of the table of threads. 0 or PP_ENOMEM. */
int lat_threads_table(struct lat *l, struct tables *ts, struct table **t);
/* Makes the rows the sink of the engines. 0, PP_ENOMEM, PP_EUSAGE. */
int lat_rows_new(struct lat *l, struct buf *why);
void lat_rows_release(struct lat *l);
/* Counts what is pending: before anything else is done with a table. */
void lat_rows_settle(struct lat *l);

/* ---- lat_results.c ---- */

/* Makes the table of all kinds, and the titles. 0 or PP_ENOMEM. */
int lat_rows_finish(struct lat *l);

#endif
