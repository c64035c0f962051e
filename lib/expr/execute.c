/* Runs the program of an event on a sample. */
#include "expr/parts.h"
#include "event/glob.h"

/* An unsigned number that is too large to be an int64_t. */
static bool is_large(const struct qval *v)
{
	return v->is_unsigned && v->num >> 63;
}

bool expr_arith(enum expr_op op, const struct qval *a, const struct qval *b, struct qval *v)
{
	bool large = is_large(a) || is_large(b);
	int64_t x = (int64_t)a->num, y = (int64_t)b->num;

	*v = (struct qval){.kind = QV_INT, .is_unsigned = large};
	switch (op) {
	case OP_ADD: v->num = a->num + b->num; return true;
	case OP_SUB:
		v->num = a->num - b->num;
		v->is_unsigned = false;
		return true;
	case OP_MUL: v->num = a->num * b->num; return true;
	case OP_BITAND: v->num = a->num & b->num; break;
	case OP_BITOR: v->num = a->num | b->num; break;
	case OP_BITXOR: v->num = a->num ^ b->num; break;
	case OP_SHL: v->num = b->num > 63 ? 0 : a->num << b->num; break;
	case OP_SHR:
		if (a->is_unsigned)
			v->num = b->num > 63 ? 0 : a->num >> b->num;
		else
			v->num = (uint64_t)(x >> (b->num > 63 ? 63 : b->num));
		v->is_unsigned = a->is_unsigned;
		return true;
	case OP_DIV:
	case OP_MOD:
		if (!b->num)
			return false;
		if (large)
			v->num = op == OP_DIV ? a->num / b->num : a->num % b->num;
		else if (y == -1)
			v->num = op == OP_DIV ? 0 - a->num : 0;
		else
			v->num = (uint64_t)(op == OP_DIV ? x / y : x % y);
		return true;
	default: return false;
	}
	/* Bits. */
	v->is_unsigned = a->is_unsigned || b->is_unsigned;
	return true;
}

bool expr_compare(enum expr_op op, const struct qval *a, const struct qval *b)
{
	int order;

	/* The same bits are equal, as in C. */
	if (op == OP_EQ || op == OP_NE)
		return (a->num == b->num) == (op == OP_EQ);
	if (is_large(a) != is_large(b))
		order = is_large(a) ? 1 : -1;
	else if (is_large(a))
		order = a->num < b->num ? -1 : a->num > b->num;
	else
		order = (int64_t)a->num < (int64_t)b->num ? -1 : (int64_t)a->num > (int64_t)b->num;
	switch (op) {
	case OP_LT: return order < 0;
	case OP_LE: return order <= 0;
	case OP_GT: return order > 0;
	default: return order >= 0;
	}
}

bool expr_compare_text(enum expr_op op, const struct qval *a, const struct qval *b)
{
	size_t n = a->len < b->len ? a->len : b->len;
	int order;

	if ((op == OP_EQ || op == OP_NE) && a->len != b->len)
		return op == OP_NE;
	order = n ? memcmp(a->s, b->s, n) : 0;
	if (!order)
		order = a->len < b->len ? -1 : a->len > b->len;
	switch (op) {
	case OP_EQ: return !order;
	case OP_NE: return order != 0;
	case OP_LT: return order < 0;
	case OP_LE: return order <= 0;
	case OP_GT: return order > 0;
	default: return order >= 0;
	}
}

static uint8_t mark_of(bool holds)
{
	return holds ? PS_MARK_PASS : PS_MARK_FAIL;
}

/* Whether a text has the pattern; of !~ also. */
static bool has_pattern(const struct expr_node *n, const struct qval *v)
{
	if (n->op == OP_GLOB)
		return glob_match(n->right->s, n->right->len, v->s, v->len);
	return rx_matches(n->regex, v->s, v->len);
}

/*
 * Names that did not match a moment ago, by where they are: a deep stack has few names, and one
 * of them may be long.
 */
#define SEEN_NAMES 64
#define SEEN_LONG  256 /* bytes: shorter names are matched as fast as they are looked up */

static bool seen_before(const char *seen[SEEN_NAMES], const struct qval *v)
{
	const char **slot = &seen[((uintptr_t)v->s >> 3) % SEEN_NAMES];

	if (v->len < SEEN_LONG)
		return false;
	if (*slot == v->s)
		return true;
	*slot = v->s;
	return false;
}

/* Whether a frame of the stack is, or matches, what the instruction has. */
static uint8_t stack_mark(const struct expr_insn *i, const struct sreader *r,
			  const struct ps_sample *s)
{
	bool negated = i->op == OP_NE || i->op == OP_NOTREGEX, found = false;
	const char *seen[SEEN_NAMES] = {0};
	struct qval v;

	if (!s->stack || !sreader_stack(r, s->stack))
		return PS_MARK_NA;
	for (uint32_t f = 0; !found && field_frame(r, s, f, &v); f++)
		if (!seen_before(seen, &v))
			found = i->node->kind == NODE_MATCH ? has_pattern(i->node, &v)
							    : expr_compare_text(OP_EQ, &v, &i->k);
	return mark_of(found != negated);
}

/* The answer that was found before for this id; NULL: there is no memory for it. */
static uint8_t *remembered(struct expr *x, uint32_t memo, uint32_t id)
{
	struct memo *m = memo ? &x->memos[memo - 1] : NULL;

	return m && id && id < m->cap ? &m->known[id] : NULL;
}

static uint8_t run_stack(struct expr *x, const struct expr_insn *i, const struct sreader *r,
			 const struct ps_sample *s)
{
	uint8_t *known = remembered(x, i->memo, s->stack);

	if (!known)
		return stack_mark(i, r, s);
	if (!*known)
		*known = 1 + stack_mark(i, r, s);
	return *known - 1;
}

static uint8_t run_match(struct expr *x, const struct expr_insn *i, const struct ps_sample *s,
			 const struct qval *v)
{
	uint8_t *known = remembered(x, i->memo, s->comm);

	if (v->kind != QV_STR)
		return PS_MARK_NA;
	if (known && *known)
		return *known - 1;
	if (known)
		return (*known = 1 + mark_of(has_pattern(i->node, v) != (i->op == OP_NOTREGEX))) -
		       1;
	return mark_of(has_pattern(i->node, v) != (i->op == OP_NOTREGEX));
}

/* A number is a set of one CPU; bytes are a mask of the kernel: longs, in host order. */
static uint8_t run_cpus(const struct expr_insn *i, const struct qval *v)
{
	const struct expr_node *n = i->node;
	bool common = false, same = true;
	size_t words = n->ncpus;

	if (v->kind == QV_INT && i->op == OP_BITAND)
		return mark_of(v->num / 64 < words && n->cpus[v->num / 64] >> v->num % 64 & 1);
	if (v->kind != QV_INT && v->kind != QV_BYTES)
		return PS_MARK_NA;
	for (size_t w = 0; w < words; w++) {
		uint64_t bits = 0;

		if (v->kind == QV_INT)
			bits = v->num / 64 == w ? UINT64_C(1) << v->num % 64 : 0;
		else if (v->len > 8 * w)
			memcpy(&bits, v->s + 8 * w, v->len - 8 * w < 8 ? v->len - 8 * w : 8);
		common = common || (bits & n->cpus[w]);
		same = same && bits == n->cpus[w];
	}
	return mark_of(i->op == OP_BITAND ? common : same == (i->op == OP_EQ));
}

static uint8_t run_compare(const struct expr_insn *i, const struct qval *a, const struct qval *b)
{
	if (a->kind != QV_INT || b->kind != QV_INT)
		return PS_MARK_NA;
	return mark_of(expr_compare((enum expr_op)i->op, a, b));
}

static uint8_t run_text(const struct expr_insn *i, const struct qval *a, const struct qval *b)
{
	uint8_t mark;

	if (a->kind != QV_STR || b->kind != QV_STR)
		return PS_MARK_NA;
	mark = mark_of(expr_compare_text((enum expr_op)i->op, a, b));
	if (mark == (i->op == OP_NE ? PS_MARK_FAIL : PS_MARK_PASS))
		i->node->met = true;
	return mark;
}

static uint8_t run_truth(const struct qval *v)
{
	switch (v->kind) {
	case QV_INT: return mark_of(v->num != 0);
	case QV_STR:
	case QV_BYTES: return mark_of(v->len != 0);
	default: return PS_MARK_NA;
	}
}

static void run_unary(const struct expr_insn *i, struct qval *v)
{
	if (v->kind != QV_INT) {
		v->kind = QV_NA;
		return;
	}
	v->num = i->code == INSN_NEG ? 0 - v->num : ~v->num;
	v->is_unsigned = false;
}

static void run_shape(const struct expr_insn *i, struct qval *v)
{
	const struct expr_node *n = i->node;

	if (v->kind != QV_STR) {
		v->kind = QV_NA;
		return;
	}
	v->len = n->kind == NODE_SHAPE
			 ? shape(v->s, v->len, n->text)
			 : shape_sub(n->regex, v->s, v->len, n->high->s, n->high->len, n->text);
	v->s = n->text;
}

static void run_arith(const struct expr_insn *i, struct qval *a, const struct qval *b)
{
	struct qval v;

	if (a->kind != QV_INT || b->kind != QV_INT || !expr_arith((enum expr_op)i->op, a, b, &v))
		a->kind = QV_NA;
	else
		*a = v;
}

static uint8_t run_and(uint8_t a, uint8_t b)
{
	if (a == PS_MARK_FAIL || b == PS_MARK_FAIL)
		return PS_MARK_FAIL;
	return a | b; /* pass is 0 */
}

static uint8_t run_or(uint8_t a, uint8_t b)
{
	if (a == PS_MARK_PASS || b == PS_MARK_PASS)
		return PS_MARK_PASS;
	return a == PS_MARK_NA || b == PS_MARK_NA ? PS_MARK_NA : PS_MARK_FAIL;
}

enum ps_mark program_mark(struct expr *x, const struct program *p, const struct sreader *r,
			  const struct ps_record *rec, struct qval *result)
{
	struct qval *v = x->values; /* v, m: after the topmost */
	uint8_t *m = x->marks;

	result->kind = QV_NA;
	if (p->constant)
		return p->mark;
	for (const struct expr_insn *i = p->code, *end = p->code + p->n; i < end; i++) {
		switch ((enum insn_code)i->code) {
		case INSN_PUSH: *v++ = i->k; break;
		case INSN_FIELD: field_get(&p->fields[i->arg], r, rec, v++); break;
		case INSN_NAME: expr_name(x, &p->fields[i->arg], i->node, r, rec, v++); break;
		case INSN_NEG:
		case INSN_COMPL: run_unary(i, v - 1); break;
		case INSN_SHAPE: run_shape(i, v - 1); break;
		case INSN_ARITH:
			v--;
			run_arith(i, v - 1, v);
			break;
		case INSN_MARK: *m++ = (uint8_t)i->arg; break;
		case INSN_TEST:
			field_get(&p->fields[i->arg], r, rec, v);
			*m++ = run_compare(i, v, &i->k);
			break;
		case INSN_COMPARE:
			v -= 2;
			*m++ = run_compare(i, v, v + 1);
			break;
		case INSN_TEXT:
			v -= 2;
			*m++ = run_text(i, v, v + 1);
			break;
		case INSN_MATCH: *m++ = run_match(x, i, &rec->sample, --v); break;
		case INSN_STACK: *m++ = run_stack(x, i, r, &rec->sample); break;
		case INSN_CPUS: *m++ = run_cpus(i, --v); break;
		case INSN_TRUTH: *m++ = run_truth(--v); break;
		case INSN_NOT:
			if (m[-1] != PS_MARK_NA)
				m[-1] ^= PS_MARK_PASS ^ PS_MARK_FAIL;
			break;
		case INSN_UNLESS_FAIL:
			if (m[-1] == PS_MARK_FAIL)
				i = p->code + i->arg - 1;
			break;
		case INSN_UNLESS_PASS:
			if (m[-1] == PS_MARK_PASS)
				i = p->code + i->arg - 1;
			break;
		case INSN_AND:
			m--;
			m[-1] = run_and(m[-1], *m);
			break;
		case INSN_OR:
			m--;
			m[-1] = run_or(m[-1], *m);
			break;
		}
	}
	if (!p->value)
		return (enum ps_mark)m[-1];
	*result = v[-1];
	return result->kind == QV_NA ? PS_MARK_NA : PS_MARK_PASS;
}
