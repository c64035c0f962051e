/*
 * The insides of the merge, shared by merge.c (order), ids.c (dictionaries) and clock.c
 * (times). Private to them.
 */
#ifndef PP_MERGE_PARTS_H
#define PP_MERGE_PARTS_H

#include "merge/merge.h"

/* The dictionaries. D(NAME, name in sreader_NAME, ids begin again) */
#define MERGE_DICTS(D) \
	D(STRING, string, false) \
	D(EVENT, event, false) \
	D(DSO, dso, false) \
	D(CHAIN, chain, true) \
	D(SYMBOL, symbol, true) \
	D(FRAME, frame, true) \
	D(STACK, stack, true) \
	D(SRCFILE, srcfile, false)
enum merge_dict {
#define D(NAME, name, restarts) MERGE_##NAME,
	MERGE_DICTS(D)
#undef D
		MERGE_NDICTS
};

/* What an id of an input is in the output. */
struct merge_id {
	uint32_t out;	/* 0: it never had one */
	uint32_t epoch; /* it is defined when this is the epoch of the dictionary */
};

struct merge_ids {
	struct merge_id *v; /* by id of the input */
	uint32_t n;
	bool begun; /* id 1 was defined: again, it forgets the others */
};

/* A dictionary of the output. */
struct merge_out {
	uint32_t last, epoch;
	uint64_t bytes; /* of its definitions since ids began */
};

#define MERGE_CLOCK_MAX 32
#define MERGE_HOST_MAX	64

/* A recording. */
struct merge_source {
	uint32_t input;
	char clock[MERGE_CLOCK_MAX]; /* "": unknown */
	char host[MERGE_HOST_MAX];
	bool wall_known, shifted;
	int64_t wall; /* ns to add for the time of day */
	bool settled;
	int64_t offset; /* ns to add */
};

struct merge_input {
	struct sreader *r;
	char *name;
	int64_t offset;
	const struct ps_record *rec; /* the next one, if there is one */
	struct merge_ids ids[MERGE_NDICTS];
	uint32_t *sources; /* by source id of the input; 0: not yet seen */
	uint32_t nsources;
	uint32_t out_source; /* in the output, of the record that is being written */
	uint64_t key;	     /* time of rec in the output, not less than that of the one before */
	int rc;		     /* how the reader ended */
};

struct smerge {
	struct swriter *w;
	struct diag *d;
	const char *clock;
	struct merge_input **in;
	uint32_t n;
	uint32_t *heap; /* indices of inputs */
	uint32_t heap_n;
	struct merge_out out[MERGE_NDICTS];
	struct merge_source *sources; /* by source id of the output; [0]: no recording */
	uint32_t nsources;
	uint32_t live_ids;
	struct buf frames; /* of a stack, renumbered */
	bool primed;	   /* the heads of all streams have been read */
};

/* ---- ids.c ---- */

/* The id in the output of what the input calls `id`, defined there now if it is not yet. */
int merge_ref(struct smerge *m, struct merge_input *in, enum merge_dict dict, uint32_t id,
	      uint32_t *out);
/* A definition of the input. False in *taken: the record is none. */
int merge_define(struct smerge *m, struct merge_input *in, const struct ps_record *rec,
		 bool *taken);
/* To be called between two records: ids begin again where too many are live. */
int merge_bound(struct smerge *m);
/* A stream of the input begins: its dictionaries are empty. */
void merge_forget(struct merge_input *in);
/* The recording in the output. */
int merge_source(struct smerge *m, struct merge_input *in, uint32_t source, uint32_t *out);

/* ---- clock.c ---- */

/* Takes from a SOURCE or META record what is in it about the clock of a recording. */
void merge_learn_clock(struct merge_source *s, const struct ps_record *rec);
/* What is to be added to the times of a recording. 0 or PP_EUSAGE, which has been reported. */
int merge_settle_clock(struct smerge *m, struct merge_source *s);

/* A time of a recording in the output: not before 1 ns. */
static inline uint64_t merge_time(uint64_t time, int64_t offset)
{
	uint64_t t;

	if (!offset)
		return time;
	t = time + (uint64_t)offset;
	if (offset < 0 && (uint64_t)-offset >= time)
		return 1;
	return offset > 0 && t < time ? UINT64_MAX : t;
}

#endif
