/* A scanner for format texts, and the evaluator of the constant expressions in them. */
#include "event/scan.h"

#include <ctype.h>

#define DEPTH_MAX 64 /* parentheses of an expression */

void scan_blanks(struct scan *s)
{
	while (s->p < s->end && (*s->p == ' ' || *s->p == '\t'))
		s->p++;
}

bool scan_take(struct scan *s, const char *text)
{
	size_t n = strlen(text);

	scan_blanks(s);
	if ((size_t)(s->end - s->p) < n || memcmp(s->p, text, n) != 0)
		return false;
	s->p += n;
	return true;
}

bool scan_peek(const struct scan *s, const char *text)
{
	struct scan copy = *s;

	return scan_take(&copy, text);
}

size_t scan_word(const struct scan *s)
{
	size_t n = 0;

	while (s->p + n < s->end && (isalnum((unsigned char)s->p[n]) || s->p[n] == '_'))
		n++;
	return n;
}

bool scan_text(struct scan *s, const char **p, uint32_t *len)
{
	if (!scan_take(s, "\""))
		return false;
	*p = s->p;
	while (s->p < s->end && *s->p != '"')
		s->p += *s->p == '\\' && s->end - s->p > 1 ? 2 : 1;
	*len = (uint32_t)(s->p - *p);
	return scan_take(s, "\"");
}

/* ---- constant expressions ---- */

uint64_t scan_number(struct scan *s)
{
	uint64_t v = 0;
	unsigned base = 10, digit;
	const char *start;

	if (s->p < s->end && *s->p == '0')
		base = 8;
	if (s->end - s->p > 2 && *s->p == '0' && (s->p[1] == 'x' || s->p[1] == 'X')) {
		base = 16;
		s->p += 2;
	}
	for (start = s->p; s->p < s->end; s->p++) {
		unsigned char c = (unsigned char)*s->p;

		digit = isdigit(c) ? c - '0' + 0u : isxdigit(c) ? (c | 32u) - 'a' + 10u : 99u;
		if (digit >= base)
			break;
		v = v * base + digit;
	}
	if (s->p == start)
		s->bad = true;
	while (s->p < s->end && *s->p && strchr("uUlL", *s->p))
		s->p++;
	return v;
}

bool scan_cast(struct scan *s)
{
	const char *p = s->p;
	size_t n;

	if (!scan_take(s, "("))
		return false;
	scan_blanks(s);
	n = scan_word(s);
	if (n && !isdigit((unsigned char)*s->p)) {
		for (; n; n = scan_word(s)) {
			s->p += n;
			scan_blanks(s);
		}
		while (scan_take(s, "*"))
			;
		if (scan_take(s, ")"))
			return true;
	}
	s->p = p;
	return false;
}

static uint64_t unary(struct scan *s)
{
	uint64_t v = 0;

	if (++s->depth > DEPTH_MAX) {
		s->bad = true;
	} else if (scan_cast(s)) {
		v = unary(s);
	} else if (scan_take(s, "(")) {
		v = scan_constant(s, SCAN_ALL);
		if (!scan_take(s, ")"))
			s->bad = true;
	} else if (scan_take(s, "~")) {
		v = ~unary(s);
	} else if (scan_take(s, "-")) {
		v = 0 - unary(s);
	} else {
		scan_blanks(s);
		v = scan_number(s);
	}
	s->depth--;
	return v;
}

uint64_t scan_constant(struct scan *s, enum scan_level level)
{
	static const char *const ops[][2] = {[SCAN_ALL] = {"|", NULL},
					     [SCAN_XOR] = {"^", NULL},
					     [SCAN_AND] = {"&", NULL},
					     [SCAN_SHIFT] = {"<<", ">>"},
					     [SCAN_SUM] = {"+", "-"}};
	uint64_t v, right;

	if (level == SCAN_OPERAND)
		return unary(s);
	v = scan_constant(s, level + 1);
	while (!s->bad) {
		bool first = scan_take(s, ops[level][0]);

		if (!first && !(ops[level][1] && scan_take(s, ops[level][1])))
			break;
		right = scan_constant(s, level + 1);
		switch (level) {
		case SCAN_ALL: v |= right; break;
		case SCAN_XOR: v ^= right; break;
		case SCAN_AND: v &= right; break;
		case SCAN_SHIFT: v = right > 63 ? 0 : first ? v << right : v >> right; break;
		default: v = first ? v + right : v - right;
		}
	}
	return v;
}
