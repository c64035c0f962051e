/* Names of C++ and Rust functions without their template arguments. */
#include "fold/shape.h"

#include <string.h>

#define DEPTH_MAX 256 /* brackets within each other; names with more stay as they are */

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '_' || c == '$' || (uint8_t)c >= 0x80;
}

/* The bytes of the operator's sign that begins at i, as in "operator<<"; 0: it is none. */
static size_t operator_at(const char *s, size_t n, size_t i)
{
	static const char *const signs[] = {
		"<<=", ">>=", "<=>", "->*", "<<", ">>", "<=", ">=", "->", "<", ">", "()", "[]"};

	if (i < 8 || memcmp(s + i - 8, "operator", 8) != 0 || (i > 8 && is_word(s[i - 9])))
		return 0;
	for (size_t k = 0; k < sizeof(signs) / sizeof(*signs); k++) {
		size_t len = strlen(signs[k]);

		if (n - i >= len && !memcmp(s + i, signs[k], len))
			return len;
	}
	return 0;
}

/* Whether a '<' at i opens arguments: after a name, "::" as in Rust, or the sign of an operator. */
static bool opens(const char *s, size_t i, size_t sign_end)
{
	if (sign_end && (i == sign_end || (i == sign_end + 1 && s[sign_end] == ' ')))
		return true;
	return i && (is_word(s[i - 1]) || s[i - 1] == ')' || s[i - 1] == '}' || s[i - 1] == '>' ||
		     (i > 2 && s[i - 1] == ':' && s[i - 2] == ':'));
}

static char closes(char c)
{
	return c == '(' ? ')' : c == '[' ? ']' : c == '{' ? '}' : 0;
}

/*
 * One walk through the name. stack: the bracket that each open one needs, 'T' for arguments of a
 * template. False: brackets do not match.
 */
static bool strip(const char *s, size_t n, uint64_t depth, struct buf *b)
{
	char stack[DEPTH_MAX];
	size_t open = 0, sign, sign_end = 0;
	uint64_t levels = 0;

	for (size_t i = 0; i < n; i++) {
		char c = s[i];

		if ((sign = operator_at(s, n, i))) {
			if (levels <= depth)
				buf_add(b, s + i, sign);
			sign_end = i + sign;
			i = sign_end - 1;
			continue;
		}
		if (open == DEPTH_MAX)
			return false;
		if (c == '<') {
			stack[open++] = opens(s, i, sign_end) ? 'T' : '>';
			levels += stack[open - 1] == 'T';
			if (levels == depth + 1 && stack[open - 1] == 'T')
				buf_adds(b, "<...>");
		} else if (closes(c)) {
			stack[open++] = closes(c);
		} else if (c == '>' && i && (s[i - 1] == '-' || s[i - 1] == '=')) {
			; /* an arrow */
		} else if (c == '>' && open && (stack[open - 1] == 'T' || stack[open - 1] == '>')) {
			if (stack[--open] == 'T') {
				levels--;
				/* What stood for all of it has its end already. */
				if (levels == depth)
					continue;
			}
		} else if ((c == ')' || c == ']' || c == '}') && (!open || stack[--open] != c)) {
			return false;
		}
		if (levels <= depth)
			buf_addc(b, c);
	}
	return !open;
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
