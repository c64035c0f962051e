/*
 * What a writer of packed streams holds back: samples, and the parts of chains and stacks that they
 * need, until a record is full or something comes that must not overtake them. Private to
 * lib/stream.
 */
#ifndef PP_STREAM_PACKER_H
#define PP_STREAM_PACKER_H

#include "stream/chunk.h"
#include "stream/samples.h"

/* Dictionaries whose new entries may overtake samples, which cannot refer to them yet. */
enum packer_overtakes { PACKER_STRING, PACKER_SYMBOL, PACKER_FRAME, PACKER_SRCFILE, PACKER_DICTS };

#define PACKER_PASS_MAX (1u << 15) /* samples of a record that are handed on */

/*
 * Packed samples of the input that go on as they lie there, from the first of their record: their
 * bytes are in the sample_packer, which knows nothing of what is in them.
 */
struct packer_pass {
	bool on;
	bool marked;   /* a mark is not that of the flags */
	uint64_t next; /* ps_packed.at of the sample that would be the next */
	uint8_t marks[PACKER_PASS_MAX / 4];
};

struct packer {
	struct chunker chains, stacks;
	bool payloads;		       /* samples that have one are packed, too */
	bool chains_pass, stacks_pass; /* samples name them by ids of the output */
	uint32_t source;	       /* of the samples */
	uint32_t most[PACKER_DICTS];   /* greatest ids */
	struct sample_packer samples;
	struct packer_pass pass;
};

/* A sample that came packed. False: it cannot be handed on as it lies there. */
bool packer_pass_sample(struct packer *k, const struct ps_record *rec, enum ps_mark mark);

/* A definition of an entry; `type` is one of the stream's. Whether it may overtake the samples. */
bool packer_overtakes(struct packer *k, uint32_t type, uint32_t id);

/* A call chain, or a stack, that is put: its parts, and its name for samples. 0 or an error. */
int packer_chain(struct packer *k, const struct ps_chain *c);
int packer_stack(struct packer *k, const struct ps_stack *s);

/*
 * Parts of chains or stacks are copied from another stream, or made by the one who writes: samples
 * name them by their ids in the output. With id 1 nothing is known of others.
 */
void packer_pass(struct packer *k, uint32_t type, uint32_t id);

/* Whether a definition makes all ids of chains or stacks begin again. */
bool packer_restarts(uint32_t type, uint32_t id);

/* Whether the chain and the stack of a sample that can be packed have these names in the output. */
static inline bool packer_keeps_names(const struct packer *k, const struct ps_sample *s)
{
	return (k->chains_pass || !ps_sample_has(s, chain)) &&
	       (k->stacks_pass || !ps_sample_has(s, stack));
}

/* The names of a sample's chains and stacks in the output, in place of those that were put. */
void packer_translate(const struct packer *k, struct ps_sample *s);

/* The same for a sample as it lies in a record. `s`: its known fields, as they were put. */
void packer_patch(const struct packer *k, const struct ps_sample *s, uint8_t *raw);

/* A header: nothing is known. */
void packer_clear(struct packer *k);
void packer_free(struct packer *k); /* NULL is fine */

#endif
