/*
 * What perfpipe prints: the questions, what a recording contains, the recipes, the version.
 *
 *	status = front_recording("perf.data", false, &text, d);
 */
#ifndef PP_GUIDE_FRONT_H
#define PP_GUIDE_FRONT_H

#include "base/buf.h"
#include "base/diag.h"

#include <stdbool.h>

/* All questions. An error is in `b`. */
void front_welcome(struct buf *b);

/* The facts about a recording and what it answers; its exit status. An error is in `b`. */
int front_recording(const char *file, bool tsv, struct buf *b, struct diag *d);

/* The recipes with their purpose. 0 or an error, described in `why`. */
int front_recipes(bool tsv, struct buf *b, struct buf *why);

/* The fields that every sample has, with descriptions. */
void front_fields(bool tsv, struct buf *b);

/*
 * The libraries that it was built with, and what the kernel allows, one per line: its name, the
 * version or "ok", "note", "no", what it is.
 */
void front_features(struct buf *b);

/* The version; with `features` also these. */
void front_version(bool features, struct buf *b);

#endif
