/*
 * Names of Haskell as GHC encodes them: letters stand for what an assembler does not take, and z or
 * Z comes before each. "Main_zdwleaf_info" is Main.$wleaf.
 */
#include "symbol/demangle.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* What a name is of: code, in one form or another. */
static const char *const ends[] = {"_con_info", "_con_entry", "_static_info", "_info", "_entry",
				   "_closure",	"_ret",	      "_slow",	      "_fast"};

static size_t without_end(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		size_t n = strlen(ends[i]);

		if (len > n && !memcmp(name + len - n, ends[i], n))
			return len - n;
	}
	return 0;
}

/* Tuples: "Z2T" is (,), "Z1H" is (# #). How many bytes they take; 0: none. */
static size_t add_tuple(const char *s, struct buf *b)
{
	char *end;
	unsigned long n;

	if (!isdigit((unsigned char)s[1]))
		return 0;
	n = strtoul(s + 1, &end, 10);
	if (n > 99 || (*end != 'T' && *end != 'H'))
		return 0;
	buf_adds(b, *end == 'H' ? "(#" : "(");
	while (n-- > 1)
		buf_addc(b, ',');
	buf_adds(b, *end == 'H' ? "#)" : ")");
	return (size_t)(end - s) + 1;
}

/* "z2cU" is U+002C. Only what is printable ASCII is taken. */
static size_t add_number(const char *s, struct buf *b)
{
	char *end;
	unsigned long c;

	if (!isdigit((unsigned char)s[1]))
		return 0;
	c = strtoul(s + 1, &end, 16);
	if (c <= ' ' || c >= 0x7f || *end != 'U')
		return 0;
	buf_addc(b, (char)c);
	return (size_t)(end - s) + 1;
}

/* The character or tuple that s begins with; how many bytes it takes. */
static size_t add_one(const char *s, struct buf *b)
{
	static const char letters[] = "abcdeghilmnpqrstuvz", stand[] = "&|^$=>#.<-!+'\\/*_%z",
			  upper[] = "LRMNCZ", brackets[] = "()[]:Z";
	const char *at = NULL;
	size_t n = 0;

	if (s[0] == 'z' && s[1] && (at = strchr(letters, s[1])))
		buf_addc(b, stand[at - letters]);
	else if (s[0] == 'Z' && s[1] && (at = strchr(upper, s[1])))
		buf_addc(b, brackets[at - upper]);
	if (at)
		return 2;
	if (s[0] == 'z')
		n = add_number(s, b);
	else if (s[0] == 'Z')
		n = add_tuple(s, b);
	if (!n)
		buf_addc(b, *s);
	return n ? n : 1;
}

/* How many underscores there are: package and module come before them. */
static unsigned count_joints(const char *s, size_t len)
{
	unsigned n = 0;

	for (size_t i = 0; i < len; i++)
		n += s[i] == '_';
	return n;
}

const char *demangle_ghc(const char *name, struct buf *b)
{
	size_t len = without_end(name, strnlen(name, DEMANGLE_MAX_IN + 1));
	unsigned joints = count_joints(name, len);

	/* Functions of the runtime are C's, or assembly: they are not encoded. */
	if (!len || len > DEMANGLE_MAX_IN || joints > 2 || !strncmp(name, "stg_", 4) ||
	    (joints && !isupper((unsigned char)name[joints > 1 ? strcspn(name, "_") + 1 : 0])))
		return name;
	buf_reset(b);
	for (const char *s = name; s < name + len;) {
		if (*s == '_') {
			buf_addc(b, joints-- > 1 ? ':' : '.');
			s++;
		} else {
			s += add_one(s, b);
		}
	}
	return b->err ? name : buf_str(b);
}
