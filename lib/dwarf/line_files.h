/*
 * The names of the source files of a compilation unit, by the header of its line table, and where
 * its rows are. libdw reads and sorts all lines before it returns a file, which takes a hundred
 * times as long.
 *
 *	struct line_files f = {0};
 *	struct line_sections sections = {0};
 *	rc = line_files_read(&f, &unit, &sections, true);
 *	if (!rc && line_files_name(&f, number, &path) == 0)
 *		puts(buf_str(&path));
 *	line_files_release(&f);
 *
 * Format: DWARF 2 to 5, section "Line Number Information", the line number program header.
 */
#ifndef PP_DWARF_LINE_FILES_H
#define PP_DWARF_LINE_FILES_H

#include "base/buf.h"
#include "base/cursor.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct line_file {
	const char *name;
	uint64_t dir;
};

/* The program that makes the rows of the table, and what its opcodes mean: see line_rows.h. */
struct line_program {
	struct cursor c;
	uint8_t min_step;     /* bytes of the shortest instruction */
	uint8_t instructions; /* in a bundle, at most */
	int8_t line_base;
	uint8_t line_range;
	uint8_t opcode_base;
	const uint8_t *lengths; /* numbers that each opcode below opcode_base has, from opcode 1 */
};

/* What a file has for all its tables; zeroed before the first of them. */
#define LINE_SECTIONS 3
struct line_sections {
	const Elf *elf;
	const Elf_Data *v[LINE_SECTIONS];
};

/* Its names are those of the file's sections, and live as long. */
struct line_files {
	const char *comp_dir; /* NULL: none */
	const char **dirs;
	struct line_file *files;
	uint32_t n_dirs, dirs_cap, n_files, files_cap;
	unsigned version;
	struct line_program program; /* its bytes are also those of the file's sections */
	uint64_t size;		     /* bytes of the table */
	uint64_t section_size;	     /* of the section that it is in */
};

/*
 * Reads the table of a unit, for split DWARF that of what the binary has of it. sealed: the file
 * was given to dwarf_seal. 0; PP_ENOENT: it has none; PP_EUNSUPPORTED: libdw may know it;
 * PP_ECORRUPT; PP_ENOMEM. After an error there are sizes, as far as they are known, and no names.
 */
int line_files_read(struct line_files *f, Dwarf_Die *unit, struct line_sections *known,
		    bool sealed);
void line_files_release(struct line_files *f);

/* The path of a file, as libdw gives it. 0; PP_ENOENT: there is no such file; PP_ENOMEM. */
int line_files_name(const struct line_files *f, uint64_t number, struct buf *path);

#endif
