/* From what is known of a function's frame to unwind rows. */
#include "unwind/code_parts.h"

#include "base/array.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define FAR (1 << 28) /* bytes of a frame: more is nonsense */

/* DW_OP_*, DWARF 5, 7.7.1. */
enum { OP_DEREF = 0x06, OP_PLUS_UCONST = 0x23, OP_CONSTS = 0x11, OP_PLUS = 0x22, OP_BREG0 = 0x70 };

struct expr {
	uint8_t b[24];
	size_t n;
};

static void put_sleb(struct expr *e, int64_t v)
{
	bool more = true;

	while (more) {
		uint8_t byte = v & 0x7f;

		v >>= 7;
		more = !((!v && !(byte & 0x40)) || (v == -1 && byte & 0x40));
		e->b[e->n++] = (uint8_t)(byte | (more ? 0x80 : 0));
	}
}

/* The address of a place that is relative to a register. */
static void put_place(struct expr *e, unsigned reg, int64_t off)
{
	e->b[e->n++] = (uint8_t)(OP_BREG0 + reg);
	put_sleb(e, off);
}

/* The register that tells where something is that is counted from the CFA, or from where the stack
 * was aligned: one of `from`. CODE_NO_REG: none does. */
static unsigned pointer(const struct code_machine *m, const struct code_state *s,
			enum code_kind kind, uint32_t from, bool by_sp)
{
	unsigned first = by_sp ? m->sp : m->fp, second = by_sp ? m->fp : m->sp;

	if (s->reg[first].kind == kind)
		return first;
	if (s->reg[second].kind == kind)
		return second;
	for (unsigned r = 0; r < CODE_REGS; r++)
		if (from >> r & 1 && s->reg[r].kind == kind)
			return r;
	return CODE_NO_REG;
}

/* The CFA as a register and a number, or as what a place holds that a register leads to. */
static int put_cfa(const struct code_machine *m, const struct code_state *s, uint32_t from,
		   bool by_sp, struct row_maker *row)
{
	unsigned r = pointer(m, s, CODE_CFA, from, by_sp);
	struct expr e = {.n = 0};

	if (r != CODE_NO_REG) {
		row->cfa = (struct row_rule){
			.reg = (uint8_t)r, .how = ROW_REGISTER, .value = -s->reg[r].off};
		return 0;
	}
	r = pointer(m, s, CODE_ROUND, from, by_sp);
	for (unsigned i = 0; r != CODE_NO_REG && i < s->nslots; i++) {
		const struct code_slot *slot = &s->slot[i];

		if (slot->kind != CODE_ROUND || slot->value.kind != CODE_CFA)
			continue;
		put_place(&e, r, (int64_t)slot->off - s->reg[r].off);
		e.b[e.n++] = OP_DEREF;
		e.b[e.n++] = OP_CONSTS;
		put_sleb(&e, -(int64_t)slot->value.off);
		e.b[e.n++] = OP_PLUS;
		row->cfa.how = ROW_VAL_EXPR;
		return row_expr(row, e.b, e.n, &row->cfa);
	}
	return PP_ENOENT;
}

/* Where a register of the caller is. */
static int put_rule(const struct code_machine *m, const struct code_state *s, unsigned reg,
		    uint32_t from, struct row_maker *row)
{
	struct row_rule rule = {.reg = (uint8_t)reg, .how = ROW_UNDEFINED};
	const struct code_slot *found = NULL;
	bool kept = s->reg[reg].kind == CODE_ENTRY && s->reg[reg].reg == reg;
	const struct code_value *sp = &s->reg[m->sp];
	struct expr e = {.n = 0};
	unsigned r;
	int rc = 0;

	for (unsigned i = 0; i < s->nslots; i++)
		if (s->slot[i].value.kind == CODE_ENTRY && s->slot[i].value.reg == reg &&
		    (!found || s->slot[i].kind == CODE_CFA))
			found = &s->slot[i];
	/* Calls leave saved registers alone, but not the one with the return address. */
	if (kept && (reg != m->ra || !found || (found->kind == sp->kind && found->off < sp->off)))
		return 0;
	r = found && found->kind == CODE_ROUND ? pointer(m, s, CODE_ROUND, from, true)
					       : CODE_NO_REG;
	if (found && found->kind == CODE_CFA) {
		rule.how = ROW_OFFSET;
		rule.value = found->off;
	} else if (r != CODE_NO_REG) {
		put_place(&e, r, (int64_t)found->off - s->reg[r].off);
		rule.how = ROW_EXPR;
		rc = row_expr(row, e.b, e.n, &rule);
	} else if (reg == m->ra) {
		return PP_ENOENT;
	}
	row->rule[row->nrules++] = rule;
	return rc;
}

/*
 * Whether the caller's frame pointer was thrown away: so do the functions that programs and threads
 * begin with, and no others. They set it to zero, as the ABI asks them to.
 */
static bool is_outermost(const struct code_machine *m, const struct code_state *s)
{
	const struct code_value *fp = &s->reg[m->fp];

	if (fp->kind != CODE_NUMBER || fp->off)
		return false;
	for (unsigned i = 0; i < s->nslots; i++)
		if (s->slot[i].value.kind == CODE_ENTRY && s->slot[i].value.reg == m->fp)
			return false;
	return true;
}

/* 0; PP_ENOENT: it is not known. */
static int make(const struct code_flow *w, const struct code_insn *insn, const struct code_state *s,
		struct row_maker *row)
{
	const struct code_machine *m = w->m;
	/* A caller's registers are known as far as who was called left them alone. */
	uint32_t from = insn->flow == CODE_CALL ? ~m->killed : ~0u;
	int rc;

	*row = (struct row_maker){.ra = m->ra, .flags = ROW_CODE};
	if (is_outermost(m, s)) {
		row->flags |= ROW_OUTERMOST;
		return 0;
	}
	rc = put_cfa(m, s, from, w->f->by_sp, row);
	if (!rc && row->cfa.how == ROW_REGISTER && (row->cfa.value < -FAR || row->cfa.value > FAR))
		return PP_ENOENT;
	if (!rc && m->entry) /* the call put it there */
		row->rule[row->nrules++] =
			(struct row_rule){.reg = m->ra, .how = ROW_OFFSET, .value = -m->entry};
	else if (!rc)
		rc = put_rule(m, s, m->ra, from, row);
	for (unsigned r = 0; r < CODE_REGS && !rc; r++)
		if (m->saved >> r & 1)
			rc = put_rule(m, s, r, from, row);
	return rc;
}

/* `first`: the function's own spans begin there; none is joined to those of another. */
static int put(struct code_rows *c, uint32_t first, uint64_t start, uint64_t end, uint32_t row)
{
	struct code_span *v;

	if (c->n > first && c->v[c->n - 1].end == start && c->v[c->n - 1].row == row) {
		c->v[c->n - 1].end = end;
		return 0;
	}
	v = array_widen(c->v, &c->cap, c->n, 32, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	c->v = v;
	v[c->n++] = (struct code_span){start, end, row};
	return 0;
}

static int emit(struct code_flow *w, struct rows *rows, struct code_rows *c)
{
	struct row_maker row, last = {.nrules = 0};
	uint32_t id = 0, first = c->n;
	struct code_state s;
	bool known = false;
	int rc = 0;

	for (uint32_t i = 0; i < w->insns.n && !rc; i++) {
		const struct code_insn *insn = &w->insns.v[i];

		if (!(w->mark[i] & CODE_SEEN)) {
			known = false;
			continue;
		}
		if (w->state[i])
			s = *w->state[i];
		else if (!known)
			continue;
		known = true;
		rc = make(w, insn, &s, &row);
		/* rows_add finds equal ones as well. */
		/* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
		if (!rc && (!id || memcmp(&row, &last, sizeof(row)) != 0)) {
			rc = rows_add(rows, &row, &id);
			last = row;
		}
		if (!rc)
			rc = put(c, first, w->f->start + insn->at,
				 w->f->start + insn->at + insn->size, id);
		rc = rc == PP_ENOENT ? 0 : rc;
		code_apply(w, insn, &s);
		if (insn->flow == CODE_BRANCH && insn->equal != CODE_NO_REG)
			s.reg[w->m->sp] = s.reg[insn->equal];
	}
	return rc;
}

static const struct code_machine *machine_of(unsigned machine)
{
	return machine == code_x86.machine     ? &code_x86
	       : machine == code_arm64.machine ? &code_arm64
					       : NULL;
}

int code_rows(const struct code_function *f, struct rows *rows, struct code_rows *c)
{
	const struct code_machine *m = machine_of(f->machine);
	struct code_flow w;
	int rc;

	if (!m)
		return PP_EUNSUPPORTED;
	if (f->len > CODE_FUNCTION_MAX)
		return PP_ELIMIT;
	rc = code_flow_run(&w, f, m);
	if (!rc)
		rc = emit(&w, rows, c);
	c->end = f->start + (w.insns.n == w.count ? f->len : w.insns.v[w.insns.n].at);
	code_flow_release(&w);
	return rc;
}

void code_rows_release(struct code_rows *c)
{
	free(c->v);
	*c = (struct code_rows){0};
}
