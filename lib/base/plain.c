/* The plain bytes of an input: unpacked, without a byte order mark. */
#include "base/plain.h"

#include "base/err.h"
#include "base/unpack.h"

#include <string.h>

#define DEPTH_MAX 4  /* layers of compression */
#define LOOK_AT	  16 /* first bytes */

/*
 * Whether every other byte of text is 0: what PowerShell writes to a file, with a mark of the byte
 * order or without.
 */
static bool is_wide(const uint8_t *p, size_t n)
{
	static const uint8_t utf32be[4] = {0, 0, 0xfe, 0xff};
	size_t zeros[2] = {0};

	if (n >= 4 && !memcmp(p, utf32be, 4))
		return true;
	if (n >= 2 && ((p[0] == 0xff && p[1] == 0xfe) || (p[0] == 0xfe && p[1] == 0xff)))
		return true;
	for (size_t i = 0; i < n; i++)
		zeros[i % 2] += !p[i];
	return n >= 4 && n % 2 == 0 && zeros[0] + zeros[1] == n / 2 && (!zeros[0] || !zeros[1]);
}

static int skip_mark(struct src *s, const uint8_t *first, size_t n, struct diag *d)
{
	static const uint8_t mark[3] = {0xef, 0xbb, 0xbf};
	uint8_t skipped[sizeof(mark)];

	if (n >= sizeof(mark) && !memcmp(first, mark, sizeof(mark)))
		return src_read_all(s, skipped, sizeof(skipped));
	if (!is_wide(first, n))
		return 0;
	diag_error(d, src_name(s), -1,
		   "is text in UTF-16 or UTF-32: iconv -f UTF-16 -t UTF-8 makes it readable");
	return PP_EUNSUPPORTED;
}

int plain_src(struct src **s, struct diag *d)
{
	uint8_t first[LOOK_AT];

	for (int depth = 0; depth <= DEPTH_MAX; depth++) {
		enum unpack_kind packed;
		size_t n;
		int rc = src_peek(*s, first, sizeof(first), &n);

		if (rc) {
			diag_error(d, src_name(*s), -1, "cannot read: %s", pp_strerror(rc));
			return rc;
		}
		packed = unpack_kind(first, n);
		if (!packed)
			return skip_mark(*s, first, n, d);
		if (depth < DEPTH_MAX)
			rc = unpack_new(s, packed, *s, d);
		if (rc)
			return rc;
	}
	diag_error(d, src_name(*s), -1, "is compressed more than %d times", DEPTH_MAX);
	return PP_EUNSUPPORTED;
}

int plain_open(struct src **s, const char *name, struct diag *d)
{
	int rc = src_open(s, name, d);

	if (!rc)
		rc = plain_src(s, d);
	if (rc) {
		src_free(*s);
		*s = NULL;
	}
	return rc;
}
