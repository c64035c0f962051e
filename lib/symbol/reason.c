/* The texts of reasons, and how they go with errno values and error codes. */
#include "symbol/reason.h"

#include "base/err.h"

#include <errno.h>

const char *symtab_reason_text(enum symtab_reason why)
{
	switch (why) {
#define SYMTAB_R(name, text) \
	case name: return text;
		SYMTAB_REASONS(SYMTAB_R)
#undef SYMTAB_R
	}
	return "unknown reason";
}

enum symtab_reason symtab_reason_errno(int errnum)
{
	switch (errnum) {
	case 0: return SYMTAB_OK;
	case ENOENT:
	case ENOTDIR:
	case ENAMETOOLONG:
	case ELOOP: return SYMTAB_NOT_FOUND;
	case EACCES:
	case EPERM: return SYMTAB_DENIED;
	case ENOMEM: return SYMTAB_NO_MEMORY;
	case ENOTSUP: return SYMTAB_UNSUPPORTED;
	case EFBIG: return SYMTAB_LIMIT;
	default: return SYMTAB_IO;
	}
}

int symtab_reason_err(enum symtab_reason why)
{
	switch (why) {
	case SYMTAB_OK: return 0;
	case SYMTAB_DENIED:
	case SYMTAB_OWNER:
	case SYMTAB_RESTRICTED: return PP_EACCES;
	case SYMTAB_NOT_ELF:
	case SYMTAB_UNSUPPORTED: return PP_EUNSUPPORTED;
	case SYMTAB_IO: return PP_EIO;
	case SYMTAB_CORRUPT: return PP_ECORRUPT;
	case SYMTAB_LIMIT: return PP_ELIMIT;
	case SYMTAB_UNPROVEN:
	case SYMTAB_REPLACED:
	case SYMTAB_BUILD_ID:
	case SYMTAB_CRC:
	case SYMTAB_NO_REF: return PP_EMISMATCH;
	case SYMTAB_NO_MEMORY: return PP_ENOMEM;
	case SYMTAB_NOT_FOUND:
	case SYMTAB_STRIPPED: break;
	}
	return PP_ENOENT;
}

enum symtab_reason symtab_reason_unpack(int err)
{
	switch (err) {
	case PP_ENOMEM: return SYMTAB_NO_MEMORY;
	case PP_ELIMIT: return SYMTAB_LIMIT;
	default: return SYMTAB_CORRUPT;
	}
}
