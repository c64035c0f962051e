/*
 * A large ELF file, read into memory as a whole. libdw reads all debug sections of a file when it
 * begins with it, into memory of small pages: that takes most of the time of many a job. Pages of
 * 2 MB, where the kernel gives them, make it take half as long.
 *
 *	Elf *elf = dwarf_whole(&w, file);	(for libdw; of the file itself if that is small)
 *	...
 *	dwarf_whole_release(&w);
 */
#ifndef PP_DWARF_DWARF_WHOLE_H
#define PP_DWARF_DWARF_WHOLE_H

#include "symbol/elf_file.h"

#define DWARF_WHOLE_MIN (4u << 20)

struct dwarf_whole {
	Elf *elf; /* NULL: the file is used as it is */
	void *map;
	size_t size;
};

/* Never fails: if the file cannot be read into memory, it is used as it is. */
Elf *dwarf_whole(struct dwarf_whole *w, const struct elf_file *f);
void dwarf_whole_release(struct dwarf_whole *w);

#endif
