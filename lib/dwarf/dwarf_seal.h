/*
 * Makes sure that no text of a file's DWARF is read past the end of its section. libdw looks for
 * the NUL that ends a text wherever that is, and takes an offset that is just the size of a table
 * of texts as one within it.
 *
 *	rc = dwarf_seal(elf, &copies);
 *	dwarf = rc ? NULL : dwarf_begin_elf(elf, DWARF_C_READ, NULL);
 *
 * The caller keeps the copies for as long as it uses the ELF file.
 */
#ifndef PP_DWARF_DWARF_SEAL_H
#define PP_DWARF_DWARF_SEAL_H

#include "base/arena.h"

#include <libelf.h>

/*
 * Before libdw begins with a file; or once after it has begun, with copies NULL. 0; PP_ECORRUPT: a
 * table of texts has no end, or, with copies NULL, the entries have none; PP_ENOMEM.
 */
int dwarf_seal(Elf *elf, struct arena *copies);

#endif
