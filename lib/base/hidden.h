/*
 * What a library did not report. Many leave things out if they have no memory or a file cannot
 * be read; but malloc, open and pread set errno then, which nothing that succeeds changes:
 *
 *	errno = 0;
 *	... calls of the library ...
 *	rc = pp_hidden(rc);
 */
#ifndef PP_BASE_HIDDEN_H
#define PP_BASE_HIDDEN_H

#include "base/err.h"

#include <errno.h>

/* Whether an error is one of this machine, not of the data: PP_ENOMEM, or pp_is_io holds. */
static inline bool pp_is_machine(int err)
{
	return err == PP_ENOMEM || pp_is_io(err);
}

/* rc, or the error of this machine in errno, if rc is none. */
static inline int pp_hidden(int rc)
{
	int err = errno;

	if (pp_is_machine(rc) || (err != ENOMEM && err != EIO && err != EMFILE && err != ENFILE))
		return rc;
	return pp_errno(err);
}

#endif
