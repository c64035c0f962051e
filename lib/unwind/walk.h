/*
 * What unwind.c (the walk), complex.c, calls.c, signal.c and guess.c (steps without a table) share.
 * Private to them.
 */
#ifndef PP_UNWIND_WALK_H
#define PP_UNWIND_WALK_H

#include "unwind/unwind.h"

#include <string.h>

struct walk {
	const struct unwind_arch *arch;
	uint64_t reg[UNWIND_REGS];
	uint64_t known; /* a bit for each register with a value */
	uint64_t pc;
	bool exact; /* pc was interrupted, not called from */
	/* The copy: [base, base + len). It began at `floor`, if only its end is left. */
	uint64_t base, floor;
	const uint8_t *stack;
	size_t len;
	bool swap;
	bool cut;     /* more was to be copied */
	uint64_t cfa; /* of the frame that a table could not lead out of; 0: unknown */
	const struct unwind_beyond *beyond;
	unwind_find_fn find;
	void *ctx;
	struct unwinder *u;
};

static inline bool walk_knows(const struct walk *w, unsigned reg)
{
	return w->known >> reg & 1;
}

static inline void walk_set(struct walk *w, unsigned reg, uint64_t v)
{
	w->reg[reg] = v;
	w->known |= UINT64_C(1) << reg;
}

/* The address whose rules hold: a caller is at the call, before the address it returns to. */
static inline uint64_t walk_addr(const struct walk *w)
{
	return w->pc - !w->exact;
}

static inline bool walk_in_copy(const struct walk *w, uint64_t addr, unsigned size)
{
	return addr >= w->base && w->len >= size && addr - w->base <= w->len - size;
}

/* Whether looks have words, of which none changed. */
static inline bool walk_looked(const struct unwind_beyond *b, uint64_t addr, unsigned size)
{
	return b && addr >= b->base && b->len >= size && addr - b->base <= b->len - size &&
	       b->changed[(addr - b->base) / 8] <= b->since &&
	       b->changed[(addr - b->base + size - 1) / 8] <= b->since;
}

static inline bool walk_has(const struct walk *w, uint64_t addr, unsigned size)
{
	return walk_in_copy(w, addr, size) || walk_looked(w->beyond, addr, size);
}

/* A number in memory that is there. */
static inline uint64_t walk_load(const struct walk *w, uint64_t addr, unsigned size)
{
	const uint8_t *p = walk_in_copy(w, addr, size)
				   ? w->stack + (addr - w->base)
				   : w->beyond->bytes + (addr - w->beyond->base);
	uint64_t v = 0;

	if (size == 8) {
		memcpy(&v, p, 8);
		return w->swap ? __builtin_bswap64(v) : v;
	}
	for (unsigned i = 0; i < size; i++) {
		bool little = w->swap != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

		v |= (uint64_t)p[i] << 8 * (little ? i : size - 1 - i);
	}
	return v;
}

/* What find says of an address. */
static inline int walk_find(const struct walk *w, uint64_t addr, struct unwind_place *place)
{
	*place = (struct unwind_place){.why = UNWIND_NO_MAPPING};
	return w->find(w->ctx, addr, place);
}

/* A displacement of an instruction of x86, or a word of aarch64: in little endian. */
static inline int32_t walk_displacement(const uint8_t *p)
{
	return (int32_t)(p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
}

/* ---- complex.c ---- */

/* Why the return address, which lies outside the copy, is not available. */
enum unwind_end walk_outside(const struct walk *w, uint64_t addr);

/* A step by any row: *cfa, and the registers of the caller. *rc: an error of find. */
enum unwind_end walk_complex(struct walk *w, const struct row *row, uint64_t *cfa, int *rc);

/* ---- calls.c; *rc: an error of find ---- */

/*
 * Whether an address can be where a call returns to: mapped, and after a call as far as can be
 * seen; if it is `sure`, after a call.
 */
bool walk_is_return(struct walk *w, uint64_t pc, bool sure, int *rc);

/*
 * Whether the call before an address can have led to the function of `callee`, whose row was made
 * from code: a call of that function, one through a register or memory, or of code that jumps there
 * or to where only the processor knows, as linkage tables do.
 */
bool walk_leads(const struct walk *w, const struct unwind_place *callee, uint64_t pc, int *rc);

/* ---- signal.c ---- */

/*
 * Where a signal handler returns to, of a C library without tables: true, and the walk is at what
 * the signal interrupted. *rc: an error of find.
 */
bool walk_signal(struct walk *w, int *rc);

/* Whether w->pc is such code: what a handler returns to, without a call of it. */
bool walk_at_sigreturn(const struct walk *w, int *rc);

/* ---- guess.c ---- */

/*
 * A step without a table, if it is plausible: true, and the walk is at the caller. *rc: an error of
 * find.
 */
bool walk_guess(struct walk *w, const struct unwind_place *at, int *rc);

#endif
