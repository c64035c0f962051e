/* The cells of the TSV form: texts, as they are escaped, and numbers. */
#include "table/cell.h"

#include "base/err.h"
#include "table/table.h"

#include <string.h>

/*
 * Names and keys: what would break a cell is written as \xHH, and so is what would make it look
 * like TABLE_OTHER. The reader gets back all bytes.
 */
void table_add_escaped(struct buf *b, const char *s, size_t n, bool colon)
{
	bool other = n == strlen(TABLE_OTHER) && !memcmp(s, TABLE_OTHER, n);
	size_t done = 0;

	for (size_t i = 0; i < n; i++) {
		uint8_t c = (uint8_t)s[i];
		int bytes = c >= 0x80 ? utf8_shown(s + i, n - i) : 1;

		if (bytes > 1 || (bytes && c >= ' ' && c != 0x7f && c != '\\' &&
				  !(c == ':' && colon) && !(other && !i))) {
			i += (size_t)bytes - 1;
			continue;
		}
		buf_add(b, s + done, i - done);
		done = i + 1;
		if (c == '\\')
			buf_adds(b, "\\\\");
		else
			buf_addf(b, "\\x%02x", c);
	}
	buf_add(b, s + done, n - done);
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Adds the bytes that a cell stands for. */
int cell_unescape(struct buf *b, struct cell s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] != '\\') {
			buf_addc(b, s.p[i]);
		} else if (i + 1 < s.n && s.p[i + 1] == '\\') {
			buf_addc(b, '\\');
			i++;
		} else if (i + 3 < s.n && s.p[i + 1] == 'x' && hex_digit(s.p[i + 2]) >= 0 &&
			   hex_digit(s.p[i + 3]) >= 0) {
			buf_addc(b, (char)(hex_digit(s.p[i + 2]) * 16 + hex_digit(s.p[i + 3])));
			i += 3;
		} else {
			return PP_ECORRUPT;
		}
	}
	return b->err;
}

bool cell_is(struct cell s, const char *want)
{
	return s.n == strlen(want) && !memcmp(s.p, want, s.n);
}

/* A decimal integer; hexadecimal after 0x. */
int cell_int(struct cell s, hist_int least, hist_int most, hist_int *v)
{
	bool negative = s.n && *s.p == '-', hex;
	size_t i = negative;
	int base;

	hex = s.n > i + 2 && s.p[i] == '0' && s.p[i + 1] == 'x';
	base = hex ? 16 : 10;
	i += hex ? 2 : 0;
	if (i >= s.n)
		return PP_ECORRUPT;
	for (*v = 0; i < s.n; i++) {
		int digit = hex_digit(s.p[i]);

		if (digit < 0 || digit >= base || wide_int_mul(*v, base, v) ||
		    wide_int_add(*v, -digit, v))
			return PP_ECORRUPT;
	}
	/* Collected below zero, where there is one number more. */
	if (!negative && wide_int_mul(*v, -1, v))
		return PP_ECORRUPT;
	return *v < least || *v > most ? PP_ECORRUPT : 0;
}

int cell_u64(struct cell s, uint64_t *v)
{
	hist_int x;
	int rc = cell_int(s, 0, UINT64_MAX, &x);

	*v = rc ? 0 : (uint64_t)x;
	return rc;
}

/* Cuts off what stands before c, or all. */
struct cell cell_until(struct cell *s, char c)
{
	const char *at = memchr(s->p, c, s->n);
	struct cell head = {s->p, at ? (size_t)(at - s->p) : s->n};

	s->p += head.n + (at != NULL);
	s->n -= head.n + (at != NULL);
	return head;
}
