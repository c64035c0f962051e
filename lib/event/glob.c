/* Shell patterns on bytes that need no end. */
#include "event/glob.h"

/* One element of a pattern against a byte; *used gets its length. An open '[' stands for itself. */
static bool element(const char *p, size_t n, char c, size_t *used)
{
	bool not, found = false;
	size_t i = 1;

	*used = 1;
	if (*p == '?')
		return true;
	if (*p == '\\' && n > 1) {
		*used = 2;
		return p[1] == c;
	}
	if (*p != '[')
		return *p == c;
	not = n > 1 && (p[1] == '!' || p[1] == '^');
	i += not ;
	for (size_t first = i; i < n && (p[i] != ']' || i == first); i++) {
		unsigned char low = (unsigned char)p[i], high = low;

		if (i + 2 < n && p[i + 1] == '-' && p[i + 2] != ']') {
			high = (unsigned char)p[i + 2];
			i += 2;
		}
		found = found || ((unsigned char)c >= low && (unsigned char)c <= high);
	}
	if (i >= n)
		return c == '[';
	*used = i + 1;
	return found != not ;
}

bool glob_match(const char *pattern, size_t pattern_len, const char *text, size_t len)
{
	size_t p = 0, t = 0, star = 0, from = 0, used;
	bool starred = false;

	/* Of several stars only the last can need another try. */
	while (t < len) {
		if (p < pattern_len && pattern[p] == '*') {
			star = ++p;
			from = t;
			starred = true;
		} else if (p < pattern_len &&
			   element(pattern + p, pattern_len - p, text[t], &used)) {
			p += used;
			t++;
		} else if (starred) {
			p = star;
			t = ++from;
		} else {
			return false;
		}
	}
	while (p < pattern_len && pattern[p] == '*')
		p++;
	return p == pattern_len;
}
