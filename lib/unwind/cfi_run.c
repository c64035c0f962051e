/* Runs the instructions of a call frame table up to an address: what comes out is a row. */
#include "unwind/cfi_parts.h"

#include "base/err.h"
#include "dwarf/leb.h"

#define REMEMBER_MAX 16 /* states that are remembered at a time; compilers need one or two */

/* DW_CFA_*: those with an operand in the low bits, and the others. */
enum {
	OP_ADVANCE = 0x40,
	OP_OFFSET = 0x80,
	OP_RESTORE = 0xc0,
	OP_NOP = 0,
	OP_SET_LOC,
	OP_ADVANCE1,
	OP_ADVANCE2,
	OP_ADVANCE4,
	OP_OFFSET_EXTENDED,
	OP_RESTORE_EXTENDED,
	OP_UNDEFINED,
	OP_SAME_VALUE,
	OP_REGISTER,
	OP_REMEMBER,
	OP_RESTORE_STATE,
	OP_DEF_CFA,
	OP_DEF_CFA_REGISTER,
	OP_DEF_CFA_OFFSET,
	OP_DEF_CFA_EXPRESSION,
	OP_EXPRESSION,
	OP_OFFSET_EXTENDED_SF,
	OP_DEF_CFA_SF,
	OP_DEF_CFA_OFFSET_SF,
	OP_VAL_OFFSET,
	OP_VAL_OFFSET_SF,
	OP_VAL_EXPRESSION,
	OP_NEGATE_RA_STATE_PC = 0x2c,
	OP_NEGATE_RA_STATE = 0x2d, /* on SPARC: window save */
	OP_GNU_ARGS_SIZE = 0x2e,
	OP_GNU_NEGATIVE_OFFSET = 0x2f,
};

struct rule {
	uint8_t how;
	int64_t value; /* or the length of the expression */
	const uint8_t *expr;
};

struct state {
	struct rule cfa; /* ROW_REGISTER: cfa_reg + value; ROW_VAL_EXPR; ROW_SAME: none */
	uint64_t cfa_reg;
	struct rule reg[UNWIND_REGS];
};

struct runner {
	const struct cfi_fde *fde;
	struct cursor c;
	uint64_t at, target, c_vaddr;
	uint64_t from;	/* the row that is being made holds from here on */
	bool backwards; /* the addresses do not only grow */
	const uint8_t *c_start;
	struct state now, first; /* first: after the CIE's instructions */
	struct state kept[REMEMBER_MAX];
	unsigned nkept;
	bool done;
	int rc;
};

/* Registers that the unwinder does not follow (vectors, ...) have rules, too: they go nowhere. */
static void set(struct runner *r, uint64_t reg, enum row_how how, int64_t value)
{
	if (reg < UNWIND_REGS)
		r->now.reg[reg] = (struct rule){.how = (uint8_t)how, .value = value};
}

static int64_t factored(const struct runner *r, int64_t n)
{
	int64_t v;

	return __builtin_mul_overflow(n, r->fde->cie.data_align, &v) ? INT64_MAX : v;
}

static void set_expr(struct runner *r, struct rule *rule, enum row_how how)
{
	uint64_t n = get_uleb(&r->c);
	const uint8_t *p = get_bytes(&r->c, n);

	if (rule)
		*rule = (struct rule){.how = (uint8_t)how, .value = (int64_t)n, .expr = p};
}

/* The rules that follow hold from an address on. */
static void move(struct runner *r, uint64_t to)
{
	r->backwards |= to < r->at;
	r->from = r->at;
	r->at = to;
	r->done = to > r->target;
	if (!r->done)
		r->from = to;
}

static void advance(struct runner *r, uint64_t by)
{
	move(r, r->at + by * r->fde->cie.code_align);
}

static void restore(struct runner *r, uint64_t reg)
{
	if (reg < UNWIND_REGS)
		r->now.reg[reg] = r->first.reg[reg];
}

static bool run_place(struct runner *r, uint8_t op)
{
	uint64_t vaddr;

	switch (op) {
	case OP_NOP: return true;
	case OP_SET_LOC:
		vaddr = r->c_vaddr + (uint64_t)(r->c.p - r->c_start);
		move(r, cfi_pointer(&r->c, r->fde->cie.encoding, r->fde->cie.width, vaddr, 0));
		return true;
	case OP_ADVANCE1: advance(r, get_u8(&r->c)); return true;
	case OP_ADVANCE2: advance(r, get_u16(&r->c)); return true;
	case OP_ADVANCE4: advance(r, get_u32(&r->c)); return true;
	case OP_REMEMBER:
		if (r->nkept == REMEMBER_MAX)
			r->rc = PP_ELIMIT;
		else
			r->kept[r->nkept++] = r->now;
		return true;
	case OP_RESTORE_STATE:
		if (!r->nkept)
			r->rc = PP_ECORRUPT;
		else
			r->now = r->kept[--r->nkept];
		return true;
	case OP_NEGATE_RA_STATE:
	case OP_NEGATE_RA_STATE_PC: return true;
	case OP_GNU_ARGS_SIZE: get_uleb(&r->c); return true;
	}
	return false;
}

static bool run_cfa(struct runner *r, uint8_t op)
{
	struct rule *cfa = &r->now.cfa;

	switch (op) {
	case OP_DEF_CFA:
	case OP_DEF_CFA_SF:
		r->now.cfa_reg = get_uleb(&r->c);
		*cfa = (struct rule){.how = ROW_REGISTER};
		cfa->value =
			op == OP_DEF_CFA ? (int64_t)get_uleb(&r->c) : factored(r, get_sleb(&r->c));
		return true;
	case OP_DEF_CFA_REGISTER: r->now.cfa_reg = get_uleb(&r->c); break;
	case OP_DEF_CFA_OFFSET: cfa->value = (int64_t)get_uleb(&r->c); break;
	case OP_DEF_CFA_OFFSET_SF: cfa->value = factored(r, get_sleb(&r->c)); break;
	case OP_DEF_CFA_EXPRESSION: set_expr(r, cfa, ROW_VAL_EXPR); return true;
	default: return false;
	}
	/* These change a rule that has to be there. */
	if (cfa->how != ROW_REGISTER)
		r->rc = PP_ECORRUPT;
	return true;
}

static void run_register(struct runner *r, uint8_t op)
{
	uint64_t reg = get_uleb(&r->c);
	struct rule *rule = reg < UNWIND_REGS ? &r->now.reg[reg] : NULL;

	switch (op) {
	case OP_OFFSET_EXTENDED:
		set(r, reg, ROW_OFFSET, factored(r, (int64_t)get_uleb(&r->c)));
		break;
	case OP_OFFSET_EXTENDED_SF: set(r, reg, ROW_OFFSET, factored(r, get_sleb(&r->c))); break;
	case OP_GNU_NEGATIVE_OFFSET:
		set(r, reg, ROW_OFFSET, factored(r, -(int64_t)get_uleb(&r->c)));
		break;
	case OP_RESTORE_EXTENDED: restore(r, reg); break;
	case OP_UNDEFINED: set(r, reg, ROW_UNDEFINED, 0); break;
	case OP_SAME_VALUE: set(r, reg, ROW_SAME, 0); break;
	case OP_REGISTER: set(r, reg, ROW_REGISTER, (int64_t)get_uleb(&r->c)); break;
	case OP_VAL_OFFSET:
		set(r, reg, ROW_VAL_OFFSET, factored(r, (int64_t)get_uleb(&r->c)));
		break;
	case OP_VAL_OFFSET_SF: set(r, reg, ROW_VAL_OFFSET, factored(r, get_sleb(&r->c))); break;
	case OP_EXPRESSION: set_expr(r, rule, ROW_EXPR); break;
	case OP_VAL_EXPRESSION: set_expr(r, rule, ROW_VAL_EXPR); break;
	default: r->rc = PP_EUNSUPPORTED;
	}
}

static void run(struct runner *r, struct cursor code, uint64_t vaddr)
{
	r->c = code;
	r->c_start = code.p;
	r->c_vaddr = vaddr;
	while (r->c.p < r->c.end && !r->rc) {
		uint8_t op = get_u8(&r->c), low = op & 0x3f;

		switch (op & 0xc0) {
		case OP_ADVANCE: advance(r, low); break;
		case OP_OFFSET:
			set(r, low, ROW_OFFSET, factored(r, (int64_t)get_uleb(&r->c)));
			break;
		case OP_RESTORE: restore(r, low); break;
		default:
			if (!run_place(r, op) && !run_cfa(r, op))
				run_register(r, op);
		}
		if (r->c.bad)
			r->rc = PP_ECORRUPT;
		if (r->done)
			return;
	}
}

/* One rule of the state as one of the row. */
static int take(struct row_maker *row, const struct rule *from, uint64_t reg, struct row_rule *to)
{
	*to = (struct row_rule){.reg = (uint8_t)reg, .how = from->how};
	if (from->expr)
		return row_expr(row, from->expr, (size_t)from->value, to);
	if (from->value != (int32_t)from->value)
		return PP_ELIMIT;
	to->value = (int32_t)from->value;
	return 0;
}

static int make_row(const struct runner *r, struct row_maker *row)
{
	const struct state *s = &r->now;
	uint64_t ra = r->fde->cie.ra;
	int rc;

	*row = (struct row_maker){.ra = (uint8_t)ra, .flags = r->fde->cie.signal ? ROW_SIGNAL : 0};
	if (ra >= UNWIND_REGS || s->cfa.how == ROW_SAME || s->cfa_reg >= UNWIND_REGS)
		return PP_ECORRUPT;
	if (s->reg[ra].how == ROW_UNDEFINED)
		row->flags |= ROW_OUTERMOST;
	rc = take(row, &s->cfa, s->cfa_reg, &row->cfa);
	for (unsigned i = 0; i < UNWIND_REGS && !rc; i++)
		if (s->reg[i].how == ROW_REGISTER && (uint64_t)s->reg[i].value >= UNWIND_REGS)
			rc = PP_ELIMIT;
		else if (s->reg[i].how != ROW_SAME)
			rc = take(row, &s->reg[i], i, &row->rule[row->nrules++]);
	return rc;
}

int cfi_run(const struct cfi_fde *fde, uint64_t vaddr, struct row_maker *row, struct cfi_span *span)
{
	struct runner r;
	uint64_t end;

	r.fde = fde;
	r.at = r.from = fde->start;
	r.target = vaddr;
	r.nkept = 0;
	r.done = r.backwards = false;
	r.rc = 0;
	memset(&r.now, 0, sizeof(r.now));
	memset(&r.first, 0, sizeof(r.first));
	run(&r, fde->cie.run, 0);
	r.first = r.now;
	if (!r.rc && !r.done)
		run(&r, fde->run, fde->run_vaddr);
	end = r.done ? r.at : fde->start + fde->len;
	*span = (struct cfi_span){0};
	if (!r.backwards && r.from <= vaddr && vaddr < end && end - fde->start <= fde->len)
		*span = (struct cfi_span){.start = r.from, .end = end};
	return r.rc ? r.rc : make_row(&r, row);
}
