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
#include "base/intern.h"

#include <elfutils/libdw.h>
#include <libelf.h>

/*
 * Before libdw begins with a file; or once after it has begun, with copies NULL. 0; PP_ECORRUPT: a
 * table of texts has no end, or, with copies NULL, the entries have none; PP_ENOMEM.
 */
int dwarf_seal(Elf *elf, struct arena *copies);

/*
 * What libdw does if it has no memory and cannot report it: it ends the program, with its message
 * and status, as nothing else is possible there.
 */

/* For each that is opened; NULL is fine. */
void dwarf_memory(Dwarf *dwarf);

/*
 * Split DWARF: units of which a file has only a skeleton, with their entries in a file of their own
 * (.dwo), which libdw opens.
 *
 *	if (type == DW_UT_skeleton && !(content.addr && dwarf_split_sound(&files, &content)))
 *		printf("%s cannot be read\n", dwarf_split_name(&skeleton));
 */

/*
 * Whether the entries of a unit can be used: whether the texts of the file that has them have ends.
 * Each file is examined once: files remembers them, and is the caller's.
 */
bool dwarf_split_sound(struct map64 *files, Dwarf_Die *content);

/* The file that a skeleton names; lives as long as the skeleton's Dwarf. */
const char *dwarf_split_name(Dwarf_Die *skeleton);

#endif
