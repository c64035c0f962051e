/* Lines of a source of text, and the stacks that are made of them. */
#include "fold/text_lines.h"

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
	/* The line stays where it is: what follows it is read after it. */
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

/* "main;f 31.25": folded text with a fraction as its count. */
static bool has_fraction(const char *p, size_t n)
{
	size_t point, i;

	while (n && fold_is(p[n - 1], FOLD_SPACE))
		n--;
	for (point = n; point && fold_is(p[point - 1], FOLD_DIGIT);)
		point--;
	if (point == n || point < 3 || p[point - 1] != '.')
		return false;
	for (i = point - 1; i && fold_is(p[i - 1], FOLD_DIGIT);)
		i--;
	return i > 1 && i < point - 1 && p[i - 1] == ' ';
}

void fold_lines_no_text(struct fold_lines *l)
{
	diag_error(
		fold_diag(l->fold), src_name(l->src), -1, "%s",
		2 * l->fractions > l->odd
			? "is folded text whose counts have fractions: only psvg reads that"
			: "is not text of perf script, bpftrace, DTrace or trace-cmd report, nor "
			  "folded text");
}

void fold_lines_odd(struct fold_lines *l, const char *line, size_t len)
{
	fold_account(l->fold)->unrecognised++;
	l->odd++;
	l->fractions += has_fraction(line, len);
	diag_warn(fold_diag(l->fold), src_name(l->src), (int64_t)l->line,
		  "line is not recognized: %.*s", (int)(len < 200 ? len : 200), line);
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

size_t fold_span(const char *p, size_t i, size_t n, int class)
{
	while (i < n && fold_is(p[i], class))
		i++;
	return i;
}
