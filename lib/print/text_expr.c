/*
 * Parses the arguments of print formats that have one meaning for every parser, and computes
 * them.
 */
#include "print/text_expr.h"

#include "stream/payload.h"

#include <stdlib.h>

#define NODES_MAX 4096 /* of the arguments of an event */
#define DEPTH_MAX 24   /* of parentheses */

enum node_kind {
	NODE_NUMBER,
	NODE_FIELD,
	NODE_OP,     /* a op b */
	NODE_IF,     /* a ? b : c */
	NODE_TEXT,   /* "text" */
	NODE_FLAGS,  /* a: value, text: delimiter, b: first entry, c: how many */
	NODE_SYMBOL, /* a: value, b: first entry, c: how many */
	NODE_ENTRY,  /* number, text */
};

struct text_node {
	uint8_t kind;
	char op[2];
	bool is_text;
	uint32_t a, b, c; /* nodes; of a field its place and size */
	uint32_t len;	  /* of the text */
	const char *text;
	uint64_t number;
};

struct parser {
	struct text_exprs *x;
	const struct ps_event *e;
	struct scan *in;
	int depth;
};

void text_exprs_release(struct text_exprs *x)
{
	free(x->v);
	*x = (struct text_exprs){0};
}

/* ---- parsing ---- */

static bool add(struct parser *s, const struct text_node *n, uint32_t *id)
{
	struct text_exprs *x = s->x;

	if (x->n == NODES_MAX)
		return false;
	if (x->n == x->cap) {
		uint32_t cap = x->cap ? x->cap * 2 : 16;
		struct text_node *v = realloc(x->v, cap * sizeof(*v));

		if (!v)
			return false;
		x->v = v;
		x->cap = cap;
	}
	*id = x->n;
	x->v[x->n++] = *n;
	return true;
}

static bool expression(struct parser *s, uint32_t *id);

/* "text" without escapes. */
static bool string(struct parser *s, struct text_node *n)
{
	return scan_text(s->in, &n->text, &n->len) && !memchr(n->text, '\\', n->len);
}

/* A number, and not the beginning of a name. */
static bool number(struct parser *s, uint64_t *v)
{
	scan_blanks(s->in);
	if (s->in->p == s->in->end || *s->in->p < '0' || *s->in->p > '9')
		return false;
	*v = scan_number(s->in);
	return !s->in->bad && !scan_word(s->in);
}

/* ", { number, "text" }, ... )" of a function; flags: no number may be 0 or have the sign. */
static bool table(struct parser *s, struct text_node *n, bool flags)
{
	while (scan_take(s->in, ",")) {
		struct text_node entry = {.kind = NODE_ENTRY};
		uint32_t id;

		if (!scan_take(s->in, "{") || !number(s, &entry.number) || !scan_take(s->in, ",") ||
		    !string(s, &entry) || !scan_take(s->in, "}") || !add(s, &entry, &id))
			return false;
		if (flags && (!entry.number || entry.number >> 63))
			return false;
		if (!n->c++)
			n->b = id;
	}
	return n->c && scan_take(s->in, ")");
}

static bool function(struct parser *s, bool flags, uint32_t *id)
{
	struct text_node n = {.kind = flags ? NODE_FLAGS : NODE_SYMBOL, .is_text = true};

	return expression(s, &n.a) && !s->x->v[n.a].is_text &&
	       (!flags || (scan_take(s->in, ",") && string(s, &n))) && table(s, &n, flags) &&
	       add(s, &n, id);
}

/* REC->name or REC->name[3] */
static bool field(struct parser *s, uint32_t *id)
{
	struct text_node n = {.kind = NODE_FIELD};
	struct ps_event_field f;
	const char *name = s->in->p;
	size_t len = scan_word(s->in);
	uint64_t index = 0;

	if (!len || !ps_event_field_find(s->e, name, len, &f) || f.flags & PS_FIELD_DYNAMIC)
		return false;
	s->in->p += len;
	if (f.flags & PS_FIELD_ARRAY) {
		if (!scan_take(s->in, "[") || !number(s, &index) || !scan_take(s->in, "]") ||
		    !f.element || index >= f.size / f.element)
			return false;
		f.size = f.element;
	}
	n.a = f.offset + (uint32_t)index * f.size;
	n.b = f.size;
	return (f.size == 1 || f.size == 2 || f.size == 4 || f.size == 8) && add(s, &n, id);
}

static bool primary(struct parser *s, uint32_t *id)
{
	/* Casts that change nothing. */
	static const char *const casts[] = {"(unsigned long long)", "(unsigned long)", "(void *)"};
	struct text_node n = {.kind = NODE_NUMBER};

	for (size_t i = 0; i < sizeof(casts) / sizeof(casts[0]);)
		i = scan_take(s->in, casts[i]) ? 0 : i + 1;
	if (scan_take(s->in, "("))
		return expression(s, id) && scan_take(s->in, ")");
	if (scan_take(s->in, "REC->"))
		return field(s, id);
	if (scan_take(s->in, "__print_flags("))
		return function(s, true, id);
	if (scan_take(s->in, "__print_symbolic("))
		return function(s, false, id);
	if (scan_peek(s->in, "\"")) {
		n.kind = NODE_TEXT;
		n.is_text = true;
		return string(s, &n) && add(s, &n, id);
	}
	return number(s, &n.number) && add(s, &n, id);
}

/* The operator that comes next: "" none. Those that are not known here end in failure later. */
static void operator_at(struct parser *s, char op[3])
{
	static const char *const ops[] = {"<<", ">>", "==", "!=", "&", "|", "+", "-", "*"};

	op[0] = op[1] = op[2] = 0;
	if (scan_peek(s->in, "&&") || scan_peek(s->in, "||"))
		return;
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (scan_take(s->in, ops[i])) {
			memcpy(op, ops[i], strlen(ops[i]));
			return;
		}
}

static uint64_t apply(const char op[2], uint64_t a, uint64_t b)
{
	switch (op[0]) {
	case '<': return b < 64 ? a << b : 0;
	case '>': return b < 64 ? a >> b : 0;
	case '=': return a == b;
	case '!': return a != b;
	case '&': return a & b;
	case '|': return a | b;
	case '+': return a + b;
	case '-': return a - b;
	default: return a * b;
	}
}

/* a op b; two constants are one. */
static bool combine(struct parser *s, const char op[2], uint32_t *a, uint32_t b)
{
	struct text_node n = {.kind = NODE_OP, .a = *a, .b = b};
	const struct text_node *l = &s->x->v[*a], *r = &s->x->v[b];

	if (l->is_text || r->is_text)
		return false;
	memcpy(n.op, op, 2);
	if (l->kind == NODE_NUMBER && r->kind == NODE_NUMBER) {
		n.kind = NODE_NUMBER;
		n.number = apply(op, l->number, r->number);
	}
	return add(s, &n, a);
}

/* A chain of one operator: of several, what comes first depends on who reads it. */
static bool chain(struct parser *s, uint32_t *id)
{
	char op[3], first[3] = "";
	uint32_t right;

	if (!primary(s, id))
		return false;
	for (operator_at(s, op); *op; operator_at(s, op)) {
		if (*first && (strcmp(op, first) != 0 || !strchr("&|+*", op[0])))
			return false;
		memcpy(first, op, sizeof(first));
		if (!primary(s, &right) || !combine(s, op, id, right))
			return false;
	}
	return true;
}

static bool expression(struct parser *s, uint32_t *id)
{
	struct text_node n = {.kind = NODE_IF};
	bool good;

	if (++s->depth > DEPTH_MAX)
		return false;
	good = chain(s, id);
	if (good && scan_take(s->in, "?")) {
		n.a = *id;
		good = !s->x->v[n.a].is_text && expression(s, &n.b) && scan_take(s->in, ":") &&
		       expression(s, &n.c) && s->x->v[n.b].is_text == s->x->v[n.c].is_text;
		if (good) {
			n.is_text = s->x->v[n.b].is_text;
			good = add(s, &n, id);
		}
	}
	s->depth--;
	return good;
}

bool text_expr_parse(struct text_exprs *x, const struct ps_event *e, struct scan *at,
		     uint32_t *root)
{
	struct parser s = {.x = x, .e = e, .in = at};

	return expression(&s, root) && text_expr_ends(at);
}

bool text_expr_ends(const struct scan *at)
{
	struct scan end = *at;

	scan_blanks(&end);
	return end.p == end.end || *end.p == ',' || *end.p == '\n';
}

bool text_expr_is_text(const struct text_exprs *x, uint32_t root)
{
	return x->v[root].is_text;
}

/* ---- evaluation ---- */

bool text_expr_number(const struct text_exprs *x, uint32_t root, const struct ps_str *payload,
		      uint64_t *v)
{
	const struct text_node *n = &x->v[root];
	uint64_t a, b;

	switch (n->kind) {
	case NODE_NUMBER: *v = n->number; return true;
	case NODE_FIELD:
		if (n->a > payload->len || n->b > payload->len - n->a)
			return false;
		*v = ps_payload_number(payload->p + n->a, n->b);
		return true;
	case NODE_OP:
		if (!text_expr_number(x, n->a, payload, &a) ||
		    !text_expr_number(x, n->b, payload, &b))
			return false;
		*v = apply(n->op, a, b);
		return true;
	case NODE_IF:
		return text_expr_number(x, n->a, payload, &a) &&
		       text_expr_number(x, a ? n->b : n->c, payload, v);
	default: return false;
	}
}

static void add_unknown(struct buf *b, uint64_t v)
{
	buf_adds(b, "0x");
	buf_add_hex(b, v, 0, ' ');
}

static void add_flags(const struct text_exprs *x, const struct text_node *n, uint64_t v,
		      struct buf *b)
{
	bool any = false;

	for (const struct text_node *f = &x->v[n->b]; f < &x->v[n->b] + n->c; f++) {
		if ((v & f->number) != f->number)
			continue;
		if (any)
			buf_add(b, n->text, n->len);
		any = true;
		buf_add(b, f->text, f->len);
		v &= ~f->number;
	}
	if (!v)
		return;
	if (any)
		buf_add(b, n->text, n->len);
	add_unknown(b, v);
}

static void add_symbol(const struct text_exprs *x, const struct text_node *n, uint64_t v,
		       struct buf *b)
{
	for (const struct text_node *f = &x->v[n->b]; f < &x->v[n->b] + n->c; f++)
		if (f->number == v) {
			buf_add(b, f->text, f->len);
			return;
		}
	add_unknown(b, v);
}

bool text_expr_text(const struct text_exprs *x, uint32_t root, const struct ps_str *payload,
		    struct buf *b)
{
	const struct text_node *n = &x->v[root];
	uint64_t v;

	if (n->kind == NODE_TEXT) {
		buf_add(b, n->text, n->len);
		return true;
	}
	if (!text_expr_number(x, n->a, payload, &v))
		return false;
	if (n->kind == NODE_IF)
		return text_expr_text(x, v ? n->b : n->c, payload, b);
	if (n->kind == NODE_FLAGS)
		add_flags(x, n, v, b);
	else
		add_symbol(x, n, v, b);
	return true;
}
