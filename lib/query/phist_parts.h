/*
 * Private to lib/query/phist*.c.
 */
#ifndef PP_QUERY_PHIST_PARTS_H
#define PP_QUERY_PHIST_PARTS_H

#include "query/expr.h"
#include "query/phist.h"

struct phist {
	struct phist_opts o;
	struct diag *d;
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
	struct buf text; /* of a key that is put together */
	bool twice;	 /* an automatic width was doubled last, not multiplied by 5 */
};

/* Takes a sample. 0, PP_ENOMEM or PP_ELIMIT. */
int phist_sample(struct phist *p, const struct sreader *r, const struct ps_record *rec);

#endif
