/*
 * Regular expressions: what matches, and where, is what the C library says, for many patterns and
 * texts; and how long and how large they become.
 */
#include "base/err.h"
#include "expr/regex.h"
#include "tap.h"

#include <regex.h>
#include <stdlib.h>
#include <time.h>

static uint64_t seed = 1;

static uint32_t random32(uint32_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % below;
}

/* Whether both take the pattern, and all texts alike. */
static bool same(const char *pattern, const char *const *texts, size_t n, const char **differs)
{
	const char *wrong;
	struct rx *x;
	regex_t re;
	bool equal, newlines, theirs;
	size_t len, steps, start, end;
	regmatch_t where;
	int rc = rx_new(&x, pattern, strlen(pattern), &wrong);

	*differs = "";
	/*
	 * Without REG_NEWLINE, too, the C library takes what follows a newline for a beginning:
	 * sometimes.
	 */
	newlines = !strpbrk(pattern, "^$");
	if (rc == PP_ELIMIT || strstr(wrong ? wrong : "", "back references"))
		return true;
	equal = !regcomp(&re, pattern, REG_EXTENDED | REG_ICASE);
	if (!equal) {
		rx_free(x);
		return rc != 0;
	}
	equal = !rc;
	for (size_t i = 0; i < n && equal; i++) {
		if (strchr(texts[i], '\n') && !newlines)
			continue;
		len = strlen(texts[i]);
		steps = 1000;
		*differs = texts[i];
		theirs = !regexec(&re, texts[i], 1, &where, 0);

		equal = rx_matches(x, texts[i], len) == theirs &&
			rx_find(x, texts[i], len, 0, &steps, &start, &end) == theirs &&
			/*
			 * glibc lets ^ hold in the middle of a text where it is repeated: the third
			 * byte of " -A" matches \W[^a](^[ab]){0,2}.
			 */
			(!theirs || strstr(pattern, "(^") ||
			 (start == (size_t)where.rm_so && end == (size_t)where.rm_eo));
	}
	regfree(&re);
	rx_free(x);
	return equal;
}

static const char *const texts[] = {
	"",	"a",   "A",   "b",    "ab",	 "abab",     "aab",	  "abc",       "aaaa",
	"x y",	"a-b", "a_b", "a\nb", "foo bar", "vfs_read", "VFS_Write", "__x64_sys", "[]",
	"a]b",	"a^b", "a$b", "(a)",  "a|b",	 "a{2}",     "a\\b",	  "-",	       "z9",
	"\xff", " a ", ".",   "a.b",  "bba",	 "caab",     "a b c",	  "ca\t1",
};
#define NTEXTS (sizeof(texts) / sizeof(texts[0]))

static void test_known(void)
{
	static const char *const patterns[] = {
		"a",
		"^a$",
		"^$",
		"$^",
		"a|b",
		"(a|b)+c",
		"a*",
		"a**",
		"a+?",
		"()",
		"(|a)b",
		"a||b",
		"|",
		"()*",
		"(a*)*",
		"(a|b*)*c",
		"a{2}",
		"a{2,}",
		"a{,2}b",
		"^a{1,3}$",
		"a{0}b",
		"(ab){2}",
		"x{0,0}",
		"[abc]",
		"[^abc]",
		"[]]",
		"[^]]",
		"[]-a]",
		"[a-c]",
		"[a-]",
		"[-a]",
		"[--a]",
		"[a-z-9]",
		"[z-a]",
		"[Z-a]",
		"[[:alpha:]]",
		"[[:upper:]]b",
		"[[:nope:]]",
		"[[=a=]]b",
		"[[.-.]]",
		"[[.hyphen.]]",
		"[[:digit:]-z]",
		"[a-[.c.]]",
		"[[.a.]-c]",
		"[\\]]",
		"[a",
		"[",
		"[^",
		"[[:alpha:",
		"(a",
		"a)",
		")",
		"(",
		"a{",
		"a{x}",
		"a{1",
		"a{2,1}",
		"a{40000}",
		"*a",
		"a|*b",
		"+",
		"?",
		"{1}",
		"^*",
		"(*a)",
		"(^a)",
		"a$b",
		"a^b",
		"(a$|b)",
		"\\",

		"\\.",
		"\\^",
		"\\$",
		"\\(a\\)",
		"\\{",
		"\\w+",
		"\\W",
		"\\s",
		"\\S\\s\\S",
		"\\bb",
		"a\\b",
		"\\Bb",
		"\\<a",
		"a\\>",
		"\\`a",
		"a\\'",
		"\\<\\w{3}\\>",
		"\\b*",
		".",
		"^.$",
		"a.b",
		"a.*c",
		"^vfs_(read|write)$",
		"sys$|^x",
		"[^a-z]",
		"[A-_]",

		"(a)(b)(c)",
		"((a)|(b))*c",
		"^(a|ab)(c|bcd)?$",
		"a{1,2}{2}",
	};
	const char *differs;

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		ok(same(patterns[i], texts, NTEXTS, &differs), "'%s' ('%s')", patterns[i], differs);
}

/* Patterns from pieces. */
static void test_made(void)
{
	static const char *const pieces[] = {
		"a",   "b", "c", ".",	"[ab]",	 "[^a]",  "(",	   ")",	  "|",	 "*",	"+",
		"?",   "^", "$", "{2}", "{0,2}", "{1,}",  "\\w",   "\\b", "\\B", "\\<", "\\>",
		"\\s", "_", "[", "]",	"-",	 "[a-c]", "(a|b)", "(b",  "a)",	 "\\W",
	};
	unsigned bad = 0;

	for (int i = 0; i < 20000; i++) {
		char pattern[128] = "", text[12][12];
		const char *all[12], *differs;

		for (uint32_t n = 1 + random32(7); n; n--)
			strcat(pattern, pieces[random32(sizeof(pieces) / sizeof(pieces[0]))]);
		for (int k = 0; k < 12; k++) {
			size_t len = random32(9);

			for (size_t c = 0; c < len; c++)
				text[k][c] = "aabbcAB_ \n-x"[random32(12)];
			text[k][len] = 0;
			all[k] = text[k];
		}
		if (!same(pattern, all, 12, &differs) && bad++ < 5)
			printf("# '%s' differs for '%s'\n", pattern, differs);
	}
	is_u64(bad, 0, "patterns from pieces");
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Twice the text is no more than twice the time, give or take. */
static void test_time(void)
{
	static const char *const patterns[] = {"a+b", "(a*)*b", "(a|a)*b", "a{50}b", "(a+){20}b$"};
	size_t len = 1 << 20;
	char *text = malloc(len);

	memset(text, 'a', len);
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		const char *wrong;
		struct rx *x;
		double start = now();

		rx_new(&x, patterns[i], strlen(patterns[i]), &wrong);
		ok(x && !rx_matches(x, text, len), "%s is not in a megabyte of a", patterns[i]);
		rx_free(x);
		ok(now() - start < 5, "which takes less than the hours of another way");
	}
	free(text);
}

static void test_large(void)
{
	static const char *const patterns[] = {"((a{1,255}){1,255}){1,255}",
					       "(((){255}){255}){255}", "(a{1,255}){1,255}",
					       "a{30000}"};

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		const char *wrong;
		struct rx *x;

		is_int(rx_new(&x, patterns[i], strlen(patterns[i]), &wrong), PP_ELIMIT,
		       "%s is too large", patterns[i]);
	}
}

int main(void)
{
	test_known();
	test_made();
	test_time();
	test_large();
	return done();
}
