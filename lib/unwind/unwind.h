/*
 * Unwinding of user stacks: from the registers of a sample and a copy of the top of its stack to
 * the chain of its callers.
 *
 *	struct unwinder *u;
 *	unwinder_new(&u, find, ctx);
 *	struct unwind_result res;
 *	rc = unwinder_run(u, &sample, &res);
 *	... res.ips[0 .. res.n), res.end ...
 *	unwinder_free(u);
 *
 * The caller knows what is mapped where, and opens the modules (cfi.h): `find` is asked for the
 * mapping of an address, then the mappings that were used last answer, until the number of the
 * address space changes. The rules of recent addresses are kept by module, so that it makes no
 * difference which process they are met in. A frame costs two look-ups there, one addition
 * and a read for each saved register.
 *
 * Memory is read from the copy and from what a program cannot change in its files; the stack
 * pointer only grows; each walk has an end, and says which (UNWIND_ENDS). Where there is no
 * table, the frame pointer serves if everything that can be known speaks for it; `guessed` says
 * that it was used.
 *
 * It does not name functions, knows nothing of kernel stacks, and keeps no sample.
 */
#ifndef PP_UNWIND_UNWIND_H
#define PP_UNWIND_UNWIND_H

#include "unwind/arch.h"
#include "unwind/cfi.h"

#define UNWIND_DEPTH_MAX 4096
#define UNWIND_TAIL_MAX	 512 /* bytes at the end of a copy that are needed to continue beyond it */

/* How a walk ended: E(name, number, what it means). The numbers are those of the event stream. */
#define UNWIND_ENDS(E) \
	E(OUTERMOST, 1, "reached the outermost function") \
	E(COPY, 2, "the copy of the stack ended") \
	E(NO_CFI, 3, "no unwind table for an address") \
	E(NO_FILE, 4, "the file was not found") \
	E(BUILD_ID, 5, "the file found has another build-id") \
	E(NO_MAPPING, 6, "an address is not mapped") \
	E(LOOP, 7, "the frames do not lead upwards") \
	E(MEMORY, 8, "memory was needed that was not copied") \
	E(REGISTERS, 9, "a register was needed that was not recorded") \
	E(OTHER_STACK, 10, "the rest is on another stack") \
	E(DEPTH, 11, "more frames than the limit") \
	E(DAMAGED, 12, "the unwind table is damaged") \
	E(GENERATED, 13, "generated code") \
	E(NOT_THERE, 14, "the copy ended where the caller says that no more could be copied")

enum unwind_end {
	UNWIND_NONE,
#define E(name, number, text) UNWIND_##name = (number),
	UNWIND_ENDS(E)
#undef E
};

/* What is at an address. */
struct unwind_place {
	struct cfi *cfi;     /* NULL: none, and `why` */
	uint64_t vaddr;	     /* of the address in the module */
	enum unwind_end why; /* if there is no cfi, or no row in it: how a walk ends there */
	bool unseen;  /* cfi has tables only: the code cannot be read, as if there was none */
	bool tiny;    /* generated code of a few instructions, which cannot be read */
	bool changes; /* generated code: what a call in it led to is no longer known */
	/*
	 * The addresses from start on, len of them, that are in the same module, at vaddrs that
	 * are as far from them; len 0: just this one.
	 */
	uint64_t start, len;
};

/* 0, or an error that ends the run. */
typedef int (*unwind_find_fn)(void *ctx, uint64_t addr, struct unwind_place *place);

/*
 * The stack beyond a copy, as looks found it: a word serves if it is not known to have
 * changed after a certain look.
 */
struct unwind_beyond {
	uint64_t base;
	const uint8_t *bytes;
	size_t len;
	const uint32_t *changed; /* of each word of 8 bytes: the last look that found it so */
	uint32_t since;
};

/* Where a walk was when it needed more than its copy: all that is needed to continue from there. */
struct unwind_state {
	uint64_t reg[UNWIND_REGS], known, pc;
	uint64_t floor; /* where the copy began */
	uint64_t base;	/* its bytes are needed from here on */
	bool exact;
};

struct unwind_sample {
	const struct unwind_arch *arch;
	uint32_t space; /* the address space: what find says holds as long as it is the same */
	uint64_t mask;	/* the registers, as PERF_SAMPLE_REGS_USER has them */
	const uint64_t *regs; /* one for each bit */
	const uint8_t *stack; /* the copy, from the stack pointer up */
	size_t len;
	bool swap; /* the copy is not in host byte order */
	bool cut;  /* more was to be copied: how a walk ends that needs it is UNWIND_NOT_THERE */
	/*
	 * To continue a walk: it starts here, not at the registers; the copy's bytes begin at
	 * from->base.
	 */
	const struct unwind_state *from;
	const struct unwind_beyond *beyond; /* NULL: nothing is known of it */
};

struct unwind_result {
	const uint64_t *ips; /* the innermost first; callers are return addresses */
	const uint64_t *sps; /* the stack pointer in each frame */
	const bool *exact;   /* an address that was interrupted, not called from */
	uint32_t n;
	enum unwind_end end;
	bool guessed;			  /* a step was by the frame pointer, without a table */
	const struct unwind_state *state; /* if the copy ended; the last frame is where it was */
	uint64_t cfa;			  /* then: where that frame ends; 0: unknown */
};

struct unwinder;

/* rows: those that the modules were made with. */
int unwinder_new(struct unwinder **u, struct rows *rows, unwind_find_fn find, void *ctx);
void unwinder_free(struct unwinder *u); /* NULL is fine */

/* Forgets what find said; to be called before a cfi that it gave is freed. */
void unwinder_forget(struct unwinder *u);

/* The result lives until the next run. 0, or an error of find. */
int unwinder_run(struct unwinder *u, const struct unwind_sample *s, struct unwind_result *res);

#endif
