/*
 * The frames in perf script text: a line of a call chain, or the end of a header without one.
 * Private to lib/fold.
 *
 *	struct fold_frame_line f;
 *
 *	if (fold_frame_parse("\t 1000 main+0x4 (/bin/x)", 24, &f))
 *		... f.func is "main+0x4 (/bin/x)", f.func_len 8 ...
 */
#ifndef PP_FOLD_FRAME_H
#define PP_FOLD_FRAME_H

#include "fold/text_lines.h"

/* The parts of a line with a frame. What -F left out of it has length 0. */
struct fold_frame_line {
	const char *pc, *func, *dso;
	size_t pc_len, func_len, dso_len;
	bool has_dso;
};

/* False: it is not a frame. */
bool fold_frame_parse(const char *p, size_t n, struct fold_frame_line *f);

/* Whether its address is where perf prints it: in 16 columns after white space. */
bool fold_frame_in_columns(const char *line, const struct fold_frame_line *f);

/*
 * The function that the sample is in, where it is at the end of the header: what it begins with in
 * `rest`, what follows the event, and its length. NULL: there is none. Arguments of tracepoints may
 * look like one.
 */
const char *fold_frame_inline(const char *rest, size_t n, bool tracepoint, size_t *len);

/*
 * Length of the function's name without the offset, as s/\+0x[\da-f]+$// leaves it, unless that is
 * the name of its file: gzip+0x4a20 is what psym calls a function without a symbol.
 */
size_t fold_without_offset(const struct fold_frame_line *f);

/* Whether a line is none that pfold reads, but one that perf script has: source, registers. */
bool fold_frame_is_other(const char *p, size_t n);

#endif
