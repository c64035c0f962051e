/*
 * Frames above the command: fields and other values of samples (fold_opts.by). Private to lib/fold.
 *
 * A command and its frames are one number, as a command alone is: what is remembered of stacks by
 * their command goes on to hold.
 *
 *	struct fold_by b = {.fold = f};
 *	rc = fold_by_new(&b, &symbols);
 *	rc = fold_by_apply(&b, r, rec, &comm);		(a name becomes a number)
 *	fold_by_put(&b, comm, path, &n);		(the names of it, leaf first)
 *	fold_by_release(&b);
 */
#ifndef PP_FOLD_BY_H
#define PP_FOLD_BY_H

#include "base/buf.h"
#include "base/intern.h"
#include "expr/expr.h"
#include "fold/fold.h"
#include "stream/stream.h"

/* A command with a further frame above it. */
struct fold_by_pair {
	uint32_t below; /* the name of a command, or a number */
	uint32_t name;
};

struct fold_by {
	struct fold *fold;
	struct expr *x;		     /* the keys that are values; NULL: there is none */
	unsigned value[FOLD_BY_MAX]; /* by key: which of x, + 1; 0: the thread */
	struct map64 pairs;	     /* below and name: place in v, + 1 */
	struct fold_by_pair *v;
	uint32_t n, cap;
	struct buf text;
	bool any[FOLD_BY_MAX]; /* a sample had it */
};

/* Whether a key can be one: 0, PP_EUSAGE and a line in why, or PP_ENOMEM. */
int fold_by_check(const char *key, struct buf *why);

/* symbols: who names the kernel's functions and devices. The keys were checked. 0 or PP_ENOMEM. */
int fold_by_new(struct fold_by *b, const struct expr_symbols *symbols);
void fold_by_release(struct fold_by *b);

/* A record other than a sample. 0 or PP_ENOMEM. */
int fold_by_see(struct fold_by *b, const struct sreader *r, const struct ps_record *rec);

/* The number of a sample's command and its frames. 0, PP_ENOMEM or PP_ELIMIT. */
int fold_by_apply(struct fold_by *b, const struct sreader *r, const struct ps_record *rec,
		  uint32_t *comm);
/* Adds the names of a number, FOLD_BY_MAX and one at most, leaf first. */
void fold_by_put(const struct fold_by *b, uint32_t comm, uint32_t *path, size_t *n);

/* Reports the fields that no sample had: false if there are some. */
bool fold_by_complete(const struct fold_by *b, const char *name);

/* ---- text ---- */

/* What a text says about a sample; len 0: it does not. */
struct fold_by_text {
	const char *comm, *pid, *tid, *cpu, *event;
	size_t comm_len, pid_len, tid_len, cpu_len, event_len;
};

/* The names of the frames, leaf first. 0, PP_ENOMEM or PP_ELIMIT. */
int fold_by_text(struct fold *f, const struct fold_by_text *t, uint32_t names[FOLD_BY_MAX]);

/*
 * The root of folded text, which has no samples, but may tell what it counts: true if it is asked
 * for, and known.
 */
bool fold_by_about(const struct fold *f, const struct fold_about *a);

/*
 * Whether a text can be folded as the options ask: `samples`: it has samples with what struct
 * fold_by_text has, `timed`: in time order. Otherwise PP_EUNSUPPORTED, which is reported.
 */
int fold_text_can(struct fold *f, const char *name, const char *what, bool samples, bool timed);

#endif
