/*
 * Arguments of print formats: the C expressions of the fields of a payload, made ready once.
 * Private to lib/print.
 *
 *	struct text_exprs x = {0};
 *	if (text_expr_parse(&x, event, &scan, &root))	(scan: after the argument)
 *		... text_expr_is_text(&x, root) ? text_expr_text(...) : text_expr_number(...)
 *	text_exprs_release(&x);
 *
 * Only what has one meaning for every parser: operators of different priority without parentheses,
 * tables whose numbers are names, and functions other than __print_flags and __print_symbolic are
 * refused. Numbers are 64 bits without a sign, as libtraceevent reads fields.
 */
#ifndef PP_PRINT_TEXT_EXPR_H
#define PP_PRINT_TEXT_EXPR_H

#include "base/buf.h"
#include "event/scan.h"
#include "stream/stream.h"

struct text_node;
struct text_exprs {
	struct text_node *v; /* owned; texts lie in the format that was parsed */
	uint32_t n, cap;
};

void text_exprs_release(struct text_exprs *x);

/* Takes the expression at *at, which ends at a comma or at the end of the line. */
bool text_expr_parse(struct text_exprs *x, const struct ps_event *e, struct scan *at,
		     uint32_t *root);

/* Whether an argument ends here. */
bool text_expr_ends(const struct scan *at);

bool text_expr_is_text(const struct text_exprs *x, uint32_t root);

/* False when a field is not in the payload. */
bool text_expr_number(const struct text_exprs *x, uint32_t root, const struct ps_str *payload,
		      uint64_t *v);
bool text_expr_text(const struct text_exprs *x, uint32_t root, const struct ps_str *payload,
		    struct buf *b);

#endif
