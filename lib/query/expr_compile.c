#include "query/expr_parts.h"
#include "query/glob.h"

#include "base/err.h"

#include <stdlib.h>

#define ERRNO_MAX 4095

/* What a value is made of: known now, in a field, or on top of the stack. */
struct operand {
	enum { GIVES_NOTHING, GIVES_CONST, GIVES_FIELD, GIVES_TOP } where;
	enum qkind kind;
	struct qval k;
	uint32_t field;			 /* GIVES_FIELD: index in the program's fields */
	struct node *node;		 /* where it comes from */
	bool bare;			 /* a word that may be a text */
	bool by_name;			 /* of the field's number its name is meant */
	bool hex;			 /* of a number as it is written */
	uint32_t bits;			 /* of the field that a number came from; 0: not from one */
	bool is_signed;			 /* of that field */
	const struct names_table *names; /* of the name that a number was */
};

/* The field on the other side, whose names a word may be. */
struct scope {
	struct ps_str field; /* p NULL: none */
	const struct names_table *names;
};

struct compiler {
	struct expr *x;
	const struct ps_event *e;
	struct names names;
	struct program *p;
	int err;
};

/* A mark that is known now, or NOT_YET: the code leaves it. */
#define NOT_YET (-1)

/* ---- code ---- */

static struct insn *insert(struct compiler *c, uint32_t at, enum insn_code code)
{
	static struct insn nowhere;
	struct program *p = c->p;

	if (p->n == p->cap) {
		uint32_t cap = p->cap ? 2 * p->cap : 8;
		struct insn *v = realloc(p->code, cap * sizeof(*v));

		if (!v) {
			c->err = PP_ENOMEM;
			return &nowhere;
		}
		p->code = v;
		p->cap = cap;
	}
	memmove(p->code + at + 1, p->code + at, (p->n - at) * sizeof(*p->code));
	p->n++;
	p->code[at] = (struct insn){.code = (uint8_t)code};
	return &p->code[at];
}

static struct insn *emit(struct compiler *c, enum insn_code code)
{
	return insert(c, c->p->n, code);
}

/* Puts the value of an operand on the stack, by code at `at`. */
static void load(struct compiler *c, const struct operand *o, uint32_t at)
{
	if (o->where == GIVES_CONST)
		insert(c, at, INSN_PUSH)->k = o->k;
	if (o->where == GIVES_FIELD) {
		struct insn *i = insert(c, at, o->by_name ? INSN_NAME : INSN_FIELD);

		i->arg = o->field;
		i->node = o->node;
	}
}

/* Both operands, in their order; the code of the left one ends at `between`. */
static void load_both(struct compiler *c, const struct operand *a, const struct operand *b,
		      uint32_t between)
{
	load(c, a, between);
	load(c, b, c->p->n);
}

/* Takes over a field. Its index. */
static uint32_t add_field(struct compiler *c, struct field *f)
{
	struct program *p = c->p;

	if (p->nfields == p->fields_cap) {
		uint32_t cap = p->fields_cap ? 2 * p->fields_cap : 4;
		struct field *v = realloc(p->fields, cap * sizeof(*v));

		if (!v) {
			field_release(f);
			c->err = PP_ENOMEM;
			return 0;
		}
		p->fields = v;
		p->fields_cap = cap;
	}
	p->fields[p->nfields] = *f;
	return p->nfields++;
}

/* ---- words ---- */

static struct operand constant_int(struct node *n, uint64_t num, bool is_unsigned)
{
	return (struct operand){.where = GIVES_CONST,
				.kind = QV_INT,
				.k = {.kind = QV_INT, .is_unsigned = is_unsigned, .num = num},
				.node = n,
				.hex = n->hex};
}

static struct operand constant_text(struct node *n)
{
	return (struct operand){.where = GIVES_CONST,
				.kind = QV_STR,
				.k = {.kind = QV_STR, .s = n->s, .len = n->len},
				.node = n};
}

static const struct operand nothing;

/* A name of a value of the field on the other side: SOFTIRQ names, flags, errors. */
static bool named(const struct scope *scope, struct node *n, struct operand *o)
{
	uint64_t value;

	if (!scope->field.p)
		return false;
	n->names_of = scope->field;
	if (scope->names && names_value(scope->names, n->s, n->len, &value)) {
		*o = constant_int(n, value, true);
		o->names = scope->names;
		n->known = true;
		return true;
	}
	if (n->kind != NODE_WORD || n->len < 2 || n->s[0] != 'E')
		return false;
	for (int i = 1; i < ERRNO_MAX; i++) {
		const char *name = strerrorname_np(i);

		if (name && strlen(name) == n->len && !memcmp(name, n->s, n->len)) {
			*o = constant_int(n, (uint64_t)i, true);
			n->known = true;
			return true;
		}
	}
	return false;
}

static struct operand from_field(struct compiler *c, struct node *n, struct field *f)
{
	struct operand o = {.where = GIVES_FIELD, .kind = f->kind, .node = n};

	n->known = true;
	if (f->kind == QV_INT && f->id == FIELD_PAYLOAD) {
		o.bits = 8 * (f->element ? f->element : f->size);
		o.is_signed = !f->is_unsigned;
	}
	o.field = add_field(c, f);
	return o;
}

static bool has_names(const struct compiler *c, const struct operand *o)
{
	return o->where == GIVES_FIELD && !c->err && expr_has_names(c->x, &c->p->fields[o->field]);
}

/* The number of a field becomes its name: a function, the path of a cgroup. */
static bool to_name(const struct compiler *c, struct operand *o)
{
	if (o->kind != QV_INT || !has_names(c, o))
		return false;
	o->kind = QV_STR;
	o->by_name = true;
	return true;
}

/* "call_site.function", as the kernel has it. */
static bool function_of(struct compiler *c, struct node *n, struct operand *o)
{
	static const char suffix[] = ".function";
	size_t len = n->len - (sizeof(suffix) - 1);
	struct field f;
	int rc;

	if (n->len < sizeof(suffix) || memcmp(n->s + len, suffix, sizeof(suffix) - 1) != 0)
		return false;
	rc = field_resolve(&f, c->e, n->s, len);
	if (rc == PP_ENOMEM)
		c->err = rc;
	if (rc)
		return false;
	if (f.id == FIELD_CGROUP || !expr_has_names(c->x, &f)) {
		field_release(&f);
		return false;
	}
	*o = from_field(c, n, &f);
	return to_name(c, o);
}

/* A word: the event's field, a name of a value, a field of every sample, else perhaps a text. */
static struct operand compile_word(struct compiler *c, struct node *n, const struct scope *scope)
{
	struct operand o;
	struct field f;
	int rc = field_resolve(&f, c->e, n->s, n->len);

	if (rc == PP_ENOMEM)
		c->err = rc;
	if (!rc && f.id == FIELD_PAYLOAD)
		return from_field(c, n, &f);
	if (named(scope, n, &o)) {
		if (!rc)
			field_release(&f);
		return o;
	}
	if (!rc)
		return from_field(c, n, &f);
	if (n->kind == NODE_WORD && function_of(c, n, &o))
		return o;
	o = constant_text(n);
	o.bare = true;
	return o;
}

/* The first field of the event in a value that has names, else the first that is a number. */
static void find_scope(struct compiler *c, const struct node *n, struct scope *scope)
{
	struct field f;

	if (!n || scope->names)
		return;
	if (n->kind == NODE_WORD && !field_resolve(&f, c->e, n->s, n->len)) {
		const struct names_table *t =
			f.id == FIELD_PAYLOAD ? names_find(&c->names, f.name, f.name_len) : NULL;

		if (f.kind == QV_INT && (t || !scope->field.p)) {
			scope->field = ps_str(n->s, n->len);
			scope->names = t;
		}
		field_release(&f);
	}
	if (n->kind == NODE_NEG || n->kind == NODE_COMPL || n->kind == NODE_ARITH) {
		find_scope(c, n->left, scope);
		find_scope(c, n->right, scope);
	}
}

/* The scope for one side: what the other side has, else what holds outside. */
static struct scope scope_for(struct compiler *c, const struct node *other,
			      const struct scope *outside)
{
	struct scope s = {.names = NULL};

	find_scope(c, other, &s);
	return s.field.p || !outside ? s : *outside;
}

/* A text where a number is wanted: a name of the other side's field, 'S'. */
static bool to_int(struct operand *o, const struct scope *scope)
{
	struct operand named_one;

	if (o->kind == QV_INT)
		return true;
	if (o->where != GIVES_CONST || o->kind != QV_STR || o->bare)
		return false;
	if (named(scope, o->node, &named_one)) {
		*o = named_one;
		return true;
	}
	if (o->node->kind == NODE_STRING && o->node->quote == '\'' && o->k.len == 1) {
		*o = constant_int(o->node, (unsigned char)o->k.s[0], true);
		o->node->known = true;
		return true;
	}
	return false;
}

/* ---- values ---- */

static struct operand compile_value(struct compiler *c, struct node *n, const struct scope *scope);

static struct operand top(struct node *n)
{
	return (struct operand){.where = GIVES_TOP, .kind = QV_INT, .node = n};
}

static struct operand compile_unary(struct compiler *c, struct node *n, const struct scope *scope)
{
	struct operand o = compile_value(c, n->left, scope);

	if (o.where == GIVES_NOTHING || o.bare)
		return nothing;
	if (!to_int(&o, scope)) {
		n->mismatch = true;
		return nothing;
	}
	n->known = true;
	if (o.where == GIVES_CONST)
		return n->kind == NODE_NEG ? constant_int(n, 0 - o.k.num, false)
					   : constant_int(n, ~o.k.num, false);
	load(c, &o, c->p->n);
	emit(c, n->kind == NODE_NEG ? INSN_NEG : INSN_COMPL);
	return top(n);
}

static struct operand compile_arith(struct compiler *c, struct node *n, const struct scope *scope)
{
	struct scope for_left = scope_for(c, n->right, scope),
		     for_right = scope_for(c, n->left, scope);
	struct operand a = compile_value(c, n->left, &for_left), b;
	uint32_t between = c->p->n;
	struct qval v;

	b = compile_value(c, n->right, &for_right);
	if (a.where == GIVES_NOTHING || b.where == GIVES_NOTHING || a.bare || b.bare)
		return nothing;
	if (!to_int(&a, &for_left) || !to_int(&b, &for_right)) {
		n->mismatch = true;
		return nothing;
	}
	n->known = true;
	if (a.where == GIVES_CONST && b.where == GIVES_CONST) {
		if (!expr_arith(n->op, &a.k, &b.k, &v))
			return nothing;
		return constant_int(n, v.num, v.is_unsigned);
	}
	load_both(c, &a, &b, between);
	emit(c, INSN_ARITH)->op = (uint8_t)n->op;
	return top(n);
}

/* What does not come out leaves no code behind. */
static struct operand compile_value(struct compiler *c, struct node *n, const struct scope *scope)
{
	static const struct scope none;
	uint32_t start = c->p->n;
	struct operand o = nothing;

	if (!scope)
		scope = &none;
	switch (n->kind) {
	case NODE_NUMBER: o = constant_int(n, n->num, true); break;
	case NODE_STRING: o = constant_text(n); break;
	case NODE_WORD: o = compile_word(c, n, scope); break;
	case NODE_NEG:
	case NODE_COMPL: o = compile_unary(c, n, scope); break;
	case NODE_ARITH: o = compile_arith(c, n, scope); break;
	default: break;
	}
	if (o.where == GIVES_NOTHING)
		c->p->n = start;
	return o;
}

/* ---- comparisons ---- */

/* A number as it is written takes the text that is compared with it for a text: comm == 007. */
static bool to_text(struct operand *o)
{
	if (o->kind == QV_STR)
		return true;
	if (o->where != GIVES_CONST || o->node->kind != NODE_NUMBER)
		return false;
	*o = constant_text(o->node);
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
	load(c, o, c->p->n);
	if (t->shift) {
		emit(c, INSN_PUSH)->k = (struct qval){QV_INT, true, t->shift, NULL, 0};
		emit(c, INSN_ARITH)->op = OP_SHR;
	}
	emit(c, INSN_PUSH)->k = (struct qval){QV_INT, true, t->mask, NULL, 0};
	emit(c, INSN_ARITH)->op = OP_BITAND;
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
	struct insn *i;

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
		i = emit(c, INSN_TEST);
		i->arg = a->field;
		i->k = b->k;
	} else {
		load_both(c, a, b, between);
		i = emit(c, INSN_COMPARE);
	}
	i->op = (uint8_t)op;
	return NOT_YET;
}

static bool is_stack(const struct compiler *c, const struct operand *o)
{
	return o->where == GIVES_FIELD && !c->err && c->p->fields[o->field].id == FIELD_STACK;
}

/* The memo of a node whose answer hangs on the id of a stack or a name. */
static uint32_t memo_of(struct compiler *c, struct node *n, bool stacks)
{
	struct expr *x = c->x;

	if (!n->memo && x->nmemos < EXPR_ITEMS_MAX) {
		x->memos[x->nmemos] = (struct memo){.stacks = stacks};
		n->memo = ++x->nmemos;
	}
	return n->memo;
}

/* A text that is to be found in any frame of the stack. */
static int any_frame(struct compiler *c, struct node *n, enum expr_op op, const struct qval *k)
{
	struct insn *i = emit(c, INSN_STACK);

	i->op = (uint8_t)op;
	i->node = n;
	i->memo = memo_of(c, n, true);
	if (k)
		i->k = *k;
	return NOT_YET;
}

static int compare_texts(struct compiler *c, struct node *n, struct operand *a, struct operand *b,
			 uint32_t between)
{
	struct insn *i;

	if (a->where == GIVES_CONST && b->where == GIVES_CONST)
		return expr_compare_text(n->op, &a->k, &b->k) ? PS_MARK_PASS : PS_MARK_FAIL;
	if ((n->op == OP_EQ || n->op == OP_NE) && is_stack(c, a) && b->where == GIVES_CONST)
		return any_frame(c, n, n->op, &b->k);
	if ((n->op == OP_EQ || n->op == OP_NE) && is_stack(c, b) && a->where == GIVES_CONST)
		return any_frame(c, n, n->op, &a->k);
	load_both(c, a, b, between);
	i = emit(c, INSN_TEXT);
	i->op = (uint8_t)n->op;
	return NOT_YET;
}

/* A set of CPUs against a number or a mask of the kernel. */
static int compare_cpus(struct compiler *c, struct node *n)
{
	struct operand a = compile_value(c, n->left, NULL);
	struct insn *i;

	if (a.where == GIVES_NOTHING || a.bare)
		return PS_MARK_NA;
	if (a.kind == QV_STR) {
		n->mismatch = true;
		return PS_MARK_NA;
	}
	n->known = true;
	load(c, &a, c->p->n);
	i = emit(c, INSN_CPUS);
	i->op = (uint8_t)n->op;
	i->node = n->right;
	return NOT_YET;
}

static int compare(struct compiler *c, struct node *n, struct node *left, struct node *right,
		   enum expr_op op)
{
	struct scope for_left = scope_for(c, right, NULL), for_right = scope_for(c, left, NULL);
	struct operand a = compile_value(c, left, &for_left), b;
	uint32_t between = c->p->n;

	b = compile_value(c, right, &for_right);
	if (a.where == GIVES_NOTHING || b.where == GIVES_NOTHING)
		return PS_MARK_NA;
	/* A bare word on the right is a text if a text is on the left. */
	if (a.bare)
		return PS_MARK_NA;
	if (b.bare && (a.where == GIVES_CONST || (a.kind != QV_STR && !has_names(c, &a))))
		return PS_MARK_NA;
	left->known = right->known = true;
	if (a.kind == QV_INT || b.kind == QV_INT) {
		if (to_int(&a, &for_left) && to_int(&b, &for_right)) {
			n->known = true;
			return compare_numbers(c, op, &a, &b, between);
		}
	}
	if (b.where == GIVES_CONST && b.kind == QV_STR)
		to_name(c, &a);
	if (a.where == GIVES_CONST && a.kind == QV_STR)
		to_name(c, &b);
	if (to_text(&a) && to_text(&b)) {
		n->known = true;
		return compare_texts(c, n, &a, &b, between);
	}
	n->mismatch = true;
	return PS_MARK_NA;
}

static int compile_match(struct compiler *c, struct node *n)
{
	struct operand a = compile_value(c, n->left, NULL);
	enum field_id id = FIELD_PAYLOAD;
	struct insn *i;

	if (a.where == GIVES_NOTHING || a.bare)
		return PS_MARK_NA;
	if (a.kind != QV_STR && !to_name(c, &a)) {
		n->mismatch = true;
		return PS_MARK_NA;
	}
	n->known = true;
	if (is_stack(c, &a))
		return any_frame(c, n, n->op, NULL);
	if (a.where == GIVES_FIELD && !c->err)
		id = c->p->fields[a.field].id;
	load(c, &a, c->p->n);
	i = emit(c, INSN_MATCH);
	i->op = (uint8_t)n->op;
	i->node = n;
	i->memo = id == FIELD_COMM ? memo_of(c, n, false) : 0;
	return NOT_YET;
}

/* ---- conditions ---- */

static int compile_condition(struct compiler *c, struct node *n);

/* What && (or ||) makes of a mark that is known and one that is not: NOT_YET: the other one. */
static int fold(struct compiler *c, bool and, int known, uint32_t start)
{
	int absorbs = and? PS_MARK_FAIL : PS_MARK_PASS;

	if (known == absorbs) {
		c->p->n = start;
		return absorbs;
	}
	if (known == PS_MARK_NA) {
		emit(c, INSN_MARK)->arg = PS_MARK_NA;
		emit(c, and? INSN_AND : INSN_OR);
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
static int compile_join(struct compiler *c, bool and, int a, struct node *right, uint32_t start)
{
	uint32_t jump = c->p->n;
	int b;

	if (a == NOT_YET)
		emit(c, and? INSN_UNLESS_FAIL : INSN_UNLESS_PASS);
	b = compile_condition(c, right);
	if (a != NOT_YET && b != NOT_YET)
		return join(and, a, b);
	if (a != NOT_YET)
		return fold(c, and, a, start);
	if (b != NOT_YET) {
		/* Nothing came behind the jump. */
		c->p->n = jump;
		return fold(c, and, b, start);
	}
	emit(c, and? INSN_AND : INSN_OR);
	if (!c->err)
		c->p->code[jump].arg = c->p->n;
	return NOT_YET;
}

static int compile_truth(struct compiler *c, struct node *n)
{
	struct operand o = compile_value(c, n, NULL);

	if (o.where == GIVES_NOTHING || o.bare)
		return PS_MARK_NA;
	if (o.where == GIVES_CONST)
		return (o.kind == QV_INT ? o.k.num != 0 : o.k.len != 0) ? PS_MARK_PASS
									: PS_MARK_FAIL;
	load(c, &o, c->p->n);
	emit(c, INSN_TRUTH);
	return NOT_YET;
}

/* a in b..c */
static int compile_range(struct compiler *c, struct node *n)
{
	uint32_t start = c->p->n, jump;
	int a, b;

	if (!n->low || !n->high)
		return compare(c, n, n->left, n->low ? n->low : n->high, n->low ? OP_GE : OP_LE);
	a = compare(c, n, n->left, n->low, OP_GE);
	jump = c->p->n;
	if (a == NOT_YET)
		emit(c, INSN_UNLESS_FAIL);
	b = compare(c, n, n->left, n->high, OP_LE);
	if (a != NOT_YET && b != NOT_YET)
		return join(true, a, b);
	if (a != NOT_YET)
		return fold(c, true, a, start);
	if (b != NOT_YET) {
		c->p->n = jump;
		return fold(c, true, b, start);
	}
	emit(c, INSN_AND);
	if (!c->err)
		c->p->code[jump].arg = c->p->n;
	return NOT_YET;
}

static int compile_not(struct compiler *c, struct node *n)
{
	int a = compile_condition(c, n->left);

	if (a == NOT_YET)
		emit(c, INSN_NOT);
	else if (a != PS_MARK_NA)
		a = a == PS_MARK_PASS ? PS_MARK_FAIL : PS_MARK_PASS;
	return a;
}

static int compile_condition(struct compiler *c, struct node *n)
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

/* ---- events ---- */

/* ".*", as trace-cmd has it, is "*" here. */
static bool name_matches(const char *pattern, size_t n, const char *name, size_t len)
{
	char plain[256];
	size_t out = 0;

	if (n > sizeof(plain))
		return false;
	for (size_t i = 0; i < n; i++)
		if (pattern[i] != '.' || i + 1 == n || pattern[i + 1] != '*')
			plain[out++] = pattern[i];
	return glob_match(plain, out, name, len);
}

static bool pattern_matches(const struct pattern *p, const struct ps_event *e)
{
	const char *colon = memchr(e->name.p, ':', e->name.len);
	size_t system = colon ? (size_t)(colon - e->name.p) : 0;
	const char *rest = colon ? colon + 1 : e->name.p;
	size_t rest_len = colon ? e->name.len - system - 1 : e->name.len;

	if (p->system)
		return colon && name_matches(p->system, p->system_len, e->name.p, system) &&
		       name_matches(p->event, p->event_len, rest, rest_len);
	return name_matches(p->event, p->event_len, rest, rest_len) ||
	       (colon && name_matches(p->event, p->event_len, e->name.p, system)) ||
	       (colon && name_matches(p->event, p->event_len, e->name.p, e->name.len));
}

/* All patterns are tried, to know which of them ever match. */
static bool item_matches(const struct item *item, const struct ps_event *e)
{
	bool any = !item->patterns;

	for (struct pattern *p = item->patterns; p; p = p->next)
		if (pattern_matches(p, e))
			any = p->matched = true;
	return any;
}

static int compile_items(struct compiler *c)
{
	int mark = PS_MARK_NA;
	bool first = true;

	for (unsigned i = 0; i < c->x->nitems; i++) {
		const struct item *item = &c->x->items[i];

		if (!item_matches(item, c->e))
			continue;
		mark = first ? compile_condition(c, item->node)
			     : compile_join(c, false, mark, item->node, 0);
		first = false;
	}
	return mark;
}

static void compile_key(struct compiler *c, struct node *n)
{
	struct operand o;

	if (node_is_condition(n)) {
		int mark = compile_condition(c, n);

		c->p->constant = mark != NOT_YET;
		c->p->mark = c->p->constant ? (enum ps_mark)mark : PS_MARK_NA;
		return;
	}
	c->p->value = true;
	o = compile_value(c, n, NULL);
	c->p->constant = o.where == GIVES_NOTHING || o.bare;
	c->p->mark = PS_MARK_NA;
	if (!c->p->constant)
		load(c, &o, c->p->n);
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
	*p = (struct program){.mark = PS_MARK_NA};
}
