/*
 * The instructions of a function: where they begin, which of them return, where jumps go.
 *
 *	struct code c;
 *	if (code_read(&c, binary, start, end) == 0) {
 *		if (code_at(&c, addr, &insn) == 0) ... an instruction begins there ...
 *		code_release(&c);
 *	}
 *
 * Disassembled from the start on, by libcapstone. Unknown bytes end the knowledge:
 * nothing after them is reported as an instruction.
 */
#ifndef PP_INSPECT_CODE_H
#define PP_INSPECT_CODE_H

#include "inspect/binary.h"

enum insn_kind {
	INSN_OTHER,
	INSN_RET,      /* returns */
	INSN_JUMP,     /* always, to a known address */
	INSN_BRANCH,   /* perhaps */
	INSN_INDIRECT, /* a jump to an address in a register or memory */
	INSN_CALL,
	INSN_ENDBR, /* endbr64 */
};

struct insn {
	uint64_t addr, target; /* target: of jumps, branches and calls, 0: not known */
	uint8_t size;
	uint8_t kind; /* enum insn_kind */
};

struct code {
	uint64_t start, end;
	struct insn *insn; /* owned */
	uint32_t n, cap;
	bool whole; /* all bytes are known */
};

/* Reads [start, end). 0, PP_EUNSUPPORTED (another machine), PP_ELIMIT, PP_ENOMEM, or of reading. */
int code_read(struct code *c, const struct binary *b, uint64_t start, uint64_t end);
void code_release(struct code *c);

/* The instruction that begins at an address: 0, PP_ENOENT (none begins there), PP_ELIMIT (beyond
 * what is known). */
int code_at(const struct code *c, uint64_t addr, const struct insn **insn);

/* Whether a jump or branch within the code goes to an address. */
bool code_jumped_to(const struct code *c, uint64_t addr);

/* Whether the instruction leaves the function for another one without a call. */
bool code_is_tail_jump(const struct code *c, const struct insn *i);

#endif
