/* The growing buffer, and how untrusted text gets into it: for terminals, for JSON. */
#include "base/buf.h"

#include "base/err.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

void buf_release(struct buf *b)
{
	free(b->data);
	*b = (struct buf)BUF_INIT;
}

int buf_grow(struct buf *b, size_t more)
{
	size_t want, cap = b->cap ? b->cap : 64;
	uint8_t *data;

	if (b->err)
		return b->err;
	if (__builtin_add_overflow(b->len, more, &want) || want >= SIZE_MAX / 2)
		return b->err = PP_ENOMEM;
	while (cap <= want)
		cap *= 2;
	data = realloc(b->data, cap);
	if (!data)
		return b->err = PP_ENOMEM;
	b->data = data;
	b->cap = cap;
	b->data[b->len] = 0;
	return 0;
}

void buf_fill(struct buf *b, char c, size_t n)
{
	if (buf_reserve(b, n) || !n)
		return;
	memset(b->data + b->len, c, n);
	b->len += n;
	b->data[b->len] = 0;
}

void buf_vaddf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	if (buf_reserve(b, 64))
		return;
	va_copy(again, ap);
	n = vsnprintf((char *)b->data + b->len, b->cap - b->len, fmt, ap);
	if (n >= 0 && (size_t)n >= b->cap - b->len && !buf_reserve(b, (size_t)n))
		n = vsnprintf((char *)b->data + b->len, b->cap - b->len, fmt, again);
	va_end(again);
	if (n > 0 && !b->err)
		b->len += (size_t)n;
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(b, fmt, ap);
	va_end(ap);
}

static void add_digits(struct buf *b, const char *digits, int n, int width, char pad)
{
	int fill = width > n ? width - n : 0;
	uint8_t *p;

	if (buf_reserve(b, (size_t)fill + (size_t)n))
		return;
	p = b->data + b->len;
	for (int i = 0; i < fill; i++)
		*p++ = (uint8_t)pad;
	for (int i = 0; i < n; i++)
		*p++ = (uint8_t)digits[i];
	*p = 0;
	b->len += (size_t)fill + (size_t)n;
}

void buf_add_u64(struct buf *b, uint64_t v, int width, char pad)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";
	char tmp[20];
	int i = sizeof(tmp);

	for (; v >= 100; v /= 100) {
		i -= 2;
		memcpy(tmp + i, pairs + 2 * (v % 100), 2);
	}
	if (v >= 10) {
		i -= 2;
		memcpy(tmp + i, pairs + 2 * v, 2);
	} else {
		tmp[--i] = (char)('0' + v);
	}
	add_digits(b, tmp + i, (int)sizeof(tmp) - i, width, pad);
}

void buf_add_hex(struct buf *b, uint64_t v, int width, char pad)
{
	char tmp[16];
	int i = sizeof(tmp);

	do {
		tmp[--i] = "0123456789abcdef"[v & 15];
		v >>= 4;
	} while (v);
	add_digits(b, tmp + i, (int)sizeof(tmp) - i, width, pad);
}

int utf8_len(const char *s, size_t n)
{
	const uint8_t *p = (const uint8_t *)s;
	uint32_t cp;
	int len;

	if (!n)
		return 0;
	if (p[0] < 0x80)
		return 1;
	if (p[0] >= 0xc2 && p[0] <= 0xdf)
		len = 2, cp = p[0] & 0x1f;
	else if (p[0] >= 0xe0 && p[0] <= 0xef)
		len = 3, cp = p[0] & 0x0f;
	else if (p[0] >= 0xf0 && p[0] <= 0xf4)
		len = 4, cp = p[0] & 0x07;
	else
		return 0;
	if (n < (size_t)len)
		return 0;
	for (int i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		cp = cp << 6 | (p[i] & 0x3f);
	}
	if ((len == 3 && cp < 0x800) || (len == 4 && cp < 0x10000) || cp > 0x10ffff ||
	    (cp >= 0xd800 && cp <= 0xdfff))
		return 0;
	return len;
}

/*
 * What a terminal would obey: the controls of one byte and of C1; and what changes the direction of
 * the text around it or ends its line (U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069).
 */
static bool is_control(const char *s, int len)
{
	const uint8_t *p = (const uint8_t *)s;

	switch (len) {
	case 1: return p[0] < 0x20 || p[0] == 0x7f;
	case 2: return (p[0] == 0xc2 && p[1] < 0xa0) || (p[0] == 0xd8 && p[1] == 0x9c);
	case 3:
		if (p[0] != 0xe2)
			return false;
		return (p[1] == 0x80 &&
			(p[2] == 0x8e || p[2] == 0x8f || (p[2] >= 0xa8 && p[2] <= 0xae))) ||
		       (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9);
	}
	return false;
}

int utf8_shown(const char *s, size_t n)
{
	int len = utf8_len(s, n);

	return len && !is_control(s, len) ? len : 0;
}

#define EACH_BYTE(c) (~(uint64_t)0 / 255 * (c))

/* Whether eight characters are all printable ones of ASCII. */
static bool are_plain(const char *s)
{
	uint64_t v;

	memcpy(&v, s, sizeof(v));
	/* The high bit of a byte is set if it is below ' ', above '~', or beside such a one. */
	return !(((v - EACH_BYTE(' ')) | (v + EACH_BYTE(1)) | v) & EACH_BYTE(0x80));
}

void buf_add_safe(struct buf *b, const char *s, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t run = i;
		int len;

		while (n - run >= 8 && are_plain(s + run))
			run += 8;
		while (run < n && s[run] >= ' ' && s[run] < 0x7f)
			run++;
		buf_add(b, s + i, run - i);
		i = run;
		if (i == n)
			break;
		len = utf8_shown(s + i, n - i);
		if (!len) {
			buf_addf(b, "\\x%02x", (uint8_t)s[i++]);
			continue;
		}
		buf_add(b, s + i, (size_t)len);
		i += (size_t)len;
	}
}

/* The number of a valid character of at most three bytes. */
static unsigned utf8_point(const char *s, int len)
{
	const uint8_t *p = (const uint8_t *)s;

	if (len == 1)
		return p[0];
	if (len == 2)
		return (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu);
	return (p[0] & 0xfu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
}

void buf_add_json(struct buf *b, const char *s, size_t n)
{
	buf_addc(b, '"');
	for (size_t i = 0; i < n;) {
		int len = utf8_len(s + i, n - i);
		uint8_t c = (uint8_t)s[i];

		if (!len) {
			buf_adds(b, "\xef\xbf\xbd");
			i++;
		} else if (c == '"' || c == '\\') {
			buf_addc(b, '\\');
			buf_addc(b, (char)c);
			i++;
		} else if (is_control(s + i, len)) {
			buf_addf(b, "\\u%04x", utf8_point(s + i, len));
			i += (size_t)len;
		} else {
			buf_add(b, s + i, (size_t)len);
			i += (size_t)len;
		}
	}
	buf_addc(b, '"');
}
