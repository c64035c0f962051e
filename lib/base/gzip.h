/*
 * Output that is packed by gzip on its way:
 *
 *	struct gzip *z;
 *	rc = gzip_new(&z, &packed);	(packed: the out that it goes to)
 *	out_add(gzip_out(z), bytes, n);
 *	rc = gzip_close(z);
 *	rc = out_close(&packed);
 */
#ifndef PP_BASE_GZIP_H
#define PP_BASE_GZIP_H

#include "base/out.h"

struct gzip;

/* 0 or PP_ENOMEM. `to` must outlive it, and stays open. */
int gzip_new(struct gzip **z, struct out *to);
struct out *gzip_out(struct gzip *z);

/* Ends what is packed, and frees it. NULL is fine. 0, or the first error. */
int gzip_close(struct gzip *z);

/* Frees it without ending what is packed: nothing is to be written. 0. NULL is fine. */
int gzip_drop(struct gzip *z);

#endif
