/* The shape of a text, without what stands for values. */
#include "expr/shape.h"

#include "expr/regex.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define MORE	  "\xe2\x80\xa6" /* … */
#define MORE_LEN  3
#define HEX_MIN	  8		   /* digits of a hexadecimal number that nothing marks as one */
#define ROOM	  8		   /* for what is added at a time */
#define SUB_STEPS (16 * SHAPE_MAX) /* bytes that are looked at for the matches of a text */

struct shaped {
	char *s;
	size_t n;
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool ends(const struct shaped *o, const char *with, size_t n)
{
	return o->n >= n && !memcmp(o->s + o->n - n, with, n);
}

static void add(struct shaped *o, const char *s, size_t n)
{
	memcpy(o->s + o->n, s, n);
	o->n += n;
}

/* Whether the text so far ends with such an item of a list and a comma, which are left out then. */
static bool follows(struct shaped *o, const char *item, size_t n)
{
	struct shaped before = *o;

	if (ends(&before, " ", 1))
		before.n--;
	if (!ends(&before, ",", 1))
		return false;
	before.n--;
	if (!ends(&before, item, n))
		return false;
	o->n = before.n;
	return true;
}

/* A value. Of a list the first one stands for itself, and all others are "…". */
static void add_value(struct shaped *o)
{
	if (follows(o, "?, " MORE, 3 + MORE_LEN))
		return;
	if (follows(o, "?", 1))
		add(o, ", " MORE, 2 + MORE_LEN);
	else
		add(o, "?", 1);
}

/* A list is closed; lists of lists likewise: "(?, …), …". */
static void add_close(struct shaped *o)
{
	static const char *const lists[] = {"(?, " MORE ")", "(?)"};

	add(o, ")", 1);
	for (size_t i = 0; i < 2; i++) {
		size_t n = strlen(lists[i]);
		struct shaped before = *o;
		char more[16];

		if (!ends(o, lists[i], n))
			continue;
		before.n -= n;
		memcpy(more, lists[i], n);
		memcpy(more + n, ", " MORE, 2 + MORE_LEN);
		if (follows(&before, more, n + 2 + MORE_LEN)) {
			*o = before;
		} else if (follows(&before, lists[i], n)) {
			*o = before;
			add(o, ", " MORE, 2 + MORE_LEN);
		}
	}
}

/* The end of what stands between quotes at s; 0: they are not closed. */
static size_t quoted(const char *s, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		bool doubled = s[i] == s[0] && i + 1 < n && s[i + 1] == s[0];

		if (s[i] == '\\' || doubled) /* the next one is part of the text */
			i++;
		else if (s[i] == s[0])
			return i + 1;
	}
	return 0;
}

/* Hexadecimal digits in groups of 8, 4, 4, 4 and 12. */
static size_t uuid(const char *s, size_t n)
{
	static const unsigned char groups[] = {8, 4, 4, 4, 12};
	size_t at = 0;

	for (size_t g = 0; g < sizeof(groups); g++) {
		if (g && (at == n || s[at++] != '-'))
			return 0;
		for (size_t i = 0; i < groups[g]; i++, at++)
			if (at == n || !isxdigit((unsigned char)s[at]))
				return 0;
	}
	return at == n || !is_word(s[at]) ? at : 0;
}

/* Digits with points and an exponent. */
static size_t decimal(const char *s, size_t n)
{
	size_t i = 0, e;

	while (i < n && (isdigit((unsigned char)s[i]) ||
			 (s[i] == '.' && i + 1 < n && isdigit((unsigned char)s[i + 1]))))
		i++;
	if (!i || i == n || (s[i] != 'e' && s[i] != 'E'))
		return i;
	e = i + 1;
	if (e < n && (s[e] == '+' || s[e] == '-'))
		e++;
	if (e == n || !isdigit((unsigned char)s[e]))
		return i;
	while (e < n && isdigit((unsigned char)s[e]))
		e++;
	return e == n || !is_word(s[e]) ? e : i;
}

/* The length of a number at s, before which no word is; 0: there is none. */
static size_t number(const char *s, size_t n)
{
	size_t hex = 0, digits = 0, id = uuid(s, n);

	if (id)
		return id;
	if (n > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') && isxdigit((unsigned char)s[2])) {
		for (hex = 2; hex < n && isxdigit((unsigned char)s[hex]);)
			hex++;
		return hex;
	}
	while (hex < n && isxdigit((unsigned char)s[hex]))
		digits += isdigit((unsigned char)s[hex++]) != 0;
	if (hex >= HEX_MIN && digits && digits < hex && (hex == n || !is_word(s[hex])))
		return hex;
	return decimal(s, n);
}

/* Whether a sign belongs to the number after it: not where something can be subtracted from. */
static bool is_signed(const struct shaped *o)
{
	size_t n = o->n;

	while (n && o->s[n - 1] == ' ')
		n--;
	return !n || strchr("=(,<>+*/%[", o->s[n - 1]);
}

size_t shape(const char *text, size_t len, char out[SHAPE_MAX])
{
	struct shaped o = {out, 0};
	size_t used;

	for (size_t i = 0; i < len; i += used) {
		char c = text[i];
		bool in_word = i && is_word(text[i - 1]) && text[i - 1] != '_';
		size_t sign = c == '-' && i + 1 < len && isdigit((unsigned char)text[i + 1]) &&
			      is_signed(&o);

		if (o.n + ROOM > SHAPE_MAX) {
			add(&o, MORE, MORE_LEN);
			break;
		}
		used = c == '\'' || c == '"' ? quoted(text + i, len - i) : 0;
		if (!used && (!in_word || sign))
			used = number(text + i + sign, len - i - sign);
		if (used) {
			used += sign;
			add_value(&o);
			continue;
		}
		used = 1;
		if (isspace((unsigned char)c)) {
			if (!ends(&o, " ", 1))
				add(&o, " ", 1);
		} else if (c == ')') {
			add_close(&o);
		} else {
			add(&o, &c, 1);
		}
	}
	return o.n;
}

/* Adds as much as there is room for. True: that was not all. */
static bool add_some(struct shaped *o, const char *s, size_t n)
{
	size_t room = SHAPE_MAX - MORE_LEN - o->n;

	add(o, s, n < room ? n : room);
	return n > room;
}

size_t shape_sub(struct rx *x, const char *text, size_t len, const char *with, size_t with_len,
		 char out[SHAPE_MAX])
{
	size_t steps = SUB_STEPS, from = 0, done = 0, start, end;
	size_t n = len < SHAPE_MAX ? len : SHAPE_MAX;
	struct shaped o = {out, 0};
	bool cut = false;

	if (!rx_matches(x, text, n))
		steps = 0;
	while (!cut && from <= n && rx_find(x, text, n, from, &steps, &start, &end)) {
		/* Nothing, just after a match, is none. */
		if (end == start && done == start && start) {
			from = end + 1;
			continue;
		}
		cut = add_some(&o, text + done, start - done) || add_some(&o, with, with_len);
		done = end;
		from = end + (end == start);
	}
	if (!cut)
		cut = add_some(&o, text + done, len - done);
	if (cut)
		add(&o, MORE, MORE_LEN);
	return o.n;
}
