/*
 * Folding of event streams.
 *
 *	rc = fold_stream(f, src);
 *
 * A sample weighs its period, one of a tracepoint 1. Only passing samples (pfilter) are folded, and
 * without opts->event only those of the event with the most weight; all tracepoints count as one. A
 * stack is turned into names once; then a sample costs two look-ups.
 */
#ifndef PP_FOLD_SAMPLE_STACKS_H
#define PP_FOLD_SAMPLE_STACKS_H

#include "base/src.h"
#include "fold/fold.h"

/*
 * Folds all streams of a source, which it frees. 0; PP_ECUT: the available part is folded, but
 * something
 * upstream was damaged or died (which was reported); PP_EUNSUPPORTED, PP_EIO, PP_ENOMEM, PP_ELIMIT.
 */
int fold_stream(struct fold *f, struct src *s);

#endif
