/*
 * Extended regular expressions, case-insensitive, in time that grows only with the length of
 * the text: the C library's take the square of it, and gigabytes for nested repetitions.
 *
 *	struct rx *x;
 *	const char *wrong;
 *
 *	rc = rx_new(&x, "^vfs_(read|write)$", 18, &wrong);
 *	if (rx_matches(x, name, len))		(anywhere in the name)
 *	rx_free(x);
 *
 * It accepts what regcomp(3) of the GNU C library understands with REG_EXTENDED and
 * REG_ICASE in the C locale, including \w \W \s \S \b \B \< \>, except back references. The texts
 * are bytes.
 */
#ifndef PP_EXPR_REGEX_H
#define PP_EXPR_REGEX_H

#include <stdbool.h>
#include <stddef.h>

struct rx;

/*
 * 0; PP_EUSAGE: it is none, *wrong says why (static storage); PP_ELIMIT: its repetitions make it
 * too large; PP_ENOMEM. The text is not kept.
 */
int rx_new(struct rx **x, const char *text, size_t len, const char **wrong);
void rx_free(struct rx *x); /* NULL is fine */

/* Whether a text has it. Allocates nothing; changes what x remembers, so no two threads at once. */
bool rx_matches(struct rx *x, const char *text, size_t len);

/*
 * Where the leftmost match from `from` on is, of those that begin there the longest. false: there
 * is none, or *steps, from which the bytes that were looked at are subtracted, is used up; or,
 * with *steps 0, no memory at the first call.
 */
bool rx_find(struct rx *x, const char *text, size_t len, size_t from, size_t *steps, size_t *start,
	     size_t *end);

#endif
