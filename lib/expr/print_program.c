/* Expressions and their programs as text. */
#include "expr/parts.h"

#include <inttypes.h>

static const char *const insn_names[] = {
#define I(id, text) [INSN_##id] = (text),
	EXPR_INSTRUCTIONS(I)
#undef I
};

static void add_quoted(struct buf *b, const char *s, size_t n)
{
	buf_addc(b, '"');
	buf_add_safe(b, s, n);
	buf_addc(b, '"');
}

/* ---- the tree, with every parenthesis ---- */

static void add_node(struct buf *b, const struct expr_node *n);

static void add_pair(struct buf *b, const struct expr_node *left, const char *op,
		     const struct expr_node *right)
{
	buf_addc(b, '(');
	add_node(b, left);
	buf_addf(b, " %s ", op);
	add_node(b, right);
	buf_addc(b, ')');
}

static void add_cpus(struct buf *b, const struct expr_node *n)
{
	const char *sep = "";

	buf_adds(b, "CPUS{");
	for (size_t cpu = 0; cpu < 64 * n->ncpus; cpu++) {
		size_t last = cpu;

		if (!(n->cpus[cpu / 64] >> cpu % 64 & 1))
			continue;
		while (last + 1 < 64 * n->ncpus &&
		       (n->cpus[(last + 1) / 64] >> (last + 1) % 64 & 1))
			last++;
		buf_addf(b, last > cpu ? "%s%zu-%zu" : "%s%zu", sep, cpu, last);
		sep = ",";
		cpu = last;
	}
	buf_addc(b, '}');
}

static void add_range(struct buf *b, const struct expr_node *n)
{
	buf_addc(b, '(');
	add_node(b, n->left);
	buf_adds(b, " in ");
	if (n->low)
		add_node(b, n->low);
	buf_adds(b, "..");
	if (n->high)
		add_node(b, n->high);
	buf_addc(b, ')');
}

static void add_node(struct buf *b, const struct expr_node *n)
{
	switch (n->kind) {
	case NODE_NUMBER: buf_addf(b, n->hex ? "0x%" PRIx64 : "%" PRIu64, n->num); break;
	case NODE_STRING: add_quoted(b, n->s, n->len); break;
	case NODE_WORD: buf_add_safe(b, n->s, n->len); break;
	case NODE_CPUS: add_cpus(b, n); break;
	case NODE_NEG:
	case NODE_COMPL:
	case NODE_NOT:
		buf_addc(b, n->kind == NODE_NEG ? '-' : n->kind == NODE_NOT ? '!' : '~');
		add_node(b, n->left);
		break;
	case NODE_SHAPE:
		buf_adds(b, "shape(");
		add_node(b, n->left);
		buf_addc(b, ')');
		break;
	case NODE_SUB:
		buf_adds(b, "sub(");
		add_node(b, n->left);
		buf_adds(b, ", ");
		add_quoted(b, n->right->s, n->right->len);
		buf_adds(b, ", ");
		add_quoted(b, n->high->s, n->high->len);
		buf_addc(b, ')');
		break;
	case NODE_ARITH:
	case NODE_COMPARE:
	case NODE_MATCH: add_pair(b, n->left, expr_ops[n->op].text, n->right); break;
	case NODE_AND: add_pair(b, n->left, "&&", n->right); break;
	case NODE_OR: add_pair(b, n->left, "||", n->right); break;
	case NODE_RANGE: add_range(b, n); break;
	case NODE_TRUE: buf_adds(b, "any"); break;
	}
}

static void add_patterns(struct buf *b, const struct pattern *p)
{
	/* The list is in the reverse order. */
	if (p->next) {
		add_patterns(b, p->next);
		buf_adds(b, ", ");
	}
	if (p->system) {
		buf_add_safe(b, p->system, p->system_len);
		buf_addc(b, '/');
	}
	buf_add_safe(b, p->event, p->event_len);
}

void expr_print(const struct expr *x, struct buf *text)
{
	for (unsigned i = 0; i < x->nitems; i++) {
		if (i)
			buf_adds(text, ",\n");
		if (x->items[i].patterns) {
			add_patterns(text, x->items[i].patterns);
			buf_adds(text, ": ");
		}
		add_node(text, x->items[i].node);
	}
	buf_addc(text, '\n');
}

/* ---- programs ---- */

static void add_field(struct buf *b, const struct field *f)
{
	static const char *const kinds[] = {"nothing", "number", "text", "bytes"};

	if (f->id != FIELD_PAYLOAD) {
		buf_addf(b, "%s", field_name(f->id));
		return;
	}
	buf_add_safe(b, f->name, f->name_len);
	if (f->element)
		buf_addf(b, "[%u]", f->index);
	buf_addf(b, " at %u", f->offset);
	if (f->kind == QV_INT)
		buf_addf(b, ", %c%u", f->is_unsigned ? 'u' : 's',
			 8 * (f->element ? f->element : f->size));
	else
		buf_addf(b, ", %s%s", f->flags & PS_FIELD_DYNAMIC ? "dynamic " : "",
			 kinds[f->kind]);
}

static void add_value(struct buf *b, const struct qval *v)
{
	if (v->kind == QV_STR)
		add_quoted(b, v->s, v->len);
	else if (v->is_unsigned)
		buf_addf(b, "%" PRIu64, v->num);
	else
		buf_addf(b, "%" PRId64, (int64_t)v->num);
}

static const char *mark_name(uint32_t mark)
{
	return mark == PS_MARK_PASS ? "pass" : mark == PS_MARK_FAIL ? "fail" : "does not apply";
}

static void add_insn(struct buf *b, const struct program *p, const struct expr_insn *i)
{
	switch ((enum insn_code)i->code) {
	case INSN_PUSH: add_value(b, &i->k); break;
	case INSN_FIELD:
	case INSN_NAME: add_field(b, &p->fields[i->arg]); break;
	case INSN_TEST:
		add_field(b, &p->fields[i->arg]);
		buf_addf(b, " %s ", expr_ops[i->op].text);
		add_value(b, &i->k);
		break;
	case INSN_MARK: buf_adds(b, mark_name(i->arg)); break;
	case INSN_MATCH:
	case INSN_STACK:
		buf_addf(b, "%s ", expr_ops[i->op].text);
		if (i->node->kind == NODE_MATCH)
			add_quoted(b, i->node->right->s, i->node->right->len);
		else
			add_value(b, &i->k);
		break;
	case INSN_CPUS:
		buf_addf(b, "%s ", expr_ops[i->op].text);
		add_cpus(b, i->node);
		break;
	case INSN_ARITH:
	case INSN_COMPARE:
	case INSN_TEXT: buf_adds(b, expr_ops[i->op].text); break;
	case INSN_UNLESS_FAIL:
	case INSN_UNLESS_PASS: buf_addf(b, "else to %u", i->arg); break;
	default: break;
	}
}

static void print_program(const struct program *p, struct buf *text)
{
	if (p->constant) {
		buf_addf(text, "  %s\n", p->value ? "no value" : mark_name(p->mark));
		return;
	}
	for (uint32_t i = 0; i < p->n; i++) {
		size_t start = text->len;

		buf_addf(text, "%4u  %-12s ", i, insn_names[p->code[i].code]);
		add_insn(text, p, &p->code[i]);
		while (text->len > start && text->data[text->len - 1] == ' ')
			text->len--;
		buf_addc(text, '\n');
	}
}

void expr_print_program(struct expr *x, const struct sreader *r, uint32_t event, struct buf *text)
{
	const struct ps_event *e = sreader_event(r, event);
	unsigned each = x->use == EXPR_VALUES ? x->nitems : 1;

	if (!e || event >= x->room || !x->compiled[event])
		return;
	buf_add_safe(text, e->name.p, e->name.len);
	buf_adds(text, ":\n");
	for (unsigned i = 0; i < each; i++)
		print_program(&x->programs[event * each + i], text);
}
