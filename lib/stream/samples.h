/*
 * Samples packed one after another, as a record SAMPLES of perfpipe-stream(5) holds them: what a
 * sample has in common with an earlier one of the same record is left out. Nothing is carried from
 * one record to the next. Private to lib/stream.
 *
 *	if (sample_packs(&s) && sample_pack(p, &s))	(p->len bytes of p->data, p->count samples)
 *	...
 *	sample_pack_reset(p);
 *
 *	sample_unpack_begin(u, rec);
 *	while (u->left && !(rc = sample_unpack(u, &s)))
 */
#ifndef PP_STREAM_SAMPLES_H
#define PP_STREAM_SAMPLES_H

#include "stream/codec.h"

#define SAMPLES_BYTES	(1u << 16) /* of a record, about */
#define SAMPLES_SHAPES	250	   /* different ones in a record */
#define SAMPLES_THREADS 1024
#define SAMPLES_WORDS	64 /* of a payload */
#define SAMPLES_SLOTS	512
#define SAMPLES_TSLOTS	2048
#define SAMPLES_PACKED	1024 /* bytes that one sample takes at most */

/* What changed since the last sample of the same shape: the second byte of a sample. */
#define SAMPLE_THREAD  0x01
#define SAMPLE_PERIOD  0x02
#define SAMPLE_CHAIN   0x04
#define SAMPLE_STACK   0x08
#define SAMPLE_ADDR    0x10
#define SAMPLE_PAYLOAD 0x20
#define SAMPLE_EARLIER 0x40 /* the time goes back */
#define SAMPLE_CHANGES 0x7f

/* The third byte: how long the differences of time and of ip are. */
#define SAMPLE_IP_LEN 4 /* shift */

/* What samples of one kind on one CPU have in common, and the last of them. */
struct sample_shape {
	uint32_t event, cpu, flags;
	uint32_t thread; /* index; UINT32_MAX: no sample yet */
	uint64_t fields, id;
	uint64_t ip, period, addr;
	uint32_t chain, stack;
	uint32_t len;	 /* bytes of the payload */
	uint32_t nwords; /* of words that mean something: the others are 0 */
	uint64_t words[SAMPLES_WORDS];
};

struct sample_thread {
	uint32_t pid, tid, comm;
};

/* What both sides know in the midst of a record. */
struct sample_state {
	uint64_t time;
	uint32_t chain, stack;
	uint32_t nshapes, nthreads;
	struct sample_thread threads[SAMPLES_THREADS];
	struct sample_shape shapes[SAMPLES_SHAPES];
};

struct sample_packer {
	uint32_t count;
	size_t len;
	uint8_t slots[SAMPLES_SLOTS];	 /* index of a shape + 1 */
	uint16_t tslots[SAMPLES_TSLOTS]; /* index of a thread + 1 */
	struct sample_state st;
	uint8_t data[SAMPLES_BYTES + SAMPLES_PACKED];
};

struct sample_unpacker {
	uint32_t left; /* samples */
	const uint8_t *p, *end;
	const uint8_t *marks;  /* NULL: those of the flags hold */
	struct ps_packed last; /* the sample that came last */
	struct sample_state st;
};

/* Whether a sample can be packed: it has the fields that most have, and no large payload. */
static inline bool sample_packs(const struct ps_sample *s)
{
	return !(s->fields & ~(uint64_t)PS_SAMPLE_NEAR) &&
	       (s->payload.len <= 8 * SAMPLES_WORDS || !ps_sample_has(s, payload));
}

/* False: there is no more room, and nothing was done; the record has to be written first. */
bool sample_pack(struct sample_packer *p, const struct ps_sample *s);
void sample_pack_reset(struct sample_packer *p);

/* False: there are not marks for all of them. */
bool sample_unpack_begin(struct sample_unpacker *u, const struct ps_samples *rec);

/*
 * The next sample: its fixed part and near fields; the far ones of *s stay as they are. The payload
 * lives until the next call. 0 or PP_ECORRUPT.
 */
int sample_unpack(struct sample_unpacker *u, struct ps_sample *s);

#endif
