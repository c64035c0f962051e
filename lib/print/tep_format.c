/* Whether the text of a format is as the kernel writes it, before libtraceevent sees it. */
#include "print/tep_format.h"

#include "print/tep.h"

/* The line at *p, which goes on after it; NULL at the end. */
static const char *next_line(const char **p, const char *end, size_t *len)
{
	const char *line = *p, *nl;

	if (line >= end)
		return NULL;
	nl = memchr(line, '\n', (size_t)(end - line));
	*len = (size_t)((nl ? nl : end) - line);
	*p = nl ? nl + 1 : end;
	return line;
}

/* The length of what `s` begins with: the text, or, for "", one digit or more; 0 if it does not. */
static size_t begins(const char *s, size_t len, const char *text)
{
	size_t n = strlen(text);

	if (n)
		return len >= n && !memcmp(s, text, n) ? n : 0;
	while (n < len && s[n] >= '0' && s[n] <= '9')
		n++;
	return n;
}

/* "TYPE NAME[N]": words, stars and pairs of brackets, the last of which is a name or an array. */
static bool declaration_ok(const char *s, size_t len)
{
	int open = 0;
	bool word = false;

	for (size_t i = 0; i < len; i++) {
		char c = s[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';

		word = word || letter;
		if (c == '[' || c == '(')
			open++;
		else if (c == ']' || c == ')')
			open--;
		else if (!letter && !(c >= '0' && c <= '9') && !strchr(" *,:.+-", c))
			return false;
		if (open < 0 || !c)
			return false;
	}
	return word && !open && len > 2 && !strchr(" *,:.+-()[", s[len - 1]) && memchr(s, ' ', len);
}

/* "\tfield:DECLARATION;\toffset:N;\tsize:N;\tsigned:N;", the last part may be missing. */
static bool field_line_ok(const char *s, size_t len)
{
	static const char *const parts[] = {";\toffset:", "", ";\tsize:", "",
					    ";\tsigned:", "", ";"};
	const char *semi = memchr(s, ';', len);
	size_t at, n;

	n = begins(s, len, "\tfield:");
	if (!n)
		n = begins(s, len, "\tfield special:");
	if (!n || !semi || !declaration_ok(s + n, (size_t)(semi - s) - n))
		return false;
	at = (size_t)(semi - s);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++, at += n) {
		n = begins(s + at, len - at, parts[i]);
		if (!n && i == 4)
			return len - at == 1 && s[at] == ';';
		if (!n)
			return false;
	}
	return at == len;
}

/*
 * Whether a format has the form that the kernel gives it. libtraceevent follows a null pointer
 * where a damaged one has not what it expects.
 */
static bool format_ok(const char *p, size_t size)
{
	static const char *const starts[] = {"name: ", "ID: ", "format:"};
	const char *end = p + size, *line;
	size_t len, n;

	if (memchr(p, 0, size))
		return false;
	for (int i = 0; i < 3; i++) {
		line = next_line(&p, end, &len);
		n = line ? begins(line, len, starts[i]) : 0;
		if (!n || (i < 2 && len == n) ||
		    (i == 1 && begins(line + n, len - n, "") != len - n))
			return false;
		if (!i && strspn(line + n, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789_") != len - n)
			return false;
	}
	while ((line = next_line(&p, end, &len)) && !begins(line, len, "print fmt: "))
		if (len && !field_line_ok(line, len))
			return false;
	return line != NULL;
}

/* Whether libtraceevent can be given the format, and all fields lie where a payload can be. */
bool tep_format_ok(const struct ps_event *e)
{
	struct ps_event_field f;
	size_t pos = 0;

	if (!format_ok(e->format.p, e->format.len))
		return false;

	while (!ps_event_field_next(e, &pos, &f))
		if (f.offset > TEP_FIELD_END_MAX || f.size > TEP_FIELD_END_MAX - f.offset)
			return false;
	return true;
}
