/*
 * The readers of the kinds of text, which fold_text chooses from. Private to lib/fold.
 */
#ifndef PP_FOLD_READERS_H
#define PP_FOLD_READERS_H

#include "fold/text_lines.h"

/* Whether a line is one that only DTrace writes, or trace-cmd report. */
bool fold_is_dtrace(const char *p, size_t n);
bool fold_is_tracecmd(const char *p, size_t n);

/* Whether trace-cmd report can begin so, before the first event: "version = 6", "cpus=2". */
bool fold_is_preamble(const char *p, size_t n);

/* Whether a line is an address alone, "  0x104d08831", as DTrace prints a frame without a name. */
bool fold_is_address(const char *p, size_t n);

/*
 * Of perf script text, of those of bpftrace, DTrace and trace-cmd, and of folded text; the first
 * lines are in the buffer already.
 */
int fold_perf(struct fold *f, struct fold_lines *l);
int fold_bpftrace(struct fold *f, struct fold_lines *l);
int fold_dtrace(struct fold *f, struct fold_lines *l);
int fold_tracecmd(struct fold *f, struct fold_lines *l);
int fold_folded(struct fold *f, struct fold_lines *l);

#endif
