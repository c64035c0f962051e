/*
 * What pfold folds: files of any kind that it knows, recognized by their first bytes.
 *
 *	status = fold_files(f, argv + 1, argc - 1, diag);
 *	status = fold_print(f, STDOUT_FILENO, true, status);
 *	fold_describe(f, diag);
 */
#ifndef PP_FOLD_INPUTS_H
#define PP_FOLD_INPUTS_H

#include "base/src.h"
#include "fold/fold.h"

/*
 * Folds n files, stdin if there are none: event streams, perf script text, bpftrace text, folded
 * text. Errors are reported to d. Returns the exit status: PP_EXIT_OK, PP_EXIT_PARTIAL
 * (something was damaged or cut off), PP_EXIT_FAIL.
 */
int fold_files(struct fold *f, char **names, int n, struct diag *d);

/* Folds a source, of any of these kinds, and frees it. 0, or an error that was reported to d. */
int fold_source(struct fold *f, struct src *s, struct diag *d);

/*
 * Writes the folded text to a descriptor and closes it: with `header` the line about it first, and
 * a last one if status, of fold_files, is PP_EXIT_PARTIAL or fold_is_cut. Returns the exit status
 * of all.
 */
int fold_print(struct fold *f, int fd, bool header, int status);

/* Reports the account to d: what happened to the samples. */
void fold_describe(struct fold *f, struct diag *d);

#endif
