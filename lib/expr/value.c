/* The compiler of values: words, names of values, arithmetic. */
#include "expr/value.h"

#include "base/err.h"

#include <stdlib.h>

#define ERRNO_MAX 4095

/* ---- code ---- */

static struct expr_insn *insert(struct compiler *c, uint32_t at, enum insn_code code)
{
	static struct expr_insn nowhere;
	struct program *p = c->p;

	if (p->n == p->cap) {
		uint32_t cap = p->cap ? 2 * p->cap : 8;
		struct expr_insn *v = realloc(p->code, cap * sizeof(*v));

		if (!v) {
			c->err = PP_ENOMEM;
			return &nowhere;
		}
		p->code = v;
		p->cap = cap;
	}
	memmove(p->code + at + 1, p->code + at, (p->n - at) * sizeof(*p->code));
	p->n++;
	p->code[at] = (struct expr_insn){.code = (uint8_t)code};
	return &p->code[at];
}

struct expr_insn *code_emit(struct compiler *c, enum insn_code code)
{
	return insert(c, c->p->n, code);
}

void code_load(struct compiler *c, const struct operand *o, uint32_t at)
{
	if (o->where == GIVES_CONST)
		insert(c, at, INSN_PUSH)->k = o->k;
	if (o->where == GIVES_FIELD) {
		struct expr_insn *i = insert(c, at, o->by_name ? INSN_NAME : INSN_FIELD);

		i->arg = o->field;
		i->node = o->node;
	}
}

void code_load_both(struct compiler *c, const struct operand *a, const struct operand *b,
		    uint32_t between)
{
	code_load(c, a, between);
	code_load(c, b, c->p->n);
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

static struct operand constant_int(struct expr_node *n, uint64_t num, bool is_unsigned)
{
	return (struct operand){.where = GIVES_CONST,
				.kind = QV_INT,
				.k = {.kind = QV_INT, .is_unsigned = is_unsigned, .num = num},
				.node = n,
				.hex = n->hex};
}

struct operand value_text(struct expr_node *n)
{
	return (struct operand){.where = GIVES_CONST,
				.kind = QV_STR,
				.k = {.kind = QV_STR, .s = n->s, .len = n->len},
				.node = n};
}

static const struct operand nothing;

/* A name of a value of the field on the other side: SOFTIRQ names, flags, errors. */
static bool named(const struct scope *scope, struct expr_node *n, struct operand *o)
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

static struct operand from_field(struct compiler *c, struct expr_node *n, struct field *f)
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

bool value_has_names(const struct compiler *c, const struct operand *o)
{
	return o->where == GIVES_FIELD && !c->err && expr_has_names(c->x, &c->p->fields[o->field]);
}

bool value_to_name(const struct compiler *c, struct operand *o)
{
	if (o->kind != QV_INT || !value_has_names(c, o))
		return false;
	o->kind = QV_STR;
	o->by_name = true;
	return true;
}

/* "call_site.function", as the kernel has it. */
static bool function_of(struct compiler *c, struct expr_node *n, struct operand *o)
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
	return value_to_name(c, o);
}

/* A word: the event's field, a name of a value, a field of every sample, else perhaps a text. */
static struct operand compile_word(struct compiler *c, struct expr_node *n,
				   const struct scope *scope)
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
	o = value_text(n);
	o.bare = true;
	return o;
}

/* The first field of the event in a value that has names, else the first that is a number. */
static void find_scope(struct compiler *c, const struct expr_node *n, struct scope *scope)
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

struct scope value_scope(struct compiler *c, const struct expr_node *other,
			 const struct scope *outside)
{
	struct scope s = {.names = NULL};

	find_scope(c, other, &s);
	return s.field.p || !outside ? s : *outside;
}

bool value_to_int(struct operand *o, const struct scope *scope)
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

static struct operand top(struct expr_node *n)
{
	return (struct operand){.where = GIVES_TOP, .kind = QV_INT, .node = n};
}

static struct operand compile_unary(struct compiler *c, struct expr_node *n,
				    const struct scope *scope)
{
	struct operand o = value_compile(c, n->left, scope);

	if (o.where == GIVES_NOTHING || o.bare)
		return nothing;
	if (!value_to_int(&o, scope)) {
		n->mismatch = true;
		return nothing;
	}
	n->known = true;
	if (o.where == GIVES_CONST)
		return n->kind == NODE_NEG ? constant_int(n, 0 - o.k.num, false)
					   : constant_int(n, ~o.k.num, false);
	code_load(c, &o, c->p->n);
	code_emit(c, n->kind == NODE_NEG ? INSN_NEG : INSN_COMPL);
	return top(n);
}

static struct operand compile_shape(struct compiler *c, struct expr_node *n)
{
	struct operand o = value_compile(c, n->left, NULL);

	if (o.where == GIVES_NOTHING || o.bare)
		return nothing;
	if (o.kind != QV_STR && !value_to_name(c, &o)) {
		n->mismatch = true;
		return nothing;
	}
	n->known = true;
	code_load(c, &o, c->p->n);
	code_emit(c, INSN_SHAPE)->node = n;
	o = top(n);
	o.kind = QV_STR;
	return o;
}

static struct operand compile_arith(struct compiler *c, struct expr_node *n,
				    const struct scope *scope)
{
	struct scope for_left = value_scope(c, n->right, scope),
		     for_right = value_scope(c, n->left, scope);
	struct operand a = value_compile(c, n->left, &for_left), b;
	uint32_t between = c->p->n;
	struct qval v;

	b = value_compile(c, n->right, &for_right);
	if (a.where == GIVES_NOTHING || b.where == GIVES_NOTHING || a.bare || b.bare)
		return nothing;
	if (!value_to_int(&a, &for_left) || !value_to_int(&b, &for_right)) {
		n->mismatch = true;
		return nothing;
	}
	n->known = true;
	if (a.where == GIVES_CONST && b.where == GIVES_CONST) {
		if (!expr_arith(n->op, &a.k, &b.k, &v))
			return nothing;
		return constant_int(n, v.num, v.is_unsigned);
	}
	code_load_both(c, &a, &b, between);
	code_emit(c, INSN_ARITH)->op = (uint8_t)n->op;
	return top(n);
}

struct operand value_compile(struct compiler *c, struct expr_node *n, const struct scope *scope)
{
	static const struct scope none;
	uint32_t start = c->p->n;
	struct operand o = nothing;

	if (!scope)
		scope = &none;
	switch (n->kind) {
	case NODE_NUMBER: o = constant_int(n, n->num, true); break;
	case NODE_STRING: o = value_text(n); break;
	case NODE_WORD: o = compile_word(c, n, scope); break;
	case NODE_NEG:
	case NODE_COMPL: o = compile_unary(c, n, scope); break;
	case NODE_SUB:
	case NODE_SHAPE: o = compile_shape(c, n); break;
	case NODE_ARITH: o = compile_arith(c, n, scope); break;
	default: break;
	}
	if (o.where == GIVES_NOTHING)
		c->p->n = start;
	return o;
}
