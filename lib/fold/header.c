/* The header lines of samples in perf script text: where the command ends, and the numbers are. */
#include "fold/header.h"

#include <string.h>

size_t fold_span(const char *p, size_t i, size_t n, int class)
{
	while (i < n && fold_is(p[i], class))
		i++;
	return i;
}

/* A number. A thread that has ended already has the command ":-1" and the numbers -1: `gone`. */
static size_t id(const char *p, size_t i, size_t n, bool gone)
{
	if (gone && n - i > 2 && p[i] == '-' && p[i + 1] == '1' && !fold_is(p[i + 2], FOLD_DIGIT))
		return i + 2;
	return fold_span(p, i, n, FOLD_DIGIT);
}

/*
 * The command is as short as can be, but of two bytes at least, and ends before white space and a
 * number (or two with slashes between) that white space follows. In Perl, with # for the slash:
 * ^(\S.+?)\s+(\d+)#*(\d+)*\s+
 */
bool fold_header_parse(const char *p, size_t n, struct fold_header *h)
{
	if (!n || fold_is(p[0], FOLD_SPACE))
		return false;
	for (size_t e = 2; e < n; e++) {
		bool gone = e == 3 && !memcmp(p, ":-1", 3);
		size_t number, slashes, second, end;

		if (!fold_is(p[e], FOLD_SPACE))
			continue;
		number = fold_span(p, e, n, FOLD_SPACE);
		slashes = id(p, number, n, gone);
		for (second = slashes; second < n && p[second] == '/';)
			second++;
		end = id(p, second, n, gone && second > slashes);
		if (slashes > number && end < n && fold_is(p[end], FOLD_SPACE)) {
			*h = (struct fold_header){.comm_len = e,
						  .pid = p + number,
						  .pid_len = slashes - number,
						  .tid = p + second,
						  .tid_len = end - second};
			return true;
		}
		e = number - 1;
	}
	return false;
}

bool fold_has_time(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t whole = fold_span(p, i, n, FOLD_DIGIT), part;

		if (whole == i)
			continue;
		i = whole;
		if (i >= n || p[i] != '.')
			continue;
		part = fold_span(p, i + 1, n, FOLD_DIGIT);
		if (part > i + 1 && part < n && p[part] == ':')
			return true;
		i = part - 1;
	}
	return false;
}

static bool ends_with_colon(const char *p, size_t n)
{
	while (n && fold_is(p[n - 1], FOLD_SPACE))
		n--;
	return n && p[n - 1] == ':';
}

/*
 * A command may begin with '#', as "#0:cpu#14" does. Its header has the time or the event of the
 * sample; in what perf writes after "# " a number and a colon do not make it one.
 */
bool fold_is_comment(const char *p, size_t n)
{
	struct fold_header h;

	if (!fold_header_parse(p, n, &h))
		return true;
	if (fold_has_time(h.pid, (size_t)(p + n - h.pid)))
		return false;
	return fold_is(p[1], FOLD_SPACE) || !ends_with_colon(p, n);
}
