/* Runs the DWARF expressions of call frame tables. */
#include "unwind/dwarf_expr.h"

#include "base/err.h"
#include "dwarf/leb.h"
#include "unwind/rows.h"

enum {
	OP_ADDR = 0x03,
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S,
	OP_CONST2U,
	OP_CONST2S,
	OP_CONST4U,
	OP_CONST4S,
	OP_CONST8U,
	OP_CONST8S,
	OP_CONSTU,
	OP_CONSTS,
	OP_DUP,
	OP_DROP,
	OP_OVER,
	OP_PICK,
	OP_SWAP,
	OP_ROT,
	OP_ABS = 0x19,
	OP_AND,
	OP_DIV,
	OP_MINUS,
	OP_MOD,
	OP_MUL,
	OP_NEG,
	OP_NOT,
	OP_OR,
	OP_PLUS,
	OP_PLUS_UCONST,
	OP_SHL,
	OP_SHR,
	OP_SHRA,
	OP_XOR,
	OP_BRA,
	OP_EQ,
	OP_GE,
	OP_GT,
	OP_LE,
	OP_LT,
	OP_NE,
	OP_SKIP,
	OP_LIT0 = 0x30,
	OP_BREG0 = 0x70,
	OP_BREGX = 0x92,
	OP_DEREF_SIZE = 0x94,
	OP_NOP = 0x96,
};

struct machine {
	const struct expr_env *env;
	struct cursor c;
	const uint8_t *start;
	uint64_t stack[EXPR_STACK_MAX];
	unsigned n;
	int rc;
};

static void push(struct machine *m, uint64_t v)
{
	if (m->n == EXPR_STACK_MAX)
		m->rc = PP_ECORRUPT;
	else
		m->stack[m->n++] = m->env->width == 4 ? (uint32_t)v : v;
}

static uint64_t pop(struct machine *m)
{
	if (!m->n) {
		m->rc = PP_ECORRUPT;
		return 0;
	}
	return m->stack[--m->n];
}

static void push_register(struct machine *m, uint64_t reg)
{
	int64_t offset = get_sleb(&m->c);

	if (reg >= UNWIND_REGS || !(m->env->known >> reg & 1))
		m->rc = PP_ENOENT;
	else
		push(m, m->env->regs[reg] + (uint64_t)offset);
}

static void deref(struct machine *m, unsigned size)
{
	uint64_t addr = pop(m), value = 0;

	if (!size || size > 8)
		m->rc = PP_ECORRUPT;
	if (!m->rc)
		m->rc = m->env->read(m->env->ctx, addr, size, &value);
	if (!m->rc)
		push(m, value);
}

/* Goes on elsewhere in the expression. */
static void jump(struct machine *m, int16_t by)
{
	int64_t at = m->c.p - m->start + by;

	if (at < 0 || at > m->c.end - m->start)
		m->rc = PP_ECORRUPT;
	else
		m->c.p = m->start + at;
}

static bool run_constant(struct machine *m, uint8_t op)
{
	switch (op) {
	case OP_ADDR:
		push(m, (m->env->width == 4 ? get_u32(&m->c) : get_u64(&m->c)) + m->env->bias);
		return true;
	case OP_CONST1U: push(m, get_u8(&m->c)); return true;
	case OP_CONST1S: push(m, (uint64_t)(int8_t)get_u8(&m->c)); return true;
	case OP_CONST2U: push(m, get_u16(&m->c)); return true;
	case OP_CONST2S: push(m, (uint64_t)(int16_t)get_u16(&m->c)); return true;
	case OP_CONST4U: push(m, get_u32(&m->c)); return true;
	case OP_CONST4S: push(m, (uint64_t)(int32_t)get_u32(&m->c)); return true;
	case OP_CONST8U:
	case OP_CONST8S: push(m, get_u64(&m->c)); return true;
	case OP_CONSTU: push(m, get_uleb(&m->c)); return true;
	case OP_CONSTS: push(m, (uint64_t)get_sleb(&m->c)); return true;
	}
	return false;
}

/* Puts the entry that lies i below the top on top. */
static void pick(struct machine *m, unsigned i)
{
	if (i >= m->n)
		m->rc = PP_ECORRUPT;
	else
		push(m, m->stack[m->n - 1 - i]);
}

static bool run_stack(struct machine *m, uint8_t op)
{
	uint64_t a, b, c;

	switch (op) {
	case OP_DUP: pick(m, 0); return true;
	case OP_DROP: pop(m); return true;
	case OP_OVER: pick(m, 1); return true;
	case OP_PICK: pick(m, get_u8(&m->c)); return true;
	case OP_SWAP:
		a = pop(m), b = pop(m);
		push(m, a), push(m, b);
		return true;
	case OP_ROT:
		a = pop(m), b = pop(m), c = pop(m);
		push(m, a), push(m, c), push(m, b);
		return true;
	}
	return false;
}

static bool run_unary(struct machine *m, uint8_t op)
{
	switch (op) {
	case OP_ABS: {
		uint64_t a = pop(m);

		push(m, a >> 63 ? -a : a);
		return true;
	}
	case OP_NEG: push(m, -pop(m)); return true;
	case OP_NOT: push(m, ~pop(m)); return true;
	case OP_PLUS_UCONST: push(m, pop(m) + get_uleb(&m->c)); return true;
	}
	return false;
}

static uint64_t divide(struct machine *m, uint8_t op, uint64_t a, uint64_t b)
{
	if (!b || (op == OP_DIV && a == (uint64_t)INT64_MIN && b == UINT64_MAX)) {
		m->rc = PP_ECORRUPT;
		return 0;
	}
	return op == OP_MOD ? a % b : (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t shift(uint8_t op, uint64_t a, uint64_t by)
{
	if (op == OP_SHRA)
		return (uint64_t)((int64_t)a >> (by > 63 ? 63 : by));
	return by > 63 ? 0 : op == OP_SHL ? a << by : a >> by;
}

/* A number of the expression's width, with its sign. */
static int64_t as_signed(const struct machine *m, uint64_t v)
{
	return m->env->width == 4 ? (int32_t)v : (int64_t)v;
}

static bool run_binary(struct machine *m, uint8_t op)
{
	uint64_t b, a, v;
	int64_t sa, sb;

	if (op < OP_AND || op == OP_NEG || op == OP_NOT || op == OP_PLUS_UCONST || op == OP_BRA ||
	    op > OP_NE)
		return false;
	b = pop(m), a = pop(m);
	sa = as_signed(m, a), sb = as_signed(m, b);
	switch (op) {
	case OP_AND: v = a & b; break;
	case OP_DIV:
	case OP_MOD: v = divide(m, op, a, b); break;
	case OP_MINUS: v = a - b; break;
	case OP_MUL: v = a * b; break;
	case OP_OR: v = a | b; break;
	case OP_PLUS: v = a + b; break;
	case OP_SHL:
	case OP_SHR:
	case OP_SHRA: v = shift(op, a, b); break;
	case OP_XOR: v = a ^ b; break;
	case OP_EQ: v = sa == sb; break;
	case OP_GE: v = sa >= sb; break;
	case OP_GT: v = sa > sb; break;
	case OP_LE: v = sa <= sb; break;
	case OP_LT: v = sa < sb; break;
	default: v = sa != sb;
	}
	push(m, v);
	return true;
}

static void run_other(struct machine *m, uint8_t op)
{
	int16_t by;

	switch (op) {
	case OP_DEREF: deref(m, m->env->width); break;
	case OP_DEREF_SIZE: deref(m, get_u8(&m->c)); break;
	case OP_BREGX: push_register(m, get_uleb(&m->c)); break;
	case OP_SKIP: jump(m, (int16_t)get_u16(&m->c)); break;
	case OP_BRA:
		by = (int16_t)get_u16(&m->c);
		if (pop(m))
			jump(m, by);
		break;
	case OP_NOP: break;
	default: m->rc = PP_EUNSUPPORTED;
	}
}

int expr_run(const struct expr_env *env, const uint8_t *p, size_t n, const uint64_t *first,
	     uint64_t *value)
{
	struct machine m = {.env = env, .c = cursor_make(p, n, env->swap), .start = p};

	if (first)
		push(&m, *first);
	for (unsigned steps = 0; m.c.p < m.c.end && !m.rc; steps++) {
		uint8_t op = get_u8(&m.c);

		if (steps == EXPR_STEPS_MAX)
			return PP_ECORRUPT;
		if (op >= OP_LIT0 && op < OP_LIT0 + 32)
			push(&m, op - OP_LIT0);
		else if (op >= OP_BREG0 && op < OP_BREG0 + 32)
			push_register(&m, op - OP_BREG0);
		else if (!run_constant(&m, op) && !run_stack(&m, op) && !run_unary(&m, op) &&
			 !run_binary(&m, op))
			run_other(&m, op);
		if (m.c.bad)
			m.rc = PP_ECORRUPT;
	}
	/* What failed first is what is wrong. */
	if (!m.rc)
		*value = pop(&m);
	return m.rc;
}
