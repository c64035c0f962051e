/*
 * Error codes of the library.
 *
 * Every function that can fail returns an int: 0, or one of the negative codes below; results leave
 * through pointers. The library neither prints nor exits: what a user should read goes to a struct
 * diag (diag.h), and the program decides on the exit status.
 *
 *	int rc = src_read(&s, buf, sizeof(buf), &got);
 *	if (rc < 0)
 *		return diag_error(d, name, -1, "cannot read: %s", pp_strerror(rc));
 */
#ifndef PP_BASE_ERR_H
#define PP_BASE_ERR_H

#include <stdbool.h>

#define PP_ERRORS(E) \
	E(PP_END, -1, "end of input") \
	E(PP_ECUT, -2, "input ends in the middle of something") \
	E(PP_ECORRUPT, -3, "input is corrupt") \
	E(PP_ENOMEM, -4, "out of memory") \
	E(PP_EIO, -5, "input or output error") \
	E(PP_ELIMIT, -6, "a size exceeds its limit") \
	E(PP_EUNSUPPORTED, -7, "not supported") \
	E(PP_ENOENT, -8, "not found") \
	E(PP_EACCES, -9, "permission denied") \
	E(PP_EUSAGE, -10, "wrong usage") \
	E(PP_EPIPE, -11, "the reader of the output is gone") \
	E(PP_EMISMATCH, -12, "does not belong together")

enum pp_err {
#define PP_E(name, value, text) name = (value),
	PP_ERRORS(PP_E)
#undef PP_E
		PP_ESYSTEM =
			-1000, /* PP_ESYSTEM - errno: of values that none of the codes above fits */
};

/*
 * The text of an error code, or strerror(3)'s of an errno value; never NULL, valid until the next
 * call.
 */
const char *pp_strerror(int err);

/* The code that fits an errno value. */
int pp_errno(int errnum);

/* Whether reading or writing failed: PP_EIO, or an errno value that has no other code. */
bool pp_is_io(int err);

/* Exit statuses of every filter (see perfpipe(7)). */
enum pp_exit {
	PP_EXIT_OK = 0,	     /* done */
	PP_EXIT_PARTIAL = 1, /* done, but the input was damaged, cut off or empty */
	PP_EXIT_FAIL = 2,    /* could not do it */
	PP_EXIT_WORSE = 3,   /* a gate found that it got worse */
	PP_EXIT_UNSURE = 4,  /* a strict gate could not decide */
	PP_EXIT_USAGE = 64,  /* wrong usage */
};

#endif
