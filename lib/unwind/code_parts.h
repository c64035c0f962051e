/*
 * What code_x86.c, code_arm64.c (instructions in few words), code_flow.c (what they do to the
 * stack, along all branches) and code_rows.c (rows) share. Private to them.
 */
#ifndef PP_UNWIND_CODE_PARTS_H
#define PP_UNWIND_CODE_PARTS_H

#include "unwind/machine_code.h"

#define CODE_REGS  32 /* by DWARF number; 31 is aarch64's stack pointer */
#define CODE_SLOTS 24 /* places of a frame that are followed */
#define CODE_STEPS 3

/* What one step of an instruction does. */
enum code_op {
	CODE_NOTHING,
	CODE_MOVE,  /* dst = src */
	CODE_ADD,   /* dst = src + number */
	CODE_PLUS,  /* dst = dst + src */
	CODE_MINUS, /* dst = dst - src */
	CODE_ALIGN, /* dst: low bits are cleared */
	CODE_SET,   /* dst = number */
	CODE_LOAD,  /* dst = what is at src + number */
	CODE_STORE, /* what is at dst + number = src; CODE_REGS: another value */
};

struct code_step {
	uint8_t op, dst, src;
	int32_t number;
};

enum code_way {
	CODE_NEXT,
	CODE_PADDING, /* does nothing */
	CODE_CALL,
	CODE_JUMP,
	CODE_BRANCH,
	CODE_INDIRECT, /* jumps to where a register or memory says */
	CODE_STOP,     /* returns, or ends the program */
};

#define CODE_NO_REG 0xff

struct code_insn {
	uint32_t at; /* from the function's start */
	uint8_t size, flow, nsteps;
	uint8_t equal;	 /* a branch that is not taken if the stack pointer is this register */
	uint8_t lea;	 /* this register becomes the address `target` */
	uint8_t indexed; /* a word of the table at this register is loaded */
	uint8_t summed;	 /* this register becomes the sum of two */
	uint8_t via;	 /* an indirect jump to where this register says */
	bool absolute;	 /* `target` is a table of whole addresses */
	bool memory;	 /* an indirect jump to where memory says */
	bool compared;	 /* a register is compared with `bound` */
	bool noreturn;	 /* a call after which other paths' code begins */
	struct code_step step[CODE_STEPS];
	uint32_t kills;		/* a bit for each register with a new value, which is not known */
	uint64_t target;	/* of a branch, a call; 0: not known */
	uint32_t first_to, nto; /* targets of its jump table, in code_flow.to */
	uint32_t bound;
};

struct code_insns {
	struct code_insn *v; /* owned */
	uint32_t n, cap;
};

/* A machine's conventions, by DWARF number. */
struct code_machine {
	unsigned machine;
	uint8_t sp, fp, ra;
	int32_t entry;	 /* the CFA less the stack pointer at a function's first instruction */
	uint32_t saved;	 /* registers that a function leaves to its caller as they were */
	uint32_t killed; /* those that a call changes */
	int (*decode)(const struct code_function *f, struct code_insns *out);
};

extern const struct code_machine code_x86, code_arm64;

/* A new instruction at the end, zeroed but for its place; NULL: out of memory. */
struct code_insn *code_add(struct code_insns *t, uint32_t at, uint8_t size);

static inline void code_step(struct code_insn *i, enum code_op op, unsigned dst, unsigned src,
			     int64_t number)
{
	if (i->nsteps == CODE_STEPS || number != (int32_t)number)
		i->kills |= dst < CODE_REGS ? 1u << dst : 0;
	else
		i->step[i->nsteps++] =
			(struct code_step){op, (uint8_t)dst, (uint8_t)src, (int32_t)number};
}

/* ---- code_flow.c ---- */

/* What a register or a place in the frame holds. */
enum code_kind {
	CODE_UNKNOWN,
	CODE_ENTRY,  /* what register `reg` held when the function was entered */
	CODE_CFA,    /* the CFA + off */
	CODE_ROUND,  /* the stack pointer after it was aligned, + off */
	CODE_NUMBER, /* off */
};

struct code_value {
	uint8_t kind, reg;
	int32_t off;
};

struct code_slot {
	uint8_t kind; /* CODE_CFA or CODE_ROUND: what it is relative to */
	int32_t off;
	struct code_value value;
};

struct code_state {
	struct code_value reg[CODE_REGS];
	struct code_slot slot[CODE_SLOTS];
	uint8_t nslots;
};

/* A function while it is followed. */
struct code_flow {
	const struct code_function *f;
	const struct code_machine *m;
	struct code_insns insns;
	uint32_t *index;	   /* owned; by byte: instruction + 1; 0: none begins there */
	struct code_state **state; /* owned; by instruction, where paths meet; NULL: none does */
	uint32_t *came;		   /* the same: the call after which it came there, + 1 */
	uint8_t *mark;		   /* CODE_LEADER, CODE_SEEN */
	uint32_t count;		   /* of the instructions, to begin with */
	uint32_t *to, nto, to_cap; /* targets of jump tables: indexes */
	uint32_t *work;
	uint32_t nwork;
	uint64_t budget; /* instructions that may still be followed */
	bool again;	 /* a call was found not to return */
	bool soft;	 /* what was reached before is better known */
	bool unbound;	 /* it jumps to places of its own that are not known */
	bool jumps;	 /* it jumps somewhere, with this state */
	struct code_state jump;
};

#define CODE_LEADER 1
#define CODE_SEEN   2
#define CODE_QUEUED 4
#define CODE_BLOCK  8 /* a branch leads there: it is not a function */

/* Decodes and follows. 0, PP_ENOMEM; PP_ELIMIT: it takes too long. To be released in any case. */
int code_flow_run(struct code_flow *w, const struct code_function *f, const struct code_machine *m);
void code_flow_release(struct code_flow *w);

/* What an instruction makes of a state. */
void code_apply(const struct code_flow *w, const struct code_insn *i, struct code_state *s);

static inline bool code_same(struct code_value a, struct code_value b)
{
	return a.kind == b.kind && (a.kind == CODE_UNKNOWN || (a.reg == b.reg && a.off == b.off));
}

/* ---- code_tables.c ---- */

/* Finds the targets of an indirect jump's table, if it has one that is understood. 0, PP_ENOMEM. */
int code_targets(struct code_flow *w, uint32_t jump);

#endif
