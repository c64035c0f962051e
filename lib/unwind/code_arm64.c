/*
 * Instructions of aarch64 in the words of code_parts.h: those that move the stack pointer or keep
 * registers, by their encoding (Arm Architecture Reference Manual, C4.1); of the others what they
 * write.
 */
#include "unwind/code_parts.h"

#include "base/err.h"

#include <elf.h>

#define FP 29
#define LR 30
#define SP 31

static uint32_t bits(uint32_t v, unsigned from, unsigned n)
{
	return v >> from & ((1u << n) - 1);
}

/* A number of n bits with a sign. */
static int64_t sign(uint32_t v, unsigned n)
{
	return (int64_t)((uint64_t)v << (64 - n)) >> (64 - n);
}

/* A general register with a new value; 31 is the zero register there. */
static void kill(struct code_insn *i, unsigned reg)
{
	if (reg != SP)
		i->kills |= 1u << reg;
}

/* One register loaded or stored at [base + off]. */
static void access(struct code_insn *i, bool load, unsigned reg, unsigned base, int64_t off)
{
	if (!load)
		code_step(i, CODE_STORE, base, reg == SP ? CODE_REGS : reg, off);
	else if (reg != SP)
		code_step(i, CODE_LOAD, reg, base, off);
}

/* ldp, stp: index 1 post, 2 offset, 3 pre. */
static void pair(struct code_insn *i, uint32_t v)
{
	unsigned index = bits(v, 23, 2), opc = bits(v, 30, 2), base = bits(v, 5, 5);
	bool load = bits(v, 22, 1), vector = bits(v, 26, 1), whole = opc == 2 && !vector;
	int64_t off = sign(bits(v, 15, 7), 7) * (vector ? 4 << opc : opc == 2 ? 8 : 4);
	int64_t at = index == 1 || index == 3 ? 0 : off;

	if (index == 3)
		code_step(i, CODE_ADD, base, base, off);
	if (whole && load && bits(v, 0, 5) == base) /* the base itself is loaded last */
		i->kills |= 1u << base;
	if (whole) {
		access(i, load, bits(v, 0, 5), base, at);
		access(i, load, bits(v, 10, 5), base, at + 8);
	} else if (load && !vector) {
		kill(i, bits(v, 0, 5));
		kill(i, bits(v, 10, 5));
	}
	if (index == 1)
		code_step(i, CODE_ADD, base, base, off);
}

/* ldr, str of one register: scaled, unscaled, post- and pre-indexed. */
static void single(struct code_insn *i, uint32_t v)
{
	unsigned size = bits(v, 30, 2), opc = bits(v, 22, 2), base = bits(v, 5, 5),
		 reg = bits(v, 0, 5), index = bits(v, 10, 2);
	bool vector = bits(v, 26, 1), scaled = bits(v, 24, 1);
	bool whole = size == 3 && opc < 2 && !vector;
	int64_t off = scaled ? (int64_t)bits(v, 10, 12) << size : sign(bits(v, 12, 9), 9);
	bool plain = scaled || (!bits(v, 21, 1) && index != 2);

	if (!plain) { /* a register is added: ldr x0, [x1, x2, lsl #2], or an atomic operation */
		if (!vector && (opc || bits(v, 10, 2) == 0))
			kill(i, reg);
		if (!vector && opc && index == 2 && size == 2)
			i->indexed = (uint8_t)base;
		return;
	}
	if (!scaled && index == 3)
		code_step(i, CODE_ADD, base, base, off);
	if (whole)
		access(i, opc == 1, reg, base, !scaled && index & 1 ? 0 : off);
	else if (opc && !vector && !(size == 3 && opc == 2)) /* prfm writes nothing */
		kill(i, reg);
	if (!scaled && index == 1)
		code_step(i, CODE_ADD, base, base, off);
}

static void load_store(struct code_insn *i, uint32_t v)
{
	if (bits(v, 27, 3) == 5 && bits(v, 25, 1) == 0)
		pair(i, v);
	else if (bits(v, 27, 3) == 7)
		single(i, v);
	else if (bits(v, 24, 6) == 0x18) /* ldr from a number of bytes away */
		kill(i, bits(v, 0, 5));
	else if (bits(v, 24, 6) == 0x08) { /* exclusive, acquiring */
		kill(i, bits(v, 0, 5));
		kill(i, bits(v, 16, 5));
		kill(i, bits(v, 10, 5));
	}
}

static void immediate(struct code_insn *i, uint32_t v)
{
	unsigned dst = bits(v, 0, 5), src = bits(v, 5, 5), kind = bits(v, 23, 3);
	bool whole = bits(v, 31, 1);
	int64_t n = bits(v, 10, 12);

	if (kind == 2 && whole) { /* add, sub */
		n = bits(v, 22, 1) ? n << 12 : n;
		if (!bits(v, 29, 1)) {
			code_step(i, CODE_ADD, dst, src, bits(v, 30, 1) ? -n : n);
			return;
		}
	} else if (kind == 5 && bits(v, 29, 2) == 2) { /* movz */
		code_step(i, CODE_SET, dst, dst,
			  (int64_t)((uint64_t)bits(v, 5, 16) << 16 * bits(v, 21, 2)));
		return;
	} else if (kind == 5 && bits(v, 29, 2) == 3 && bits(v, 21, 2) == 1) { /* movk */
		code_step(i, CODE_ADD, dst, dst, (int64_t)bits(v, 5, 16) << 16);
		return;
	} else if (kind == 4 && whole && bits(v, 29, 2) == 0) { /* and of a mask */
		code_step(i, CODE_ALIGN, src, src, 0);
		if (dst != src)
			i->kills |= 1u << dst | 1u << src;
		return;
	} else if (kind == 4 && bits(v, 29, 2) == 1) { /* orr: also a mov of a mask */
		i->kills |= 1u << dst;
		return;
	}
	kill(i, dst);
}

static void registers(struct code_insn *i, uint32_t v)
{
	unsigned dst = bits(v, 0, 5), src = bits(v, 16, 5);

	/* add, sub of a shifted or extended register */
	if ((v & 0x3f200000) == 0x0b000000 || (v & 0x3fe00000) == 0x0b200000)
		i->summed = (uint8_t)dst;
	if ((v & 0xffe0ffe0) == 0xaa0003e0) { /* mov between registers, orr with the zero one */
		if (src == SP)
			code_step(i, CODE_SET, dst, dst, 0);
		else
			code_step(i, CODE_MOVE, dst, src, 0);
	} else if ((v & 0xbfe0fc00) == 0x8b206000 && bits(v, 0, 5) == bits(v, 5, 5)) {
		/* add, sub of a register to the stack pointer */
		code_step(i, bits(v, 30, 1) ? CODE_MINUS : CODE_PLUS, dst, src, 0);
	} else if ((v & 0x1fe00000) == 0x0b200000 && !bits(v, 29, 1)) {
		i->kills |= 1u << dst; /* extended: the destination can be the stack pointer */
	} else if ((v & 0x3fe00c10) != 0x3a400000 && (v & 0x3fe00c10) != 0x3a400800) {
		kill(i, dst); /* not ccmp */
	}
}

static void branch(const struct code_function *f, struct code_insn *i, uint32_t v)
{
	uint64_t pc = f->start + i->at;

	if (bits(v, 26, 5) == 5) {
		i->flow = v >> 31 ? CODE_CALL : CODE_JUMP;
		i->target = pc + (uint64_t)(sign(bits(v, 0, 26), 26) * 4);
	} else if (bits(v, 24, 8) == 0x54 || bits(v, 25, 6) == 0x1a) { /* b.cond, cbz */
		i->flow = CODE_BRANCH;
		i->target = pc + (uint64_t)(sign(bits(v, 5, 19), 19) * 4);
	} else if (bits(v, 25, 6) == 0x1b) { /* tbz */
		i->flow = CODE_BRANCH;
		i->target = pc + (uint64_t)(sign(bits(v, 5, 14), 14) * 4);
	} else if (bits(v, 25, 7) == 0x6b) { /* br, blr, ret and what checks signatures */
		i->flow = bits(v, 21, 2) == 1	? CODE_CALL
			  : bits(v, 21, 2) == 0 ? CODE_INDIRECT
						: CODE_STOP;
		if (i->flow == CODE_INDIRECT)
			i->via = (uint8_t)bits(v, 5, 5);
	} else if (bits(v, 24, 8) == 0xd4) { /* svc writes x0; brk and hlt end */
		if (bits(v, 21, 3))
			i->flow = CODE_STOP;
		i->kills |= 1;
	} else if ((v & 0xfffff01f) == 0xd503201f) { /* hints: nop, paciasp, bti */
		i->flow = v == 0xd503201f ? CODE_PADDING : CODE_NEXT;
	} else if ((v & 0xfff00000) == 0xd5300000) { /* mrs */
		kill(i, bits(v, 0, 5));
	}
}

static void vector(struct code_insn *i, uint32_t v)
{
	/* To general registers: umov, smov; fmov and conversions to integers. */
	if ((v & 0x9fe08400) == 0x0e000400 || (v & 0x5f20fc00) == 0x1e200000)
		kill(i, bits(v, 0, 5));
}

static void describe(const struct code_function *f, struct code_insn *i, uint32_t v)
{
	switch (bits(v, 25, 4)) {
	case 8:
	case 9:
		if (bits(v, 24, 5) == 0x10) { /* adr, adrp */
			kill(i, bits(v, 0, 5));
			if (!(v >> 31)) {
				i->lea = (uint8_t)bits(v, 0, 5);
				i->target =
					f->start + i->at +
					(uint64_t)sign(bits(v, 5, 19) << 2 | bits(v, 29, 2), 21);
			}
		} else {
			immediate(i, v);
		}
		break;
	case 10:
	case 11: branch(f, i, v); break;
	case 4:
	case 6:
	case 12:
	case 14: load_store(i, v); break;
	case 5:
	case 13: registers(i, v); break;
	case 7:
	case 15: vector(i, v); break;
	default: i->flow = v ? CODE_STOP : CODE_PADDING; /* udf; zeroes fill gaps */
	}
}

static int decode(const struct code_function *f, struct code_insns *out)
{
	for (size_t at = 0; at + 4 <= f->len; at += 4) {
		const uint8_t *p = f->bytes + at;
		struct code_insn *i = code_add(out, (uint32_t)at, 4);

		if (!i)
			return PP_ENOMEM;
		describe(f, i,
			 p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
	}
	return 0;
}

const struct code_machine code_arm64 = {
	.machine = EM_AARCH64,
	.sp = SP,
	.fp = FP,
	.ra = LR,
	.entry = 0,
	.saved = 0x3ff80000, /* x19 to x29 */
	.killed = 0x0007ffff | 1u << LR,
	.decode = decode,
};
