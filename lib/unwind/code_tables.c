/* Jump tables: where indirect jumps lead. */
#include "unwind/code_parts.h"

#include "base/array.h"
#include "base/err.h"

#include <string.h>

#define BACK	    48	 /* instructions before a jump in which its table is loaded from */
#define ENTRIES_MAX 4096 /* of a table */
#define BLOCK	    256	 /* bytes that are read at a time */
#define WORK_LEFT   32	 /* of code_flow.budget, for following */

static uint32_t index_of(const struct code_flow *w, uint64_t target)
{
	uint64_t at = target - w->f->start;

	return at < w->f->len ? w->index[at] : 0;
}

/* The next table after an address: there this one ends. */
static uint64_t next_table(const struct code_flow *w, uint64_t table)
{
	uint64_t next = UINT64_MAX;

	for (uint32_t i = 0; i < w->insns.n; i++) {
		const struct code_insn *insn = &w->insns.v[i];

		if ((insn->lea != CODE_NO_REG || insn->absolute) && insn->target > table &&
		    insn->target < next)
			next = insn->target;
	}
	return next;
}

/*
 * The table of a jump, by the last load from one before it, and the last address that went into
 * its register. *size: bytes of an entry. False: it is not known.
 */
static bool table_of(const struct code_flow *w, uint32_t jump, uint64_t *table, unsigned *size)
{
	const struct code_insn *v = w->insns.v;
	uint32_t i = jump, first = jump > BACK ? jump - BACK : 0;

	*size = 8;
	*table = v[jump].target;
	if (v[jump].absolute)
		return true;
	while (i > first && v[i - 1].indexed == CODE_NO_REG && !v[i - 1].absolute)
		i--;
	if (i == first)
		return false;
	i--;
	*table = v[i].target;
	if (v[i].absolute)
		return true;
	*size = 4;
	for (uint32_t k = i; k-- > 0;)
		if (v[k].lea == v[i].indexed) {
			*table = v[k].target;
			return true;
		}
	return false;
}

/* How many entries it has at least, by a comparison before the jump; 0: not known. */
static uint32_t bound_of(const struct code_flow *w, uint32_t jump)
{
	for (uint32_t i = jump; i > 0 && jump - i < BACK; i--)
		if (w->insns.v[i - 1].compared)
			return w->insns.v[i - 1].bound < ENTRIES_MAX ? w->insns.v[i - 1].bound + 1
								     : 0;
	return 0;
}

static int add(struct code_flow *w, struct code_insn *jump, uint32_t target)
{
	uint32_t *v = array_widen(w->to, &w->to_cap, w->nto, 64, sizeof(*v));

	if (!v)
		return PP_ENOMEM;
	w->to = v;
	v[w->nto++] = target;
	jump->nto++;
	return 0;
}

int code_targets(struct code_flow *w, uint32_t jump)
{
	struct code_insn *insn = &w->insns.v[jump];
	uint64_t table, end;
	uint8_t b[BLOCK];
	unsigned size;
	uint32_t bound;
	int rc = 0;

	insn->first_to = w->nto;
	/* Each takes a look at all instructions. */
	if (!w->f->read || w->budget < WORK_LEFT * (uint64_t)w->count ||
	    !table_of(w, jump, &table, &size))
		return 0;
	w->budget -= w->count;
	end = next_table(w, table);
	bound = bound_of(w, jump);
	for (uint64_t at = table; at < end && (at - table) / size < ENTRIES_MAX && !rc;
	     at += size) {
		uint32_t in = (uint32_t)((at - table) % BLOCK), i;
		uint64_t v = 0;

		/* In blocks; the last one may be too near to the end for that. */
		if (!in && w->f->read(w->f->ctx, at, b, BLOCK))
			memset(b, 0xff, BLOCK);
		if (!in && b[0] == 0xff && b[1] == 0xff)
			for (unsigned k = 0; k + size <= BLOCK; k += size)
				if (w->f->read(w->f->ctx, at + k, b + k, size))
					break;
		for (unsigned k = size; k-- > 0;)
			v = v << 8 | b[in + k];
		i = index_of(w, size == 4 ? table + (uint64_t)(int64_t)(int32_t)v : v);
		/* Some lead to parts that were split off. */
		if (!i && (at - table) / size >= bound)
			break;
		if (i)
			rc = add(w, insn, i - 1);
	}
	return rc;
}
