#include "base/err.h"

#include <errno.h>

const char *pp_strerror(int err)
{
	switch (err) {
	case 0: return "no error";
#define PP_E(name, value, text) \
	case name: return text;
		PP_ERRORS(PP_E)
#undef PP_E
	}
	return "unknown error";
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
	}
	return PP_EIO;
}
