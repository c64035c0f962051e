/*
 * An ELF file, read into memory as a whole. libdw reads all debug sections of a file when it begins
 * with it, and does without those that it cannot read. It uses memory of small pages: that takes
 * most of the time of many jobs. Pages of 2 MB, where the kernel gives them, make it take half as
 * long.
 *
 *	rc = dwarf_whole(&w, file);	(w.elf is for libdw)
 *	...
 *	dwarf_whole_release(&w);
 */
#ifndef PP_DWARF_DWARF_WHOLE_H
#define PP_DWARF_DWARF_WHOLE_H

#include "symbol/elf_file.h"

#define DWARF_WHOLE_SMALL (4u << 20) /* files that do not need large pages */

struct dwarf_whole {
	Elf *elf;
	void *bytes;
	size_t mapped; /* bytes of memory that is not malloc's; 0: it is */
};

/* 0; PP_ENOMEM; an error of reading. */
int dwarf_whole(struct dwarf_whole *w, const struct elf_file *f);
void dwarf_whole_release(struct dwarf_whole *w);

#endif
