/*
 * The packed records of a stream as the plain ones that they stand for: a CHAIN or a STACK, whole,
 * before the first sample that refers to it, and the samples one by one. Private to lib/stream.
 *
 * It keeps the parts of chains and stacks, and the sample that waits until what it refers to has
 * been handed out.
 */
#ifndef PP_STREAM_EXPAND_H
#define PP_STREAM_EXPAND_H

#include "stream/chunk.h"
#include "stream/dict.h"
#include "stream/samples.h"

/* Chains or stacks that were put together on request. */
struct wholes {
	struct {
		uint32_t id;   /* 0: free */
		uint64_t used; /* when it was asked for last */
		struct buf words;
		union {
			struct ps_chain chain;
			struct ps_stack stack;
		};
	} v[2][PS_WHOLES]; /* of chains, of stacks */
	uint64_t clock;	   /* how often one was asked for */
	bool failed;	   /* memory ran out */
};

struct expand {
	struct chunks chains, stacks;
	struct wholes *wholes;		 /* with SREADER_PARTS */
	struct sample_unpacker *samples; /* NULL: none came yet */
	uint32_t source;		 /* of the samples */
	struct buf frames;		 /* of the stack that was made last */
	bool waits;			 /* the sample in `held` is to be handed out */
	struct ps_record held;
};

/* A record CHAINS or STACKS whose parts are wanted as they are. */
int expand_define(struct expand *x, const struct ps_record *rec);

/* A chain or a stack put together for whoever wants parts. NULL: not defined, or out of memory. */
const struct ps_chain *expand_chain(const struct expand *x, uint32_t id);
const struct ps_stack *expand_stack(const struct expand *x, uint32_t id);

/*
 * A record CHAINS or STACKS. If ids begin again, *rec becomes the definition of id 1, and *shown is
 * true. 0, PP_ECORRUPT, PP_ENOMEM or PP_ELIMIT.
 */
int expand_parts(struct expand *x, struct ps_record *rec, bool *shown);

/* A record SAMPLES. 0, PP_ECORRUPT or PP_ENOMEM. */
int expand_samples(struct expand *x, const struct ps_record *rec);

static inline bool expand_has_samples(const struct expand *x)
{
	return x->samples && x->samples->left;
}

/*
 * What the sample in *rec refers to and was not yet handed out: it takes the place of the sample,
 * which is held. *shown: whether there is such. 0, PP_ENOMEM.
 */
int expand_refs(struct expand *x, struct ps_record *rec, bool *shown);

/* The sample that is held, or the next that it refers to. */
int expand_held(struct expand *x, struct ps_record *rec);

/* A header. */
void expand_clear(struct expand *x);
void expand_release(struct expand *x);

#endif
