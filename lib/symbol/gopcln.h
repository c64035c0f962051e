/*
 * The function table of Go programs (pclntab), which is present even when all symbols are
 * stripped: names of functions, and the size of the frame at each address.
 *
 *	struct gopcln *g;
 *	rc = gopcln_open(&g, file);		(PP_ENOENT: there is no such table)
 *	for (uint32_t i = 0; i < gopcln_count(g); i++)
 *		if (!gopcln_get(g, i, &fn)) ...
 *	gopcln_close(g);
 *
 * It is found by its section, by its first bytes within data (cgo, lld), or within the segments of
 * a Go program without sections. Format: Go's src/internal/abi and src/debug/gosym, versions 1.2,
 * 1.16, 1.18 and 1.20 on.
 */
#ifndef PP_SYMBOL_GOPCLN_H
#define PP_SYMBOL_GOPCLN_H

#include "symbol/elf_file.h"

#define GOPCLN_MAX	     (512u << 20) /* bytes of the table; kubectl has 30 MB */
#define GOPCLN_FUNCTIONS_MAX (1u << 24)

struct gopcln;

struct gopcln_function {
	uint64_t addr, size; /* DSO-relative */
	const char *name;    /* lives as long as the table; NULL: it has none that is sound */
	uint32_t name_at;    /* its place in gopcln_names */
	uint64_t record;
};

/* Whether a file says that Go built it. */
bool gopcln_is_go(const struct elf_file *f);

/* The table of a file, which has to stay open. 0, PP_ENOENT, PP_ENOMEM, ... */
int gopcln_open(struct gopcln **g, const struct elf_file *f);

/* The same over bytes, which have to stay; text: where its code begins, for versions that ask. */
int gopcln_memory(struct gopcln **g, const uint8_t *bytes, size_t len, bool swap, uint64_t text);
void gopcln_close(struct gopcln *g); /* NULL is fine */

uint32_t gopcln_count(const struct gopcln *g);

/* A function by its number, in the order of addresses. 0 or PP_ECUT. */
int gopcln_get(const struct gopcln *g, uint32_t i, struct gopcln_function *fn);

/* The function of an address: 0, PP_ENOENT. */
int gopcln_find(const struct gopcln *g, uint64_t vaddr, struct gopcln_function *fn);

/*
 * How many bytes the stack pointer is below where it was when the function was entered, at the
 * addresses [*start, *end) around one of it. 0, PP_ENOENT (no table), PP_ECORRUPT.
 */
int gopcln_frame(const struct gopcln *g, const struct gopcln_function *fn, uint64_t vaddr,
		 uint32_t *size, uint64_t *start, uint64_t *end);

/* All names, concatenated. */
void gopcln_names(const struct gopcln *g, const void **p, size_t *n);

#endif
