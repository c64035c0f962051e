/* Instructions of x86-64, by libcapstone, in the words of code_parts.h. */
#include "unwind/code_parts.h"

#include "base/err.h"

#include <capstone/capstone.h>
#include <elf.h>

/* SPARE: no register; what is moved through the processor is there. */
enum { RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP, R8, R9, R10, R11, R12, R13, R14, R15, SPARE = 17 };

#define BIT(r) (1u << (r))

/* Registers of capstone, + 1; WHOLE: of all 64 bits. */
#define WHOLE 32
#define OLD(l, n) \
	[X86_REG_R##l##X] = (n) + 1 + WHOLE, [X86_REG_E##l##X] = (n) + 1, \
	[X86_REG_##l##X] = (n) + 1, [X86_REG_##l##L] = (n) + 1, [X86_REG_##l##H] = (n) + 1
#define NEW(n) \
	[X86_REG_R##n] = (n) + 1 + WHOLE, [X86_REG_R##n##D] = (n) + 1, \
	[X86_REG_R##n##W] = (n) + 1, [X86_REG_R##n##B] = (n) + 1

static const uint8_t numbers[X86_REG_ENDING] = {
	OLD(A, RAX),
	OLD(D, RDX),
	OLD(C, RCX),
	OLD(B, RBX),
	[X86_REG_RSI] = RSI + 1 + WHOLE,
	[X86_REG_ESI] = RSI + 1,
	[X86_REG_SI] = RSI + 1,
	[X86_REG_SIL] = RSI + 1,
	[X86_REG_RDI] = RDI + 1 + WHOLE,
	[X86_REG_EDI] = RDI + 1,
	[X86_REG_DI] = RDI + 1,
	[X86_REG_DIL] = RDI + 1,
	[X86_REG_RBP] = RBP + 1 + WHOLE,
	[X86_REG_EBP] = RBP + 1,
	[X86_REG_BP] = RBP + 1,
	[X86_REG_BPL] = RBP + 1,
	[X86_REG_RSP] = RSP + 1 + WHOLE,
	[X86_REG_ESP] = RSP + 1,
	[X86_REG_SP] = RSP + 1,
	[X86_REG_SPL] = RSP + 1,
	NEW(8),
	NEW(9),
	NEW(10),
	NEW(11),
	NEW(12),
	NEW(13),
	NEW(14),
	NEW(15),
};

static unsigned number_of(unsigned reg)
{
	uint8_t n = reg < X86_REG_ENDING ? numbers[reg] : 0;

	return n ? (n - 1u) & (WHOLE - 1) : CODE_NO_REG;
}

/* An operand that is a register of 64 bits; CODE_NO_REG. */
static unsigned whole(const cs_x86_op *o)
{
	return o->type == X86_OP_REG && o->reg < X86_REG_ENDING && numbers[o->reg] > WHOLE
		       ? number_of(o->reg)
		       : CODE_NO_REG;
}

/* The base of an operand in memory that is a register + a number; CODE_NO_REG. */
static unsigned based(const cs_x86_op *o)
{
	return o->type == X86_OP_MEM && !o->mem.index && !o->mem.segment && o->mem.base &&
			       numbers[o->mem.base] > WHOLE
		       ? number_of(o->mem.base)
		       : CODE_NO_REG;
}

/* All that it writes and is not known better. */
static void kill_written(const cs_insn *i, struct code_insn *out)
{
	const cs_x86 *x = &i->detail->x86;
	unsigned n;

	for (uint8_t k = 0; k < x->op_count; k++) {
		const cs_x86_op *o = &x->operands[k];

		n = o->type == X86_OP_REG ? number_of(o->reg) : CODE_NO_REG;
		/* Of some instructions capstone does not know what they write. */
		if (n != CODE_NO_REG && (o->access & CS_AC_WRITE || (!k && !o->access)))
			out->kills |= BIT(n);
	}
	for (uint8_t k = 0; k < i->detail->regs_write_count; k++) {
		n = number_of(i->detail->regs_write[k]);
		if (n != CODE_NO_REG)
			out->kills |= BIT(n);
	}
}

static void push(const cs_insn *i, struct code_insn *out)
{
	const cs_x86_op *o = i->detail->x86.operands;
	unsigned src = i->detail->x86.op_count ? whole(o) : CODE_NO_REG;
	bool word = i->detail->x86.prefix[2] == 0x66;

	if (i->detail->x86.op_count && based(o) != CODE_NO_REG) {
		code_step(out, CODE_LOAD, SPARE, based(o), o->mem.disp);
		src = SPARE;
	}
	code_step(out, CODE_ADD, RSP, RSP, word ? -2 : -8);
	code_step(out, CODE_STORE, RSP, src == CODE_NO_REG || src == RSP ? CODE_REGS : src, 0);
}

static void pop(const cs_insn *i, struct code_insn *out)
{
	unsigned dst = i->detail->x86.op_count ? whole(&i->detail->x86.operands[0]) : CODE_NO_REG;
	bool word = i->detail->x86.prefix[2] == 0x66;

	if (dst == RSP) {
		code_step(out, CODE_LOAD, RSP, RSP, 0);
		return;
	}
	if (dst != CODE_NO_REG)
		code_step(out, CODE_LOAD, dst, RSP, 0);
	else
		kill_written(i, out);
	out->kills &= ~BIT(RSP);
	code_step(out, CODE_ADD, RSP, RSP, word ? 2 : 8);
}

static void add(const cs_insn *i, struct code_insn *out, bool minus)
{
	const cs_x86_op *o = i->detail->x86.operands;
	unsigned dst = whole(&o[0]), src = whole(&o[1]);

	if (dst != CODE_NO_REG && o[1].type == X86_OP_IMM)
		code_step(out, CODE_ADD, dst, dst, minus ? -o[1].imm : o[1].imm);
	else if (dst != CODE_NO_REG && src != CODE_NO_REG)
		code_step(out, minus ? CODE_MINUS : CODE_PLUS, dst, src, 0);
	else
		kill_written(i, out);
	if (dst != CODE_NO_REG && o[1].type != X86_OP_IMM)
		out->summed = (uint8_t)dst;
}

static void lea(const cs_insn *i, struct code_insn *out)
{
	const cs_x86_op *o = i->detail->x86.operands;
	unsigned dst = whole(&o[0]), base = based(&o[1]);

	if (dst != CODE_NO_REG && base != CODE_NO_REG) {
		code_step(out, CODE_ADD, dst, base, o[1].mem.disp);
		return;
	}
	kill_written(i, out);
	if (dst != CODE_NO_REG && o[1].mem.index)
		out->summed = (uint8_t)dst;
	if (dst != CODE_NO_REG && o[1].mem.base == X86_REG_RIP) {
		out->lea = (uint8_t)dst;
		out->target = i->address + i->size + (uint64_t)o[1].mem.disp;
	}
}

/* A load of a word from a table: mov or movslq n(base,index,scale). */
static void from_table(const cs_x86_op *o, struct code_insn *out)
{
	if (o->type != X86_OP_MEM || !o->mem.index)
		return;
	if (o->mem.scale == 4 && !o->mem.disp && o->mem.base)
		out->indexed = (uint8_t)number_of(o->mem.base);
	if (o->mem.scale == 8 && !o->mem.base) {
		out->absolute = true;
		out->target = (uint64_t)o->mem.disp;
	}
}

static void mov(const cs_insn *i, struct code_insn *out)
{
	const cs_x86_op *o = i->detail->x86.operands;
	unsigned dst = whole(&o[0]), src = whole(&o[1]), base = based(&o[0]);
	unsigned n = o[0].type == X86_OP_REG ? number_of(o[0].reg) : CODE_NO_REG;

	if (dst != CODE_NO_REG && src != CODE_NO_REG)
		code_step(out, CODE_MOVE, dst, src, 0);
	else if (n != CODE_NO_REG && o[1].type == X86_OP_IMM && o[0].size >= 4 && o[1].imm >= 0)
		code_step(out, CODE_SET, n, n, o[1].imm);
	else if (dst != CODE_NO_REG && based(&o[1]) != CODE_NO_REG)
		code_step(out, CODE_LOAD, dst, based(&o[1]), o[1].mem.disp);
	else if (base != CODE_NO_REG && o[1].type == X86_OP_REG)
		code_step(out, CODE_STORE, base, src == CODE_NO_REG ? CODE_REGS : src,
			  o[0].mem.disp);
	else
		kill_written(i, out);
	if (n != CODE_NO_REG)
		from_table(&o[1], out);
}

static void and_xor(const cs_insn *i, struct code_insn *out)
{
	const cs_x86_op *o = i->detail->x86.operands;
	unsigned dst = whole(&o[0]), n = o[0].type == X86_OP_REG ? number_of(o[0].reg) : 0;

	if (i->id == X86_INS_AND && dst != CODE_NO_REG && o[1].type == X86_OP_IMM && o[1].imm < 0)
		code_step(out, CODE_ALIGN, dst, dst, 0);
	else if (i->id == X86_INS_XOR && o[0].type == X86_OP_REG && o[1].type == X86_OP_REG &&
		 o[0].reg == o[1].reg && o[0].size >= 4 && n < 16)
		code_step(out, CODE_SET, n, n, 0);
	else
		kill_written(i, out);
}

static bool in_group(const cs_insn *i, uint8_t group)
{
	for (uint8_t k = 0; k < i->detail->groups_count; k++)
		if (i->detail->groups[k] == group)
			return true;
	return false;
}

/* Calls, jumps, ends. False: it is none. */
static bool branches(const cs_insn *i, struct code_insn *out)
{
	const cs_x86 *x = &i->detail->x86;
	bool direct = x->op_count && x->operands[0].type == X86_OP_IMM;

	if (in_group(i, CS_GRP_CALL)) {
		out->flow = CODE_CALL;
	} else if (in_group(i, CS_GRP_RET) || in_group(i, CS_GRP_IRET) || i->id == X86_INS_UD2 ||
		   i->id == X86_INS_HLT || i->id == X86_INS_INT3) {
		out->flow = CODE_STOP;
		return true;
	} else if (i->id == X86_INS_JMP || i->id == X86_INS_LJMP) {
		out->flow = direct ? CODE_JUMP : CODE_INDIRECT;
	} else if (in_group(i, CS_GRP_JUMP) || i->id == X86_INS_LOOP || i->id == X86_INS_LOOPE ||
		   i->id == X86_INS_LOOPNE) {
		out->flow = CODE_BRANCH;
	} else {
		return false;
	}
	if (direct)
		out->target = (uint64_t)x->operands[0].imm;
	else
		out->memory = x->op_count && x->operands[0].type == X86_OP_MEM;
	if (out->flow == CODE_INDIRECT && x->op_count)
		out->via = (uint8_t)whole(&x->operands[0]);
	if (out->flow == CODE_INDIRECT && out->memory)
		from_table(&x->operands[0], out);
	return true;
}

static void describe(const cs_insn *i, struct code_insn *out)
{
	const cs_x86 *x = &i->detail->x86;

	if (branches(i, out))
		return;
	switch (i->id) {
	case X86_INS_NOP: out->flow = CODE_PADDING; return;
	case X86_INS_PUSH:
	case X86_INS_PUSHFQ: push(i, out); return;
	case X86_INS_POP:
	case X86_INS_POPFQ: pop(i, out); return;
	case X86_INS_LEAVE:
		code_step(out, CODE_MOVE, RSP, RBP, 0);
		code_step(out, CODE_LOAD, RBP, RSP, 0);
		code_step(out, CODE_ADD, RSP, RSP, 8);
		return;
	case X86_INS_ADD:
	case X86_INS_SUB: add(i, out, i->id == X86_INS_SUB); return;
	case X86_INS_LEA: lea(i, out); return;
	case X86_INS_MOV:
	case X86_INS_MOVABS: mov(i, out); return;
	case X86_INS_AND:
	case X86_INS_XOR: and_xor(i, out); return;
	case X86_INS_MOVSXD: from_table(&x->operands[1], out); break;
	case X86_INS_CMP:
		if (whole(&x->operands[0]) == RSP && whole(&x->operands[1]) != CODE_NO_REG)
			out->equal = (uint8_t)whole(&x->operands[1]);
		out->compared = x->operands[1].type == X86_OP_IMM && x->operands[1].imm >= 0;
		out->bound = out->compared ? (uint32_t)x->operands[1].imm : 0;
		return;
	case X86_INS_TEST: return;
	case X86_INS_ENTER: out->kills |= BIT(RBP) | BIT(RSP); return;
	case X86_INS_SYSCALL: out->kills |= BIT(RAX) | BIT(RCX) | BIT(R11); return;
	case X86_INS_XCHG:
	case X86_INS_XADD:
		for (int k = 0; k < 2; k++) {
			unsigned reg = x->operands[k].type == X86_OP_REG
					       ? number_of(x->operands[k].reg)
					       : CODE_NO_REG;

			if (reg < 32)
				out->kills |= BIT(reg);
		}
		return;
	}
	kill_written(i, out);
	/* What linkers fill gaps with, where it is not nops. */
	if (i->size == 2 && !i->bytes[0] && !i->bytes[1])
		out->flow = CODE_PADDING;
}

/* A loop that touches the pages of a large frame ends where the stack pointer is equal. */
static void note_equal(struct code_insns *t)
{
	struct code_insn *last = t->n ? &t->v[t->n - 1] : NULL;
	struct code_insn *before = t->n > 1 ? last - 1 : NULL;
	bool compared = before && before->equal != CODE_NO_REG && before->flow == CODE_NEXT;

	if (last && last->flow == CODE_BRANCH)
		last->equal = compared ? before->equal : CODE_NO_REG;
}

/*
 * The length of an instruction with a VEX or EVEX prefix, which capstone may be too old to know:
 * they all have the same form. 0: it is none.
 */
static size_t vector_length(const uint8_t *p, size_t left)
{
	size_t n = left < 11 ? 0 : *p == 0x62 ? 4 : *p == 0xc4 ? 3 : *p == 0xc5 ? 2 : 0;
	unsigned map = n == 4 ? p[1] & 7 : n == 3 ? p[1] & 31 : 1, op, mod, rm;

	if (!n)
		return 0;
	op = p[n];
	mod = p[n + 1] >> 6;
	rm = p[n + 1] & 7;
	n += 2;
	if (mod != 3 && rm == 4)
		rm = p[n++] & 7;
	n += mod == 1 ? 1 : mod == 2 || (!mod && rm == 5) ? 4 : 0;
	return n + (map == 3 || (map == 1 && ((op & 0xfc) == 0x70 || op == 0xc2 ||
					      (op >= 0xc4 && op <= 0xc6))));
}

static int decode(const struct code_function *f, struct code_insns *out)
{
	const uint8_t *p = f->bytes;
	size_t left = f->len;
	uint64_t addr = f->start;
	struct code_insn *i;
	cs_insn *insn;
	int rc = 0;
	csh h;

	if (cs_open(CS_ARCH_X86, CS_MODE_64, &h) != CS_ERR_OK)
		return PP_ENOMEM;
	cs_option(h, CS_OPT_DETAIL, CS_OPT_ON);
	insn = cs_malloc(h);
	if (!insn)
		rc = PP_ENOMEM;
	while (!rc && left) {
		bool known = cs_disasm_iter(h, &p, &left, &addr, insn);
		size_t n = known ? insn->size : vector_length(p, left);

		i = code_add(out, (uint32_t)((known ? insn->address : addr) - f->start),
			     (uint8_t)(n ? n : 1));
		if (!i) {
			rc = PP_ENOMEM;
		} else if (known) {
			describe(insn, i);
			note_equal(out);
		} else {
			if (!n) /* data */
				i->flow = CODE_STOP;
			p += i->size;
			left -= i->size;
			addr += i->size;
		}
	}
	if (insn)
		cs_free(insn, 1);
	cs_close(&h);
	return rc;
}

const struct code_machine code_x86 = {
	.machine = EM_X86_64,
	.sp = RSP,
	.fp = RBP,
	.ra = 16,
	.entry = 8,
	.saved = BIT(RBX) | BIT(RBP) | BIT(R12) | BIT(R13) | BIT(R14) | BIT(R15),
	.killed = BIT(RAX) | BIT(RCX) | BIT(RDX) | BIT(RSI) | BIT(RDI) | BIT(R8) | BIT(R9) |
		  BIT(R10) | BIT(R11),
	.decode = decode,
};
