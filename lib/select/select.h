/*
 * Which samples of a stream count: an expression, and slices of time, CPUs, threads and numbers.
 *
 *	struct select_opts o = SELECT_OPTS_INIT;
 *	select_add(&o, "prev_state == S", &why);
 *	select_slice(&o, SELECT_CPU, "0,2-5", &why);
 *	select_new(&s, &o);
 *	if (select_scans(s))
 *		twice_scan(&t, files, n, SELECT_KEEP, select_scan, s, d);
 *	for each record:
 *		rc = select_see(s, r, rec);		(if it is not a sample)
 *		mark = select_mark(s, r, rec);		(if it is)
 *
 * The mark joins what upstream filters have found and what is found here as && does (expr.h): what
 * failed stays failed. SELECT_OPTIONS are the options for it.
 */
#ifndef PP_SELECT_SELECT_H
#define PP_SELECT_SELECT_H

#include "base/opt.h"
#include "expr/expr.h"
#include "select/span.h"

#define SELECT_KEEP FIELD_KEEP

enum select_slice { SELECT_CPU, SELECT_PID, SELECT_TID, SELECT_COMM, SELECT_SLICES };

struct select_opts {
	struct expr *condition; /* owned, as the others; NULL: none */
	bool given;		/* -e was, even if it is empty */
	bool invert;
	struct buf slices[SELECT_SLICES]; /* texts of expressions */
	struct spans times;
	struct expr *after, *before;
	uint64_t margin_before, margin_after; /* ns */
	uint64_t first;			      /* so many that pass; 0: all */
	uint64_t every;			      /* of those that pass each Nth; 0: all */
	double rate;			      /* the part that passes by chance; 1: all */
	uint64_t seed;
	bool lenient;
	struct expr_symbols symbols; /* for the expressions */
};

#define SELECT_OPTS_INIT \
	{ \
		.rate = 1 \
	}

/* The options, and their handler, whose context is a struct select_opts. */
extern const struct opt select_options[];
extern const struct opt_rule select_rules[];
opt_handler select_option;

/* Frees what the options own; select_new leaves nothing to free. */
void select_opts_release(struct select_opts *o);

/* Another expression, of which one has to hold; an empty one is none. 0, PP_EUSAGE, PP_ENOMEM. */
int select_add(struct select_opts *o, const char *text, struct buf *why);

/* Adds to the list of a slice: "0,2-5", "bash,kwork*". 0 or PP_EUSAGE. */
int select_slice(struct select_opts *o, enum select_slice slice, const char *list, struct buf *why);

struct select;

/* Takes over what the options own, also when it fails. 0, PP_ENOMEM, PP_EUSAGE with `why`. */
int select_new(struct select **s, struct select_opts *o, struct buf *why);
void select_free(struct select *s); /* NULL is fine */

/* Whether the input has to be gone through before: for each record of it select_scan. */
bool select_scans(const struct select *s);
int select_scan(void *s, const struct sreader *r, const struct ps_record *rec);

/* A record other than a sample. 0 or PP_ENOMEM. */
int select_see(struct select *s, const struct sreader *r, const struct ps_record *rec);

/* The mark of a sample. */
enum ps_mark select_mark(struct select *s, const struct sreader *r, const struct ps_record *rec);

/* Names that no event had: how many, and lines that say so. None with `lenient`. */
unsigned select_problems(struct select *s, struct buf *why);
unsigned select_doubts(struct select *s, struct buf *why); /* as expr_doubts */

struct select_stats {
	uint64_t marks[PS_MARK_MASK + 1]; /* samples by their mark */
};
const struct select_stats *select_stats(const struct select *s);

/*
 * --explain: the expressions as they were understood, then the program for each event of the inputs
 * (n 0: stdin, unless that is a terminal). 0, or an error; damage is reported to d.
 */
int select_explain(struct select *s, char **files, int n, struct buf *text, struct diag *d);

#endif
