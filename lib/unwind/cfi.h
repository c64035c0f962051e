/*
 * The call frame information (CFI) of a module: how to get from an address in it to the caller's
 * frame.
 *
 *	struct rows rows = {0};
 *	struct cfi *c;
 *	rc = cfi_new(&c, &rows);
 *	rc = cfi_add(c, binary, true);		(then its debug file, if there is another)
 *	rc = cfi_row(c, vaddr, &id);
 *	if (!(rows_get(&rows, id)->flags & ROW_NONE)) ...
 *	cfi_free(c);
 *
 * It is read from .eh_frame, whose entries are found by the table in .eh_frame_hdr, and from
 * .debug_frame, plain or packed. Only what addresses fall on is read: a section is not loaded as a
 * whole, unless it has to be searched because there is no (sound) table; then an index of it is
 * made once. Code that no entry covers gets rows from its instructions (machine_code.h), function
 * by function as addresses are met; such rows are marked ROW_CODE. Addresses are DSO-relative
 * virtual addresses (vaddr). Format: DWARF 5, 6.4; Linux Standard Base 5.0, "Exception Frames".
 */
#ifndef PP_UNWIND_CFI_H
#define PP_UNWIND_CFI_H

#include "base/buf.h"
#include "symbol/elf_file.h"
#include "unwind/rows.h"

#define CFI_SECTION_MAX (UINT64_C(1) << 30) /* bytes of a section */
#define CFI_ROWS_MAX	(1u << 20)	    /* addresses of a module whose rows are remembered */

/* Bytes of code without a table that are looked at in a file. */
#define CFI_CODE_MAX (16u << 20)

#define CFI_SPANS_MAX (1u << 20) /* parts of functions of which that is so */

struct cfi;

/* The rows must outlive it. 0 or PP_ENOMEM. */
int cfi_new(struct cfi **c, struct rows *rows);
void cfi_free(struct cfi *c); /* NULL is fine */

/*
 * Takes from a file what the files before it did not have. It stays open as long as the cfi needs
 * it: the caller may close it (elf_file_ref). `image`: it is the file that was run, not a debug
 * file, whose segments are empty. 0 or PP_ENOMEM; a file without tables is not an error.
 */
int cfi_add(struct cfi *c, struct elf_file *f, bool image);

/*
 * Code that a process generates, instead of files: it has no tables, and its vaddrs are addresses.
 * Both give 0 or an error; `function` has the piece of code around an address.
 */
struct cfi_memory {
	int (*read)(void *ctx, uint64_t addr, void *to, size_t n);
	int (*function)(void *ctx, uint64_t addr, uint64_t *start, uint64_t *end);
	void *ctx;
};
void cfi_add_memory(struct cfi *c, unsigned machine, const struct cfi_memory *m);

/* EM_... of the first file that was added. */
unsigned cfi_machine(const struct cfi *c);

/* The row of an address; one with ROW_NONE if no entry covers it. 0, PP_ENOMEM, PP_ELIMIT. */
int cfi_row(struct cfi *c, uint64_t vaddr, uint32_t *id);

/* Whether an address has a row. 0, or an error of cfi_row. */
int cfi_covers(struct cfi *c, uint64_t vaddr, bool *is);

/*
 * Reads what a program cannot change: bytes of segments that are not writable. 0; PP_ENOENT,
 * PP_ECUT and the like if they do not exist.
 */
int cfi_read(const struct cfi *c, uint64_t vaddr, void *to, size_t n);

/* How many bytes cfi_read can read before an address, and from it on. */
void cfi_extent(const struct cfi *c, uint64_t vaddr, uint64_t *before, uint64_t *after);

/*
 * Whether an address is in the code at the entry point of the file that was run: what the kernel
 * starts has no caller, though there is often no table that says so. False where one does. 0 or
 * an error of cfi_row.
 */
int cfi_is_entry(struct cfi *c, uint64_t vaddr, bool *is);

/*
 * The function of an address, as the tables have it: [start, end). 0, PP_ENOENT, PP_ECORRUPT,
 * PP_ENOMEM.
 */
struct cfi_function {
	uint64_t start, end;
	enum {
		CFI_FUNCTION,
		CFI_COLD,  /* entered with another function's frame: split off as rarely used */
		CFI_PLT,   /* a linkage table */
		CFI_ENTRY, /* where a program begins to run */
	} kind;
};
int cfi_function(struct cfi *c, uint64_t vaddr, struct cfi_function *f);

/*
 * What a function without a name is called: by the file's name, and by where it begins.
 * gzip+0x4a20, gzip+0x1f3c.cold, gzip+0x2020@plt; _start where a program begins to run. And back:
 * whether a text is such a name of a function in the file, but for the last.
 */
void cfi_function_name(const struct cfi_function *f, const char *path, struct buf *b);
bool cfi_function_named(const char *text, const char *path, uint64_t *start);

/*
 * The function of an address whose row is made from code: [start, end). 0 or PP_ENOENT.
 */
int cfi_code_function(const struct cfi *c, uint64_t vaddr, uint64_t *start, uint64_t *end);

/*
 * Whether an address is the beginning of a function, or of code that others only take the address
 * of: where contexts that programs make begin. 0 or PP_ENOMEM.
 */
int cfi_is_begin(struct cfi *c, uint64_t vaddr, bool *is);

/* Whether some code got no rows because there is too much of it (CFI_CODE_MAX). */
bool cfi_code_limited(const struct cfi *c);

/*
 * The error with which a read of one of its files failed, each once (elf_file_failed): there are
 * fewer rows than there should be. 0: none failed.
 */
int cfi_failed(struct cfi *c);

/* Whether the bytes are not in this machine's order. */
bool cfi_swap(const struct cfi *c);

#endif
