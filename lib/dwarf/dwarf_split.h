/*
 * Split DWARF: units of which a file has only a skeleton, with their entries in a file of their own
 * (.dwo), which libdw opens.
 *
 *	if (type == DW_UT_skeleton && !(content.addr && dwarf_split_sound(&files, &content)))
 *		printf("%s cannot be read\n", dwarf_split_name(&skeleton));
 */
#ifndef PP_DWARF_DWARF_SPLIT_H
#define PP_DWARF_DWARF_SPLIT_H

#include "base/intern.h"

#include <elfutils/libdw.h>

/*
 * Whether the entries of a unit can be used: whether the texts of the file that has them have ends.
 * Each file is examined once: files remembers them, and is the caller's.
 */
bool dwarf_split_sound(struct map64 *files, Dwarf_Die *content);

/* The file that a skeleton names; lives as long as the skeleton's Dwarf. */
const char *dwarf_split_name(Dwarf_Die *skeleton);

#endif
