#include "event/names.h"

#include "base/err.h"

#include <ctype.h>

#define ENTRIES_MAX 4096 /* names of an event */
#define TABLES_MAX  64
#define DEPTH_MAX   64 /* parentheses of an expression */

/* The text that is left, and whether what was read so far made sense. */
struct scan {
	const char *p, *end;
	bool bad;
	int depth;
};

static void space(struct scan *s)
{
	while (s->p < s->end && isspace((unsigned char)*s->p))
		s->p++;
}

/* Takes a piece of text if it is next. */
static bool take(struct scan *s, const char *text)
{
	size_t n = strlen(text);

	space(s);
	if ((size_t)(s->end - s->p) < n || memcmp(s->p, text, n) != 0)
		return false;
	s->p += n;
	return true;
}

static bool peek(struct scan *s, const char *text)
{
	const char *p = s->p;
	bool is = take(s, text);

	s->p = p;
	return is;
}

static size_t word(const struct scan *s)
{
	size_t n = 0;

	while (s->p + n < s->end && (isalnum((unsigned char)s->p[n]) || s->p[n] == '_'))
		n++;
	return n;
}

/* ---- constant expressions of C, with casts to types that are words ---- */

static uint64_t constant(struct scan *s, int level);

static uint64_t number(struct scan *s)
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
	while (s->p < s->end && strchr("uUlL", *s->p))
		s->p++;
	return v;
}

/* "( unsigned long)" before something: passed over. */
static bool cast(struct scan *s)
{
	const char *p = s->p;
	size_t n;

	if (!take(s, "("))
		return false;
	space(s);
	n = word(s);
	if (n && !isdigit((unsigned char)*s->p)) {
		for (; n; n = word(s)) {
			s->p += n;
			space(s);
		}
		while (take(s, "*"))
			;
		if (take(s, ")"))
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
	} else if (cast(s)) {
		v = unary(s);
	} else if (take(s, "(")) {
		v = constant(s, 0);
		if (!take(s, ")"))
			s->bad = true;
	} else if (take(s, "~")) {
		v = ~unary(s);
	} else if (take(s, "-")) {
		v = 0 - unary(s);
	} else {
		space(s);
		v = number(s);
	}
	s->depth--;
	return v;
}

/* Levels: 0 |, 1 ^, 2 &, 3 << >>, 4 + -, 5 operands. */
static uint64_t constant(struct scan *s, int level)
{
	static const char *const ops[][2] = {
		{"|", NULL}, {"^", NULL}, {"&", NULL}, {"<<", ">>"}, {"+", "-"}};
	uint64_t v, right;

	if (level == 5)
		return unary(s);
	v = constant(s, level + 1);
	while (!s->bad) {
		bool first = take(s, ops[level][0]);

		if (!first && !(ops[level][1] && take(s, ops[level][1])))
			break;
		right = constant(s, level + 1);
		switch (level) {
		case 0: v |= right; break;
		case 1: v ^= right; break;
		case 2: v &= right; break;
		case 3: v = right > 63 ? 0 : first ? v << right : v >> right; break;
		default: v = first ? v + right : v - right;
		}
	}
	return v;
}

/* ---- the tables ---- */

/* "REC->x", "(REC->x >> 4) & 0xf", "(int)REC->x": the field, shift and mask. */
static void argument(struct scan *s, struct names_table *t)
{
	uint64_t v;

	if (++s->depth > DEPTH_MAX) {
		s->bad = true;
		return;
	}
	while (cast(s))
		;
	if (take(s, "(")) {
		argument(s, t);
		if (!take(s, ")"))
			s->bad = true;
	} else if (take(s, "REC->")) {
		t->field = s->p;
		t->field_len = (uint32_t)word(s);
		s->p += t->field_len;
		s->bad = s->bad || !t->field_len;
	} else {
		s->bad = true;
	}
	while (!s->bad && (peek(s, ">>") || peek(s, "&"))) {
		if (take(s, ">>")) {
			v = constant(s, 4);
			s->bad = s->bad || v > 63 || t->mask != UINT64_MAX;
			t->shift += (uint32_t)v;
		} else {
			take(s, "&");
			t->mask &= constant(s, 3);
		}
	}
	s->bad = s->bad || t->shift > 63;
	s->depth--;
}

/* A text between double quotes; its bytes as they stand. */
static bool text(struct scan *s, const char **p, uint32_t *len)
{
	if (!take(s, "\""))
		return false;
	*p = s->p;
	while (s->p < s->end && *s->p != '"')
		s->p += *s->p == '\\' && s->end - s->p > 1 ? 2 : 1;
	*len = (uint32_t)(s->p - *p);
	return take(s, "\"");
}

static int add(struct names *n, struct names_table *t, const char *name, uint32_t len,
	       uint64_t value)
{
	struct names_entry *e = arena_alloc(&n->arena, sizeof(*e));

	if (!e)
		return PP_ENOMEM;
	*e = (struct names_entry){name, len, value, t->entries};
	t->entries = e;
	return 0;
}

/* Goes to the end of "{ ... }", which may hold texts. */
static void leave_braces(struct scan *s)
{
	const char *p;
	uint32_t len;

	while (s->p < s->end && *s->p != '}')
		if ((*s->p != '"' || !text(s, &p, &len)) && s->p < s->end)
			s->p++;
	take(s, "}");
}

static int entries(struct names *n, struct scan *s, struct names_table *t)
{
	int count = 0, rc = 0;

	while (!rc && take(s, ",") && take(s, "{") && count++ < ENTRIES_MAX) {
		struct scan one = *s;
		uint64_t value = constant(&one, 0);
		const char *name;
		uint32_t len;

		if (!one.bad && take(&one, ",") && text(&one, &name, &len) && peek(&one, "}")) {
			*s = one;
			rc = add(n, t, name, len, value);
		}
		leave_braces(s);
	}
	return rc;
}

/* Behind "__print_symbolic" and its like. */
static int table(struct names *n, struct scan *s, bool flags)
{
	struct names_table *t = arena_zalloc(&n->arena, sizeof(*t));
	const char *name;
	uint32_t len;
	int rc;

	if (!t)
		return PP_ENOMEM;
	t->mask = UINT64_MAX;
	t->flags = flags;
	if (!take(s, "("))
		return 0;
	argument(s, t);
	if (s->bad || (flags && !(take(s, ",") && text(s, &name, &len))))
		return 0;
	rc = entries(n, s, t);
	/* "x & 7 ? __print_flags(x & 7, ...) : "R"" */
	if (!rc && take(s, ")") && take(s, ":") && text(s, &name, &len) && len)
		rc = add(n, t, name, len, 0);
	if (t->entries) {
		t->next = n->tables;
		n->tables = t;
	}
	return rc;
}

int names_init(struct names *n, const struct ps_event *e)
{
	static const char mark[] = "print fmt:";
	const char *p =
		e->format.len ? memmem(e->format.p, e->format.len, mark, sizeof(mark) - 1) : NULL;
	int rc = 0;

	*n = (struct names){0};
	for (int i = 0; p && !rc && i < TABLES_MAX; i++) {
		struct scan s = {.p = p, .end = e->format.p + e->format.len};
		bool flags;

		p = memmem(p, (size_t)(s.end - p), "__print_", 8);
		if (!p)
			break;
		s.p = p + 8;
		flags = take(&s, "flags");
		if (flags || take(&s, "symbolic")) {
			take(&s, "_u64");
			rc = table(n, &s, flags);
		}
		p = s.p;
	}
	if (rc)
		names_release(n);
	return rc;
}

void names_release(struct names *n)
{
	arena_release(&n->arena);
	n->tables = NULL;
}

const struct names_table *names_find(const struct names *n, const char *field, size_t len)
{
	const struct names_table *found = NULL;

	/* Of several the first in the text, which lies at the end of the list. */
	for (const struct names_table *t = n->tables; t; t = t->next)
		if (t->field_len == len && !memcmp(t->field, field, len))
			found = t;
	return found;
}

static bool one_value(const struct names_table *t, const char *name, size_t len, uint64_t *value)
{
	for (const struct names_entry *e = t->entries; e; e = e->next)
		if (e->len == len && !memcmp(e->name, name, len)) {
			*value = e->value;
			return true;
		}
	return false;
}

bool names_value(const struct names_table *t, const char *name, size_t len, uint64_t *value)
{
	uint64_t one;

	if (one_value(t, name, len, value))
		return true;
	if (!t->flags || !len || !memchr(name, '|', len))
		return false;
	*value = 0;
	for (const char *end = name + len; name < end; name++) {
		const char *bar = memchr(name, '|', (size_t)(end - name));

		if (!bar)
			bar = end;
		if (!one_value(t, name, (size_t)(bar - name), &one))
			return false;
		*value |= one;
		name = bar;
	}
	return true;
}
