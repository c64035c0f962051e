/*
 * An interval, as the engine (lat.h) gives it to a sink: the list of --slower, --emit.
 *
 *	static int on_interval(void *ctx, const struct lat *l, const struct interval *iv)
 *	{
 *		name = lat_name(l, iv->who.comm, &len);
 *		printf("%.*s %" PRIu64 "\n", (int)len, name, iv->dur);
 *
 * Texts are ids for lat_name, 0 if there is none.
 */
#ifndef PP_INTERVAL_INTERVAL_H
#define PP_INTERVAL_INTERVAL_H

#include "interval/lat.h"

/* One end of an interval. */
struct lat_point {
	uint64_t time;
	uint32_t cpu;
	uint32_t pid;	       /* whose stack it is: the process that the event was recorded in */
	uint32_t chain, stack; /* if asked for, for lat_point_write; 0 none */
	uint32_t text;	       /* the stack, if asked for */
	uint32_t values; /* text of the values of --by in the event; the scheduler's kinds alone */
	uint16_t mark;	 /* enum ps_mark */
	bool missing;	 /* it had a chain or a stack, for which there was no room */
};

struct lat_who {
	uint32_t pid, tid; /* PS_NONE not known */
	uint32_t comm;
};

struct interval {
	unsigned kind;		 /* as lat_account counts */
	uint32_t source, domain; /* the recording; the engine's number of recording and buffer */
	struct lat_who who, waker;
	struct lat_point start, end;
	struct lat_point wake; /* the waker's; time 0: none */
	uint64_t dur;	       /* in the kind's unit, usually ns */
	uint64_t key;
	const uint64_t *keys; /* of a pair of -s and -e, for lat_key; else NULL */
	uint32_t nkeys;
	uint32_t name, state, cause;
	bool estimated; /* an end of it was not recorded: in truth it is up to `less` shorter, or */
	uint64_t less, more;	/* up to `more` longer; ns */
	const uint64_t *values; /* of the expressions of --by: numbers, or ids of texts */
	uint32_t set, numbers;	/* bits: which of them there are, and which are numbers */
	uint64_t amount;
};

/*
 * What paired the events of an interval: of a built-in kind the last of its keys, of -s and -e all,
 * numbers and texts separated by commas. An error stays in the buffer.
 */
void lat_key(const struct lat *l, const struct interval *iv, struct buf *b);
bool lat_key_is_number(const struct lat *l, const struct interval *iv);

/*
 * Defines what a sample with the stacks of the point needs, with a further definition of id 1 where
 * the ids begin again; *chain and *stack: its (other_)chain and (other_)stack, 0 none. 0,
 * PP_ENOMEM, or the writer's error.
 */
int lat_point_write(const struct lat *l, struct swriter *w, uint32_t source,
		    const struct lat_point *p, uint32_t *chain, uint32_t *stack);

#endif
