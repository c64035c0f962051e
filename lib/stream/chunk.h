/*
 * Call chains and stacks in chunks: how a stream of version 2 defines them (CHAINS and STACKS in
 * perfpipe-stream(5)). A chain is cut, from its root, into chunks of up to CHUNK_WORDS addresses,
 * and each chunk is known by the one below it, its parent, and by its own addresses: what
 * chains have in common at their roots is written once. A chain is named by its last chunk, its
 * top. Private to lib/stream.
 *
 * The writer's side finds the chunks of a chain and encodes those that are new:
 *
 *	rc = chunker_chain(&k, chain, &top);		(k.defs: the new ones, encoded)
 *	rc = chunker_stack_part(&k, parent, frames, n, flags, &id);
 *
 * The reader's side decodes them, and puts chains together again:
 *
 *	rc = chunks_define(&c, id, count, data);
 *	rc = chunks_build(&c, top, &words, &n, &flags);	(leaf first)
 */
#ifndef PP_STREAM_CHUNK_H
#define PP_STREAM_CHUNK_H

#include "base/buf.h"
#include "stream/stream.h"

#define CHUNK_WORDS ((uint32_t)PS_PART_WORDS)
/* Words of a chain that is put together: many times what a record of the kernel holds. */
#define CHUNK_CHAIN_MAX (1u << 17)
#define CHUNK_MARK_MIN	((uint64_t)-4095) /* words from here on are PERF_CONTEXT_* */

/* The first byte of a chunk. */
#define CHUNK_MODE   0x0f /* which mark its part of the chain begins with: 0 none */
#define CHUNK_ESCAPE 0x0f /* one that is not in the table: the first word of the part */
#define CHUNK_FIRST  0x10 /* the first of a part, at its root */
#define CHUNK_LAST   0x20 /* the last of a part, at its leaf */
#define CHUNK_FLAGS  0x40 /* the flags of the chain follow, whose top it is */

/* ---- writing ---- */

/* 96 bits of a hash: of a chunk and of all below it. */
struct chunk_key {
	uint32_t home, tag, more;
};

/* A chunk of the chain that is being cut. */
struct chunk_cut {
	const uint64_t *v; /* its addresses as they lie in the chain, leaf first */
	uint64_t mark;	   /* the first word, before the addresses; 0: none */
	struct chunk_key key;
	uint32_t flags;
	uint8_t kind, n; /* n: addresses */
};

/* A chain that was cut, from its root. */
struct chunk_cuts {
	struct chunk_cut *v;
	uint32_t n, cap;
};

struct chunker {
	/*
	 * Open addressing: an id, with bits of its key above it, so that nothing else is looked at
	 * for most of what is new; 0: free.
	 */
	uint32_t *slots;
	struct chunk_key *keys; /* by id */
	uint32_t mask, n;	/* n: the last id that was given */
	uint32_t *last;		/* of stacks, by id: the last frame */
	uint32_t last_cap;
	uint32_t *tops; /* by the id of the chain: its top */
	uint32_t ntops;
	/* Those that come soon, by their places, and the one that is being cut. */
	struct chunk_cuts cuts[PS_CHAINS_SOON + 1];
	struct buf defs;       /* chunks that are not yet in the stream */
	uint32_t first, count; /* their ids */
};

/* The chunks of a chain, or of a stack; *top: its name. 0, PP_ENOMEM, PP_ELIMIT. */
int chunker_chain(struct chunker *k, const struct ps_chain *c, uint32_t *top);
int chunker_stack(struct chunker *k, const struct ps_stack *s, uint32_t *top);

/*
 * chunker_chain in two steps, so that memory can be fetched between them: the place is below
 * PS_CHAINS_SOON. The addresses stay where they are until the second.
 */
int chunker_soon(struct chunker *k, uint32_t place, const struct ps_chain *c);
int chunker_now(struct chunker *k, uint32_t place, uint32_t *top);

/* The chunk of n frames, CHUNK_WORDS at most, the first at the root, on top of another or of 0. */
int chunker_stack_part(struct chunker *k, uint32_t parent, const uint32_t *frames, uint32_t n,
		       uint32_t flags, uint32_t *id);

/* Forgets all chunks: ids begin again. */
void chunker_clear(struct chunker *k);
void chunker_release(struct chunker *k);

/* ---- reading ---- */

struct chunk {
	uint32_t parent; /* 0: none */
	uint32_t total;	 /* words of the chain whose top it is */
	uint32_t at;	 /* its words in chunks.words */
	uint32_t flags;
	uint8_t kind, n;
	bool shown; /* for the reader: the chain was handed out */
};

struct chunks {
	struct chunk *v; /* by id */
	uint32_t n, cap; /* the greatest id that is defined, room */
	uint64_t *words; /* from the root */
	uint32_t nwords, words_cap;
	uint64_t *built; /* what was put together last */
	uint32_t built_cap;
	bool stacks; /* of frames: they have no sections */
};

/* The chunks of a record. 0, PP_ECORRUPT, PP_ENOMEM or PP_ELIMIT. */
int chunks_define(struct chunks *c, uint32_t id, uint32_t count, const struct ps_str *data);

/*
 * The words of a chain, leaf first, which live until the next call. 0, PP_ENOMEM; PP_ENOENT: it is
 * not defined.
 */
int chunks_build(struct chunks *c, uint32_t top, const uint64_t **words, uint32_t *n,
		 uint32_t *flags);

/* The same for one that is defined, to where there is room for its total and one; how many. */
uint32_t chunks_take(const struct chunks *c, uint32_t top, uint64_t *to);

void chunks_release(struct chunks *c);

#endif
