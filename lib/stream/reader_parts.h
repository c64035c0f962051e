/*
 * The insides of a reader of streams: reader.c (records), reader_define.c (what they define).
 * Private to lib/stream.
 */
#ifndef PP_STREAM_READER_PARTS_H
#define PP_STREAM_READER_PARTS_H

#include "stream/context.h"
#include "stream/expand.h"

/* The dictionaries: record type, and the bit that asks for it (0: always kept). */
#define DICTS(D) \
	D(STRING, 0) \
	D(EVENT, SREADER_EVENTS) \
	D(DSO, SREADER_DSOS) \
	D(CHAIN, SREADER_CHAINS) \
	D(SYMBOL, SREADER_SYMBOLS) \
	D(FRAME, SREADER_SYMBOLS) \
	D(STACK, SREADER_SYMBOLS) \
	D(SRCFILE, SREADER_SYMBOLS)
enum dict_index {
#define D(type, bit) DICT_##type,
	DICTS(D)
#undef D
		NDICTS
};

#define HELPERS_MAX 64 /* of a stream; samples of more count as others do */

struct sreader {
	struct src *src; /* NULL: fed */
	struct diag *d;
	char *name;
	unsigned keep;

	uint8_t *block; /* holds buf, unless fed */
	size_t room;	/* bytes of it */
	uint8_t *buf;
	size_t pos, len;
	uint64_t base; /* offset of buf[0] in the input */

	bool in_stream; /* a header was read, its END was not */
	bool any;	/* a header was read */
	bool swap;
	int err;   /* the end that was reached */
	int cut;   /* why samples are the last: their record is cut off */
	bool told; /* what is wrong with the input was reported */
	uint64_t records, samples;
	struct ps_end account;
	struct dict dicts[NDICTS];
	struct context context;
	struct expand expand;
	uint32_t helpers[HELPERS_MAX]; /* events */
	uint32_t n_helpers;
	uint8_t *payload; /* of a packed sample in the other byte order */

	struct ps_record rec; /* what was read last */
	bool far;	      /* it may have more than the near fields of a sample */
};

/* Where the record is that is being read. */
static inline int64_t sreader_offset(const struct sreader *r)
{
	return (int64_t)(r->base + r->pos);
}

/* Reports what is wrong there. Returns err. */
static inline int sreader_fail(struct sreader *r, int err, const char *what)
{
	r->told = true;
	diag_error(r->d, r->name, sreader_offset(r), "%s", what);
	return err;
}

/* ---- reader_define.c ---- */

/* A dictionary record: kept if it was asked for. */
int sreader_define(struct sreader *r, const struct ps_record *rec, const struct ps_typedesc *t);

/*
 * CHAIN and STACK, whole and in host byte order: the most frequent after the samples. False: it is
 * none of them, or not whole.
 */
bool sreader_define_quickly(struct sreader *r, struct ps_record *rec, int *rc);

/* Brings to host order what the tables of records.h call bytes. */
int sreader_swap_inside(struct sreader *r, struct ps_record *rec);

/* A chain or a stack that was put together from its parts. */
int sreader_define_whole(struct sreader *r, struct ps_record *rec);

/* Parts of chains or stacks. *shown: rec has become a record to be handed out. */
int sreader_define_parts(struct sreader *r, struct ps_record *rec, bool *shown);

/* The payload of a packed sample in the other byte order. */
int sreader_swap_packed(struct sreader *r, struct ps_sample *s);

#endif
