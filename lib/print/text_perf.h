/*
 * The samples of a perf.data, and of anything else that is not a trace.dat, as `perf script`
 * prints them. Private to lib/print.
 *
 * text_perf.c makes the lines, text_parts.c the fields that are longer than a number.
 */
#ifndef PP_PRINT_TEXT_PERF_H
#define PP_PRINT_TEXT_PERF_H

#include "base/buf.h"
#include "print/text.h"

struct text_perf;
struct text_page;

/* What the lines of all recordings of a stream share. */
struct text_clock {
	bool began;
	uint64_t first, last; /* times of lines, ns */
};

/* The time of day of samples: known if the recording has the difference from its clock. */
struct text_tod {
	bool known;
	int64_t offset; /* ns to be added */
	int64_t second; /* of which text is */
	char text[32];	/* empty: none yet */
};

/* Prints to a page, which must outlive it, as must the clock. 0 or PP_ENOMEM. */
int text_perf_new(struct text_perf **t, struct text_page *page, struct text_clock *clock,
		  const struct stext_opts *opts, struct diag *d);
void text_perf_free(struct text_perf *t); /* NULL is fine */

/* Takes a record of the recording. */
int text_perf_record(struct text_perf *t, const struct sreader *r, const struct ps_record *rec);

/*
 * What the line of a sample leaves behind for those after it, without the line: which columns there
 * are, and how wide. 0 or PP_ENOMEM.
 */
int text_perf_pass(struct text_perf *t, const struct sreader *r, const struct ps_sample *s);

/* ---- text_place.c ---- */

/*
 * The stack of a sample, its chain, or with `chain` false its address. What is long goes to the
 * page in parts, by way of b.
 */
int text_add_place(struct buf *b, struct text_page *page, const struct sreader *r,
		   const struct ps_sample *s, uint64_t fields, bool chain);

/* "from/to/P/-/-/cycles/type " with the symbols of the branch stack, and their objects. */
void text_add_branch_symbols(struct buf *b, const struct sreader *r, const struct ps_sample *s,
			     bool dso);

/* ---- text_parts.c ---- */

/* "REG:0x1 REG:0x2 ": arch is the machine's name as uname has it, "" unknown. */
void text_add_regs(struct buf *b, const struct ps_regs *regs, const char *arch);

/* " 0xfrom/0xto/P/-/-/cycles/type " for each branch. */
void text_add_branches(struct buf *b, const struct ps_branches *branches);

/* What follows the two ends of a branch. */
void text_add_branch_flags(struct buf *b, uint64_t flags);

/* The bits and what they mean, padded to the widest so far. */
void text_add_data_src(struct buf *b, uint64_t bits, int *width);

/* The value of the fact wall_offset; a text that is not a number leaves the time of day unknown. */
void text_tod_set(struct text_tod *tod, const struct ps_str *offset);

/* "2026-11-20 12:49:18.138257 ", in the local time zone. */
void text_add_tod(struct buf *b, struct text_tod *tod, uint64_t ns);

/* A dump in lines, and the text if it is one. */
void text_add_bpf_output(struct buf *b, const struct ps_str *bytes);

/* " 4K" */
void text_add_page_size(struct buf *b, uint64_t bytes);

#endif
