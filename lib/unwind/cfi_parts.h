/*
 * What cfi.c (files), cfi_find.c (the entry of an address) and cfi_run.c (its instructions) share.
 * Private to them.
 */
#ifndef PP_UNWIND_CFI_PARTS_H
#define PP_UNWIND_CFI_PARTS_H

#include "base/buf.h"
#include "base/cursor.h"
#include "base/intern.h"
#include "unwind/cfi.h"
#include "unwind/machine_code.h"
#include "symbol/gopcln.h"
#include "unwind/function_starts.h"

#define CFI_ENTRY_CODE 128   /* bytes at an entry point that have no caller, at most */
#define CFI_BLOCK      16384 /* bytes that are read from a section at a time */

/* A section, whose bytes are read from the file when they are needed. */
struct cfi_section {
	uint64_t vaddr, size;  /* size 0: there is none */
	uint64_t offset;       /* in the file */
	struct elf_file *file; /* a reference; NULL: all bytes are there */
	uint8_t *bytes;	       /* owned; of `size` */
	uint64_t *have;	       /* a bit for each block that was read */
	bool debug;	       /* .debug_frame: another form of entries */
	uint8_t width;	       /* bytes of an address */
	bool swap;
	/* The index of all its entries, made when it is needed. */
	bool indexed;
	struct cfi_index {
		uint64_t start;
		uint64_t at; /* of the entry in the section */
	} * index;
	size_t nindex;
};

/* A common information entry. */
struct cfi_cie {
	uint64_t at; /* in the section */
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra;
	uint8_t encoding; /* of the addresses in its FDEs */
	uint8_t width;
	bool augmented, signal;
	struct cursor run; /* its instructions */
};

/* A frame description entry: [start, start + len). */
struct cfi_fde {
	uint64_t start, len;
	struct cfi_cie cie;
	struct cursor run;
	uint64_t run_vaddr; /* where its instructions are */
};

/* The addresses of an entry that have the same row. */
struct cfi_span {
	uint64_t start, end;
	uint32_t row;
	uint32_t next; /* of the same entry: index + 1; 0: none */
};

/* What is known of code that no entry covers. */
struct cfi_code {
	struct functions *functions;
	struct gopcln *go; /* of the image; NULL: Go has not built it */
	bool go_sought;
	struct code_rows rows; /* of all functions */
	struct cfi_function_rows {
		uint64_t start, end;
		uint32_t first, n; /* in rows.v */
	} * v;			   /* owned; by start */
	uint32_t n, cap;
	uint64_t spent; /* bytes that were looked at */
	bool limited;
};

struct cfi {
	struct rows *rows;
	unsigned machine;
	bool swap, any;
	uint8_t width;
	struct elf_file *image;	  /* whose segments cfi_read reads; a reference */
	struct cfi_memory memory; /* instead; read NULL: there is none */
	uint64_t entry;		  /* where it begins to run; 0: nowhere */
	uint64_t entry_end;	  /* of the code there; 0: not yet known */
	bool program;		  /* and not a library, which may run, too */
	uint8_t nsegments;
	struct elf_segment segments[ELF_SEGMENTS_MAX]; /* that are not writable */
	struct cfi_section eh, hdr, debug;
	bool hdr_bad;	      /* the table cannot be used */
	uint64_t table;	      /* offset in hdr */
	uint64_t ntable;      /* entries */
	uint64_t sought;      /* the address that was sought last in the table, ... */
	uint64_t nbefore;     /* ... and the entries that begin at or before it; 0: none yet */
	struct map64 by_addr; /* row of an address */
	/* What was found of each entry: by where it begins, index + 1 of its first span. */
	struct map64 by_entry;
	struct cfi_span *spans;
	uint32_t nspans, spans_cap;
	struct cfi_code code;
};

/* ---- cfi_image.c ---- */

/* n bytes of a section, in place; NULL when it does not have them, or they cannot be read. */
const uint8_t *cfi_read_bytes(struct cfi_section *s, uint64_t at, uint64_t n);

static inline const uint8_t *cfi_bytes(struct cfi_section *s, uint64_t at, uint64_t n)
{
	uint64_t b = at / CFI_BLOCK;

	/* Nearly always they are there. */
	if (s->file && at < s->size && n <= s->size - at && n && (at + n - 1) / CFI_BLOCK == b &&
	    s->have[b / 64] >> b % 64 & 1)
		return s->bytes + at;
	return cfi_read_bytes(s, at, n);
}

/* ---- cfi_entry.c ---- */

/* The entry at an offset of a section: 0, PP_ENOENT (it is not an FDE), PP_ECORRUPT. */
int cfi_fde_at(struct cfi_section *s, uint64_t at, struct cfi_fde *fde);

/*
 * Steps over an entry: *at becomes the place of the next. 0; PP_END; PP_ECORRUPT. *fde: it is an
 * FDE, not a CIE.
 */
int cfi_next_entry(struct cfi_section *s, uint64_t *at, bool *fde);

/* A pointer in one of the encodings of exception frames (DW_EH_PE_*). */
uint64_t cfi_pointer(struct cursor *c, uint8_t encoding, uint8_t width, uint64_t pcrel,
		     uint64_t datarel);

/* ---- cfi_find.c ---- */

/* Reads the head of the search table of .eh_frame_hdr, if it can be used. */
void cfi_read_hdr(struct cfi *c);

/*
 * The entry of an address: 0, PP_ENOENT, PP_ECORRUPT (there is one, which is damaged), PP_ENOMEM.
 */
int cfi_find(struct cfi *c, uint64_t vaddr, struct cfi_fde *fde);

/*
 * Where the last entry of .eh_frame (or of .debug_frame) begins that begins at or before an
 * address; false: there is none, or it is not known without reading all. It may end before that.
 */
bool cfi_entry_start(struct cfi *c, bool debug, uint64_t vaddr, uint64_t *start);

/* The addresses around one that no entry covers, which none of them covers either. */
void cfi_gap(struct cfi *c, uint64_t vaddr, uint64_t *lo, uint64_t *hi);

/* ---- cfi_code.c ---- */

/* A file that code or symbols are taken from. 0 or PP_ENOMEM. */
int cfi_code_add(struct cfi *c, struct elf_file *f, bool image);

/* The row of an address that no entry covers, from the code. 0, PP_ENOENT, PP_ENOMEM, PP_ELIMIT. */
int cfi_code_row(struct cfi *c, uint64_t vaddr, uint32_t *id);

/* Whether an address is in the code at the entry point, before the next function. */
int cfi_in_entry(struct cfi *c, uint64_t vaddr, bool *in);

/* Adds ROW_TOP or ROW_LEAVES for a function of Go's runtime that changes stacks. 0 or PP_ENOMEM. */
int cfi_go_flags(struct cfi *c, uint64_t vaddr, uint8_t *flags);

void cfi_code_release(struct cfi *c);

/* ---- cfi_run.c ---- */

/*
 * Runs the instructions of an entry up to an address. *span: the addresses that have this row, or
 * none. 0, PP_ECORRUPT, PP_ELIMIT.
 */
int cfi_run(const struct cfi_fde *fde, uint64_t vaddr, struct row_maker *row,
	    struct cfi_span *span);

#endif
