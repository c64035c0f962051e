/*
 * What libdw does if it has no memory and cannot report it: it ends the program, with its message
 * and status, as nothing else is possible there.
 */
#ifndef PP_DWARF_DWARF_MEMORY_H
#define PP_DWARF_DWARF_MEMORY_H

#include <elfutils/libdw.h>

/* For each that is opened; NULL is fine. */
void dwarf_memory(Dwarf *dwarf);

#endif
