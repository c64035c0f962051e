/* Cuts the text of an expression into tokens. */
#include "expr/lex.h"

#include "base/err.h"

#include <ctype.h>

#define SHOWN_MAX 160 /* bytes of a long line that an error shows */

const struct expr_opdesc expr_ops[OPS] = {
#define O(id, text, level, group) [OP_##id] = {text, level, GROUP_##group},
	EXPR_OPERATORS(O)
#undef O
};

static const struct {
	const char *text;
	uint64_t factor;
} units[] = {
#define U(text, factor) {text, factor},
	EXPR_UNITS(U)
#undef U
};

/* Columns that text takes: bytes, of UTF-8 the first of each character. */
static size_t columns(const char *s, size_t n)
{
	size_t cols = 0;

	for (size_t i = 0; i < n; i++)
		cols += ((unsigned char)s[i] & 0xc0) != 0x80;
	return cols;
}

/* One line of text for a terminal: what could move the cursor becomes a blank or '?'. */
static void add_line(struct buf *b, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		buf_addc(b, c == '\t' ? ' ' : c < ' ' || c == 0x7f ? '?' : (char)c);
	}
}

void expr_say(const struct expr_source *src, size_t at, size_t len, struct buf *why,
	      const char *fmt, ...)
{
	size_t start = at, end = at, line = 1, column;
	va_list ap;

	while (start && src->text[start - 1] != '\n')
		start--;
	while (end < src->len && src->text[end] != '\n')
		end++;
	for (size_t i = 0; i < start; i++)
		line += src->text[i] == '\n';
	column = columns(src->text + start, at - start);
	if (memchr(src->text, '\n', src->len))
		buf_addf(why, "line %zu, ", line);
	buf_addf(why, "column %zu: ", column + 1);
	va_start(ap, fmt);
	buf_vaddf(why, fmt, ap);
	va_end(ap);
	/* Of a long line what is around the place. */
	if (at - start > SHOWN_MAX / 2) {
		start = at - SHOWN_MAX / 2;
		column = columns(src->text + start, at - start);
	}
	if (end - start > SHOWN_MAX)
		end = start + SHOWN_MAX;
	buf_adds(why, "\n  ");
	add_line(why, src->text + start, end - start);
	buf_adds(why, "\n  ");
	buf_fill(why, ' ', column);
	buf_addc(why, '^');
	if (len > 1 && at + len <= end)
		buf_fill(why, '~', columns(src->text + at, len) - 1);
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* ---- numbers ---- */

static int bad_number(struct expr_lex *l, const struct token *t, const char *what)
{
	size_t end = l->pos;

	while (end < l->src.len && is_word(l->src.text[end]))
		end++;
	return expr_error(&l->src, t->at, end - t->at, l->why, "%s", what);
}

/* Digits of a base; false: the number is too large. */
static bool digits(struct expr_lex *l, unsigned base, uint64_t *v, unsigned *n)
{
	for (*n = 0, *v = 0;; l->pos++, (*n)++) {
		unsigned char c = (unsigned char)l->src.text[l->pos];
		unsigned d = isdigit(c) ? c - '0' + 0u : isxdigit(c) ? (c | 32u) - 'a' + 10u : 99u;

		if (d >= base)
			return true;
		if (__builtin_mul_overflow(*v, base, v) || __builtin_add_overflow(*v, d, v))
			return false;
	}
}

static int unit(struct expr_lex *l, struct token *t, uint64_t fraction, unsigned places)
{
	const char *s = l->src.text + l->pos;
	uint64_t factor = 1, scale = 1, part;
	size_t n = 0;

	while (is_word(s[n]))
		n++;
	if (n) {
		factor = 0;
		for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
			if (strlen(units[i].text) == n && !memcmp(units[i].text, s, n))
				factor = units[i].factor;
		if (!factor)
			return bad_number(
				l, t,
				"not a number, or not a unit of ns us ms s min k M G T Ki Mi "
				"Gi Ti");
	}
	for (unsigned i = 0; i < places; i++)
		scale *= 10;
	t->real = ((double)t->num + (double)fraction / (double)scale) * (double)factor;
	if (__builtin_mul_overflow(t->num, factor, &t->num) ||
	    __builtin_mul_overflow(fraction, factor, &part) ||
	    __builtin_add_overflow(t->num, part / scale, &t->num))
		return bad_number(l, t, "the number does not fit into 64 bits");
	if (part % scale && !l->fractions)
		return bad_number(l, t,
				  "not a whole number; fractions need a unit that makes "
				  "them whole, such as 1.5ms");
	l->pos += n;
	return 0;
}

static int number(struct expr_lex *l, struct token *t)
{
	const char *s = l->src.text + l->pos;
	uint64_t fraction = 0;
	unsigned base = 10, n, places = 0;

	if (*s == '0' && (s[1] | 32) == 'x')
		base = 16;
	else if (*s == '0' && (s[1] | 32) == 'b')
		base = 2;
	else if (*s == '0' && isdigit((unsigned char)s[1]))
		base = 8;
	if (base == 16 || base == 2)
		l->pos += 2;
	t->kind = TOK_NUMBER;
	t->hex = base != 10;
	if (!digits(l, base, &t->num, &n))
		return bad_number(l, t, "the number does not fit into 64 bits");
	t->real = (double)t->num;
	if (base != 10)
		return n && !is_word(l->src.text[l->pos])
			       ? 0
			       : bad_number(l, t, "not a number of that base");
	s = l->src.text + l->pos;
	if (*s == '.' && isdigit((unsigned char)s[1])) {
		l->pos++;
		if (!digits(l, 10, &fraction, &places) || places > 18)
			return bad_number(l, t, "the number has too many digits");
	}
	return unit(l, t, fraction, places);
}

/* ---- the rest ---- */

/* Between quotes; a backslash before a quote only keeps it from being the end. */
static int string(struct expr_lex *l, struct token *t)
{
	const char *s = l->src.text;
	size_t end = l->pos + 1;
	char *p;

	t->kind = TOK_STRING;
	t->quote = s[l->pos];
	while (end < l->src.len && s[end] != t->quote)
		end += s[end] == '\\' ? 2 : 1;
	if (end >= l->src.len)
		return expr_error(&l->src, t->at, 1, l->why, "the text has no closing %c",
				  t->quote);
	p = arena_alloc(l->arena, end - l->pos);
	if (!p)
		return PP_ENOMEM;
	t->s = p;
	for (size_t i = l->pos + 1; i < end; i++) {
		if (s[i] == '\\' && s[i + 1] == t->quote)
			i++;
		else if (s[i] == '\\')
			p[t->len++] = s[i++];
		p[t->len++] = s[i];
	}
	p[t->len] = 0;
	l->pos = end + 1;
	return 0;
}

/* A name with dots; "[N]" after it belongs to it. */
static void name(struct expr_lex *l, struct token *t)
{
	const char *s = l->src.text;
	size_t n = l->pos;

	while (is_word(s[n]) || (s[n] == '.' && is_word(s[n + 1])))
		n++;
	if (s[n] == '[' && isdigit((unsigned char)s[n + 1])) {
		size_t close = n + 1;

		while (isdigit((unsigned char)s[close]))
			close++;
		if (s[close] == ']')
			n = close + 1;
	}
	t->kind = TOK_WORD;
	t->s = s + l->pos;
	t->len = n - l->pos;
	l->pos = n;
}

static bool operator(struct expr_lex *l, struct token *t)
{
	size_t best = 0;

	for (int i = OP_NONE + 1; i < OPS; i++) {
		size_t n = strlen(expr_ops[i].text);

		if (n > best && !strncmp(l->src.text + l->pos, expr_ops[i].text, n)) {
			best = n;
			t->op = (enum expr_op)i;
		}
	}
	t->kind = TOK_OP;
	l->pos += best;
	return best != 0;
}

int expr_lex(struct expr_lex *l, struct token *t)
{
	static const struct {
		char c;
		enum token_kind kind;
	} marks[] = {{'!', TOK_NOT},	   {'(', TOK_OPEN},	  {')', TOK_CLOSE},
		     {'{', TOK_OPENBRACE}, {'}', TOK_CLOSEBRACE}, {',', TOK_COMMA}};
	const char *s = l->src.text;
	int rc = 0;

	while (isspace((unsigned char)s[l->pos]))
		l->pos++;
	*t = (struct token){.at = l->pos};
	if (l->pos == l->src.len) {
		t->kind = TOK_END;
	} else if (isdigit((unsigned char)s[l->pos])) {
		rc = number(l, t);
	} else if (s[l->pos] == '"' || s[l->pos] == '\'') {
		rc = string(l, t);
	} else if (is_word(s[l->pos])) {
		name(l, t);
	} else if (s[l->pos] == '.' && s[l->pos + 1] == '.') {
		t->kind = TOK_RANGE;
		l->pos += 2;
	} else if (!operator(l, t)) {
		t->kind = TOK_END;
		for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
			if (marks[i].c == s[l->pos])
				t->kind = marks[i].kind;
		if (t->kind == TOK_END && s[l->pos] == '=')
			return expr_error(&l->src, l->pos, 1, l->why,
					  "'=' is not an operator; == compares");
		if (t->kind == TOK_END)
			return expr_error(&l->src, l->pos, 1, l->why,
					  "this character has no meaning here");
		l->pos++;
	}
	t->end = l->pos;
	return rc;
}

void expr_say_expected(const struct expr_lex *l, const struct token *t, const char *what)
{
	struct buf found = BUF_INIT;

	if (t->kind == TOK_END) {
		buf_adds(&found, "the end");
	} else {
		buf_addc(&found, '\'');
		buf_add_safe(&found, l->src.text + t->at, t->end - t->at);
		buf_addc(&found, '\'');
	}
	expr_say(&l->src, t->at, t->end - t->at, l->why, "expected %s, found %.60s", what,
		 buf_str(&found));
	buf_release(&found);
}
