/*
 * Output that a thread compresses with gzip on its way to a descriptor:
 *
 *	rc = gzip_start(&z, fd, &to);
 *	rc = out_init(&o, to);		(or anything else that writes to a descriptor)
 *	rc = out_close(&o);
 *	rc = gzip_finish(z);
 */
#ifndef PP_BASE_GZIP_H
#define PP_BASE_GZIP_H

struct gzip;

/*
 * *to: the descriptor to write to, which the caller closes; fd is closed by gzip_finish. 0,
 * PP_ENOMEM, or a code of pp_errno: fd stays open.
 */
int gzip_start(struct gzip **z, int fd, int *to);

/*
 * Waits until everything is compressed and written, closes, frees. Without data, nothing is
 * written. NULL is fine. 0, or the first error.
 */
int gzip_finish(struct gzip *z);

#endif
