/*
 * Where the functions of a file begin that no unwind table lists: by its symbols, by the code
 * that calls them or takes their address, by its relocations, and by places that begin code that
 * nothing runs into.
 *
 *	struct functions *t;
 *	rc = functions_new(&t);
 *	rc = functions_add(t, binary, true);		(then its debug file, for symbols)
 *	rc = functions_find(t, vaddr, lo, hi, &f);	(lo, hi: the code around it without tables)
 *	functions_free(t);
 *
 * Symbols are read when the first address is looked up; the code is searched, once, when an address
 * is in none of a known size. Addresses are DSO-relative (vaddr). x86-64 and aarch64.
 */
#ifndef PP_UNWIND_FUNCTION_STARTS_H
#define PP_UNWIND_FUNCTION_STARTS_H

#include "symbol/elf_file.h"

#define FUNCTIONS_SCAN_MAX    (256u << 20) /* bytes of code that are searched */
#define FUNCTIONS_SYMBOLS_MAX (4u << 20)
#define FUNCTIONS_OPEN_MAX    (256u << 10) /* bytes of a function whose end is not known */

struct functions;

struct function_span {
	uint64_t start, end;
	bool open; /* it may end earlier */
};

int functions_new(struct functions **t);  /* 0 or PP_ENOMEM */
void functions_free(struct functions *t); /* NULL is fine */

/* A file that names functions; `image`: it has the code. It is kept open. 0 or PP_ENOMEM. */
int functions_add(struct functions *t, struct elf_file *f, bool image);

/* The function that contains an address, between lo and hi. 0, PP_ENOENT, PP_ENOMEM. */
int functions_find(struct functions *t, uint64_t vaddr, uint64_t lo, uint64_t hi,
		   struct function_span *f);

/*
 * Whether some instruction or relocation has the address of code that nothing runs into, or calls
 * it. 0 or PP_ENOMEM.
 */
int functions_known(struct functions *t, uint64_t vaddr, bool *is);

/* Whether there was more code to search than FUNCTIONS_SCAN_MAX. */
bool functions_limited(const struct functions *t);

#endif
