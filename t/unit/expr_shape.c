/* Shapes of texts: what differs only in its values has one shape. */
#include "expr/shape.h"

#include "expr/regex.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *text, *shape;
} rows[] = {
	{"", ""},
	{"SELECT 1", "SELECT ?"},
	{"SELECT  *\n\tFROM t1 WHERE id = 42 AND x='a''b\\'c'",
	 "SELECT * FROM t1 WHERE id = ? AND x=?"},
	{"UPDATE pgbench_accounts SET abalance = abalance + -4711 WHERE aid = 93201;",
	 "UPDATE pgbench_accounts SET abalance = abalance + ? WHERE aid = ?;"},
	{"a - 5", "a - ?"},
	{"a = -5", "a = ?"},
	{"x IN (1)", "x IN (?)"},
	{"x IN (1, 2)", "x IN (?, …)"},
	{"x IN (1,2,3,'four', 5.5)", "x IN (?, …)"},
	{"VALUES (1, 2), (3, 4), (5, 6)", "VALUES (?, …), …"},
	{"VALUES (1),(2),(3)", "VALUES (?), …"},
	{"f(1, a, 2)", "f(?, a, ?)"},
	{"1.5e-7 0x1F deadbeef12 cafe 10.0.0.1", "? ? ? cafe ?"},
	{"/api/users/123/items/4567?page=2", "/api/users/?/items/??page=?"},
	{"user:1000:name", "user:?:name"},
	{"key_12 key12 int4 v2", "key_? key12 int4 v2"},
	{"/tmp/550e8400-e29b-41d4-a716-446655440000.log", "/tmp/?.log"},
	{"550E8400-E29B-41D4-A716-446655440000", "?"},
	{"10ms 4kB", "?ms ?kB"},
	{"it's", "it's"},
	{"\"a\\\"b\" x", "? x"},
	{"$1 = :2", "? = ?"},
	{"id=ANY($1) AND t = :1 AND u = :name", "id=ANY(?) AND t = ? AND u = :name"},
	{"x IN ($1, $2)", "x IN (?, …)"},
	{"x IN (?, ?, ?)", "x IN (?, …)"},
	{"VALUES (?,?),(?,?)", "VALUES (?, …), …"},
	{"VALUES (1, NULL, 'a', true), (NULL, 2, NULL, FALSE)", "VALUES (?, …), …"},
	{"a = NULL AND b IS NULL AND c IS NOT NULL", "a = ? AND b IS NULL AND c IS NOT NULL"},
	{"VALUES (now(), 1), (now(), 2), (now(), 3)", "VALUES (now(), ?), …"},
	{"f((1), (a), (2)), (b), (b)", "f((?), (a), (?)), (b), (b)"},
	{"a) 1) (2) (3), (4)", "a) ?) (?) (?), …"},
	{"SELECT \"t\".\"a\" FROM \"t\" WHERE \"t\".\"2nd\" = 'x'",
	 "SELECT \"t\".\"a\" FROM \"t\" WHERE \"t\".\"2nd\" = ?"},
	{"INSERT INTO \"t\" (\"a\", \"b\") VALUES (1, 2)",
	 "INSERT INTO \"t\" (\"a\", \"b\") VALUES (?, …)"},
	{"SELECT a FROM t WHERE b = \"x\"", "SELECT a FROM t WHERE b = ?"},
	{"SELECT E'a\\'b', 5, N'x', _utf8'y'", "SELECT E?, …, N?, _utf8?"},
	{"it's a dog's life", "it's a dog's life"},
	{"DO $$ x 1 $$; SELECT $q$a $$ 5$q$", "DO ?; SELECT ?"},
	{"a = 'text that was cut 12", "a = ?"},
	{"(null)", "(null)"},
	{"caf\xc3\xa9"
	 "9",
	 "caf\xc3\xa9"
	 "9"},
	{"''", "?"},
	{"-", "-"},
	{"0x", "?x"},
};

/* What sed -E s/REGEX/TEXT/g makes of it. */
static const struct {
	const char *text, *regex, *with, *result;
} subs[] = {
	{"/item/12/part/7", "/[0-9]+", "/N", "/item/N/part/N"},
	{"xa", "x*", "-", "-a-"},
	{"abc", "x*", "-", "-a-b-c-"},
	{"abbc", "ab*c|b", "!", "!"},
	{"aab", "a|ab", "<>", "<><>"},
	{"aaa", "^a", "", "aa"},
	{"one two", "\\b", "|", "|one| |two|"},
	{"query of 12", "no", "x", "query of 12"},
	{"", "^$", "empty", "empty"},
	{"a.b.c", "\\.", "", "abc"},
};

static void check_subs(void)
{
	static char out[SHAPE_MAX], text[2 * SHAPE_MAX];
	const char *wrong;
	struct rx *x;
	size_t n;

	for (size_t i = 0; i < sizeof(subs) / sizeof(subs[0]); i++) {
		bool made = !rx_new(&x, subs[i].regex, strlen(subs[i].regex), &wrong);

		n = made ? shape_sub(x, subs[i].text, strlen(subs[i].text), subs[i].with,
				     strlen(subs[i].with), out)
			 : 0;
		ok(made && n == strlen(subs[i].result) && !memcmp(out, subs[i].result, n),
		   "sub %s: %.*s", subs[i].regex, (int)n, out);
		rx_free(x);
	}
	/* Each match is looked for to the end of the text: that is not done for all of them. */
	memset(text, 'a', sizeof(text));
	ok(!rx_new(&x, "a.*b|a", 6, &wrong), "a slow one");
	n = shape_sub(x, text, 4000, "x", 1, out);
	ok(n == 4000 && out[0] == 'x' && out[n - 1] == 'a', "whose time is bounded");
	n = shape_sub(x, text, 2, "0123456789", 10, out);
	ok(n == 20, "what grows");
	n = shape_sub(x, text, sizeof(text), "xx", 2, out);
	ok(n <= SHAPE_MAX && n > SHAPE_MAX - 16 && !memcmp(out + n - 3, "…", 3), "is cut");
	rx_free(x);
}

int main(void)
{
	static char out[SHAPE_MAX], again[SHAPE_MAX], longest[3 * SHAPE_MAX];
	size_t n, m;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		n = shape(rows[i].text, strlen(rows[i].text), out);
		ok(n == strlen(rows[i].shape) && !memcmp(out, rows[i].shape, n), "%s: %.*s",
		   rows[i].text, (int)n, out);
	}
	/* Any bytes: in bounds, and no more than there is room for. */
	srand(1);
	for (int round = 0; round < 2000; round++) {
		static const char some[] = "09afx-,()'\"\\ ._e+\xc3?";
		size_t len = (size_t)rand() % sizeof(longest);
		char *exact = malloc(len ? len : 1);

		for (size_t i = 0; exact && i < len; i++)
			exact[i] = some[(size_t)rand() % (sizeof(some) - 1)];
		n = exact ? shape(exact, len, out) : SHAPE_MAX + 1;
		free(exact);
		if (n > SHAPE_MAX) {
			ok(false, "bounds");
			return done();
		}
	}
	ok(true, "bounds");
	memset(longest, 'x', sizeof(longest));
	n = shape(longest, sizeof(longest), out);
	ok(n <= SHAPE_MAX && n > SHAPE_MAX - 16 && !memcmp(out + n - 3, "…", 3),
	   "a long text is cut");
	n = shape("a IN (1, 2) b", 13, out);
	m = shape("a IN (7,8,9,10) b", 17, again);
	ok(n == m && !memcmp(out, again, n), "lists of any length are one");
	check_subs();
	return done();
}
