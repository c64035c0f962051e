/* The end of the program where libdw has no memory. */
#include "dwarf/dwarf_memory.h"

#include "base/err.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* noreturn as a part of its type, which _Noreturn is not: clang takes no other handler. */
static __attribute__((noreturn)) void no_memory(void)
{
	static const char text[] = ": out of memory\n";
	const char *name = program_invocation_short_name;

	if (write(STDERR_FILENO, name, strlen(name)) < 0 ||
	    write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(PP_EXIT_FAIL);
	_exit(PP_EXIT_FAIL);
}

void dwarf_memory(Dwarf *dwarf)
{
	if (dwarf)
		dwarf_new_oom_handler(dwarf, no_memory);
}
