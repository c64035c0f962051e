/*
 * The shape of a text: what is left when everything that stands for a value is '?', so that texts
 * which differ only in their values have one: SQL statements, URLs, keys, names of files.
 *
 *	char out[SHAPE_MAX];
 *	size_t n = shape(text, len, out);
 *
 * "SELECT a FROM t WHERE id IN (12, 0x1f)  AND n = 'x'" becomes
 * "SELECT a FROM t WHERE id IN (?, …) AND n = ?".
 * A value is a number, also a hexadecimal one and a UUID, where it is not the end of a word; a
 * text between quotes; and the place of one, $1. Blanks become one blank. perfpipe-filter(7) has
 * the rules.
 */
#ifndef PP_EXPR_SHAPE_H
#define PP_EXPR_SHAPE_H

#include <stddef.h>

#define SHAPE_MAX 4096 /* bytes; a longer text is cut, and ends with … */

/* Returns the length. One pass over the text. */
size_t shape(const char *text, size_t len, char out[SHAPE_MAX]);

/*
 * The text with `with` for each match of x, as sub() has it. What it takes is bounded: of a text
 * that is longer than SHAPE_MAX, or whose matches are found too slowly, the rest stays as it is.
 */
struct rx;
size_t shape_sub(struct rx *x, const char *text, size_t len, const char *with, size_t with_len,
		 char out[SHAPE_MAX]);

#endif
