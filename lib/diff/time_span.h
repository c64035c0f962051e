/*
 * When an event stream begins and ends. Private to lib/diff.
 *
 *	rc = times_learn("new.pstream", diag, &first, &last);
 */
#ifndef PP_DIFF_TIME_SPAN_H
#define PP_DIFF_TIME_SPAN_H

#include "base/diag.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The times of the first sample and of the last, in ns; the same if there are none. 0, also if the
 * stream is damaged, PP_ENOMEM, or an error of reading.
 */
int times_learn(const char *file, struct diag *d, uint64_t *first, uint64_t *last);

/* From the first to the last. */
int times_seconds(const char *file, struct diag *d, double *seconds);

/* Whether what was read from a file can be read again. */
bool times_again(const char *file);

#endif
