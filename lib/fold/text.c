#include "fold/text.h"

#include "fold/lines.h"

#include <stdlib.h>
#include <string.h>

#define D (FOLD_DIGIT | FOLD_WORD | FOLD_HEX)
#define H (FOLD_WORD | FOLD_HEX)
const uint8_t fold_class[256] = {
	['\t'] = FOLD_SPACE,	   ['\v'] = FOLD_SPACE, ['\f'] = FOLD_SPACE,
	['\r'] = FOLD_SPACE,	   [' '] = FOLD_SPACE,	['_'] = FOLD_WORD,
	['0' ... '9'] = D,	   ['a' ... 'f'] = H,	['g' ... 'z'] = FOLD_WORD,
	['A' ... 'Z'] = FOLD_WORD,
};
#undef D
#undef H

int fold_lines_init(struct fold_lines *l, struct fold *f, struct src *s)
{
	*l = (struct fold_lines){.fold = f, .src = s, .base = src_tell(s), .cap = FOLD_BLOCK_MIN};
	l->buf = malloc(l->cap + 1);
	if (!l->buf)
		return PP_ENOMEM;
	l->buf[0] = '\n';
	return 0;
}

void fold_lines_release(struct fold_lines *l)
{
	free(l->buf);
	l->buf = NULL;
}

/* A larger buffer: for long lines, and when reads are as large as they can be. */
static int grow_lines(struct fold_lines *l)
{
	size_t cap = l->cap < FOLD_BLOCK ? FOLD_BLOCK : FOLD_LINE_MAX + FOLD_BLOCK;
	uint8_t *buf = realloc(l->buf, cap + 1);

	if (!buf)
		return PP_ENOMEM;
	l->buf = buf;
	l->cap = cap;
	return 0;
}

int fold_lines_fill(struct fold_lines *l)
{
	size_t got, room;
	int rc = 0;

	if ((l->end == l->cap && l->cap < FOLD_LINE_MAX + FOLD_BLOCK) ||
	    (l->full && l->cap < FOLD_BLOCK))
		rc = grow_lines(l);
	room = l->cap - l->end;
	if (rc || !room || l->eof)
		return rc;
	rc = src_read(l->src, l->buf + l->end, room < FOLD_BLOCK ? room : FOLD_BLOCK, &got);
	if (rc)
		return rc;
	l->eof = !got;
	l->full = got == room;
	l->end += got;
	l->buf[l->end] = '\n';
	diag_progress(fold_diag(l->fold), src_name(l->src), src_tell(l->src), src_size(l->src));
	return 0;
}

int fold_frames_grow(struct fold_frames *s, struct fold *f)
{
	size_t cap = s->cap ? s->cap * 4 : 256;
	uint32_t *names;

	if (s->cap == FOLD_DEPTH_MAX) {
		/* The leaves came first, and go first: half of them, so that this is rare. */
		fold_too_deep(f, FOLD_DEPTH_MAX / 2);
		s->n -= FOLD_DEPTH_MAX / 2;
		memmove(s->names, s->names + FOLD_DEPTH_MAX / 2, s->n * sizeof(*s->names));
		return 0;
	}
	if (cap > FOLD_DEPTH_MAX)
		cap = FOLD_DEPTH_MAX;
	names = realloc(s->names, (cap + 1) * sizeof(*names));
	if (!names)
		return PP_ENOMEM;
	s->names = names;
	s->cap = cap;
	return 0;
}

void fold_frames_reverse(struct fold_frames *s)
{
	for (size_t i = 0; i < s->n / 2; i++) {
		uint32_t t = s->names[i];

		s->names[i] = s->names[s->n - 1 - i];
		s->names[s->n - 1 - i] = t;
	}
}

void fold_lines_clip(struct fold_lines *l, size_t *len)
{
	diag_warn(fold_diag(l->fold), src_name(l->src), (int64_t)l->line,
		  "line of more than %d bytes: the rest of it is left out", FOLD_LINE_MAX);
	*len = FOLD_LINE_MAX;
}

static int long_line(struct fold_lines *l, const char **p, size_t *len)
{
	static const size_t keep = FOLD_LINE_MAX;
	int rc;

	fold_lines_clip(l, len);
	/* The line stays where it is: what follows it is read behind it. */
	memmove(l->buf, l->buf + l->pos, keep);
	l->base += l->pos;
	l->pos = l->end = keep;
	l->buf[l->end] = '\n';
	while (!(rc = fold_lines_fill(l))) {
		uint8_t *nl = memchr(l->buf + keep, '\n', l->end - keep);

		if (nl) {
			l->pos = (size_t)(nl - l->buf) + 1;
			break;
		}
		if (l->eof) {
			l->cut = true;
			l->pos = l->end;
			break;
		}
		l->base += l->end - keep;
		l->end = keep;
	}
	*p = (const char *)l->buf;
	return rc;
}

int fold_lines_refill(struct fold_lines *l, const char **p, size_t *len)
{
	int rc;

	for (;;) {
		size_t have = l->end - l->pos;
		uint8_t *nl;

		if (l->eof && !have)
			return PP_END;
		memmove(l->buf, l->buf + l->pos, have);
		l->base += l->pos;
		l->line = l->base;
		l->pos = 0;
		l->end = have;
		l->buf[l->end] = '\n';
		if (l->eof)
			break;
		if (have > FOLD_LINE_MAX)
			return long_line(l, p, len);
		rc = fold_lines_fill(l);
		if (rc)
			return rc;
		nl = memchr(l->buf + have, '\n', l->end - have);
		if (nl) {
			*p = (const char *)l->buf;
			*len = (size_t)(nl - l->buf);
			l->pos = *len + 1;
			if (*len > FOLD_LINE_MAX)
				fold_lines_clip(l, len);
			return 0;
		}
	}
	l->cut = true;
	*p = (const char *)l->buf;
	*len = l->end;
	l->pos = l->end;
	if (*len > FOLD_LINE_MAX)
		fold_lines_clip(l, len);
	return 0;
}

void fold_lines_odd(struct fold_lines *l, const char *line, size_t len)
{
	fold_account(l->fold)->unrecognised++;
	l->odd++;
	diag_warn(fold_diag(l->fold), src_name(l->src), (int64_t)l->line,
		  "line is not recognised: %.*s", (int)(len < 200 ? len : 200), line);
}

uint64_t fold_number(const char *digits, size_t len)
{
	uint64_t v = 0;

	for (size_t i = 0; i < len; i++)
		if (__builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(digits[i] - '0'), &v))
			return UINT64_MAX;
	return v;
}

static size_t span(const char *p, size_t i, size_t n, int class)
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
	return span(p, i, n, FOLD_DIGIT);
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
		number = span(p, e, n, FOLD_SPACE);
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

/* Whether the text has a time, as in " 12.345678:". */
static bool has_time(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t whole = span(p, i, n, FOLD_DIGIT), part;

		if (whole == i)
			continue;
		i = whole;
		if (i >= n || p[i] != '.')
			continue;
		part = span(p, i + 1, n, FOLD_DIGIT);
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
	if (has_time(h.pid, (size_t)(p + n - h.pid)))
		return false;
	return fold_is(p[1], FOLD_SPACE) || !ends_with_colon(p, n);
}

enum kind { UNDECIDED, PERF, BPFTRACE, FOLDED };

/* "@[", "@name[", "@[, comm]: 3". */
static bool is_bpftrace_map(const char *p, size_t n)
{
	size_t i = n && p[0] == '@' ? span(p, 1, n, FOLD_WORD) : n;

	return i < n && p[i] == '[' && (i + 1 == n || p[i + 1] == ',' || p[n - 1] != ':');
}

static bool is_bpftrace(const char *p, size_t n)
{
	static const char start[] = "Attaching ";
	size_t i = sizeof(start) - 1, digits;

	if (is_bpftrace_map(p, n))
		return true;
	if (n < i || memcmp(p, start, i))
		return false;
	digits = span(p, i, n, FOLD_DIGIT);
	return digits > i && n - digits >= 6 && !memcmp(p + digits, " probe", 6);
}

static bool ends_with_count(const char *p, size_t n)
{
	size_t i = n;

	while (i && fold_is(p[i - 1], FOLD_DIGIT))
		i--;
	return i < n && i > 1 && p[i - 1] == ' ';
}

static enum kind kind_of_line(const char *p, size_t n, bool *count)
{
	struct fold_header h;

	if (!n)
		return UNDECIDED;
	if (p[0] == '#' && fold_is_comment(p, n)) {
		/* Or the folded stack of a thread whose name begins so. */
		*count = *count || (n > 1 && !fold_is(p[1], FOLD_SPACE) && ends_with_count(p, n));
		return UNDECIDED;
	}
	if (is_bpftrace(p, n))
		return BPFTRACE;
	if (fold_is(p[0], FOLD_SPACE))
		return span(p, 0, n, FOLD_SPACE) == n ? UNDECIDED : PERF;
	if (!ends_with_count(p, n))
		return fold_header_parse(p, n, &h) ? PERF : UNDECIDED;
	if (!fold_header_parse(p, n, &h))
		return FOLDED;
	if (has_time(h.pid, (size_t)(p + n - h.pid)))
		return PERF;
	/* "Web Content 12 3" may be either. */
	*count = true;
	return memchr(p, ';', n) ? FOLDED : UNDECIDED;
}

/* Reads until the kind is clear. What is never clear is folded text if it has counts. */
static int find_kind(struct fold_lines *l, enum kind *kind)
{
	size_t at = 0;
	bool count = false;

	*kind = UNDECIDED;
	for (;;) {
		const uint8_t *nl = memchr(l->buf + at, '\n', l->end - at);
		int rc;

		if (!nl && !l->eof && l->end < FOLD_KIND_MAX) {
			rc = fold_lines_fill(l);
			if (rc)
				return rc;
			continue;
		}
		if (!nl)
			nl = l->buf + l->end;
		*kind = kind_of_line((const char *)l->buf + at, (size_t)(nl - l->buf) - at, &count);
		at = (size_t)(nl - l->buf) + 1;
		if (*kind != UNDECIDED)
			return 0;
		if (at >= l->end && (l->eof || l->end >= FOLD_KIND_MAX))
			break;
		if (at > l->end)
			at = l->end;
	}
	*kind = count ? FOLDED : PERF;
	return 0;
}

int fold_text(struct fold *f, struct src *s)
{
	struct fold_lines l;
	enum kind kind;
	int rc = fold_lines_init(&l, f, s);

	if (!rc)
		rc = find_kind(&l, &kind);
	if (!rc && memchr(l.buf, 0, l.end)) {
		diag_error(fold_diag(f), src_name(s), -1, "is binary, but no event stream");
		rc = PP_EUNSUPPORTED;
	}
	if (!rc)
		rc = kind == BPFTRACE ? fold_bpftrace(f, &l)
		     : kind == FOLDED ? fold_folded(f, &l)
				      : fold_perf(f, &l);
	if (pp_is_io(rc))
		diag_error(fold_diag(f), src_name(s), (int64_t)src_tell(s), "cannot read: %s",
			   pp_strerror(rc));
	if (!rc && l.cut) {
		diag_warn(fold_diag(f), src_name(s), (int64_t)l.line,
			  "input is cut off: it ends in the middle of a line");
		rc = PP_ECUT;
	}
	fold_lines_release(&l);
	return rc;
}
