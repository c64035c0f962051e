/* Finds the names of a field's values in a print format: the names of values. */
#include "event/symbolic.h"

#include "event/scan.h"

#include <stdio.h>

/* Whether REC->field is next. */
static bool is_field(struct scan s, const char *field, size_t n)
{
	return scan_take(&s, "REC->") && scan_word(&s) == n && !memcmp(s.p, field, n);
}

/* Whether a call's first argument has REC->field; the text is then after its comma. */
static bool first_argument(struct scan *t, const char *field)
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
		else if (*t->p == 'R')
			found = found || is_field(*t, field, n);
	}
	return found && scan_take(t, ",");
}

/* A text in quotes, of which a long one is cut. */
static bool quoted(struct scan *t, char to[SYMBOLIC_TEXT])
{
	const char *text;
	uint32_t len;

	if (!scan_text(t, &text, &len))
		return false;
	snprintf(to, SYMBOLIC_TEXT, "%.*s", (int)len, text);
	return true;
}

static void list(struct symbolic *s, struct scan *t)
{
	while (scan_take(t, "{")) {
		struct symbolic_name name;
		struct scan value = *t;

		name.value = scan_constant(&value, SCAN_ALL);
		/* The name of a constant that this kernel did not replace by its number. */
		while (value.bad && t->p < t->end && *t->p != ',' && *t->p != '}')
			t->p++;
		if (!value.bad)
			*t = value;
		if (!scan_take(t, ",") || !quoted(t, name.text))
			return;
		if (!value.bad && s->n < SYMBOLIC_MAX)
			s->names[s->n++] = name;
		if (!scan_take(t, "}"))
			return;
		scan_take(t, ",");
	}
}

void symbolic_parse(struct symbolic *s, const char *format, size_t len, const char *field)
{
	struct scan t = scan_make(format, len);
	char separator[SYMBOLIC_TEXT];

	s->n = 0;
	s->begin = s->end = 0;
	s->flags = false;
	for (; t.p < t.end; t.p++) {
		struct scan at = t;

		if (*t.p != '_')
			continue;
		if (!scan_take(&at, "__print_symbolic") && !scan_take(&at, "__print_flags"))
			continue;
		scan_take(&at, "_u64");
		if (!scan_take(&at, "(") || !first_argument(&at, field))
			continue;
		s->flags = quoted(&at, separator);
		if (s->flags && !scan_take(&at, ","))
			continue;
		list(s, &at);
		s->begin = (size_t)(t.p - format);
		s->end = (size_t)(at.p - format);
		return;
	}
}

/* "REC->NAME == NUMBER) ?" and nothing after it. */
static bool comparison(struct scan t, char name[SYMBOLIC_TEXT], uint64_t *value)
{
	size_t n;

	if (!scan_take(&t, "REC->"))
		return false;
	n = scan_word(&t);
	if (!n || n >= SYMBOLIC_TEXT)
		return false;
	memcpy(name, t.p, n);
	name[n] = 0;
	t.p += n;
	if (!scan_take(&t, "=="))
		return false;
	*value = scan_constant(&t, SCAN_OPERAND);
	if (t.bad || !scan_take(&t, ")") || !scan_take(&t, "?"))
		return false;
	scan_blanks(&t);
	return t.p == t.end;
}

bool symbolic_choice(const struct symbolic *s, const char *format, size_t len, const char *field,
		     char chooser[SYMBOLIC_TEXT], uint64_t *value, struct symbolic *other)
{
	const char *open = format + s->begin;
	struct scan rest = scan_make(format + s->end, len - s->end);

	while (open > format && open[-1] != '(')
		open--;
	if (!s->end ||
	    !comparison(scan_make(open, (size_t)(format + s->begin - open)), chooser, value) ||
	    !scan_take(&rest, ")") || !scan_take(&rest, ":"))
		return false;
	scan_blanks(&rest);
	symbolic_parse(other, rest.p, (size_t)(rest.end - rest.p), field);
	return other->end && !other->begin;
}

static const char *symbolic_find(const struct symbolic *s, uint64_t value)
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
	struct scan at;

	t->preempted = 0;
	symbolic_parse(&t->flags, format, len, "prev_state");
	at = scan_make(format + t->flags.end, len - t->flags.end);
	/* What follows: ) : "R", REC->prev_state & EXPRESSION ? "+" : "" */
	for (; at.p < at.end && !t->preempted; at.p++) {
		struct scan x = at;
		uint64_t v;

		if (!scan_take(&x, tail))
			continue;
		v = scan_constant(&x, SCAN_ALL);
		if (!x.bad && scan_take(&x, "?") && scan_take(&x, "\"+\""))
			t->preempted = v;
	}
	/* A format text that is missing or not understood: what has been so in every kernel. */
	if (!t->flags.n)
		t->flags = (struct symbolic){.n = 2, .names = {{1, "S"}, {2, "D"}}};
}

void task_states_of_text(struct task_states *t)
{
	static const char letters[][2] = {"S", "D", "T", "t", "X", "Z", "P", "I"};

	*t = (struct task_states){.preempted = 0x100};
	for (; t->flags.n < sizeof(letters) / sizeof(letters[0]); t->flags.n++) {
		t->flags.names[t->flags.n].value = UINT64_C(1) << t->flags.n;
		memcpy(t->flags.names[t->flags.n].text, letters[t->flags.n], 2);
	}
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
