/*
 * The parts of a demangled name: its brackets, the signs of operators, its parameters.
 *
 *	char s[] = "int foo<(E)0>::bar<int>(char) const";
 *	size_t n = name_shorten(s, strlen(s));		("foo<(E)0>::bar<int>")
 *
 * Names come from demanglers, virtual machines and other programs; none need be well formed, and
 * they are not NUL-terminated.
 */
#ifndef PP_SYMBOL_DEMANGLED_NAME_H
#define PP_SYMBOL_DEMANGLED_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define NAME_DEPTH_MAX 256 /* nested brackets */

/*
 * Goes through a name. Inner brackets that nothing closes end with the outer one, since '<' may be
 * a comparison, and Java has '[' alone; both count as odd.
 *
 *	struct name_walk w = {.s = s, .n = n};
 *	while ((token = name_next(&w)))
 *		...	(the token is s[w.at], w.len bytes)
 */
enum name_token {
	NAME_END,
	NAME_TEXT,
	NAME_SIGN, /* of an operator, "<<" in "operator<<" */
	NAME_OPEN, /* a bracket, which w.depth counts */
	NAME_CLOSE,
};

struct name_walk {
	const char *s;
	size_t n, at, len;
	size_t depth;		   /* open brackets, after the token */
	size_t sign_end;	   /* of the last sign */
	char open[NAME_DEPTH_MAX]; /* what closes each; 'T': the '>' of a template's arguments */
	char closed;		   /* NAME_CLOSE: what closed it, as in open */
	bool odd;		   /* brackets do not match, so far; at the end see depth, too */
};

enum name_token name_next(struct name_walk *w);

/*
 * Removes the parameters of a function, what comes after them (" const", " [clone .cold]") but
 * for "@plt" and versions, and the type that a template returns: what demanglers give without
 * parameters. Names that have none stay as they are, and so does what is in other brackets:
 * of Go's methods, of lambdas, of functions around a local one. A name never becomes
 * empty. Returns the new length.
 */
size_t name_shorten(char *s, size_t n);

/*
 * The functions of a name as perf script writes those that are inlined, outermost first:
 * "outer->inner". Arrows in brackets and operators separate nothing, unless a bracket stays open.
 *
 *	struct name_list l = name_list(s, n);
 *	while (name_list_next(&l, &function, &len))
 *		...	(none after an arrow at the end)
 */
struct name_list {
	const char *s;
	size_t n;
	bool plain; /* any arrow separates */
};

struct name_list name_list(const char *s, size_t n);
bool name_list_next(struct name_list *l, const char **function, size_t *len);

/* The length without trailing arrows that separate nothing. */
size_t name_without_arrows(const char *s, size_t n);

#endif
