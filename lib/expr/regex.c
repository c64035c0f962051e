/* The parser of regular expressions: a tree first, from which the instructions are made. */
#include "expr/regex.h"

#include "base/arena.h"
#include "base/err.h"
#include "expr/regex_parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX  250	  /* parentheses */
#define REPEAT_MAX 32767  /* in braces */
#define STEPS_MAX  200000 /* repetitions that make no instruction */
#define FOREVER	   UINT32_MAX

enum node_kind { NODE_ONE, NODE_CHECK, NODE_GROUP, NODE_BRANCH, NODE_TIMES };

struct expr_node {
	enum node_kind kind;
	uint32_t value;		  /* ONE: the set; CHECK: the assertion; TIMES: the least */
	uint32_t most;		  /* TIMES */
	struct expr_node *inside; /* GROUP: branches; BRANCH: pieces; TIMES: what is repeated */
	struct expr_node *next;	  /* branch, piece */
};

struct parser {
	struct rx *x;
	struct arena arena; /* nodes */
	const char *p, *end;
	const char *wrong;
	int depth, rc;
	uint32_t steps, cap, sets_cap;
};

/* ---- sets of bytes ---- */

static void set_add(struct rx_set *s, unsigned char c)
{
	s->bits[c / 64] |= UINT64_C(1) << c % 64;
}

/* Of a set of capitals: small letters count as these. */
static struct rx_set both_cases(const struct rx_set *s, bool invert)
{
	struct rx_set both = {{0}};

	for (int c = 0; c < 256; c++)
		if (rx_set_has(s, (unsigned char)toupper(c)) != invert)
			set_add(&both, (unsigned char)c);
	return both;
}

static bool is_word(int c)
{
	return isalnum(c) || c == '_';
}

static struct rx_set set_of(int (*is)(int))
{
	struct rx_set s = {{0}};

	for (int c = 0; c < 256; c++)
		if (is(c))
			set_add(&s, (unsigned char)c);
	return s;
}

static int in_word(int c)
{
	return is_word(c);
}

static struct expr_node *wrong(struct parser *p, const char *why)
{
	if (!p->rc) {
		p->rc = PP_EUSAGE;
		p->wrong = why;
	}
	return NULL;
}

static struct expr_node *make(struct parser *p, enum node_kind kind)
{
	struct expr_node *n = arena_zalloc(&p->arena, sizeof(*n));

	if (!n)
		p->rc = PP_ENOMEM;
	else
		n->kind = kind;
	return n;
}

/* A piece that takes a byte of a set. */
static struct expr_node *one_of(struct parser *p, const struct rx_set *s)
{
	struct rx *x = p->x;
	struct expr_node *n = make(p, NODE_ONE);

	for (n ? n->value = 0 : 0; n && n->value < x->nsets; n->value++)
		if (!memcmp(&x->sets[n->value], s, sizeof(*s)))
			return n;
	if (n && x->nsets == p->sets_cap) {
		uint32_t cap = p->sets_cap ? 2 * p->sets_cap : 16;
		struct rx_set *v = cap <= RX_SETS_MAX ? realloc(x->sets, cap * sizeof(*v)) : NULL;

		if (!v) {
			p->rc = cap <= RX_SETS_MAX ? PP_ENOMEM : PP_ELIMIT;
			return NULL;
		}
		x->sets = v;
		p->sets_cap = cap;
	}
	if (n)
		x->sets[x->nsets++] = *s;
	return n;
}

static struct expr_node *one(struct parser *p, char c)
{
	struct rx_set s = {{0}};

	set_add(&s, (unsigned char)toupper((unsigned char)c));
	s = both_cases(&s, false);
	return one_of(p, &s);
}

/* ---- brackets ---- */

static bool bracket_class(struct rx_set *s, const char *name, size_t len)
{
	static const struct {
		const char *name;
		int (*is)(int);
	} classes[] = {{"alnum", isalnum}, {"alpha", isalpha}, {"blank", isblank},
		       {"cntrl", iscntrl}, {"digit", isdigit}, {"graph", isgraph},
		       {"lower", isalpha}, {"print", isprint}, {"punct", ispunct},
		       {"space", isspace}, {"upper", isalpha}, {"xdigit", isxdigit}};

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (strlen(classes[i].name) == len && !memcmp(classes[i].name, name, len)) {
			struct rx_set more = set_of(classes[i].is);

			for (int k = 0; k < 4; k++)
				s->bits[k] |= more.bits[k];
			return true;
		}
	return false;
}

/* What a bracket has: a byte, or a class, which has been added to the set. */
struct element {
	unsigned char c;
	bool is_class;
	bool hyphen; /* a bare one */
};

/* [:alpha:], [=a=] and [.a.]; p->p is after the first bracket. */
static bool named_element(struct parser *p, struct rx_set *s, struct element *e)
{
	char close[] = {*p->p, ']', 0};
	const char *name = p->p + 1;
	const char *end = memmem(name, (size_t)(p->end - name), close, 2);
	size_t len = end ? (size_t)(end - name) : 0;

	if (!end) {
		wrong(p, "Unmatched [, [^, [:, [., or [=");
		return false;
	}
	e->is_class = close[0] == ':';
	if (e->is_class ? !bracket_class(s, name, len) : len != 1) {
		wrong(p,
		      e->is_class ? "Invalid character class name" : "Invalid collation character");
		return false;
	}
	e->c = (unsigned char)toupper((unsigned char)*name);
	p->p = end + 2;
	return true;
}

static bool element(struct parser *p, struct rx_set *s, struct element *e)
{
	*e = (struct element){0};
	if (p->p == p->end) {
		wrong(p, "Unmatched [, [^, [:, [., or [=");
		return false;
	}
	if (*p->p == '[' && p->end - p->p > 1 && strchr(":=.", p->p[1]) && p->p[1]) {
		p->p++;
		return named_element(p, s, e);
	}
	e->hyphen = *p->p == '-';
	e->c = (unsigned char)toupper((unsigned char)*p->p++);
	return true;
}

/* Whether a range follows: a hyphen that is not the last of the bracket. */
static bool range_follows(const struct parser *p)
{
	return p->end - p->p > 1 && p->p[0] == '-' && p->p[1] != ']';
}

static bool range(struct parser *p, struct rx_set *s, const struct element *from, bool first)
{
	struct element to = *from;

	if (range_follows(p)) {
		p->p++;
		if (!element(p, s, &to))
			return false;
		if (from->is_class || to.is_class || from->c > to.c) {
			wrong(p, "Invalid range end");
			return false;
		}
	} else if (from->hyphen && !first && p->p < p->end && *p->p != ']') {
		/* As in a-z-9. */
		wrong(p, "Invalid range end");
		return false;
	}
	for (int c = from->c; c <= to.c && !from->is_class; c++)
		set_add(s, (unsigned char)c);
	return true;
}

/* After "[". */
static struct expr_node *bracket(struct parser *p)
{
	struct rx_set s = {{0}};
	bool invert = p->p < p->end && *p->p == '^', first = true;

	p->p += invert;
	while (p->p == p->end || *p->p != ']' || first) {
		struct element e;

		if (!element(p, &s, &e) || !range(p, &s, &e, first))
			return NULL;
		first = false;
	}
	p->p++;
	s = both_cases(&s, invert);
	return one_of(p, &s);
}

/* ---- pieces ---- */

static struct expr_node *check(struct parser *p, enum rx_assert what)
{
	struct expr_node *n = make(p, NODE_CHECK);

	if (n)
		n->value = what;
	p->x->checks = true;
	return n;
}

static struct expr_node *escape(struct parser *p)
{
	static const char checks[] = "`'<>bB";
	struct rx_set s;
	char c;

	if (p->p == p->end)
		return wrong(p, "Trailing backslash");
	c = *p->p++;
	if (c && strchr(checks, c))
		return check(p, (enum rx_assert)(strchr(checks, c) - checks));
	if (c >= '1' && c <= '9')
		return wrong(p, "back references are not supported");
	if (!c || !strchr("wWsS", c))
		return one(p, c);
	s = set_of(tolower(c) == 'w' ? in_word : isspace);
	for (int i = 0; i < 4 && isupper((unsigned char)c); i++)
		s.bits[i] = ~s.bits[i];
	return one_of(p, &s);
}

static struct expr_node *alternatives(struct parser *p);

static struct expr_node *group(struct parser *p)
{
	struct expr_node *n;

	if (++p->depth > DEPTH_MAX)
		return wrong(p, "Regular expression too big");
	n = alternatives(p);
	p->depth--;
	if (!n)
		return NULL;
	if (p->p == p->end)
		return wrong(p, "Unmatched ( or \\(");
	p->p++;
	return n;
}

static struct expr_node *atom(struct parser *p)
{
	struct rx_set any = {{0}};
	char c = *p->p++;

	switch (c) {
	case '(': return group(p);
	case '[': return bracket(p);
	case '\\': return escape(p);
	case '^': return check(p, RX_BEGIN);
	case '$': return check(p, RX_END);
	case '*':
	case '+':
	case '?':
	case '{': return wrong(p, "Invalid preceding regular expression");
	case '.':
		any = both_cases(&any, true);
		any.bits[0] &= ~UINT64_C(1); /* no NUL */
		return one_of(p, &any);
	default: return one(p, c);
	}
}

/* ---- repetitions ---- */

static bool digits(struct parser *p, uint32_t *v)
{
	const char *start = p->p;

	for (*v = 0; p->p < p->end && isdigit((unsigned char)*p->p); p->p++)
		if (*v <= REPEAT_MAX)
			*v = *v * 10 + (uint32_t)(*p->p - '0');
	return p->p > start;
}

/* After "{". */
static bool braces(struct parser *p, uint32_t *least, uint32_t *most)
{
	bool any = digits(p, least), comma = p->p < p->end && *p->p == ',';

	*most = *least;
	p->p += comma;
	if (comma && !digits(p, most))
		*most = FOREVER;
	if (p->p == p->end) {
		wrong(p, "Unmatched { or \\{");
	} else if (*p->p != '}' || (!any && !comma) || *least > *most) {
		wrong(p, "Invalid content of \\{\\}");
	} else if (*least > REPEAT_MAX || (*most > REPEAT_MAX && *most != FOREVER)) {
		wrong(p, "Regular expression too big");
	}
	p->p++;
	return !p->rc;
}

/* What follows a piece: any number of repetitions. */
static struct expr_node *repeated(struct parser *p, struct expr_node *n)
{
	while (n && p->p < p->end && *p->p && strchr("*+?{", *p->p)) {
		struct expr_node *times = make(p, NODE_TIMES);
		char c = *p->p++;

		if (!times)
			return NULL;
		times->inside = n;
		times->value = c == '+';
		times->most = c == '?' ? 1 : FOREVER;
		if (c == '{' && !braces(p, &times->value, &times->most))
			return NULL;
		n = times;
	}
	return n;
}

static struct expr_node *branch(struct parser *p)
{
	struct expr_node *b = make(p, NODE_BRANCH), **last = b ? &b->inside : NULL, *n;

	/* A parenthesis that closes nothing is a character. */
	while (b && p->p < p->end && *p->p != '|' && !(*p->p == ')' && p->depth)) {
		n = atom(p);
		/* An assertion cannot be repeated. */
		if (n && n->kind != NODE_CHECK)
			n = repeated(p, n);
		if (!n)
			return NULL;
		*last = n;
		last = &n->next;
	}
	return b;
}

static struct expr_node *alternatives(struct parser *p)
{
	struct expr_node *g = make(p, NODE_GROUP), **last = g ? &g->inside : NULL;

	while (g) {
		*last = branch(p);
		if (!*last)
			return NULL;
		last = &(*last)->next;
		if (p->p == p->end || *p->p != '|')
			break;
		p->p++;
	}
	return g;
}

/* ---- instructions ---- */

static uint16_t emit(struct parser *p, enum rx_op op, uint32_t a)
{
	struct rx *x = p->x;

	if (p->rc)
		return 0;
	if (x->ncode == p->cap) {
		uint32_t cap = p->cap ? 2 * p->cap : 64;
		struct rx_insn *v = cap <= RX_CODE_MAX ? realloc(x->code, cap * sizeof(*v)) : NULL;

		if (!v) {
			p->rc = cap <= RX_CODE_MAX ? PP_ENOMEM : PP_ELIMIT;
			return 0;
		}
		x->code = v;
		p->cap = cap;
	}
	x->code[x->ncode] = (struct rx_insn){.op = (uint16_t)op, .a = (uint16_t)a};
	return x->ncode++;
}

/* Both ways begin at the next instruction, until the second is changed. */
static uint16_t emit_split(struct parser *p)
{
	uint16_t at = emit(p, RX_SPLIT, p->x->ncode + 1u);

	return at;
}

static void emit_node(struct parser *p, const struct expr_node *n);

static void emit_pieces(struct parser *p, const struct expr_node *branch)
{
	for (const struct expr_node *n = branch->inside; n && !p->rc; n = n->next)
		emit_node(p, n);
}

/* Each branch but the last jumps to the end; the jumps are a list until the end is known. */
static void emit_group(struct parser *p, const struct expr_node *g)
{
	uint16_t jumps = 0, next;

	for (const struct expr_node *b = g->inside; b && !p->rc; b = b->next) {
		uint16_t split = b->next ? emit_split(p) : 0;

		emit_pieces(p, b);
		if (!b->next || p->rc)
			break;
		jumps = emit(p, RX_JUMP, jumps);
		if (!p->rc)
			p->x->code[split].b = p->x->ncode;
	}
	for (; jumps && !p->rc; jumps = next) {
		next = p->x->code[jumps].a;
		p->x->code[jumps].a = p->x->ncode;
	}
}

static void emit_times(struct parser *p, const struct expr_node *n)
{
	uint16_t splits = 0, next, loop;

	for (uint32_t i = 0; i < n->value && !p->rc; i++)
		emit_node(p, n->inside);
	if (n->most == FOREVER) {
		loop = emit_split(p);
		emit_node(p, n->inside);
		emit(p, RX_JUMP, loop);
		if (!p->rc)
			p->x->code[loop].b = p->x->ncode;
		return;
	}
	/* (x(x(x)?)?)?: who stops once, stops. */
	for (uint32_t i = n->value; i < n->most && !p->rc; i++) {
		next = emit_split(p);
		if (!p->rc)
			p->x->code[next].b = splits;
		splits = next;
		emit_node(p, n->inside);
	}
	for (; splits && !p->rc; splits = next) {
		next = p->x->code[splits].b;
		p->x->code[splits].b = p->x->ncode;
	}
}

static void emit_node(struct parser *p, const struct expr_node *n)
{
	if (p->rc || ++p->steps > STEPS_MAX) {
		p->rc = p->rc ? p->rc : PP_ELIMIT;
		return;
	}
	switch (n->kind) {
	case NODE_ONE: emit(p, RX_SET, n->value); break;
	case NODE_CHECK: emit(p, RX_ASSERT, n->value); break;
	case NODE_GROUP: emit_group(p, n); break;
	case NODE_BRANCH: emit_pieces(p, n); break;
	case NODE_TIMES: emit_times(p, n); break;
	}
}

int rx_new(struct rx **out, const char *text, size_t len, const char **why)
{
	struct parser p = {.p = text, .end = text + len};
	struct expr_node *root;

	*out = p.x = calloc(1, sizeof(*p.x));
	*why = NULL;
	if (!p.x)
		return PP_ENOMEM;
	emit(&p, RX_JUMP, 1); /* so that 0 is no place to patch */
	root = alternatives(&p);
	if (root && !p.rc)
		emit_node(&p, root);
	emit(&p, RX_MATCH, 0);
	arena_release(&p.arena);
	if (!p.rc)
		p.rc = rx_run_new(p.x);
	if (p.rc) {
		*why = p.wrong;
		rx_free(p.x);
		*out = NULL;
	}
	return p.rc;
}

void rx_free(struct rx *x)
{
	if (!x)
		return;
	rx_run_free(x->run);
	rx_find_free(x->find);
	free(x->code);
	free(x->sets);
	free(x);
}
