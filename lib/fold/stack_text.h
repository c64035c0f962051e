/*
 * Folding of text: what perf script prints, what bpftrace prints for maps keyed by stacks, and
 * folded text itself. The text itself shows which of them it is.
 *
 *	rc = fold_text(f, src);
 *
 * Input is read in blocks; nothing of it is kept except distinct names, lines and stacks.
 */
#ifndef PP_FOLD_STACK_TEXT_H
#define PP_FOLD_STACK_TEXT_H

#include "base/src.h"
#include "fold/fold.h"

#define FOLD_LINE_MAX  1048576	 /* bytes of a line; the rest of a longer one is left out */
#define FOLD_CACHE_MAX 134217728 /* bytes of distinct stack lines that are remembered */
#define FOLD_KIND_MAX  262144	 /* bytes that are examined to find the kind */

/*
 * Folds all of a source. The stacks of several sources are added up, and one event is chosen for
 * all of
 * them (fold_finish). 0; PP_ECUT if the text ends within a line or within a bpftrace stack (what
 * was complete is folded, and the rest reported); PP_EUNSUPPORTED for text without a stack and for
 * binary data; PP_EMISMATCH for counts of several units; PP_EIO, PP_ENOMEM or PP_ELIMIT.
 */
int fold_text(struct fold *f, struct src *s);

#endif
