/* The texts of error codes, and the codes of errno values. */
#include "base/err.h"

#include <errno.h>
#include <string.h>

const char *pp_strerror(int err)
{
	switch (err) {
	case 0: return "no error";
#define PP_E(name, value, text) \
	case name: return text;
		PP_ERRORS(PP_E)
#undef PP_E
	}
	return err < PP_ESYSTEM ? strerror(PP_ESYSTEM - err) : "unknown error";
}

int pp_errno(int errnum)
{
	switch (errnum) {
	case ENOMEM: return PP_ENOMEM;
	case ENOENT:
	case ENOTDIR: return PP_ENOENT;
	case EACCES:
	case EPERM: return PP_EACCES;
	case EPIPE: return PP_EPIPE;
	case EIO: return PP_EIO;
	}
	return errnum > 0 ? PP_ESYSTEM - errnum : PP_EIO;
}

bool pp_is_io(int err)
{
	return err == PP_EIO || err < PP_ESYSTEM;
}
