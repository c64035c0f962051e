/* The parser of expressions: precedence, lists, patterns, and what is wrong with them. */
#include "expr/parts.h"

#include "base/err.h"

#define LEVEL_IN 6 /* of `in`, as == */

struct parser {
	struct expr *x;
	struct expr_lex lex;
	struct token t; /* the next one */
	int depth;
};

bool node_is_condition(const struct expr_node *n)
{
	switch (n->kind) {
	case NODE_COMPARE:
	case NODE_MATCH:
	case NODE_NOT:
	case NODE_AND:
	case NODE_OR:
	case NODE_RANGE:
	case NODE_TRUE: return true;
	default: return false;
	}
}

static int advance(struct parser *p)
{
	return expr_lex(&p->lex, &p->t);
}

static void say_wrong(const struct parser *p, const struct expr_node *n, const char *what)
{
	expr_say(&p->lex.src, n->at, n->end - n->at, p->lex.why, "%s", what);
}

#define expected(p, what) expr_expected(&(p)->lex, &(p)->t, (what))
#define wrong(p, n, what) (say_wrong((p), (n), (what)), PP_EUSAGE)

static int node_depth(const struct expr_node *n)
{
	return n ? n->depth : 0;
}

/* A node from where `left` begins, or the token, to where `right` or the token ends. */
static int make(struct parser *p, struct expr_node **out, enum node_kind kind,
		struct expr_node *left, struct expr_node *right)
{
	struct expr_node *n = arena_zalloc(&p->x->arena, sizeof(*n));
	int deep = node_depth(left) > node_depth(right) ? node_depth(left) : node_depth(right);

	*out = n;
	if (!n)
		return PP_ENOMEM;
	n->kind = kind;
	n->left = left;
	n->right = right;
	n->depth = deep + 1;
	n->size = 1 + (left ? left->size : 0) + (right ? right->size : 0);
	n->at = left ? left->at : p->t.at;
	n->end = right ? right->end : left ? left->end : p->t.end;
	if (n->size > EXPR_NODES_MAX)
		return wrong(p, n, "the expression is too long");
	if (n->depth > EXPR_DEPTH_MAX)
		return wrong(p, n, "the expression is too deep");
	return 0;
}

static int parse_level(struct parser *p, int level, struct expr_node **out);

/* ---- operands ---- */

/* "CPUS{0,2-5}" as the kernel writes it. The '{' is next. */
static int cpus(struct parser *p, struct expr_node *n)
{
	uint64_t *bits = arena_zalloc(&p->x->arena, EXPR_CPUS_MAX / 8), from, to;
	int rc;

	if (!bits)
		return PP_ENOMEM;
	n->kind = NODE_CPUS;
	n->cpus = bits;
	n->ncpus = EXPR_CPUS_MAX / 64;
	do {
		rc = advance(p);
		if (!rc && p->t.kind != TOK_NUMBER)
			rc = expected(p, "the number of a CPU");
		if (rc)
			return rc;
		from = to = p->t.num;
		rc = advance(p);
		if (!rc && p->t.kind == TOK_OP && p->t.op == OP_SUB) {
			rc = advance(p);
			if (!rc && (p->t.kind != TOK_NUMBER || p->t.num < from))
				rc = expected(p, "the last CPU of the range");
			to = p->t.num;
			rc = rc ? rc : advance(p);
		}
		if (rc)
			return rc;
		if (to >= EXPR_CPUS_MAX)
			return wrong(p, n, "no machine has a CPU of that number");
		for (; from <= to; from++)
			bits[from / 64] |= UINT64_C(1) << from % 64;
	} while (p->t.kind == TOK_COMMA);
	if (p->t.kind != TOK_CLOSEBRACE)
		return expected(p, "',' or '}'");
	n->end = p->t.end;
	return advance(p);
}

/* The text that a quoted string means where it is no pattern. */
static int plain(struct parser *p, struct expr_node *n)
{
	char *s = arena_dup(&p->x->arena, n->s, n->len);
	size_t len = 0;

	if (!s)
		return PP_ENOMEM;
	for (size_t i = 0; i < n->len; i++) {
		if (n->s[i] == '\\' && i + 1 < n->len) {
			char c = n->s[++i];

			s[len++] = (char)(c == 'n' ? '\n' : c == 't' ? '\t' : c);
		} else {
			s[len++] = n->s[i];
		}
	}
	n->s = s;
	n->len = len;
	return 0;
}

static int literal(struct parser *p, struct expr_node **out, enum node_kind kind)
{
	int rc = make(p, out, kind, NULL, NULL);

	if (rc)
		return rc;
	(*out)->num = p->t.num;
	(*out)->hex = p->t.hex;
	(*out)->quote = p->t.quote;
	(*out)->s = p->t.kind == TOK_NUMBER ? p->lex.src.text + p->t.at : p->t.s;
	(*out)->len = p->t.kind == TOK_NUMBER ? p->t.end - p->t.at : p->t.len;
	rc = advance(p);
	if (!rc && kind == NODE_WORD && p->t.kind == TOK_OPENBRACE && (*out)->len == 4 &&
	    !memcmp((*out)->s, "CPUS", 4))
		rc = cpus(p, *out);
	return rc;
}

/* After a ',' a text in quotes. */
static int parse_text(struct parser *p, struct expr_node **out)
{
	int rc = p->t.kind == TOK_COMMA ? advance(p) : expected(p, "','");

	if (!rc && p->t.kind != TOK_STRING)
		rc = expected(p, "a text in quotes");
	return rc ? rc : literal(p, out, NODE_STRING);
}

static int compile_regex(struct parser *p, struct expr_node *n);

/* "shape(VALUE)", "sub(VALUE, "REGEX", "TEXT")": the word was read, and '(' is next. */
static int parse_call(struct parser *p, struct expr_node *name, struct expr_node **out)
{
	enum node_kind kind = name->len == 3 ? NODE_SUB : NODE_SHAPE;
	struct expr_node *operand, *find = NULL, *with = NULL;
	int rc = advance(p);

	if (!rc)
		rc = parse_level(p, 1, &operand);
	if (!rc && node_is_condition(operand))
		rc = wrong(p, operand, "shape() and sub() take a text");
	if (!rc && kind == NODE_SUB)
		rc = parse_text(p, &find);
	if (!rc && kind == NODE_SUB)
		rc = parse_text(p, &with);
	if (!rc && p->t.kind != TOK_CLOSE)
		rc = expected(p, "')'");
	if (!rc)
		rc = make(p, out, kind, operand, find);
	if (!rc && kind == NODE_SUB)
		rc = compile_regex(p, *out);
	if (rc)
		return rc;
	(*out)->high = with;
	(*out)->at = name->at;
	(*out)->end = p->t.end;
	(*out)->text = arena_alloc(&p->x->arena, SHAPE_MAX);
	return (*out)->text ? advance(p) : PP_ENOMEM;
}

static int parse_word(struct parser *p, struct expr_node **out)
{
	int rc = literal(p, out, NODE_WORD);
	const struct expr_node *n = *out;

	if (rc || p->t.kind != TOK_OPEN || n->kind != NODE_WORD ||
	    !((n->len == 5 && !memcmp(n->s, "shape", 5)) ||
	      (n->len == 3 && !memcmp(n->s, "sub", 3))))
		return rc;
	return parse_call(p, *out, out);
}

static int parse_primary(struct parser *p, struct expr_node **out)
{
	size_t at = p->t.at;
	int rc;

	switch (p->t.kind) {
	case TOK_NUMBER: return literal(p, out, NODE_NUMBER);
	case TOK_STRING: return literal(p, out, NODE_STRING);
	case TOK_WORD: return parse_word(p, out);
	case TOK_OPEN: break;
	default: return expected(p, "a field, a number or a text");
	}
	rc = advance(p);
	if (!rc)
		rc = parse_level(p, 1, out);
	if (!rc && p->t.kind != TOK_CLOSE)
		rc = expected(p, "an operator or ')'");
	if (rc)
		return rc;
	(*out)->at = at;
	(*out)->end = p->t.end;
	return advance(p);
}

static int value(struct parser *p, const struct expr_node *n)
{
	if (n->kind == NODE_CPUS)
		return wrong(p, n, "CPUS{} is allowed only after &, == and !=");
	if (!node_is_condition(n))
		return 0;
	return wrong(
		p, n,
		"a condition where a value is expected; & | ^ bind less tightly than ==, as in "
		"C, and ! more tightly: write parentheses");
}

static int parse_unary(struct parser *p, struct expr_node **out)
{
	enum node_kind kind;
	struct expr_node *operand;
	size_t at = p->t.at;
	int rc;

	if (p->t.kind == TOK_NOT)
		kind = NODE_NOT;
	else if (p->t.kind == TOK_OP && p->t.op == OP_SUB)
		kind = NODE_NEG;
	else if (p->t.kind == TOK_OP && p->t.op == OP_GLOB)
		kind = NODE_COMPL;
	else
		return parse_primary(p, out);
	if (++p->depth > EXPR_DEPTH_MAX)
		return expr_error(&p->lex.src, p->t.at, 1, p->lex.why,
				  "the expression is too deep");
	rc = advance(p);
	if (!rc)
		rc = parse_unary(p, &operand);
	p->depth--;
	if (!rc && kind != NODE_NOT)
		rc = value(p, operand);
	if (!rc && operand->kind == NODE_CPUS)
		rc = value(p, operand);
	if (!rc)
		rc = make(p, out, kind, operand, NULL);
	if (!rc)
		(*out)->at = at;
	return rc;
}

/* ---- ranges and lists ---- */

static bool is_word(const struct token *t, const char *word)
{
	return t->kind == TOK_WORD && t->len == strlen(word) && !memcmp(t->s, word, t->len);
}

/* Whether a value can begin with the next token. */
static bool begins(const struct token *t)
{
	switch (t->kind) {
	case TOK_NUMBER:
	case TOK_STRING:
	case TOK_OPEN: return true;
	case TOK_WORD: return !is_word(t, "in") && !is_word(t, "not");
	case TOK_OP: return t->op == OP_SUB || t->op == OP_GLOB;
	default: return false;
	}
}

static int bound(struct parser *p, struct expr_node **out)
{
	int rc = parse_level(p, LEVEL_IN + 1, out);

	return rc ? rc : value(p, *out);
}

/* A value, "a..b", "a.." or "..b" for a field: its comparison. */
static int element(struct parser *p, struct expr_node *field, struct expr_node **out)
{
	struct expr_node *low = NULL, *high = NULL;
	int rc = p->t.kind == TOK_RANGE ? 0 : bound(p, &low);

	if (!rc && p->t.kind != TOK_RANGE) {
		rc = make(p, out, NODE_COMPARE, field, low);
		if (!rc)
			(*out)->op = OP_EQ;
		return rc;
	}
	if (!rc)
		rc = advance(p);
	if (!rc && (!low || begins(&p->t)))
		rc = bound(p, &high);
	if (!rc)
		rc = make(p, out, NODE_RANGE, field, low ? low : high);
	if (rc)
		return rc;
	(*out)->right = NULL;
	(*out)->low = low;
	(*out)->high = high;
	(*out)->size += field->size + (low && high ? high->size : 0);
	(*out)->end = high ? high->end : p->t.at;
	return (*out)->size > EXPR_NODES_MAX ? wrong(p, field, "the expression is too long") : 0;
}

/* Joins conditions by ||, as a tree that is not deeper than it has to be. */
static int join(struct parser *p, struct expr_node **v, unsigned n, struct expr_node **out)
{
	struct expr_node *left, *right;
	int rc;

	if (n == 1) {
		*out = v[0];
		return 0;
	}
	rc = join(p, v, n / 2, &left);
	if (!rc)
		rc = join(p, v + n / 2, n - n / 2, &right);
	return rc ? rc : make(p, out, NODE_OR, left, right);
}

/* After `in`: "(a, b..c)" or a range. */
static int parse_in(struct parser *p, struct expr_node *field, struct expr_node **out)
{
	struct expr_node *list = NULL, *one, **v;
	unsigned n = 0;
	int rc;

	if (p->t.kind != TOK_OPEN)
		return element(p, field, out);
	do {
		rc = advance(p);
		if (!rc)
			rc = element(p, field, &one);
		if (rc)
			return rc;
		one->next = list;
		list = one;
		n++;
	} while (p->t.kind == TOK_COMMA);
	if (p->t.kind != TOK_CLOSE)
		return expected(p, "',' or ')'");
	v = arena_alloc(&p->x->arena, n * sizeof(struct expr_node *));
	if (!v)
		return PP_ENOMEM;
	for (unsigned i = n; i--; list = list->next)
		v[i] = list;
	rc = advance(p);
	return rc ? rc : join(p, v, n, out);
}

/* ---- operators ---- */

static int compile_regex(struct parser *p, struct expr_node *n)
{
	const char *why;
	int rc;

	if (memchr(n->right->s, 0, n->right->len))
		return wrong(p, n->right, "not a regular expression");
	/* As in trace-cmd, the case of letters does not matter. */
	rc = rx_new(&n->regex, n->right->s, n->right->len, &why);
	if (rc == PP_ELIMIT)
		return wrong(p, n->right, "a regular expression with too many repetitions");
	if (rc == PP_EUSAGE)
		return expr_error(&p->lex.src, n->right->at, n->right->end - n->right->at,
				  p->lex.why, "not a regular expression: %s", why);
	if (rc)
		return rc;
	n->next = p->x->regexes;
	p->x->regexes = n;
	return 0;
}

/* The right side of ~ =~ !~: a text. */
static int parse_match(struct parser *p, enum expr_op op, struct expr_node *left,
		       struct expr_node **out)
{
	struct expr_node *right;
	int rc;

	if (p->t.kind != TOK_STRING && p->t.kind != TOK_WORD)
		return expected(p, "a pattern in quotes");
	rc = literal(p, &right, NODE_STRING);
	if (!rc)
		rc = make(p, out, NODE_MATCH, left, right);
	if (rc)
		return rc;
	(*out)->op = op;
	right->s = arena_dup(&p->x->arena, right->s, right->len);
	if (!right->s)
		return PP_ENOMEM;
	return op == OP_GLOB ? 0 : compile_regex(p, *out);
}

static int parse_compare(struct parser *p, enum expr_op op, struct expr_node *left,
			 struct expr_node **out)
{
	struct expr_node *right;
	int rc = p->t.kind == TOK_RANGE ? 0 : parse_level(p, expr_ops[op].level + 1, &right);

	if (!rc && p->t.kind == TOK_RANGE)
		return expr_error(&p->lex.src, p->t.at, 2, p->lex.why,
				  "a range is allowed only after in: x in 1..5");
	if (!rc && (right->kind != NODE_CPUS || (op != OP_EQ && op != OP_NE)))
		rc = value(p, right);
	if (!rc)
		rc = make(p, out, NODE_COMPARE, left, right);
	if (!rc)
		(*out)->op = op;
	return rc;
}

static int parse_arith(struct parser *p, enum expr_op op, struct expr_node *left,
		       struct expr_node **out)
{
	struct expr_node *right;
	int rc = parse_level(p, expr_ops[op].level + 1, &right);

	if (!rc && right->kind == NODE_CPUS && op == OP_BITAND) {
		rc = make(p, out, NODE_COMPARE, left, right);
	} else {
		if (!rc)
			rc = value(p, right);
		if (!rc)
			rc = make(p, out, NODE_ARITH, left, right);
	}
	if (!rc)
		(*out)->op = op;
	return rc;
}

static int parse_logic(struct parser *p, enum expr_op op, struct expr_node *left,
		       struct expr_node **out)
{
	struct expr_node *right;
	int rc = parse_level(p, expr_ops[op].level + 1, &right);

	if (!rc && right->kind == NODE_CPUS)
		rc = value(p, right);
	return rc ? rc : make(p, out, op == OP_AND ? NODE_AND : NODE_OR, left, right);
}

/* The operator that is next, if it binds at least as tightly as `level`; `in` is OP_NONE. */
static bool next_operator(const struct parser *p, int level, enum expr_op *op)
{
	*op = p->t.op;
	if (is_word(&p->t, "in") || is_word(&p->t, "not"))
		return level <= LEVEL_IN;
	return p->t.kind == TOK_OP && expr_ops[*op].level >= level;
}

static int parse_not_in(struct parser *p, struct expr_node *left, struct expr_node **out)
{
	bool not = is_word(&p->t, "not");
	struct expr_node *in;
	int rc = advance(p);

	if (!rc && not ) {
		if (!is_word(&p->t, "in"))
			return expected(p, "'in'");
		rc = advance(p);
	}
	if (!rc)
		rc = parse_in(p, left, not ? &in : out);
	if (!rc && not )
		rc = make(p, out, NODE_NOT, in, NULL);
	return rc;
}

static int parse_operator(struct parser *p, enum expr_op op, struct expr_node *left,
			  struct expr_node **out)
{
	int rc = op == OP_OR || op == OP_AND ? 0 : value(p, left);

	if (!rc && left->kind == NODE_CPUS)
		rc = value(p, left);
	if (rc)
		return rc;
	if (op == OP_NONE)
		return parse_not_in(p, left, out);
	rc = advance(p);
	if (rc)
		return rc;
	switch (expr_ops[op].group) {
	case GROUP_MATCH: return parse_match(p, op, left, out);
	case GROUP_COMPARE: return parse_compare(p, op, left, out);
	case GROUP_ARITH: return parse_arith(p, op, left, out);
	default: return parse_logic(p, op, left, out);
	}
}

static int parse_level(struct parser *p, int level, struct expr_node **out)
{
	enum expr_op op;
	int rc;

	if (++p->depth > EXPR_DEPTH_MAX)
		return expr_error(&p->lex.src, p->t.at, 1, p->lex.why,
				  "the expression is too deep");
	rc = parse_unary(p, out);
	while (!rc && next_operator(p, level, &op))
		rc = parse_operator(p, op, *out, out);
	p->depth--;
	return rc;
}

/* ---- items ---- */

static int parse_item(struct parser *p)
{
	struct item *item = &p->x->items[p->x->nitems];
	bool found = false;
	int rc = 0;

	*item = (struct item){.src = NULL};
	if (p->x->use == EXPR_CONDITION) {
		/* "sched:sched_switch:" before "sched_switch:prev_pid". */
		rc = expr_patterns(&p->lex, true, &item->patterns, &found);
		if (!rc && !found)
			rc = expr_patterns(&p->lex, false, &item->patterns, &found);
		if (!rc && !found)
			item->patterns = NULL;
	}
	if (!rc)
		rc = advance(p);
	if (!rc && found && (p->t.kind == TOK_END || p->t.kind == TOK_COMMA))
		rc = make(p, &item->node, NODE_TRUE, NULL, NULL);
	else if (!rc)
		rc = parse_level(p, 1, &item->node);
	if (!rc && item->node->kind == NODE_CPUS)
		rc = value(p, item->node);
	return rc;
}

/* Texts that are no patterns lose their escapes. */
static int settle(struct parser *p, struct expr_node *n)
{
	int rc = 0;

	if (!n)
		return 0;
	if (n->kind == NODE_STRING && !n->plain) {
		rc = plain(p, n);
		n->plain = true;
	}
	if (!rc)
		rc = settle(p, n->left);
	if (!rc && n->kind != NODE_MATCH && n->kind != NODE_SUB)
		rc = settle(p, n->right);
	if (!rc)
		rc = settle(p, n->low);
	return rc ? rc : settle(p, n->high);
}

int expr_parse(struct expr *x, const struct expr_source *src, struct buf *why)
{
	struct parser p = {.x = x, .lex = {.src = *src, .arena = &x->arena, .why = why}};
	int rc;

	do {
		if (x->nitems == EXPR_ITEMS_MAX)
			return expr_error(src, p.lex.pos, 1, why, "more than %d expressions",
					  EXPR_ITEMS_MAX);
		rc = parse_item(&p);
		if (!rc)
			rc = settle(&p, x->items[x->nitems].node);
		if (rc)
			return rc;
		x->items[x->nitems++].src = src;
	} while (p.t.kind == TOK_COMMA);
	return p.t.kind == TOK_END ? 0 : expected(&p, "an operator, ',' or the end");
}
