/*
 * Where the data of a memory access came from: the bits of PERF_SAMPLE_DATA_SRC, in perf's terms.
 *
 *	datasrc_add(&b, DATASRC_LEVEL, bits)	("L1 hit")
 *	datasrc_all(&b, bits)			("|OP LOAD|LVL L1 hit|SNP None|TLB L1 hit|...")
 *
 * The bits are those of <linux/perf_event.h>: union perf_mem_data_src.
 */
#ifndef PP_EVENT_DATASRC_H
#define PP_EVENT_DATASRC_H

#include "base/buf.h"

#define DATASRC_TEXT_MAX 512  /* maximum bytes of the text for any bits */
#define DATASRC_NONE	 0x21 /* PERF_MEM_NA as older kernels have it: operation, level not known */

/* The parts: P(NAME, field of an event that it is, what it is). */
#define DATASRC_PARTS(P) \
	P(OP, "mem_op", "load, store, ...") \
	P(LEVEL, "mem_level", "L1 hit, Local RAM hit, ...") \
	P(SNOOP, "mem_snoop", "whether another cache had it: None, Hit, HitM, ...") \
	P(TLB, "mem_tlb", "where the address was translated") \
	P(LOCK, "mem_lock", "whether it was locked: Yes, No") \
	P(BLOCK, "mem_block", "what it had to wait for") \
	P(HITM, "mem_hitm", "a cache that had changed it: local, remote; none")

enum datasrc_part {
#define P(name, field, what) DATASRC_##name,
	DATASRC_PARTS(P)
#undef P
};

void datasrc_add(struct buf *b, enum datasrc_part part, uint64_t bits);

/* All but the last, as `perf script -F data_src` has them after the number. */
void datasrc_all(struct buf *b, uint64_t bits);

#endif
