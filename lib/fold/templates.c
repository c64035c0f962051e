/* Names of C++ and Rust functions without their template arguments. */
#include "fold/reshape.h"
#include "symbol/demangled_name.h"

#include <string.h>

/* One walk through the name. False: brackets do not match. */
static bool strip(const char *s, size_t n, uint64_t depth, struct buf *b)
{
	struct name_walk w = {.s = s, .n = n};
	enum name_token token;
	uint64_t levels = 0;

	while ((token = name_next(&w)) && !w.odd) {
		if (token == NAME_OPEN && w.open[w.depth - 1] == 'T' && levels++ == depth)
			buf_adds(b, "<...>");
		/* What stands for all of it has its end already. */
		if (token == NAME_CLOSE && w.closed == 'T' && --levels == depth)
			continue;
		if (levels <= depth)
			buf_add(b, s + w.at, w.len);
	}
	return !w.depth && !w.odd;
}

void fold_strip_templates(const char *s, size_t n, uint64_t depth, struct buf *b)
{
	size_t from = b->len;

	if (memchr(s, '<', n) && strip(s, n, depth, b))
		return;
	if (b->len > from)
		b->data[b->len = from] = 0;
	buf_add(b, s, n);
}
