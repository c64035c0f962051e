/* The compiler of expressions: comparisons and conditions of one event become a program. */
#include "expr/value.h"

#include "base/err.h"

#include <stdlib.h>

/* A mark that is known now, or NOT_YET: the code leaves it. */
#define NOT_YET (-1)

/* ---- comparisons ---- */

/* A number as it is written takes the text that is compared with it for a text: comm == 007. */
static bool to_text(struct operand *o)
{
	if (o->kind == QV_STR)
		return true;
	if (o->where != GIVES_CONST || o->node->kind != NODE_NUMBER)
		return false;
	*o = value_text(o->node);
	return true;
}

/* 0xffffffff compared with an int is -1: bits take the sign of the field. */
static void take_sign(struct operand *o, const struct operand *field)
{
	if (o->where == GIVES_CONST && o->hex && field->is_signed && field->bits &&
	    field->bits < 64 && o->k.num >> field->bits == 0 && o->k.num >> (field->bits - 1)) {
		o->k.num |= UINT64_MAX << field->bits;
		o->k.is_unsigned = false;
	}
}

/* A table that stands for some bits of the field: "prev_state == S" looks at those only. */
static void apply_mask(struct compiler *c, struct operand *o, const struct operand *name)
{
	const struct names_table *t = name->names;

	if (name->where != GIVES_CONST || !t || o->where != GIVES_FIELD ||
	    (t->mask == UINT64_MAX && !t->shift))
		return;
	code_load(c, o, c->p->n);
	if (t->shift) {
		code_emit(c, INSN_PUSH)->k = (struct qval){QV_INT, true, t->shift, NULL, 0};
		code_emit(c, INSN_ARITH)->op = OP_SHR;
	}
	code_emit(c, INSN_PUSH)->k = (struct qval){QV_INT, true, t->mask, NULL, 0};
	code_emit(c, INSN_ARITH)->op = OP_BITAND;
	o->where = GIVES_TOP;
}

/* a < b as b > a. */
static enum expr_op mirrored(enum expr_op op)
{
	switch (op) {
	case OP_LT: return OP_GT;
	case OP_LE: return OP_GE;
	case OP_GT: return OP_LT;
	case OP_GE: return OP_LE;
	default: return op;
	}
}

static int compare_numbers(struct compiler *c, enum expr_op op, struct operand *a,
			   struct operand *b, uint32_t between)
{
	struct expr_insn *i;

	take_sign(a, b);
	take_sign(b, a);
	if (a->where == GIVES_CONST && b->where == GIVES_CONST)
		return expr_compare(op, &a->k, &b->k) ? PS_MARK_PASS : PS_MARK_FAIL;
	if (op == OP_EQ || op == OP_NE) {
		apply_mask(c, a, b);
		apply_mask(c, b, a);
	}
	if (a->where == GIVES_CONST && b->where == GIVES_FIELD) {
		struct operand swap = *a;

		*a = *b;
		*b = swap;
		op = mirrored(op);
	}
	if (a->where == GIVES_FIELD && b->where == GIVES_CONST) {
		i = code_emit(c, INSN_TEST);
		i->arg = a->field;
		i->k = b->k;
	} else {
		code_load_both(c, a, b, between);
		i = code_emit(c, INSN_COMPARE);
	}
	i->op = (uint8_t)op;
	return NOT_YET;
}

static bool is_stack(const struct compiler *c, const struct operand *o)
{
	return o->where == GIVES_FIELD && !c->err && c->p->fields[o->field].id == FIELD_STACK;
}

/* The memo of a node whose answer hangs on the id of a stack or a name. */
static uint32_t memo_of(struct compiler *c, struct expr_node *n, bool stacks)
{
	struct expr *x = c->x;

	if (!n->memo && x->nmemos < EXPR_ITEMS_MAX) {
		x->memos[x->nmemos] = (struct memo){.stacks = stacks};
		n->memo = ++x->nmemos;
	}
	return n->memo;
}

/* A text that is to be found in any frame of the stack. */
static int any_frame(struct compiler *c, struct expr_node *n, enum expr_op op, const struct qval *k)
{
	struct expr_insn *i = code_emit(c, INSN_STACK);

	i->op = (uint8_t)op;
	i->node = n;
	i->memo = memo_of(c, n, true);
	if (k)
		i->k = *k;
	return NOT_YET;
}

static int compare_texts(struct compiler *c, struct expr_node *n, struct operand *a,
			 struct operand *b, enum expr_op op, uint32_t between)
{
	struct expr_insn *i;

	if (a->where == GIVES_CONST && b->where == GIVES_CONST)
		return expr_compare_text(op, &a->k, &b->k) ? PS_MARK_PASS : PS_MARK_FAIL;
	if ((op == OP_EQ || op == OP_NE) && is_stack(c, a) && b->where == GIVES_CONST)
		return any_frame(c, n, op, &b->k);
	if ((op == OP_EQ || op == OP_NE) && is_stack(c, b) && a->where == GIVES_CONST)
		return any_frame(c, n, op, &a->k);
	code_load_both(c, a, b, between);
	i = code_emit(c, INSN_TEXT);
	i->op = (uint8_t)op;
	i->node = n;
	return NOT_YET;
}

/* A set of CPUs against a number or a mask of the kernel. */
static int compare_cpus(struct compiler *c, struct expr_node *n)
{
	struct operand a = value_compile(c, n->left, NULL);
	struct expr_insn *i;

	if (a.where == GIVES_NOTHING || a.bare)
		return PS_MARK_NA;
	if (a.kind == QV_STR) {
		n->mismatch = true;
		return PS_MARK_NA;
	}
	n->known = true;
	code_load(c, &a, c->p->n);
	i = code_emit(c, INSN_CPUS);
	i->op = (uint8_t)n->op;
	i->node = n->right;
	return NOT_YET;
}

/* A number that is compared with a text becomes its name, if it has one. */
static void name_side(const struct compiler *c, struct expr_node *n, struct operand *number,
		      const struct operand *text)
{
	if (text->where == GIVES_CONST && text->kind == QV_STR &&
	    (value_to_name(c, number) || number->by_name) && !c->err &&
	    c->p->fields[number->field].id != FIELD_CGROUP)
		n->function = text->node;
}

static int compare(struct compiler *c, struct expr_node *n, struct expr_node *left,
		   struct expr_node *right, enum expr_op op)
{
	struct scope for_left = value_scope(c, right, NULL), for_right = value_scope(c, left, NULL);
	struct operand a = value_compile(c, left, &for_left), b;
	uint32_t between = c->p->n;

	b = value_compile(c, right, &for_right);
	if (a.where == GIVES_NOTHING || b.where == GIVES_NOTHING)
		return PS_MARK_NA;
	/* A bare word on the right is a text if a text is on the left. */
	if (a.bare)
		return PS_MARK_NA;
	if (b.bare && (a.where == GIVES_CONST || (a.kind != QV_STR && !value_has_names(c, &a))))
		return PS_MARK_NA;
	left->known = right->known = true;
	if (a.kind == QV_INT || b.kind == QV_INT) {
		if (value_to_int(&a, &for_left) && value_to_int(&b, &for_right)) {
			n->known = true;
			return compare_numbers(c, op, &a, &b, between);
		}
	}
	name_side(c, n, &a, &b);
	name_side(c, n, &b, &a);
	if (to_text(&a) && to_text(&b)) {
		n->known = true;
		return compare_texts(c, n, &a, &b, op, between);
	}
	n->mismatch = true;
	return PS_MARK_NA;
}

static int compile_match(struct compiler *c, struct expr_node *n)
{
	struct operand a = value_compile(c, n->left, NULL);
	enum field_id id = FIELD_PAYLOAD;
	struct expr_insn *i;

	if (a.where == GIVES_NOTHING || a.bare)
		return PS_MARK_NA;
	if (a.kind != QV_STR && !value_to_name(c, &a)) {
		n->mismatch = true;
		return PS_MARK_NA;
	}
	n->known = true;
	if (is_stack(c, &a))
		return any_frame(c, n, n->op, NULL);
	if (a.where == GIVES_FIELD && !c->err)
		id = c->p->fields[a.field].id;
	code_load(c, &a, c->p->n);
	i = code_emit(c, INSN_MATCH);
	i->op = (uint8_t)n->op;
	i->node = n;
	i->memo = id == FIELD_COMM ? memo_of(c, n, false) : 0;
	return NOT_YET;
}

/* ---- conditions ---- */

static int compile_condition(struct compiler *c, struct expr_node *n);

/* What && (or ||) makes of a mark that is known and one that is not: NOT_YET: the other one. */
static int fold(struct compiler *c, bool and, int known, uint32_t start)
{
	int absorbs = and? PS_MARK_FAIL : PS_MARK_PASS;

	if (known == absorbs) {
		c->p->n = start;
		return absorbs;
	}
	if (known == PS_MARK_NA) {
		code_emit(c, INSN_MARK)->arg = PS_MARK_NA;
		code_emit(c, and? INSN_AND : INSN_OR);
	}
	return NOT_YET;
}

/* The rules of expr.h for two marks that are known. */
static int join(bool and, int a, int b)
{
	int absorbs = and? PS_MARK_FAIL : PS_MARK_PASS;

	if (a == absorbs || b == absorbs)
		return absorbs;
	return a == PS_MARK_NA || b == PS_MARK_NA ? PS_MARK_NA : a;
}

/* Joins what `right` gives to what was compiled from `start` on, with mark a. */
static int compile_join(struct compiler *c, bool and, int a, struct expr_node *right,
			uint32_t start)
{
	uint32_t jump = c->p->n;
	int b;

	if (a == NOT_YET)
		code_emit(c, and? INSN_UNLESS_FAIL : INSN_UNLESS_PASS);
	b = compile_condition(c, right);
	if (a != NOT_YET && b != NOT_YET)
		return join(and, a, b);
	if (a != NOT_YET)
		return fold(c, and, a, start);
	if (b != NOT_YET) {
		/* Nothing came after the jump. */
		c->p->n = jump;
		return fold(c, and, b, start);
	}
	code_emit(c, and? INSN_AND : INSN_OR);
	if (!c->err)
		c->p->code[jump].arg = c->p->n;
	return NOT_YET;
}

static int compile_truth(struct compiler *c, struct expr_node *n)
{
	struct operand o = value_compile(c, n, NULL);

	if (o.where == GIVES_NOTHING || o.bare)
		return PS_MARK_NA;
	if (o.where == GIVES_CONST)
		return (o.kind == QV_INT ? o.k.num != 0 : o.k.len != 0) ? PS_MARK_PASS
									: PS_MARK_FAIL;
	code_load(c, &o, c->p->n);
	code_emit(c, INSN_TRUTH);
	return NOT_YET;
}

/* a in b..c */
static int compile_range(struct compiler *c, struct expr_node *n)
{
	uint32_t start = c->p->n, jump;
	int a, b;

	if (!n->low || !n->high)
		return compare(c, n, n->left, n->low ? n->low : n->high, n->low ? OP_GE : OP_LE);
	a = compare(c, n, n->left, n->low, OP_GE);
	jump = c->p->n;
	if (a == NOT_YET)
		code_emit(c, INSN_UNLESS_FAIL);
	b = compare(c, n, n->left, n->high, OP_LE);
	if (a != NOT_YET && b != NOT_YET)
		return join(true, a, b);
	if (a != NOT_YET)
		return fold(c, true, a, start);
	if (b != NOT_YET) {
		c->p->n = jump;
		return fold(c, true, b, start);
	}
	code_emit(c, INSN_AND);
	if (!c->err)
		c->p->code[jump].arg = c->p->n;
	return NOT_YET;
}

static int compile_not(struct compiler *c, struct expr_node *n)
{
	int a = compile_condition(c, n->left);

	if (a == NOT_YET)
		code_emit(c, INSN_NOT);
	else if (a != PS_MARK_NA)
		a = a == PS_MARK_PASS ? PS_MARK_FAIL : PS_MARK_PASS;
	return a;
}

static int compile_condition(struct compiler *c, struct expr_node *n)
{
	uint32_t start = c->p->n;
	int mark;

	switch (n->kind) {
	case NODE_TRUE: return PS_MARK_PASS;
	case NODE_NOT: return compile_not(c, n);
	case NODE_AND:
	case NODE_OR:
		mark = compile_condition(c, n->left);
		return compile_join(c, n->kind == NODE_AND, mark, n->right, start);
	case NODE_COMPARE:
		mark = n->right->kind == NODE_CPUS ? compare_cpus(c, n)
						   : compare(c, n, n->left, n->right, n->op);
		break;
	case NODE_MATCH: mark = compile_match(c, n); break;
	case NODE_RANGE: mark = compile_range(c, n); break;
	default: mark = compile_truth(c, n);
	}
	/* Of a comparison that is known one side may have left code. */
	if (mark != NOT_YET)
		c->p->n = start;
	return mark;
}

/* ---- all of it ---- */

static int compile_items(struct compiler *c)
{
	int mark = PS_MARK_NA;
	bool first = true;

	for (unsigned i = 0; i < c->x->nitems; i++) {
		const struct item *item = &c->x->items[i];

		if (!expr_item_matches(item, c->e))
			continue;
		mark = first ? compile_condition(c, item->node)
			     : compile_join(c, false, mark, item->node, 0);
		first = false;
	}
	return mark;
}

static void compile_key(struct compiler *c, struct expr_node *n)
{
	struct operand o;

	if (node_is_condition(n)) {
		int mark = compile_condition(c, n);

		c->p->constant = mark != NOT_YET;
		c->p->mark = c->p->constant ? (enum ps_mark)mark : PS_MARK_NA;
		return;
	}
	c->p->value = true;
	o = value_compile(c, n, NULL);
	c->p->constant = o.where == GIVES_NOTHING || o.bare;
	c->p->mark = PS_MARK_NA;
	if (!c->p->constant)
		code_load(c, &o, c->p->n);
}

int expr_compile(struct expr *x, unsigned item, const struct ps_event *e, struct program *p)
{
	struct compiler c = {.x = x, .e = e, .p = p};
	int rc, mark;

	*p = (struct program){.mark = PS_MARK_NA};
	rc = names_init(&c.names, e);
	if (rc)
		return rc;
	if (x->use == EXPR_VALUES) {
		compile_key(&c, x->items[item].node);
	} else {
		mark = compile_items(&c);
		p->constant = mark != NOT_YET;
		p->mark = p->constant ? (enum ps_mark)mark : PS_MARK_NA;
	}
	names_release(&c.names);
	if (!c.err && x->shows_names)
		c.err = shown_field_new(p, e);
	if (c.err)
		program_release(p);
	return c.err;
}

void program_release(struct program *p)
{
	for (uint32_t i = 0; i < p->nfields; i++)
		field_release(&p->fields[i]);
	free(p->fields);
	free(p->code);
	shown_field_free(p->shown);
	*p = (struct program){.mark = PS_MARK_NA};
}
