/*
 * Changing folded stacks: names, parts, which of them are kept. It is done to distinct
 * stacks, after all input was read, so that it is the same for each kind of input.
 *
 *	struct fold_shape s = FOLD_SHAPE_INIT;
 *	rc = fold_shape_add(&s, FOLD_HIDE, "^std::", &why);
 *	s.recursion = true;
 *	rc = fold_shape(f, &s, &g);		(a new fold; f is as it was)
 *	fold_shape_release(&s);
 *
 * First the names are changed: template arguments, then the renames in their order. With the new
 * names, the stacks without a match of `only` are left out, then everything above the outermost
 * match
 * of `root`, then the hidden functions; then recursion is merged, and the prefix comes first. The
 * frames that fold_opts.by makes are kept, whatever `root` says.
 */
#ifndef PP_FOLD_RESHAPE_H
#define PP_FOLD_RESHAPE_H

#include "fold/fold.h"

#define FOLD_RULES_MAX	64 /* of all kinds together */
#define FOLD_PREFIX_MAX 16 /* frames */

enum fold_rule_kind {
	FOLD_RENAME,  /* "s/REGEX/TEXT/", with g and i at its end; TEXT has & and \1 to \9 */
	FOLD_ONLY,    /* stacks with such a frame */
	FOLD_TO_ROOT, /* stacks begin at such a frame */
	FOLD_HIDE     /* such frames are left out */
};

struct fold_rule;

struct fold_shape {
	struct fold_rule *rules; /* owned */
	uint32_t n;
	bool recursion;	    /* a function that calls itself is one frame */
	bool templates;	    /* without template arguments... */
	uint64_t depth;	    /* ...below this many levels of them */
	const char *prefix; /* frames above all others, separated by ';'; NULL: none */
};

#define FOLD_SHAPE_INIT \
	{ \
		0 \
	}

/* 0, PP_ENOMEM, or PP_EUSAGE with what is wrong in `why`. The text is copied. */
int fold_shape_add(struct fold_shape *s, enum fold_rule_kind kind, const char *text,
		   struct buf *why);
void fold_shape_release(struct fold_shape *s);

/* Whether it changes anything. */
bool fold_shape_any(const struct fold_shape *s);

/* A new fold, with the options, diag and account of f. 0, PP_ENOMEM or PP_ELIMIT. */
int fold_shape(struct fold *f, const struct fold_shape *s, struct fold **to);

#endif
