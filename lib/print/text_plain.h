/*
 * Samples of a recording that was text: the lines that they were made of. Private to lib/print.
 */
#ifndef PP_PRINT_TEXT_PLAIN_H
#define PP_PRINT_TEXT_PLAIN_H

#include "print/text_trace.h"

struct text_plain;

/* Prints to a page, which must outlive it. 0 or PP_ENOMEM. */
int text_plain_new(struct text_plain **t, struct text_page *page, const struct stext_opts *opts);
void text_plain_free(struct text_plain *t); /* NULL is fine */

/*
 * Adds the text of such a sample after the head of its line, the event's name without. False: the
 * event is not one of a text.
 */
bool text_plain_info(const struct ps_event *e, const struct ps_str *payload, struct buf *b);

/* Takes a record of the recording. */
int text_plain_record(struct text_plain *t, const struct sreader *r, const struct ps_record *rec);

#endif
