/* Finds __print_symbolic and __print_flags in a print format: values of names, names of values. */
#include "event/value_names.h"

#include "base/err.h"
#include "event/scan.h"

#define ENTRIES_MAX 4096 /* names of an event */
#define TABLES_MAX  64
#define DEPTH_MAX   64 /* parentheses of an expression */

/* "REC->x", "(REC->x >> 4) & 0xf", "(int)REC->x", "-REC->x": the field, shift and mask. */
static void argument(struct scan *s, struct names_table *t)
{
	uint64_t v;

	if (++s->depth > DEPTH_MAX) {
		s->bad = true;
		return;
	}
	while (scan_cast(s))
		;
	if (scan_take(s, "-"))
		t->negated = !t->negated;
	if (scan_take(s, "(")) {
		argument(s, t);
		if (!scan_take(s, ")"))
			s->bad = true;
	} else if (scan_take(s, "REC->")) {
		t->field = s->p;
		t->field_len = (uint32_t)scan_word(s);
		s->p += t->field_len;
		s->bad = s->bad || !t->field_len;
	} else {
		s->bad = true;
	}
	while (!s->bad && (scan_peek(s, ">>") || scan_peek(s, "&"))) {
		if (scan_take(s, ">>")) {
			v = scan_constant(s, SCAN_SUM);
			s->bad = s->bad || v > 63 || t->mask != UINT64_MAX;
			t->shift += (uint32_t)v;
		} else {
			scan_take(s, "&");
			t->mask &= scan_constant(s, SCAN_SHIFT);
		}
	}
	s->bad = s->bad || t->shift > 63 || (t->negated && (t->shift || t->mask != UINT64_MAX));
	s->depth--;
}

static int add(struct value_names *n, struct names_table *t, const char *name, uint32_t len,
	       uint64_t value)
{
	struct names_entry *e = arena_alloc(&n->arena, sizeof(*e));

	if (!e)
		return PP_ENOMEM;
	*e = (struct names_entry){name, len, t->negated ? 0 - value : value, NULL};
	if (t->last)
		t->last->next = e;
	else
		t->entries = e;
	t->last = e;
	return 0;
}

/* Goes to the end of "{ ... }", which may hold texts. */
static void leave_braces(struct scan *s)
{
	const char *p;
	uint32_t len;

	while (s->p < s->end && *s->p != '}')
		if ((*s->p != '"' || !scan_text(s, &p, &len)) && s->p < s->end)
			s->p++;
	scan_take(s, "}");
}

static int entries(struct value_names *n, struct scan *s, struct names_table *t)
{
	int count = 0, rc = 0;

	while (!rc && scan_take(s, ",") && scan_take(s, "{") && count++ < ENTRIES_MAX) {
		struct scan one = *s;
		uint64_t value = scan_constant(&one, SCAN_ALL);
		const char *name;
		uint32_t len;

		if (!one.bad && scan_take(&one, ",") && scan_text(&one, &name, &len) &&
		    scan_peek(&one, "}")) {
			*s = one;
			rc = add(n, t, name, len, value);
		}
		leave_braces(s);
	}
	return rc;
}

/* After "__print_symbolic" and its like. */
static int table(struct value_names *n, struct scan *s, bool flags)
{
	struct names_table *t = arena_zalloc(&n->arena, sizeof(*t));
	const char *name;
	uint32_t len;
	int rc;

	if (!t)
		return PP_ENOMEM;
	t->mask = UINT64_MAX;
	t->flags = flags;
	if (!scan_take(s, "("))
		return 0;
	argument(s, t);
	if (s->bad || (flags && !(scan_take(s, ",") && scan_text(s, &name, &len))))
		return 0;
	rc = entries(n, s, t);
	/* "x & 7 ? __print_flags(x & 7, ...) : "R"" */
	if (!rc && scan_take(s, ")") && scan_take(s, ":") && scan_text(s, &name, &len) && len)
		rc = add(n, t, name, len, 0);
	if (t->entries) {
		t->next = n->tables;
		n->tables = t;
	}
	return rc;
}

int names_init(struct value_names *n, const struct ps_event *e)
{
	static const char mark[] = "print fmt:";
	const char *p =
		e->format.len ? memmem(e->format.p, e->format.len, mark, sizeof(mark) - 1) : NULL;
	int rc = 0;

	*n = (struct value_names){0};
	for (int i = 0; p && !rc && i < TABLES_MAX; i++) {
		struct scan s = scan_make(p, (size_t)(e->format.p + e->format.len - p));
		bool flags;

		p = memmem(p, (size_t)(s.end - p), "__print_", 8);
		if (!p)
			break;
		s.p = p + 8;
		flags = scan_take(&s, "flags");
		if (flags || scan_take(&s, "symbolic")) {
			scan_take(&s, "_u64");
			rc = table(n, &s, flags);
		}
		p = s.p;
	}
	if (rc)
		names_release(n);
	return rc;
}

void names_release(struct value_names *n)
{
	arena_release(&n->arena);
	n->tables = NULL;
}

const struct names_table *names_find(const struct value_names *n, const char *field, size_t len)
{
	const struct names_table *found = NULL;

	/* Of several the first in the text, which lies at the end of the list. */
	for (const struct names_table *t = n->tables; t; t = t->next)
		if (t->field_len == len && !memcmp(t->field, field, len))
			found = t;
	return found;
}

static bool same_bits(const struct names_table *a, const struct names_table *b)
{
	return a->field_len == b->field_len && !memcmp(a->field, b->field, a->field_len) &&
	       a->shift == b->shift && a->mask == b->mask;
}

const struct names_table *names_only(const struct value_names *n, const char *field, size_t len)
{
	const struct names_table *found = names_find(n, field, len);

	for (const struct names_table *t = n->tables; found && t; t = t->next)
		if (t != found && same_bits(t, found))
			return NULL;
	return found;
}

/* The bits that have names, as the kernel prints them: the first ones in the list first. */
static bool flags_text(const struct names_table *t, uint64_t value, struct buf *b)
{
	bool any = false;

	for (const struct names_entry *e = t->entries; e && value; e = e->next) {
		if (!e->value || (value & e->value) != e->value)
			continue;
		value &= ~e->value;
		buf_adds(b, any ? "|" : "");
		buf_add_safe(b, e->name, e->len);
		any = true;
	}
	if (any && value)
		buf_addf(b, "|0x%llx", (unsigned long long)value);
	return any;
}

bool names_text(const struct names_table *t, uint64_t value, uint64_t bits, struct buf *b)
{
	uint64_t named = value >> t->shift & t->mask, width = bits >> t->shift & t->mask;

	/* What the table does not stand for would be left out. */
	if (value & ~(width << t->shift))
		return false;
	for (const struct names_entry *e = t->entries; e; e = e->next)
		if (!((e->value ^ named) & width)) {
			buf_add_safe(b, e->name, e->len);
			return true;
		}
	return t->flags && flags_text(t, named, b);
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
