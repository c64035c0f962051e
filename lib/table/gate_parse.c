/* The parser of conditions on tables. */
#include "table/gate_parts.h"

#include <stdlib.h>
#include <string.h>

#define LEVEL_COMPARE 6 /* of EXPR_OPERATORS: from here on values, not conditions */
#define LEVEL_ORDER   7
#define LEVEL_ADD     9

/* Where in a condition the parser is. */
enum place { OUTSIDE, IN_ANY, IN_ROWS };

struct parser {
	struct gates *gs;
	struct gate *g;
	struct expr_lex lex;
	struct token t; /* the next one */
	enum place place;
	int depth;
};

const struct gate_stat_info gate_stats[GATE_NSTATS] = {
#define G(name, text, least) {text, least},
	GATE_STATS(G)
#undef G
};

static bool gate_is_condition(const struct gate_node *n)
{
	return n && n->kind >= GATE_COMPARE;
}

static int advance(struct parser *p)
{
	return expr_lex(&p->lex, &p->t);
}

/* "expected a number, found ')'". */
static int expected(const struct parser *p, const char *what)
{
	return expr_expected(&p->lex, &p->t, what);
}

static int wrong(const struct parser *p, const struct gate_node *n, const char *what)
{
	if (!n)
		return expected(p, "a condition");
	return expr_error(&p->lex.src, n->at, n->end - n->at, p->lex.why, "%s", what);
}

static int node_depth(const struct gate_node *n)
{
	return n ? n->depth : 0;
}

/* A node from where `left` begins, or the token, to where `right` or the token ends. */
static int make(struct parser *p, struct gate_node **out, enum gate_kind kind,
		struct gate_node *left, struct gate_node *right)
{
	struct gate_node *n = arena_zalloc(&p->gs->arena, sizeof(*n));
	int deep = node_depth(left) > node_depth(right) ? node_depth(left) : node_depth(right);

	*out = n;
	if (!n)
		return PP_ENOMEM;
	n->kind = kind;
	n->left = left;
	n->right = right;
	n->depth = deep + 1;
	n->at = left ? left->at : p->t.at;
	n->end = right ? right->end : left ? left->end : p->t.end;
	if (++p->g->nodes > GATE_NODES_MAX)
		return wrong(p, n, "the condition is too long");
	return n->depth > GATE_DEPTH_MAX ? wrong(p, n, "the condition is too deep") : 0;
}

static int take(struct parser *p, enum token_kind kind, const char *what)
{
	return p->t.kind == kind ? advance(p) : expected(p, what);
}

static bool is_op(const struct parser *p, enum expr_op op)
{
	return p->t.kind == TOK_OP && p->t.op == op;
}

static bool is_word(const struct parser *p, const char *word)
{
	return p->t.kind == TOK_WORD && p->t.len == strlen(word) && !memcmp(p->t.s, word, p->t.len);
}

/*
 * A name, in quotes or not: of kinds of intervals and of commands, such as block-io, the minus is
 * part of it if there is no blank.
 */
static int take_name(struct parser *p, struct gate_text *name, const char *what)
{
	const struct token first = p->t;
	int rc;

	if (first.kind != TOK_WORD && first.kind != TOK_STRING)
		return expected(p, what);
	*name = (struct gate_text){
		.s = first.s, .len = first.len, .at = first.at, .end = first.end};
	rc = advance(p);
	while (!rc && first.kind == TOK_WORD && is_op(p, OP_SUB) && p->t.at == name->end) {
		struct expr_lex before = p->lex;
		struct token minus = p->t;

		rc = advance(p);
		if (rc || (p->t.kind != TOK_WORD && p->t.kind != TOK_NUMBER) ||
		    p->t.at != minus.end) {
			p->lex = before;
			p->t = minus;
			return rc;
		}
		name->end = p->t.end;
		name->len = name->end - name->at;
		rc = advance(p);
	}
	return rc;
}

static int parse_or(struct parser *p, struct gate_node **out);

/* ---- comparisons of keys ---- */

static int take_number(struct parser *p, struct gate_text *t, double *v)
{
	int rc;

	t->minus = is_op(p, OP_SUB);
	rc = t->minus ? advance(p) : 0;
	if (!rc && p->t.kind != TOK_NUMBER)
		rc = expected(p, "a number");
	if (rc)
		return rc;
	*v = t->minus ? -p->t.real : p->t.real;
	t->whole = p->t.num;
	t->end = p->t.end;
	return advance(p);
}

/* What a key is compared with: a number, a text, in a list also a range of numbers. */
static int take_text(struct parser *p, bool list, struct gate_text **out)
{
	struct gate_text *t = arena_zalloc(&p->gs->arena, sizeof(*t));
	int rc;

	*out = t;
	if (!t)
		return PP_ENOMEM;
	t->at = p->t.at;
	if (p->t.kind != TOK_NUMBER && !is_op(p, OP_SUB))
		return take_name(p, t, "a text or a number");
	t->number = true;
	rc = take_number(p, t, &t->num);
	if (!rc && list && p->t.kind == TOK_RANGE) {
		t->range = true;
		rc = advance(p);
		rc = rc ? rc : take_number(p, t, &t->high);
	}
	t->s = p->lex.src.text + t->at;
	t->len = t->end - t->at;
	return rc;
}

/* "in {a, b, 1..3}"; the word is next. */
static int take_list(struct parser *p, struct gate_node *n)
{
	struct gate_text **end = &n->list;
	int rc = advance(p);

	n->kind = GATE_IN;
	rc = rc ? rc : take(p, TOK_OPENBRACE, "'{' after in");
	while (!rc) {
		rc = take_text(p, true, end);
		if (rc)
			return rc;
		end = &(*end)->next;
		if (p->t.kind != TOK_COMMA)
			break;
		rc = advance(p);
	}
	n->end = p->t.end;
	return rc ? rc : take(p, TOK_CLOSEBRACE, "',' or '}'");
}

static int compile_regex(struct parser *p, struct gate_node *n)
{
	const char *why = NULL;
	int rc = rx_new(&n->regex, n->list->s, n->list->len, &why);

	if (rc == PP_ENOMEM)
		return rc;
	if (rc)
		return expr_error(&p->lex.src, n->list->at, n->list->end - n->list->at, p->lex.why,
				  "not a regular expression: %s",
				  why ? why : "its repetitions make it too large");
	n->next_regex = p->g->regexes;
	p->g->regexes = n;
	return 0;
}

/* A key, an operator and what it is compared with. */
static int parse_key(struct parser *p, struct gate_node **out)
{
	struct gate_text name;
	struct gate_node *n;
	int rc = make(p, out, GATE_KEY, NULL, NULL);

	n = *out;
	rc = rc ? rc : take_name(p, &name, "the name of a key");
	if (rc)
		return rc;
	n->name = name.s;
	n->len = name.len;
	n->name_at = name.at;
	n->name_end = n->end = name.end;
	if (is_word(p, "in"))
		return take_list(p, n);
	if (p->t.kind != TOK_OP || expr_ops[p->t.op].level < LEVEL_COMPARE ||
	    expr_ops[p->t.op].level > LEVEL_ORDER)
		return expected(p, "a comparison of the key: == != < <= > >= ~ =~ !~ in");
	n->op = p->t.op;
	rc = advance(p);
	rc = rc ? rc : take_text(p, false, &n->list);
	if (rc)
		return rc;
	n->end = n->list->end;
	return n->op == OP_REGEX || n->op == OP_NOTREGEX ? compile_regex(p, n) : 0;
}

/* ---- statistics ---- */

/* The statistic of a name. */
static bool find_stat(const struct token *t, struct gate_node *n)
{
	char digits[16], *end;

	for (int i = 0; i < GATE_PERCENTILE; i++) {
		if (strlen(gate_stats[i].name) != t->len ||
		    memcmp(gate_stats[i].name, t->s, t->len) != 0)
			continue;
		n->stat = (enum gate_stat)i;
		return true;
	}
	if (t->len < 2 || t->len > sizeof(digits) || t->s[0] != 'p')
		return false;
	memcpy(digits, t->s + 1, t->len - 1);
	digits[t->len - 1] = 0;
	if (strspn(digits, "0123456789.") != t->len - 1)
		return false;
	n->stat = GATE_PERCENTILE;
	n->num = strtod(digits, &end);
	return !*end && n->num <= 100;
}

/* The name of a value, if one is next: before a ',' or ')'. Otherwise nothing is taken. */
static int take_value(struct parser *p, struct gate_node *n)
{
	const struct expr_lex lex = p->lex;
	const struct token t = p->t;
	struct gate_text name;
	int rc;

	if (t.kind != TOK_WORD && t.kind != TOK_STRING)
		return 0;
	rc = take_name(p, &name, "");
	if (rc)
		return rc;
	if (p->t.kind != TOK_COMMA && p->t.kind != TOK_CLOSE) {
		p->lex = lex;
		p->t = t;
		return 0;
	}
	n->name = name.s;
	n->len = name.len;
	n->name_at = name.at;
	n->name_end = name.end;
	return 0;
}

/* "VALUE, ROWS)", either of which may be missing. */
static int parse_arguments(struct parser *p, struct gate_node *n)
{
	enum place before = p->place;
	int rc = take_value(p, n);

	if (!rc && n->name && p->t.kind == TOK_COMMA)
		rc = advance(p);
	else if (!rc && (n->name || p->t.kind == TOK_CLOSE))
		goto close;
	if (!rc && before == IN_ANY)
		rc = expr_error(
			&p->lex.src, p->t.at, p->t.end - p->t.at, p->lex.why,
			"within any() a statistic is of one row: put the comparison next to "
			"it, after &&");
	p->place = IN_ROWS;
	rc = rc ? rc : parse_or(p, &n->left);
	p->place = before;
	if (!rc && !gate_is_condition(n->left))
		rc = wrong(p, n->left, "rows are selected by their keys: name == text");
close:
	n->end = p->t.end;
	return rc ? rc : take(p, TOK_CLOSE, "')'");
}

static int parse_any(struct parser *p, struct gate_node **out)
{
	struct gate_node *n;
	int rc = make(p, out, GATE_ANY, NULL, NULL);

	n = *out;
	if (!rc && p->place != OUTSIDE)
		rc = wrong(p, n, "any() cannot be within another");
	rc = rc ? rc : advance(p);
	rc = rc ? rc : take(p, TOK_OPEN, "'(' after any");
	p->place = IN_ANY;
	rc = rc ? rc : parse_or(p, &n->left);
	p->place = OUTSIDE;
	if (rc)
		return rc;
	if (!gate_is_condition(n->left))
		return wrong(p, n->left, "this is a number; compare it with another");
	n->end = p->t.end;
	n->depth = n->left->depth + 1;
	return take(p, TOK_CLOSE, "')'");
}

/* A word where a value is wanted: a statistic, or what is wrong with it. */
static int parse_word(struct parser *p, struct gate_node **out)
{
	struct gate_node *n, **end;
	int rc;

	if (is_word(p, "any"))
		return parse_any(p, out);
	rc = make(p, out, GATE_STAT, NULL, NULL);
	n = *out;
	if (rc)
		return rc;
	if (!find_stat(&p->t, n))
		return wrong(p, n,
			     "expected count() sum() share() min() mean() max() p50() p99() or "
			     "another percentile, any(); keys go inside: count(comm == nginx)");
	if (p->place == IN_ROWS)
		return wrong(p, n, "rows are selected by their keys: name == text");
	rc = advance(p);
	if (!rc && p->t.kind != TOK_OPEN)
		rc = expr_error(&p->lex.src, n->at, n->end - n->at, p->lex.why,
				"'(' has to follow: %.*s()", (int)(n->end - n->at),
				p->lex.src.text + n->at);
	rc = rc ? rc : advance(p);
	if (rc)
		return rc;
	n->of_row = p->place == IN_ANY;
	for (end = &p->g->stats; *end; end = &(*end)->next_stat)
		;
	*end = n;
	return parse_arguments(p, n);
}

/* ---- values ---- */

static int parse_number(struct parser *p, struct gate_node **out)
{
	int rc = make(p, out, GATE_NUMBER, NULL, NULL);

	if (rc)
		return rc;
	(*out)->num = p->t.real;
	rc = advance(p);
	if (rc || !is_op(p, OP_MOD))
		return rc;
	(*out)->percent = true;
	(*out)->num /= 100;
	(*out)->end = p->t.end;
	return advance(p);
}

/* Whether a key is next: a name that no '(' follows. */
static bool is_key(const struct parser *p)
{
	const char *s = p->lex.src.text + p->t.end;

	if (p->place == OUTSIDE || (p->t.kind != TOK_WORD && p->t.kind != TOK_STRING))
		return false;
	return p->t.kind == TOK_STRING || s[strspn(s, " \t\n")] != '(';
}

static int parse_factor(struct parser *p, struct gate_node **out)
{
	struct token first = p->t;
	int rc;

	if (is_op(p, OP_SUB)) {
		if (++p->depth > GATE_DEPTH_MAX)
			return expected(p, "a condition with less nesting");
		rc = advance(p);
		rc = rc ? rc : parse_factor(p, out);
		p->depth--;
		if (!rc && gate_is_condition(*out))
			rc = wrong(p, *out, "a condition is not a number");
		rc = rc ? rc : make(p, out, GATE_NEG, *out, NULL);
		if (!rc)
			(*out)->at = first.at;
		return rc;
	}
	if (p->t.kind == TOK_OPEN) {
		rc = advance(p);
		rc = rc ? rc : parse_or(p, out);
		if (rc || !*out)
			return rc;
		(*out)->at = first.at;
		(*out)->end = p->t.end;
		return take(p, TOK_CLOSE, "')'");
	}
	if (p->t.kind == TOK_NUMBER)
		return parse_number(p, out);
	if (is_key(p))
		return parse_key(p, out);
	if (p->t.kind == TOK_WORD)
		return parse_word(p, out);
	return expected(p, "a statistic such as p99(runq), or a number");
}

/* Operators of values, from the level on: + and -, * and /. */
static int parse_arith(struct parser *p, int level, struct gate_node **out)
{
	int rc = level > LEVEL_ADD ? parse_factor(p, out) : parse_arith(p, level + 1, out);

	while (!rc && p->t.kind == TOK_OP && expr_ops[p->t.op].level == level &&
	       p->t.op != OP_MOD) {
		enum expr_op op = p->t.op;
		struct gate_node *left = *out, *right = NULL;

		rc = advance(p);
		if (!rc)
			rc = level > LEVEL_ADD ? parse_factor(p, &right)
					       : parse_arith(p, level + 1, &right);
		if (!rc && (gate_is_condition(left) || gate_is_condition(right)))
			rc = wrong(p, gate_is_condition(left) ? left : right,
				   "a condition is not a number");
		rc = rc ? rc : make(p, out, GATE_ARITH, left, right);
		if (!rc)
			(*out)->op = op;
	}
	return rc;
}

/* share() > 5 is meant as 5 %, and would never hold. */
static int check_shares(struct parser *p, const struct gate_node *stat, const struct gate_node *n)
{
	if (stat->kind == GATE_STAT && stat->stat == GATE_SHARE && n->kind == GATE_NUMBER &&
	    !n->percent && n->num > 1)
		return wrong(p, n, "a share is compared with percent: write % after the number");
	if (stat->kind == GATE_STAT && stat->stat != GATE_SHARE && n->kind == GATE_NUMBER &&
	    n->percent)
		return wrong(p, n, "% is for shares, and for one number divided by another");
	return 0;
}

static int parse_compare(struct parser *p, struct gate_node **out)
{
	struct gate_node *left, *right = NULL;
	enum expr_op op;
	int rc = parse_arith(p, LEVEL_ADD, out);

	if (rc || p->t.kind != TOK_OP || expr_ops[p->t.op].level < LEVEL_COMPARE ||
	    expr_ops[p->t.op].level > LEVEL_ORDER)
		return rc;
	left = *out;
	op = p->t.op;
	if (gate_is_condition(left))
		return expected(p, "&&, || or the end after a comparison");
	if (expr_ops[op].group != GROUP_COMPARE)
		return expected(p, "one of < <= > >= == !=");
	rc = advance(p);
	rc = rc ? rc : parse_arith(p, LEVEL_ADD, &right);
	if (!rc && gate_is_condition(right))
		rc = wrong(p, right, "a condition is not a number");
	rc = rc ? rc : check_shares(p, left, right);
	rc = rc ? rc : check_shares(p, right, left);
	rc = rc ? rc : make(p, out, GATE_COMPARE, left, right);
	if (!rc)
		(*out)->op = op;
	if (!rc && p->t.kind == TOK_OP && expr_ops[p->t.op].group == GROUP_COMPARE)
		rc = expected(p, "&&, || or the end after a comparison");
	return rc;
}

/* ---- conditions ---- */

static int parse_not(struct parser *p, struct gate_node **out)
{
	size_t at = p->t.at;
	int rc;

	if (p->t.kind != TOK_NOT)
		return parse_compare(p, out);
	if (++p->depth > GATE_DEPTH_MAX)
		return expected(p, "a condition with less nesting");
	rc = advance(p);
	rc = rc ? rc : parse_not(p, out);
	p->depth--;
	if (!rc && !gate_is_condition(*out))
		rc = wrong(p, *out, "! needs a condition");
	rc = rc ? rc : make(p, out, GATE_NOT, *out, NULL);
	if (!rc)
		(*out)->at = at;
	return rc;
}

static int parse_logic(struct parser *p, enum expr_op op, struct gate_node **out)
{
	int rc = op == OP_OR ? parse_logic(p, OP_AND, out) : parse_not(p, out);

	while (!rc && is_op(p, op)) {
		struct gate_node *left = *out, *right = NULL;

		rc = advance(p);
		if (!rc)
			rc = op == OP_OR ? parse_logic(p, OP_AND, &right) : parse_not(p, &right);
		if (!rc && (!gate_is_condition(left) || !gate_is_condition(right)))
			rc = wrong(p, gate_is_condition(left) ? right : left,
				   "this is a number; compare it with another");
		rc = rc ? rc : make(p, out, op == OP_OR ? GATE_OR : GATE_AND, left, right);
	}
	return rc;
}

/* Everything that is within something else comes by here: the stack is not used up. */
static int parse_or(struct parser *p, struct gate_node **out)
{
	int rc;

	if (++p->depth > GATE_DEPTH_MAX)
		return expected(p, "a condition with less nesting");
	rc = parse_logic(p, OP_OR, out);
	p->depth--;
	return rc;
}

int gate_parse(struct gates *gs, struct gate *g, struct buf *why)
{
	struct parser p = {.gs = gs, .g = g};
	int rc;

	p.lex = (struct expr_lex){
		.src = g->src, .arena = &gs->arena, .why = why, .fractions = true};
	rc = advance(&p);
	rc = rc ? rc : parse_or(&p, &g->node);
	if (!rc && p.t.kind != TOK_END)
		rc = expected(&p, "&&, || or the end");
	if (!rc && !gate_is_condition(g->node))
		rc = wrong(&p, g->node, "this is a number; compare it with another");
	return rc;
}
