/* The parts of a demangled name: its brackets, the signs of operators, its parameters. */
#include "symbol/demangled_name.h"

#include <stdint.h>
#include <string.h>

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '_' || c == '$' || (uint8_t)c >= 0x80;
}

static bool begins(const char *s, size_t n, const char *with)
{
	size_t len = strlen(with);

	return n >= len && !memcmp(s, with, len);
}

static bool ends(const char *s, size_t n, const char *with)
{
	size_t len = strlen(with);

	return n >= len && !memcmp(s + n - len, with, len);
}

/* Whether a name's part, of n bytes, ends in the word "operator". */
static bool ends_in_operator(const char *s, size_t n)
{
	return ends(s, n, "operator") && (n == 8 || !is_word(s[n - 9]));
}

/* The bytes of the operator's sign that begins at i, as in "operator<<"; 0: it is none. */
static size_t operator_at(const char *s, size_t n, size_t i)
{
	static const char *const signs[] = {
		"<=>", "<<=", ">>=", "->*", "()", "[]", "<<", ">>", "<=", ">=", "->", "==", "!=",
		"&&",  "||",  "++",  "--",  "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "<",
		">",   "+",   "-",   "*",   "/",  "%",	"^",  "&",  "|",  "~",	"!",  "=",  ","};

	if (!ends_in_operator(s, i))
		return 0;
	for (size_t k = 0; k < sizeof(signs) / sizeof(*signs); k++)
		if (begins(s + i, n - i, signs[k]))
			return strlen(signs[k]);
	return 0;
}

/* Rust's character constants, '(' and '\'': their bytes; 0: there is none at i. */
static size_t character_at(const char *s, size_t n, size_t i)
{
	size_t len = i + 1 < n && s[i + 1] == '\\' ? 4 : 3;

	return s[i] == '\'' && n - i >= len && s[i + len - 1] == '\'' ? len : 0;
}

/* What closes the '<' at the walk's place: 'T' of arguments, '>' of others; 0: it is a sign. */
static char closes_angle(const struct name_walk *w)
{
	const char *s = w->s;
	size_t i = w->at;
	char before = i ? s[i - 1] : 0;

	if (w->sign_end && (i == w->sign_end || (i == w->sign_end + 1 && before == ' ')))
		return 'T';
	/* Expressions have operands in brackets: (1)<(2), {parm#1}<<(2). */
	if (before == ')' || before == '}')
		return 0;
	if (is_word(before) || before == '>' || before == ']' || (i > 2 && ends(s, i, "::")))
		return 'T';
	return '>';
}

/* Whether a '>' at the walk's place closes a '<' that is open. */
static bool is_closing_angle(const struct name_walk *w)
{
	const char *s = w->s;
	size_t i = w->at, d = w->depth;
	char before = i ? s[i - 1] : 0;

	if (!d || (w->open[d - 1] != 'T' && w->open[d - 1] != '>'))
		return false;
	if (before == '-' || before == '=' || (i + 1 < w->n && s[i + 1] == '='))
		return i == w->sign_end;
	/* "(1)>>(2)" where only one is open */
	if (begins(s + i, w->n - i, ">>(") && before == ')')
		return d > 1 && (w->open[d - 2] == 'T' || w->open[d - 2] == '>');
	return true;
}

/* Closes the last bracket that c closes, and what is open in it. */
static enum name_token close_bracket(struct name_walk *w, char c)
{
	size_t d = w->depth;

	while (d && w->open[d - 1] != c)
		d--;
	if (!d) {
		w->odd = true;
		return NAME_TEXT;
	}
	w->odd |= d < w->depth;
	w->depth = d - 1;
	w->closed = c;
	return NAME_CLOSE;
}

static enum name_token open_bracket(struct name_walk *w, char closes)
{
	if (w->depth == NAME_DEPTH_MAX) {
		w->odd = true;
		return NAME_TEXT;
	}
	w->open[w->depth++] = closes;
	return NAME_OPEN;
}

enum name_token name_next(struct name_walk *w)
{
	char c, angle;

	w->at += w->len;
	if (w->at >= w->n)
		return NAME_END;
	c = w->s[w->at];
	w->len = operator_at(w->s, w->n, w->at);
	if (w->len) {
		w->sign_end = w->at + w->len;
		return NAME_SIGN;
	}
	w->len = character_at(w->s, w->n, w->at);
	if (w->len)
		return NAME_TEXT;
	w->len = 1;
	switch (c) {
	case '(': return open_bracket(w, ')');
	case '[': return open_bracket(w, ']');
	case '{': return open_bracket(w, '}');
	case ')':
	case ']':
	case '}': return close_bracket(w, c);
	case '<':
		angle = closes_angle(w);
		if (angle)
			return open_bracket(w, angle);
		while (w->at + w->len < w->n && w->s[w->at + w->len] == '<')
			w->len++;
		return NAME_TEXT;
	case '>':
		if (is_closing_angle(w))
			return close_bracket(w, w->open[w->depth - 1]);
		return NAME_TEXT;
	default: return NAME_TEXT;
	}
}

/* ---- parameters ---- */

#define DECLARATORS_MAX 4 /* functions that return pointers to functions that do */

/* Bytes of a blank at i and the qualifier of a method that follows it; 0: none follows. */
static size_t qualifier_at(const char *s, size_t n, size_t i)
{
	static const char *const words[] = {"const", "volatile", "noexcept", "restrict",
					    "__restrict"};
	size_t at = i;

	while (at < n && s[at] == ' ')
		at++;
	if (at < n && s[at] == '&')
		return at + 1 - i;
	for (size_t k = 0; at > i && k < sizeof(words) / sizeof(*words); k++) {
		size_t end = at + strlen(words[k]);

		if (begins(s + at, n - at, words[k]) && (end == n || !is_word(s[end])))
			return end - i;
	}
	return 0;
}

/* What a JVM writes after the parameters: the type of the result, "[Ljava/lang/String;". */
static bool is_descriptor(const char *s, size_t n)
{
	while (n && *s == '[') {
		s++;
		n--;
	}
	if (!n || *s == 'L')
		return n && !memchr(s, ' ', n);
	return n == 1 && strchr("BCDFIJSVZ", *s);
}

/*
 * Whether nothing but qualifiers and the like follows the parameters that end at i; *mark is then
 * where "@plt" or a version begins, n if there is none.
 */
static bool ends_after(const char *s, size_t n, size_t i, size_t *mark)
{
	size_t from = i, len;

	while ((len = qualifier_at(s, n, i)))
		i += len;
	s += i;
	n -= i;
	*mark = i;
	if (!n || *s == '@')
		return true;
	*mark = i + n;
	/* .NET's tier: "[OptimizedTier1]" */
	return begins(s, n, " requires ") ||
	       (i == from &&
		(is_descriptor(s, n) || (*s == '[' && memchr(s, ']', n) == s + n - 1)));
}

/* A pair of round brackets outside of others: s[open] and s[end - 1]. */
struct group {
	size_t open, end;
};

struct parts {
	struct group last, before; /* before: right before the last, if its end is not 0 */
	struct group declarator;   /* of a function that returns a pointer to one; end 0: none */
	size_t name;		   /* after the last blank that separates */
	bool typed;		   /* what is before it may be a type */
	bool whole;		   /* parameters belong to the name */
	bool conversion;	   /* or another operator that has a blank in its name */
	bool template;		   /* arguments of a template end where `last` begins */
	size_t end;		   /* before the mark of a part of a function, "[clone .cold]" */
};

/* Bytes of "*", "&" and "A::*" at the start of what is in brackets; 0: there are none. */
static size_t pointer_at(const char *s, size_t n)
{
	struct name_walk w = {.s = s, .n = n};
	size_t i = 0;

	while (name_next(&w) && n && *s != '*' && *s != '&') {
		if (!w.depth && (s[w.at] == '(' || s[w.at] == ' '))
			return 0;
		if (!w.depth && s[w.at] == '*' && ends(s, w.at, "::")) {
			i = w.at;
			break;
		}
	}
	while (i < n && (s[i] == '*' || s[i] == '&' || (i && s[i] == ' ')))
		i++;
	return i;
}

/* Whether a '(' at i can be that of parameters: not of D's templates, Go's methods, decltype. */
static bool opens_parameters(const char *s, size_t n, size_t i)
{
	bool d = ends(s, i, "!") && !ends_in_operator(s, i - 1);
	bool go = ends(s, i, ".") && begins(s + i, n - i, "(*");

	return !d && !go && !ends(s, ends(s, i, " ") ? i - 1 : i, "decltype");
}

/* Whether brackets stand after a blank, or at the start. */
static bool is_apart(const char *s, struct group g)
{
	return !g.open || s[g.open - 1] == ' ';
}

static void add_group(struct parts *p, const char *s, size_t n, struct group g, bool template)
{
	p->before = p->last.end == g.open ? p->last : (struct group){0};
	p->last = g;
	p->template = template;
	if (!p->declarator.end && !p->conversion && is_apart(s, g) &&
	    (begins(s + g.end, n - g.end, "(") || begins(s + g.end, n - g.end, " [")) &&
	    pointer_at(s + g.open + 1, g.end - g.open - 2))
		p->declarator = g;
}

/* A blank outside of brackets, at i. */
static void see_blank(struct parts *p, const char *s, size_t n, size_t i, bool qualifies)
{
	if (p->conversion || (qualifies && qualifier_at(s, n, i)))
		return;
	if (ends_in_operator(s, i) || ends(s, i, "operator\"\"")) {
		p->conversion = true;
		return;
	}
	/* "transaction clone for", "virtual thunk to": demanglers leave what follows whole. */
	p->whole |= ends(s, i, " for") || ends(s, i, " to");
	/* .NET's "[mscorlib] " is no type. */
	p->typed &= i + 1 == n || s[i + 1] != '[';
	p->name = i + 1;
}

/* Whether the mark of a part of a function begins, as demanglers write it. */
static bool is_mark(const char *s, size_t n)
{
	return begins(s, n, " [clone .") || begins(s, n, " (.");
}

/* Finds the parts of a name. False: there are no parameters. */
static bool find_parts(struct parts *p, const char *s, size_t n)
{
	struct name_walk w = {.s = s, .n = n};
	size_t open = 0, args_end = 0;
	enum name_token token;
	bool candidate = false, qualifies = false;

	*p = (struct parts){.typed = true, .end = n};
	while ((token = name_next(&w))) {
		char c = s[w.at];

		if (!w.depth && is_mark(s + w.at, n - w.at)) {
			p->end = w.at;
			break;
		}
		if (token == NAME_OPEN && w.depth == 1) {
			open = w.at;
			candidate = c == '(' && opens_parameters(s, n, open);
		} else if (token == NAME_CLOSE && !w.depth) {
			if (candidate)
				add_group(p, s, n, (struct group){open, w.at + 1},
					  args_end == open);
			qualifies = c == ')';
			args_end = w.closed == 'T' ? w.at + 1 : 0;
		} else if (token == NAME_TEXT && !w.depth && c == ' ') {
			if (!w.sign_end || w.at != w.sign_end || !begins(s + w.at, n - w.at, " <"))
				see_blank(p, s, n, w.at, qualifies);
		} else if (token == NAME_TEXT && !w.depth && c == ':') {
			qualifies = false;
		}
	}
	/* Cut off within the parameters, as names of a JVM's are. */
	if (w.depth && candidate && w.open[0] == ')' && open)
		add_group(p, s, n, (struct group){open, n}, false);
	return p->last.end;
}

/* What is left of a name: s[from, to), and "@plt" or the like, s[mark, end). */
struct cut {
	size_t from, to, mark, end;
};

static bool find_cut(const char *s, size_t n, unsigned depth, struct cut *c)
{
	struct parts p;

	if (!find_parts(&p, s, n))
		return false;
	if (p.declarator.end && depth < DECLARATORS_MAX) {
		size_t at = p.declarator.open + 1, end = p.declarator.end - 1;

		at += pointer_at(s + at, end - at);
		if (find_cut(s + at, end - at, depth + 1, c)) {
			*c = (struct cut){at + c->from, at + c->to, n, n};
			return true;
		}
	}
	*c = (struct cut){0, p.end, p.end, p.end};
	/* After a blank are those of a type: "operator void (*)(int)", "typeinfo for int (int)". */
	if (p.whole || is_apart(s, p.last) || (p.before.end && is_apart(s, p.before)) ||
	    !ends_after(s, p.end, p.last.end, &c->mark)) {
		c->mark = p.end;
		return p.end < n;
	}
	if (p.template && p.typed)
		c->from = p.name;
	c->to = p.last.open;
	return true;
}

size_t name_shorten(char *s, size_t n)
{
	struct cut c;
	size_t len;

	if (!memchr(s, '(', n) || !find_cut(s, n, 0, &c))
		return n;
	len = c.to - c.from;
	memmove(s, s + c.from, len);
	memmove(s + len, s + c.mark, c.end - c.mark);
	return len + c.end - c.mark;
}

/* ---- arrows ---- */

struct name_list name_list(const char *s, size_t n)
{
	struct name_walk w = {.s = s, .n = n};
	struct name_list l = {.s = s, .n = n, .plain = true};

	/* Most have no arrow. */
	if (memmem(s, n, "->", 2)) {
		while (name_next(&w))
			;
		l.plain = w.depth > 0;
	}
	return l;
}

bool name_list_next(struct name_list *l, const char **function, size_t *len)
{
	struct name_walk w = {.s = l->s, .n = l->n};
	const char *arrow = memmem(l->s, l->n, "->", 2);
	enum name_token token;

	if (!l->n)
		return false;
	if (arrow && !l->plain) {
		arrow = NULL;
		while (!arrow && (token = name_next(&w)))
			if (token == NAME_TEXT && !w.depth && !ends(w.s, w.at, " ") &&
			    begins(w.s + w.at, w.n - w.at, "->"))
				arrow = w.s + w.at;
	}
	*function = l->s;
	*len = arrow ? (size_t)(arrow - l->s) : l->n;
	l->n -= *len + (arrow ? 2 : 0);
	l->s += *len + (arrow ? 2 : 0);
	return true;
}

size_t name_without_arrows(const char *s, size_t n)
{
	while (ends(s, n, "->") && !operator_at(s, n, n - 2))
		n -= 2;
	return n;
}
