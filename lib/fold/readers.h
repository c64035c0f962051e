/*
 * The readers of the kinds of text, which fold_text chooses from. Private to lib/fold.
 */
#ifndef PP_FOLD_READERS_H
#define PP_FOLD_READERS_H

#include "fold/lines.h"

/*
 * Of perf script text, of bpftrace's and of folded text; the first lines are in the buffer already.
 */
int fold_perf(struct fold *f, struct fold_lines *l);
int fold_bpftrace(struct fold *f, struct fold_lines *l);
int fold_folded(struct fold *f, struct fold_lines *l);

#endif
