/*
 * The print format of a tracepoint, read piece by piece, and the constant expressions in it: C's,
 * with casts to types that are words.
 *
 *	struct scan s = scan_make(event->format.p, event->format.len);
 *
 *	if (scan_take(&s, "{"))
 *		value = scan_constant(&s, SCAN_ALL);
 *	if (!s.bad && scan_take(&s, ","))
 *		...
 *
 * Blanks before a piece are skipped. What cannot be read sets `bad`; where the text is, is
 * then of no use, so that callers try with a copy. What the pieces mean is for the caller to
 * know: value_names.h, symbolic.h, and the arguments that print/ computes.
 */
#ifndef PP_EVENT_SCAN_H
#define PP_EVENT_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct scan {
	const char *p, *end; /* what is left */
	bool bad;
	int depth; /* of parentheses */
};

static inline struct scan scan_make(const char *text, size_t len)
{
	return (struct scan){.p = text, .end = text + len};
}

void scan_blanks(struct scan *s);

/* Takes a piece of text if it is next. */
bool scan_take(struct scan *s, const char *text);
bool scan_peek(const struct scan *s, const char *text);

/*
 * The length of the word that is next: letters, digits and _; not taken, and no blanks are
 * skipped.
 */
size_t scan_word(const struct scan *s);

/* Takes a text between double quotes; its bytes unchanged, with backslashes. */
bool scan_text(struct scan *s, const char **p, uint32_t *len);

/* A number as C has it: decimal, 0x hexadecimal, 0 octal, with U and L after it. */
uint64_t scan_number(struct scan *s);

/* Takes "(unsigned long)", a cast that is followed by its operand. */
bool scan_cast(struct scan *s);

/* From the operators that bind least. */
enum scan_level { SCAN_ALL, SCAN_XOR, SCAN_AND, SCAN_SHIFT, SCAN_SUM, SCAN_OPERAND };

/* A constant expression of operators of a level and those that bind more. */
uint64_t scan_constant(struct scan *s, enum scan_level level);

#endif
