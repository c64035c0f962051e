/* The shape of a text, without what stands for values. */
#include "expr/shape.h"

#include "expr/regex.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define MORE	  "\xe2\x80\xa6" /* … */
#define MORE_LEN  3
#define HEX_MIN	  8		   /* digits of a hexadecimal number that nothing marks as one */
#define ROOM	  8		   /* for what is added at a time */
#define LISTS	  16		   /* within each other; deeper ones are not compared */
#define SUB_STEPS (16 * SHAPE_MAX) /* bytes that are looked at for the matches of a text */

struct shaped {
	char *s;
	size_t n;
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static void add(struct shaped *o, const char *s, size_t n)
{
	memcpy(o->s + o->n, s, n);
	o->n += n;
}

/* Whether the first n bytes end with such a text. */
static bool ends(const struct shaped *o, size_t n, const char *with, size_t len)
{
	return n >= len && !memcmp(o->s + n - len, with, len);
}

/* How many of the first n bytes are before a comma at their end; 0: they end without. */
static size_t before_comma(const struct shaped *o, size_t n)
{
	if (ends(o, n, " ", 1))
		n--;
	return ends(o, n, ",", 1) ? n - 1 : 0;
}

/* A value. Of a list the first one stands for itself, and all others are "…". */
static void add_value(struct shaped *o)
{
	size_t n = before_comma(o, o->n);

	if (ends(o, n, "?, " MORE, 3 + MORE_LEN)) {
		o->n = n;
	} else if (ends(o, n, "?", 1)) {
		o->n = n;
		add(o, ", " MORE, 2 + MORE_LEN);
	} else {
		add(o, "?", 1);
	}
}

/* A list is closed that opened at `from`. The first stands for those like it: "(?, …), …". */
static void add_close(struct shaped *o, size_t from)
{
	const char *list = o->s + from;
	size_t n = before_comma(o, from), len;

	add(o, ")", 1);
	len = o->n - from;
	if (!n || !memchr(list, '?', len))
		return;
	if (ends(o, n, ", " MORE, 2 + MORE_LEN) && ends(o, n - 2 - MORE_LEN, list, len)) {
		o->n = n;
	} else if (ends(o, n, list, len)) {
		o->n = n;
		add(o, ", " MORE, 2 + MORE_LEN);
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

/* The last byte that is no blank; 0: there is none. */
static char last_of(const struct shaped *o)
{
	size_t n = o->n;

	while (n && o->s[n - 1] == ' ')
		n--;
	return n ? o->s[n - 1] : '\0';
}

/* Whether a sign belongs to the number after it: not where something can be subtracted from. */
static bool is_signed(const struct shaped *o)
{
	char c = last_of(o);

	return !c || strchr("=(,<>+*/%[", c);
}

static size_t blanks(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && isspace((unsigned char)s[i]))
		i++;
	return i;
}

/* Whether a word in a list, or after "=", is over here. */
static bool is_item(const struct shaped *o, const char *s, size_t n)
{
	size_t i = blanks(s, n);
	char before = last_of(o), after = i < n ? s[i] : '\0';

	return before == ',' || before == '=' || (before == '(' && after == ',');
}

/* Values that SQL has words for, and the places of values, $1, :1 and ?. */
static size_t sql_value(const struct shaped *o, const char *s, size_t n)
{
	static const char *const words[] = {"null", "true", "false"};
	size_t i = 1;

	if (n > 1 && (*s == '$' || (*s == ':' && strchr("=(,", last_of(o)))) &&
	    isdigit((unsigned char)s[1])) {
		while (i < n && isdigit((unsigned char)s[i]))
			i++;
		return i == n || !is_word(s[i]) ? i : 0;
	}
	if (*s == '?')
		return (i == n || !is_word(s[i])) && is_item(o, s + 1, n - 1);
	for (size_t w = 0; w < sizeof(words) / sizeof(*words); w++) {
		i = strlen(words[w]);
		if (n >= i && !strncasecmp(s, words[w], i) && (i == n || !is_word(s[i])) &&
		    is_item(o, s + i, n - i))
			return i;
	}
	return 0;
}

/* What PostgreSQL quotes by dollars: $$text$$, $tag$text$tag$. */
static size_t dollar_quoted(const char *s, size_t n)
{
	size_t tag = 1;

	while (tag < n && (isalpha((unsigned char)s[tag]) || s[tag] == '_'))
		tag++;
	if (tag++ >= n || s[tag - 1] != '$')
		return 0;
	for (size_t i = tag; i + tag <= n; i++)
		if (s[i] == '$' && !memcmp(s + i, s, tag))
			return i + tag;
	return 0;
}

/* Whether a quote after a word is an apostrophe: not after one letter, as in E'text', or _utf8. */
static bool is_apostrophe(const char *text, size_t i)
{
	size_t n = i;

	while (n && is_word(text[n - 1]))
		n--;
	return i - n > 1 && text[n] != '_';
}

/* Whether a word of SQL that a name follows ends here. */
static bool before_name(const char *text, size_t n)
{
	static const char *const words[] = {"from", "into", "join", "update", "table"};

	while (n && isspace((unsigned char)text[n - 1]))
		n--;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t len = strlen(words[i]);

		if (n >= len && !strncasecmp(text + n - len, words[i], len) &&
		    (n == len || !is_word(text[n - len - 1])))
			return true;
	}
	return false;
}

/* Whether double quotes are for names, as in SQL: after FROM, or with a point between them. */
static bool quotes_names(const char *text, size_t n)
{
	size_t used;

	for (size_t i = 0; i < n; i += used) {
		used = text[i] == '\'' || text[i] == '"' ? quoted(text + i, n - i) : 0;
		if (used && text[i] == '"' &&
		    (before_name(text, i) ||
		     (i + used + 1 < n && text[i + used] == '.' && text[i + used + 1] == '"')))
			return true;
		used += !used;
	}
	return false;
}

/* The length of a value here, 0: there is none. *sign: how much of it is a sign. */
static size_t value(const struct shaped *o, const char *text, size_t len, size_t i)
{
	const char *s = text + i;
	size_t n = len - i, used = 0;
	bool in_word = i && is_word(s[-1]);

	if (*s == '"')
		return quoted(s, n);
	if (*s == '\'' && !(in_word && is_apostrophe(text, i))) {
		used = quoted(s, n);
		return used || in_word ? used : n; /* a text that was cut */
	}
	if (*s == '-' && n > 1 && isdigit((unsigned char)s[1]) && is_signed(o))
		return 1 + number(s + 1, n - 1);
	if (in_word && s[-1] != '_')
		return 0;
	if (*s == '$')
		used = dollar_quoted(s, n);
	if (!used)
		used = number(s, n);
	return used ? used : in_word ? 0 : sql_value(o, s, n);
}

/* Adds as much as there is room for, at least a byte; returns how much. */
static size_t add_name(struct shaped *o, const char *s, size_t n)
{
	size_t room = SHAPE_MAX - ROOM - o->n + 1;

	n = n < room ? n : room;
	add(o, s, n);
	return n;
}

size_t shape(const char *text, size_t len, char out[SHAPE_MAX])
{
	size_t used, depth = 0, opened[LISTS];
	struct shaped o = {out, 0};
	bool names = quotes_names(text, len);

	for (size_t i = 0; i < len; i += used) {
		char c = text[i];

		if (o.n + ROOM > SHAPE_MAX) {
			add(&o, MORE, MORE_LEN);
			break;
		}
		if (names && c == '"') {
			used = quoted(text + i, len - i);
			used = add_name(&o, text + i, used ? used : 1);
			continue;
		}
		used = value(&o, text, len, i);
		if (used) {
			add_value(&o);
			continue;
		}
		used = 1;
		if (isspace((unsigned char)c)) {
			if (!ends(&o, o.n, " ", 1))
				add(&o, " ", 1);
		} else if (c == ')') {
			add_close(&o, depth && depth <= LISTS ? opened[depth - 1] : o.n);
			depth -= depth > 0;
		} else {
			if (c == '(' && depth++ < LISTS)
				opened[depth - 1] = o.n;
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
