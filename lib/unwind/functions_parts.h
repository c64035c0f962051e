/*
 * What function_starts.c (symbols, the search for an address) and functions_scan.c (the search of
 * the code) share. Private to them.
 */
#ifndef PP_UNWIND_FUNCTIONS_PARTS_H
#define PP_UNWIND_FUNCTIONS_PARTS_H

#include "unwind/function_starts.h"

#define FUNCTIONS_FILES	 3
#define FUNCTIONS_RANGES 64

/* A part of the file with code. */
struct code_range {
	uint64_t start, end, offset; /* offset: in the file */
	uint64_t entry;		     /* bytes of an entry of a linkage table; 0: it is none */
	uint64_t *bits;		     /* owned; by byte: something leads there; NULL: not searched */
};

struct function_symbol {
	uint64_t start, end; /* end = start: not known */
	bool label;	     /* it may be within a function */
};

struct functions {
	struct elf_file *file[FUNCTIONS_FILES]; /* references */
	unsigned nfiles;
	struct elf_file *image; /* one of them */
	struct code_range range[FUNCTIONS_RANGES];
	unsigned nranges;
	struct function_symbol *symbol; /* owned; by start */
	uint32_t nsymbols, symbols_cap;
	bool ready, scanned, limited;
};

/* ---- functions_scan.c ---- */

/* Finds what leads into the code of all ranges. 0 or PP_ENOMEM. */
int functions_scan(struct functions *t);

/* Whether what is before an address does not run into it: an end, or padding. */
bool functions_begins(const struct functions *t, const struct code_range *r, uint64_t vaddr);

static inline bool code_range_has(const struct code_range *r, uint64_t vaddr)
{
	uint64_t at = vaddr - r->start;

	return r->bits && at < r->end - r->start && r->bits[at / 64] >> at % 64 & 1;
}

#endif
