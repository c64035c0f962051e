/*
 * The binary to probe: its ELF file, its DWARF wherever that is, its code.
 *
 *	struct binary *b;
 *	rc = binary_open(&b, "/usr/bin/zstd", diag);
 *	if (binary_offset(b, vaddr, &offset) == 0) ...
 *	binary_close(b);
 *
 * The DWARF may be in the binary, in its debug file, or be missing (b->dwarf is NULL then).
 */
#ifndef PP_INSPECT_BINARY_H
#define PP_INSPECT_BINARY_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/intern.h"
#include "dwarf/dwarf_whole.h"
#include "dwarf/line_files.h"
#include "symbol/dso_file.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#define BINARY_CODE_MAX	 (16u << 20)	     /* bytes of one function that are read */
#define BINARY_STEPS_MAX (UINT64_C(1) << 28) /* entries of DWARF that are visited */

#define BINARY_FILES 16 /* tables of source files that are kept */

/* The names of the source files of a unit. */
struct binary_files {
	Dwarf_CU *cu; /* NULL: of none */
	struct line_files files;
};

/* A part of the code that one compilation unit describes. */
struct binary_unit {
	uint64_t lo, hi;
	Dwarf_Off die;
};

struct binary {
	const char *path; /* as passed to the kernel; owned */
	struct dso_file dso;
	struct elf_file *elf; /* of dso: the binary itself */
	struct elf_file *alt_elf;
	Dwarf *dwarf, *alt;		   /* NULL: none */
	Dwarf_CFI *eh_frame, *debug_frame; /* owned by libdw or by eh_elf's holder */
	struct binary_unit *units;	   /* in the order of lo */
	uint32_t n_units, cap_units;
	struct dwarf_whole whole[2]; /* what dwarf and alt read */
	struct arena copies;	     /* of sections, see dwarf_seal.h */
	struct map64 split_files;    /* by Dwarf: 1 if it can be used */
	struct line_sections sections;
	struct binary_files files[BINARY_FILES];
	Dwarf_CU *split;    /* the unit of split DWARF that was asked for last, */
	Dwarf_Off skeleton; /* and what it has in the file */
	uint64_t steps;	    /* that are left */
	bool damaged;	    /* a part of the debug information cannot be used */
	bool go;	    /* built by Go */
	bool x86_64;
	bool kernel;   /* a kernel's image: places are given as symbols */
	uint64_t text; /* of a kernel: the address of its symbol _text */
	struct diag *diag;
};

/*
 * Opens a binary and what describes it; reports errors to d. The path may lead through
 * /proc/PID/root. 0, or an error.
 */
int binary_open(struct binary **b, const char *path, struct diag *d);
void binary_close(struct binary *b); /* NULL is fine */

/* Whether neither it nor a file of debug information names its functions any more. */
bool binary_is_stripped(const struct binary *b);

/* The file offset of the code at an address: 0 or PP_ENOENT. */
int binary_offset(const struct binary *b, uint64_t vaddr, uint64_t *offset);

/* Whether the address is in an executable segment. */
bool binary_is_code(const struct binary *b, uint64_t vaddr);

/*
 * What the kernel's @+OFFSET must say for the data at an address, read by a probe at `probe`: the
 * kernel adds the difference of the probe's address and its file offset.
 */
int64_t binary_data_offset(const struct binary *b, uint64_t probe, uint64_t data);

/* n bytes at an address: 0, PP_ENOENT, PP_ECUT, or an error of reading. */
int binary_read(const struct binary *b, uint64_t vaddr, void *to, size_t n);

/* The canonical frame address at pc, as operations of DWARF; the caller frees *frame. */
int binary_cfa(struct binary *b, uint64_t pc, Dwarf_Frame **frame, Dwarf_Op **ops, size_t *n);

#endif
