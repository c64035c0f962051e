/*
 * Lines of a source of text, and what they are made of. Private to lib/fold.
 *
 *	struct fold_lines l;
 *	rc = fold_lines_init(&l, f, src);
 *	while (!(rc = fold_lines_next(&l, &line, &len)))
 *		...	(the line is without its newline and valid until the next call)
 *	fold_lines_release(&l);
 *
 * A newline always follows the bytes in the buffer (at `end`), so that a scan for something that is
 * no newline needs no other bound.
 */
#ifndef PP_FOLD_TEXT_LINES_H
#define PP_FOLD_TEXT_LINES_H

#include "base/err.h"
#include "fold/stack_text.h"

#include <string.h>

#define FOLD_BLOCK_MIN 65536   /* bytes of the first read */
#define FOLD_BLOCK     1048576 /* and of those that follow */

struct fold_lines {
	struct fold *fold;
	struct src *src;
	uint8_t *buf;	    /* owned */
	size_t pos;	    /* the next line begins here */
	size_t end;	    /* bytes in the buffer */
	size_t cap;	    /* bytes that it can hold, without the newline */
	uint64_t base;	    /* offset of the buffer in the input, bytes */
	uint64_t line;	    /* offset of the last line that was returned */
	uint64_t odd;	    /* lines of no known form, */
	uint64_t fractions; /* and those of them that end in a fraction */
	bool full;	    /* the last read filled the buffer */
	bool eof;
	bool cut; /* the last line had no newline */
};

int fold_lines_init(struct fold_lines *l, struct fold *f, struct src *s);
void fold_lines_release(struct fold_lines *l);

/* Reads once more after what is in the buffer, if there is room; sets eof at the end. */
int fold_lines_fill(struct fold_lines *l);

/* Reports a text of an unknown kind. */
void fold_lines_no_text(struct fold_lines *l);

/* For fold_lines_next only. */
void fold_lines_clip(struct fold_lines *l, size_t *len);
int fold_lines_refill(struct fold_lines *l, const char **p, size_t *len);

/* The next line: 0, PP_END, or an error. */
static inline int fold_lines_next(struct fold_lines *l, const char **p, size_t *len)
{
	const uint8_t *from = l->buf + l->pos;
	const uint8_t *nl = memchr(from, '\n', l->end - l->pos);

	if (!nl)
		return fold_lines_refill(l, p, len);
	l->line = l->base + l->pos;
	*p = (const char *)from;
	*len = (size_t)(nl - from);
	l->pos += *len + 1;
	if (__builtin_expect(*len > FOLD_LINE_MAX, 0))
		fold_lines_clip(l, len);
	return 0;
}

/* Counts and says that a line is of no known form. */
void fold_lines_odd(struct fold_lines *l, const char *line, size_t len);

/*
 * The frames of a stack, in the order of the reader; at most FOLD_DEPTH_MAX, and room for one more.
 */
struct fold_frames {
	uint32_t *names; /* owned */
	size_t n, cap;
};

/* Makes room when n == cap: grows, or forgets the first half. 0 or PP_ENOMEM. */
int fold_frames_grow(struct fold_frames *s, struct fold *f);

static inline int fold_frames_push(struct fold_frames *s, struct fold *f, uint32_t name)
{
	if (__builtin_expect(s->n == s->cap, 0)) {
		int rc = fold_frames_grow(s, f);

		if (rc)
			return rc;
	}
	s->names[s->n++] = name;
	return 0;
}

void fold_frames_reverse(struct fold_frames *s);

/* Character classes, those of Perl for bytes: \s without the newline, \d, \w. */
enum { FOLD_SPACE = 1, FOLD_DIGIT = 2, FOLD_WORD = 4, FOLD_HEX = 8 };
extern const uint8_t fold_class[256];

static inline bool fold_is(char c, int class)
{
	return fold_class[(uint8_t)c] & class;
}

/* Decimal digits as a number; UINT64_MAX if it is greater. */
uint64_t fold_number(const char *digits, size_t len);

/* White space, digits ... from i on: where they end. */
size_t fold_span(const char *p, size_t i, size_t n, int class);

#endif
