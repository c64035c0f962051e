/* Reads JSON that lies in memory. */
#include "conv/json_reader.h"

#include <math.h>
#include <stdlib.h>

static void blanks(struct json *j)
{
	while (j->p < j->end && (*j->p == ' ' || *j->p == '\n' || *j->p == '\t' || *j->p == '\r'))
		j->p++;
}

char json_peek(struct json *j)
{
	blanks(j);
	if (j->bad || j->p == j->end)
		return 0;
	return *j->p == '-' || (*j->p >= '0' && *j->p <= '9') ? '0' : (char)*j->p;
}

static bool take(struct json *j, char c)
{
	blanks(j);
	if (j->bad || j->p == j->end || *j->p != (uint8_t)c)
		return false;
	j->p++;
	return true;
}

static void enter(struct json *j, char open)
{
	j->first = true;
	if (json_peek(j) != open) {
		/* As one that is empty: `depth` tells json_item that none was entered. */
		json_skip(j);
		j->first = false;
		j->depth |= 0x80000000u;
		return;
	}
	j->p++;
	j->bad |= ++j->depth > JSON_DEPTH;
}

void json_object(struct json *j)
{
	enter(j, '{');
}

void json_array(struct json *j)
{
	enter(j, '[');
}

/* The next of an array or object that ends with `close`. */
static bool next(struct json *j, char close)
{
	bool first = j->first;

	j->first = false;
	if (j->depth & 0x80000000u) {
		j->depth &= 0x7fffffffu;
		return false;
	}
	if (j->bad)
		return false;
	if (take(j, close)) {
		j->depth--;
		return false;
	}
	if (!first && !take(j, ','))
		j->bad = true;
	j->bad |= !json_peek(j) || *j->p == ']' || *j->p == '}';
	return !j->bad;
}

bool json_item(struct json *j)
{
	return next(j, ']');
}

bool json_member(struct json *j, struct ps_str *key)
{
	if (!next(j, '}'))
		return false;
	if (json_peek(j) != '"') {
		j->bad = true;
		return false;
	}
	*key = json_str(j);
	j->bad |= !take(j, ':');
	return !j->bad;
}

/* ---- texts ---- */

static bool hex4(struct json *j, unsigned *v)
{
	*v = 0;
	for (int i = 0; i < 4; i++) {
		uint8_t c = j->p < j->end ? *j->p++ : 0;

		if (c >= '0' && c <= '9')
			c -= '0';
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			c = (uint8_t)((c | 32) - 'a' + 10);
		else
			return false;
		*v = *v << 4 | c;
	}
	return true;
}

static void add_point(struct buf *b, unsigned cp)
{
	if (cp < 0x80) {
		buf_addc(b, (char)cp);
	} else if (cp < 0x800) {
		buf_addc(b, (char)(0xc0 | cp >> 6));
		buf_addc(b, (char)(0x80 | (cp & 0x3f)));
	} else if (cp < 0x10000) {
		buf_addc(b, (char)(0xe0 | cp >> 12));
		buf_addc(b, (char)(0x80 | (cp >> 6 & 0x3f)));
		buf_addc(b, (char)(0x80 | (cp & 0x3f)));
	} else {
		buf_addc(b, (char)(0xf0 | cp >> 18));
		buf_addc(b, (char)(0x80 | (cp >> 12 & 0x3f)));
		buf_addc(b, (char)(0x80 | (cp >> 6 & 0x3f)));
		buf_addc(b, (char)(0x80 | (cp & 0x3f)));
	}
}

/* After the backslash. */
static bool escape(struct json *j)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	unsigned cp, low;
	uint8_t c = j->p < j->end ? *j->p++ : 0;
	const char *at = c ? strchr(from, c) : NULL;

	if (at) {
		buf_addc(j->text, to[at - from]);
		return true;
	}
	if (c != 'u' || !hex4(j, &cp))
		return false;
	if (cp >= 0xd800 && cp < 0xdc00 && j->end - j->p >= 6 && j->p[0] == '\\' &&
	    j->p[1] == 'u') {
		struct json back = *j;

		j->p += 2;
		if (!hex4(j, &low))
			return false;
		if (low >= 0xdc00 && low < 0xe000)
			cp = 0x10000 + ((cp - 0xd800) << 10) + (low - 0xdc00);
		else
			*j = back;
	}
	/* Half of a pair is no character. */
	add_point(j->text, cp >= 0xd800 && cp < 0xe000 ? 0xfffd : cp);
	return true;
}

struct ps_str json_str(struct json *j)
{
	const uint8_t *from;

	if (json_peek(j) != '"') {
		json_skip(j);
		return ps_str("", 0);
	}
	from = ++j->p;
	while (j->p < j->end && *j->p != '"' && *j->p != '\\')
		j->p++;
	if (j->p < j->end && *j->p == '"')
		return ps_str((const char *)from, (size_t)(j->p++ - from));
	buf_reset(j->text);
	while (j->p < j->end && *j->p != '"') {
		buf_add(j->text, from, (size_t)(j->p - from));
		j->p++;
		if (!escape(j))
			break;
		from = j->p;
		while (j->p < j->end && *j->p != '"' && *j->p != '\\')
			j->p++;
	}
	j->bad |= j->p >= j->end || *j->p != '"' || j->text->err;
	if (j->bad)
		return ps_str("", 0);
	buf_add(j->text, from, (size_t)(j->p++ - from));
	return ps_str(buf_str(j->text), j->text->len);
}

/* ---- numbers ---- */

double json_double(struct json *j)
{
	char digits[64], *end;
	size_t n = 0;
	double v;

	if (json_peek(j) != '0') {
		json_skip(j);
		return 0;
	}
	while (j->p < j->end && n < sizeof(digits) - 1 && *j->p && strchr("+-.eE0123456789", *j->p))
		digits[n++] = (char)*j->p++;
	digits[n] = 0;
	v = strtod(digits, &end);
	j->bad |= *end || !isfinite(v);
	return j->bad ? 0 : v;
}

uint64_t json_u64(struct json *j)
{
	struct json back = *j;
	uint64_t v = 0;
	double d;

	if (json_peek(j) == '0') {
		while (j->p < j->end && *j->p >= '0' && *j->p <= '9' && v < UINT64_MAX / 10 - 1)
			v = v * 10 + (uint64_t)(*j->p++ - '0');
		if (j->p == j->end || !strchr("+-.eE0123456789", *j->p))
			return v;
	}
	*j = back;
	d = json_double(j);
	return d <= 0 ? 0 : d >= 0x1p64 ? UINT64_MAX : (uint64_t)(d + 0.5);
}

bool json_number(struct json *j, double *v)
{
	bool is = json_peek(j) == '0';

	*v = json_double(j);
	return is;
}

uint32_t json_place(struct json *j)
{
	bool null = json_peek(j) == 'n';
	double v;

	if (!json_number(j, &v))
		return null ? JSON_NONE : JSON_NOWHERE;
	if (v < 0 || v >= JSON_NOWHERE || v != (uint32_t)v)
		return v == -1 ? JSON_NONE : JSON_NOWHERE;
	return (uint32_t)v;
}

void json_skip(struct json *j)
{
	unsigned depth = 0;
	char c;

	do {
		c = json_peek(j);
		if (c == '"') {
			json_str(j);
		} else if (c == '0') {
			json_double(j);
		} else if (c == '{' || c == '[') {
			j->p++;
			j->bad |= ++depth + (j->depth & 0x7fffffffu) > JSON_DEPTH;
			continue;
		} else if ((c == '}' || c == ']') && depth) {
			j->p++;
			depth--;
		} else if ((c == ',' || c == ':') && depth) {
			j->p++;
			continue;
		} else if (c >= 'a' && c <= 'z') {
			while (j->p < j->end && *j->p >= 'a' && *j->p <= 'z')
				j->p++;
		} else {
			j->bad = true;
		}
	} while (depth && !j->bad);
}

bool json_has(const uint8_t *bytes, size_t n, const char *key, const char *other)
{
	struct buf text = BUF_INIT;
	struct json j = json_make(bytes, n, &text);
	struct ps_str name;
	bool one = false, two = false;

	if (json_peek(&j) == '{')
		for (json_object(&j); !(one && two) && json_member(&j, &name); json_skip(&j)) {
			one |= json_is(name, key);
			two |= json_is(name, other);
		}
	buf_release(&text);
	return one && two;
}
