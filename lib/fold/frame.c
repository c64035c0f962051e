/*
 * The frames in perf script text. -F leaves out some of their parts:
 *
 *		    7f0000000000 f(int)+0x34 (/usr/bin/x)
 *		    7f0000000000 f(int)
 *		    7f0000000000 (/usr/bin/x)
 *		    7f0000000000
 */
#include "fold/frame.h"

#include "fold/sample_header.h"

#include <string.h>

/*
 * The end of a line's DSO: its last ')', or the mark of a file that is gone, "(/bin/x (deleted))".
 */
static const char *dso_end(const char *p, size_t n)
{
	static const char gone[] = " (deleted)";
	const size_t len = sizeof(gone) - 1;
	const char *close = memrchr(p, ')', n);

	if (!close || (size_t)(close - p) < len || memcmp(close - len, gone, len) != 0)
		return close;
	return memmem(p, (size_t)(close - len - p), " (", 2) ? close - len : close;
}

/* The parenthesis that belongs to the one at close; NULL: there is none. */
static const char *partner(const char *p, const char *close)
{
	unsigned depth = 1;

	while (close > p && depth) {
		close--;
		depth += *close == ')';
		depth -= *close == '(';
	}
	return depth ? NULL : close;
}

/*
 * The parenthesis that opens the DSO before close: the last one after a blank, if it has a path or
 * a name in brackets; else the partner of close, which may be that of a function's arguments. NULL:
 * the line has no DSO.
 */
static const char *dso_start(const char *p, const char *close)
{
	const char *last = close, *open;

	do
		last = memrchr(p, '(', (size_t)(last - p));
	while (last && (last == p || last[-1] != ' '));
	if (!last || last[1] == '/' || last[1] == '[')
		return last;
	open = partner(p, close);
	return !open ? last : open > p && open[-1] == ' ' ? open : NULL;
}

/* Whether the word of a line is an address: after it perf has nothing else, or blanks. */
static bool is_address(const char *p, size_t word, size_t end, size_t n)
{
	return (p[0] == '\t' || end > FOLD_IP_COLUMNS) && fold_span(p, word, n, FOLD_HEX) == end &&
	       (end == n || fold_is(p[end], FOLD_SPACE));
}

bool fold_frame_parse(const char *p, size_t n, struct fold_frame_line *f)
{
	size_t word = fold_span(p, 0, n, FOLD_SPACE), end = fold_span(p, word, n, FOLD_WORD);
	size_t func = fold_span(p, end, n, FOLD_SPACE);
	const char *close = dso_end(p, n), *open = NULL;

	if (end == word)
		return false;
	if (close && close > p + end && func > end &&
	    (*close == ' ' || close + 1 == p + n || fold_is(close[1], FOLD_SPACE)))
		open = dso_start(p + end, close);
	*f = (struct fold_frame_line){
		.pc = p + word, .pc_len = end - word, .func = p + func, .dso = ""};
	if (open) {
		f->has_dso = true;
		f->dso = open + 1;
		f->dso_len = (size_t)(close - f->dso);
		f->func_len = open > f->func ? (size_t)(open - 1 - f->func) : 0;
		return true;
	}
	while (n > func && fold_is(p[n - 1], FOLD_SPACE))
		n--;
	f->func_len = n > func ? n - func : 0;
	return is_address(p, word, end, n);
}

bool fold_frame_in_columns(const char *line, const struct fold_frame_line *f)
{
	size_t end = (size_t)(f->pc + f->pc_len - line);

	return end > FOLD_IP_COLUMNS && fold_is(line[0], FOLD_SPACE) &&
	       fold_span(f->pc, 0, f->pc_len, FOLD_HEX) == f->pc_len;
}

/* Where the word from i on ends. */
static size_t word_end(const char *p, size_t i, size_t n)
{
	while (i < n && !fold_is(p[i], FOLD_SPACE))
		i++;
	return i;
}

/*
 * The last address in its columns that something else follows, the name: there may be addresses
 * before it (-F addr, weight), and one after it (phys_addr). n: there is none.
 */
static size_t address_in_columns(const char *p, size_t n)
{
	size_t found = n, before = n, from = 0;

	for (size_t word = fold_span(p, 0, n, FOLD_SPACE), end; word < n;
	     word = fold_span(p, end, n, FOLD_SPACE)) {
		end = word_end(p, word, n);
		if (end - from >= FOLD_IP_COLUMNS && fold_span(p, word, end, FOLD_HEX) == end) {
			before = word;
		} else if (before < n) {
			found = before;
			before = n;
		}
		from = end;
	}
	return found < n ? found : before;
}

/* Without columns: the last of the addresses at the front; the name after it may look like one. */
static size_t first_address(const char *p, size_t n)
{
	size_t found = n;

	for (size_t word = fold_span(p, 0, n, FOLD_SPACE), end, next; word < n; word = next) {
		end = word_end(p, word, n);
		next = fold_span(p, end, n, FOLD_SPACE);
		if (fold_span(p, word, end, FOLD_HEX) != end)
			break;
		if (found == n || (next < n && p[next] != '('))
			found = word;
	}
	return found;
}

const char *fold_frame_inline(const char *rest, size_t n, bool tracepoint, size_t *len)
{
	/* A branch: where it goes to is not where the sample is. */
	const char *arrow = memmem(rest, n, ") => ", 5);
	size_t at;

	if (arrow)
		n = (size_t)(arrow + 1 - rest);
	at = address_in_columns(rest, n);
	if (at == n && !tracepoint)
		at = first_address(rest, n);
	*len = n - at;
	if (at == n || (tracepoint && word_end(rest, at, n) == n))
		return NULL;
	return rest + at;
}

/* Whether this is the name of the frame's file without its directory. */
static bool is_file(const struct fold_frame_line *f, size_t n)
{
	const char *slash = f->dso_len ? memrchr(f->dso, '/', f->dso_len) : NULL;
	const char *name = slash ? slash + 1 : f->dso;

	return n && n == (size_t)(f->dso + f->dso_len - name) && !memcmp(f->func, name, n);
}

size_t fold_without_offset(const struct fold_frame_line *f)
{
	size_t n = f->func_len, i = n;

	while (i && fold_is(f->func[i - 1], FOLD_HEX))
		i--;
	if (i == n || i < 3 || memcmp(f->func + i - 3, "+0x", 3) != 0)
		return n;
	return is_file(f, i - 3) ? n : i - 3;
}

/* "file.c:12 (discriminator 3)", "libc.so.6[27b25]" */
static bool is_source(const char *p, size_t n)
{
	const char *mark = memmem(p, n, " (discriminator ", 16);
	size_t end = mark ? (size_t)(mark - p) : n, digits;

	while (end && fold_is(p[end - 1], FOLD_SPACE))
		end--;
	if (end && p[end - 1] == ']')
		return memchr(p, '[', end) != NULL;
	for (digits = end; digits && fold_is(p[digits - 1], FOLD_DIGIT);)
		digits--;
	return digits < end && digits && p[digits - 1] == ':';
}

bool fold_frame_is_other(const char *p, size_t n)
{
	size_t blanks = fold_span(p, 0, n, FOLD_SPACE);

	p += blanks;
	n -= blanks;
	if (!blanks)
		return n > 1 && p[0] == '|' && fold_is(p[1], FOLD_DIGIT);
	return (blanks == 2 && is_source(p, n)) ||
	       (n > 4 && (!memcmp(p, "ABI:", 4) || !memcmp(p, "0x", 2) || !memcmp(p, "insn", 4)));
}
