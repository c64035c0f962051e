#include "event/symbolic.h"

#include <stdio.h>
#include <string.h>

/* A piece of format text that is being read. */
struct text {
	const char *p, *end;
};

static void skip_space(struct text *t)
{
	while (t->p < t->end && (*t->p == ' ' || *t->p == '\t'))
		t->p++;
}

static bool eat(struct text *t, const char *word)
{
	size_t n = strlen(word);

	skip_space(t);
	if ((size_t)(t->end - t->p) < n || memcmp(t->p, word, n) != 0)
		return false;
	t->p += n;
	return true;
}

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* ---- constant expressions: numbers, ( ), and | & + - << from the weakest to the strongest ---- */

#define DEPTH_MAX 32

static bool constant(struct text *t, int level, int depth, uint64_t *v);

static bool number(struct text *t, int depth, uint64_t *v)
{
	const char *begin;
	int base = 10;

	skip_space(t);
	if (eat(t, "("))
		return constant(t, 0, depth + 1, v) && eat(t, ")");
	if (eat(t, "0x"))
		base = 16;
	*v = 0;
	for (begin = t->p; t->p < t->end; t->p++) {
		int c = *t->p | 0x20;
		int digit = c >= '0' && c <= '9'		 ? c - '0'
			    : base == 16 && c >= 'a' && c <= 'f' ? c - 'a' + 10
								 : -1;

		if (digit < 0)
			break;
		*v = *v * (uint64_t)base + (uint64_t)digit;
	}
	if (t->p == begin)
		return false;
	while (t->p < t->end && strchr("uUlL", *t->p))
		t->p++;
	return true;
}

static bool constant(struct text *t, int level, int depth, uint64_t *v)
{
	static const char *const ops[] = {"|", "&", "<<", "+", "-"};
	static const int levels[] = {0, 1, 2, 3, 3};
	uint64_t right;

	if (depth > DEPTH_MAX)
		return false;
	if (level > 3)
		return number(t, depth, v);
	if (!constant(t, level + 1, depth + 1, v))
		return false;
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (levels[i] != level || !eat(t, ops[i]))
			continue;
		if (!constant(t, level + 1, depth + 1, &right))
			return false;
		switch (ops[i][0]) {
		case '|': *v |= right; break;
		case '&': *v &= right; break;
		case '<': *v = right < 64 ? *v << right : 0; break;
		case '+': *v += right; break;
		default: *v -= right;
		}
		i = (size_t)-1; /* from the left: the same operators again */
	}
	return true;
}

/* ---- lists ---- */

/* Whether a call's first argument has REC->field; the text is then behind its comma. */
static bool first_argument(struct text *t, const char *field)
{
	size_t n = strlen(field);
	int depth = 0;
	bool found = false;

	for (; t->p < t->end; t->p++) {
		if (*t->p == '(')
			depth++;
		else if (*t->p == ')' && --depth < 0)
			return false;
		else if (*t->p == ',' && !depth)
			break;
		else if ((size_t)(t->end - t->p) > 5 + n && !memcmp(t->p, "REC->", 5) &&
			 !memcmp(t->p + 5, field, n) && !is_name(t->p[5 + n]))
			found = true;
	}
	return found && eat(t, ",");
}

/* A text in quotes; the cut-off rest of a long one is passed over. */
static bool quoted(struct text *t, char *to)
{
	size_t n = 0;

	if (!eat(t, "\""))
		return false;
	for (; t->p < t->end && *t->p != '"'; t->p++)
		if (n + 1 < SYMBOLIC_TEXT)
			to[n++] = *t->p;
	to[n] = 0;
	return eat(t, "\"");
}

static void list(struct symbolic *s, struct text *t)
{
	while (eat(t, "{")) {
		struct symbolic_name name;
		bool known = constant(t, 0, 0, &name.value);

		/* The name of a constant that this kernel did not replace by its number. */
		while (!known && t->p < t->end && *t->p != ',' && *t->p != '}')
			t->p++;
		if (!eat(t, ",") || !quoted(t, name.text))
			return;
		if (known && s->n < SYMBOLIC_MAX)
			s->names[s->n++] = name;
		if (!eat(t, "}"))
			return;
		eat(t, ",");
	}
}

void symbolic_parse(struct symbolic *s, const char *format, size_t len, const char *field)
{
	static const char *const calls[] = {"__print_symbolic(", "__print_flags("};
	struct text t = {format, format + len};
	char separator[SYMBOLIC_TEXT];

	s->n = 0;
	s->begin = s->end = 0;
	s->flags = false;
	for (; t.p < t.end; t.p++) {
		struct text at = t;

		if (*t.p != '_')
			continue;
		if (!eat(&at, calls[0]) && !eat(&at, calls[1]))
			continue;
		if (!first_argument(&at, field))
			continue;
		s->flags = quoted(&at, separator);
		if (s->flags && !eat(&at, ","))
			continue;
		list(s, &at);
		s->begin = (size_t)(t.p - format);
		s->end = (size_t)(at.p - format);
		return;
	}
}

/* "REC->NAME == NUMBER) ?" and nothing behind it. */
static bool comparison(struct text t, char name[SYMBOLIC_TEXT], uint64_t *value)
{
	size_t n = 0;

	if (!eat(&t, "REC->"))
		return false;
	for (; t.p < t.end && is_name(*t.p) && n + 1 < SYMBOLIC_TEXT; t.p++)
		name[n++] = *t.p;
	name[n] = 0;
	if (!n || !eat(&t, "==") || !number(&t, 0, value) || !eat(&t, ")") || !eat(&t, "?"))
		return false;
	skip_space(&t);
	return t.p == t.end;
}

bool symbolic_choice(const struct symbolic *s, const char *format, size_t len, const char *field,
		     char chooser[SYMBOLIC_TEXT], uint64_t *value, struct symbolic *other)
{
	const char *open = format + s->begin;
	struct text rest = {format + s->end, format + len};

	while (open > format && open[-1] != '(')
		open--;
	if (!s->end || !comparison((struct text){open, format + s->begin}, chooser, value) ||
	    !eat(&rest, ")") || !eat(&rest, ":"))
		return false;
	skip_space(&rest);
	symbolic_parse(other, rest.p, (size_t)(rest.end - rest.p), field);
	return other->end && !other->begin;
}

const char *symbolic_find(const struct symbolic *s, uint64_t value)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->names[i].value == value)
			return s->names[i].text;
	return NULL;
}

bool symbolic_text(const struct symbolic *s, uint64_t value, char text[SYMBOLIC_ALL])
{
	const char *name = symbolic_find(s, value);
	size_t n = 0;

	text[0] = 0;
	if (name)
		snprintf(text, SYMBOLIC_ALL, "%s", name);
	if (name || !s->flags)
		return name;
	for (uint32_t i = 0; i < s->n && n < SYMBOLIC_ALL - 1; i++) {
		uint64_t bits = s->names[i].value;

		if (!bits || (value & bits) != bits)
			continue;
		value &= ~bits;
		n += (size_t)snprintf(text + n, SYMBOLIC_ALL - n, "%s%s", n ? "|" : "",
				      s->names[i].text);
	}
	return n && !value;
}

/* ---- thread states ---- */

void task_states_parse(struct task_states *t, const char *format, size_t len)
{
	static const char tail[] = "REC->prev_state &";
	struct text at;

	t->preempted = 0;
	symbolic_parse(&t->flags, format, len, "prev_state");
	at = (struct text){format + t->flags.end, format + len};
	/* What follows: ) : "R", REC->prev_state & EXPRESSION ? "+" : "" */
	for (; at.p < at.end && !t->preempted; at.p++) {
		struct text x = at;
		uint64_t v;

		if (eat(&x, tail) && constant(&x, 0, 0, &v) && eat(&x, "?") && eat(&x, "\"+\""))
			t->preempted = v;
	}
	/* A format text that is missing or not understood: what has been so in every kernel. */
	if (!t->flags.n)
		t->flags = (struct symbolic){.n = 2, .names = {{1, "S"}, {2, "D"}}};
}

bool task_state(const struct task_states *t, uint64_t state, char text[TASK_STATE_TEXT])
{
	uint64_t flags = state & ~t->preempted;
	bool plus = (state & t->preempted) != 0;
	size_t n = 0;

	for (uint32_t i = 0; i < t->flags.n; i++) {
		const struct symbolic_name *f = &t->flags.names[i];

		if (!f->value || (flags & f->value) != f->value)
			continue;
		flags &= ~f->value;
		n += (size_t)snprintf(text + n, TASK_STATE_TEXT - n, "%s%s", n ? "|" : "", f->text);
		if (n >= TASK_STATE_TEXT - 1)
			return plus;
	}
	if (flags && !n)
		snprintf(text, TASK_STATE_TEXT, "0x%llx%s", (unsigned long long)flags,
			 plus ? "+" : "");
	else
		snprintf(text + n, TASK_STATE_TEXT - n, "%s%s", n ? "" : "R", plus ? "+" : "");
	return plus || (!n && !flags);
}
