/* Which file has the entries of a skeleton unit, and whether it can be used. */
#include "dwarf/dwarf_split.h"

#include "dwarf/dwarf_memory.h"
#include "dwarf/dwarf_seal.h"

#include <dwarf.h>

bool dwarf_split_sound(struct map64 *files, Dwarf_Die *content)
{
	Dwarf *dwarf = dwarf_cu_getdwarf(content->cu);
	bool fresh;
	uint32_t *slot = map64_put(files, (uintptr_t)dwarf, &fresh);

	if (!slot)
		return false;
	if (fresh) {
		dwarf_memory(dwarf);
		*slot = dwarf_seal(dwarf_getelf(dwarf), NULL) == 0;
	}
	return *slot != 0;
}

const char *dwarf_split_name(Dwarf_Die *skeleton)
{
	Dwarf_Attribute attr;
	const char *name = NULL;

	if (dwarf_attr(skeleton, DW_AT_dwo_name, &attr) ||
	    dwarf_attr(skeleton, DW_AT_GNU_dwo_name, &attr))
		name = dwarf_formstring(&attr);
	return name ? name : "a file .dwo";
}
