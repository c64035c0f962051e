/*
 * How much units vary within a recording, from one slice of time to the next: all that is known of
 * variation if one recording is compared with one. Private to lib/diff.
 *
 *	if (slices_known(c, &df))
 *		row->phi = slices_phi(c, row, total);
 */
#ifndef PP_DIFF_TIME_SLICES_H
#define PP_DIFF_TIME_SLICES_H

#include "diff/compare.h"

/* Whether both recordings have slices; the degrees of freedom. */
bool slices_known(const struct compare *c, double *df);

/*
 * The dispersion of a row: the variance of the difference of both shares, as the slices show it, by
 * what it were if samples were independent. `v`: the latter.
 */
double slices_phi(const struct compare *c, const struct diff_row *r, bool total, double v);

#endif
