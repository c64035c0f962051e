/* Names without what a rebuild changes; see canon.h. */
#include "fold/canon.h"

#include <stdbool.h>

#define DIGITS "0123456789"
#define HEX    "0123456789abcdef"

/* Of an offset in a function; a longer one is where a function lies in a file: gzip+0x4a20. */
#define OFFSET_DIGITS 3

/* What compilers append, each followed by "." and a number, or, `bare`, by nothing. */
static const struct {
	const char *text;
	bool bare;
} suffixes[] = {{".isra", true},     {".part", false}, {".constprop", true}, {".cold", true},
		{".lto_priv", true}, {".llvm", false}, {".__uniq", false},   {".localalias", true}};

static size_t count_of(const char *s, size_t n, const char *set)
{
	size_t i = 0;

	while (i < n && s[i] && strchr(set, s[i]))
		i++;
	return i;
}

static bool is_address(const char *s, size_t n)
{
	if (n > 2 && s[0] == '0' && s[1] == 'x')
		return count_of(s + 2, n - 2, HEX) == n - 2;
	return n >= 8 && n <= 16 && count_of(s, n, HEX) == n && count_of(s, n, DIGITS);
}

/* The length without one suffix of a compiler; n itself if there is none. */
static size_t cut_suffix(const char *s, size_t n)
{
	size_t end = n, digits = 0;

	while (digits < end && strchr(DIGITS, s[end - 1 - digits]))
		digits++;
	if (digits && digits < end && s[end - 1 - digits] == '.')
		end -= digits + 1;
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		size_t len = strlen(suffixes[i].text);

		if (end > len && !memcmp(s + end - len, suffixes[i].text, len) &&
		    (end < n || suffixes[i].bare))
			return end - len;
	}
	return n;
}

static size_t cut_clone(const char *s, size_t n)
{
	static const char clone[] = " [clone ";
	const char *at = n && s[n - 1] == ']' ? memmem(s, n, clone, sizeof(clone) - 1) : NULL;

	return at ? (size_t)(at - s) : n;
}

static size_t cut_hash(const char *s, size_t n)
{
	static const char before[] = "::h";
	size_t whole = sizeof(before) - 1 + 16;

	if (n > whole && !memcmp(s + n - whole, before, sizeof(before) - 1) &&
	    count_of(s + n - 16, 16, HEX) == 16)
		return n - whole;
	return n;
}

static size_t cut_offset(const char *s, size_t n)
{
	size_t digits = 0;

	while (digits < n && strchr(HEX, s[n - 1 - digits]))
		digits++;
	if (digits && digits <= OFFSET_DIGITS && n > digits + 3 &&
	    !memcmp(s + n - digits - 3, "+0x", 3))
		return n - digits - 3;
	return n;
}

/* The mark at the end, such as _[k]: its length, or 0. */
static size_t mark_of(const char *s, size_t n)
{
	return n > 4 && s[n - 1] == ']' && s[n - 3] == '[' && s[n - 4] == '_' ? 4 : 0;
}

void canon_name(const char *name, size_t len, struct buf *b)
{
	size_t mark = mark_of(name, len), n = len - mark, before;

	buf_reset(b);
	if (is_address(name, n)) {
		buf_adds(b, "[unknown]");
	} else {
		do {
			before = n;
			n = cut_offset(name, n);
			n = cut_clone(name, n);
			n = cut_suffix(name, n);
			n = cut_hash(name, n);
		} while (n != before);
		buf_add(b, name, n);
	}
	/* What is inlined in one build is often not in the other. */
	if (mark && name[len - 2] != 'i')
		buf_add(b, name + len - mark, mark);
}
