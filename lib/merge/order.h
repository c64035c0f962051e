/*
 * Time ordering of records with bounded memory.
 *
 * Recorders write one buffer per CPU after another, so records come as runs that are in order in
 * themselves. Records are held in reference-counted blocks, where they were read to, and queued
 * with their time; a round ("everything before this time has been written") releases what is older.
 *
 *	struct order q;
 *	order_init(&q, deliver, ctx);
 *	struct block *b = block_new(1 << 20, &q.blocks);
 *	order_add(&q, time, record, b);
 *	order_round(&q);
 *	order_flush(&q);		(the end: everything)
 *	order_release(&q);
 */
#ifndef PP_MERGE_ORDER_H
#define PP_MERGE_ORDER_H

#include "base/src.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of blocks that a queue may hold back before it releases the older half unasked. */
#define ORDER_HELD_MAX (128u << 20)
/* The same for records that it may hold back: each costs 48 bytes beside its own. */
#define ORDER_RECORDS_MAX (3u << 20)

/* Bytes of blocks that are kept to be used again: fresh memory costs as much as reading into it. */
#define ORDER_SPARE_MAX (64u << 20)

struct block;

/* The blocks of a queue. */
struct blocks {
	uint64_t live;	     /* bytes of those that exist */
	struct block *spare; /* those that wait to be used again, the last first */
	uint64_t spare_bytes;
	struct block *mapped; /* windows of a file that are done with, and wait for blocks_unmap */
	uint64_t mapped_bytes;
};

/* Memory that holds records; lives as long as somebody refers to it. */
struct block {
	uint32_t refs;
	struct blocks *of;
	struct block *next; /* when spare, or to be unmapped */
	size_t len, cap;    /* bytes used and allocated */
	uint64_t base;	    /* offset of the first byte in the input, for messages */
	bool inflated;	    /* ... in what was decompressed */
	void *map;	    /* what the bytes lie in, if they are mapped ... */
	size_t mapped;	    /* ... and its size */
	uint8_t *bytes;	    /* 8-byte aligned */
	uint64_t data[];
};

/* With one reference; at least cap bytes. NULL: out of memory. */
struct block *block_new(size_t cap, struct blocks *of);
void block_unref(struct block *b); /* NULL is fine */
/* Frees the spare blocks. Those of a queue are freed with the queue. */
void blocks_release(struct blocks *of);

/* A window of a file as a block, which it belongs to from then on. NULL: out of memory. */
struct block *block_of_window(const struct src_window *w, struct blocks *of);
/* Unmaps those that nobody refers to: what was lent of them (out_lend) has been written. */
void blocks_unmap(struct blocks *of);

static inline uint8_t *block_bytes(struct block *b)
{
	return b->bytes;
}

struct order_entry {
	uint64_t time;
	uint8_t *rec;
	struct block *block; /* one reference */
};

/* Gets each record in its turn. Returns 0 or an error, which ends the flush. */
typedef int order_fn(void *ctx, uint64_t time, uint8_t *rec, struct block *b);

/*
 * Gets each record some turns before, to have fetched what its turn will need. They come in the
 * order in which they are delivered; NULL: what was announced before, and was not delivered, will
 * come again.
 */
typedef void order_ahead_fn(void *ctx, const uint8_t *rec);

#define ORDER_AHEAD 8 /* turns */

/* Runs from which records are delivered as they lie; more of them are merged first. */
#define ORDER_FEW 4

struct order {
	order_fn *deliver;
	order_ahead_fn *ahead; /* NULL: not needed */
	void *ctx;
	struct order_entry *v, *spare; /* spare: the other half of a merge */
	size_t n, cap;
	size_t *runs; /* where the runs of v begin */
	size_t nruns, runs_cap;
	uint64_t max_time;   /* of all that was added */
	uint64_t round_time; /* max_time at the last round: what is older is complete */
	uint64_t last;	     /* time of the last that was delivered */
	struct blocks blocks;
	uint64_t late; /* records that came after a later one had been delivered */
};

void order_init(struct order *q, order_fn *deliver, void *ctx);
void order_release(struct order *q);

/* Queues a record that lies in block b. */
int order_add(struct order *q, uint64_t time, uint8_t *rec, struct block *b);

/* A round is complete: delivers what is not younger than the newest record of the round before. */
int order_round(struct order *q);

/* Delivers everything. */
int order_flush(struct order *q);

#endif
