/*
 * The questions that perfpipe can answer, each with the lines to type: for a recording that has
 * the necessary data, and for this machine.
 *
 *	questions_print(&text);			(all, for this machine)
 *	questions_answer(&facts, tsv, &text);	(those that a recording answers, and the rest)
 */
#ifndef PP_GUIDE_QUESTIONS_H
#define PP_GUIDE_QUESTIONS_H

#include "guide/facts.h"

/* By group, the lines that record this machine. An error is in `b`. */
void questions_print(struct buf *b);

/*
 * What a recording answers, with the lines for it, and what is missing for the others. With `tsv`
 * rows: "answer<tab>FILE<tab>ID<tab>QUESTION<tab>LINE" and
 * "lack<tab>FILE<tab>ID<tab>QUESTION<tab>WHAT<tab>LINE". An error is in `b`.
 */
void questions_answer(const struct facts *f, bool tsv, struct buf *b);

#endif
