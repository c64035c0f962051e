/*
 * Several recordings at once: each is decoded by a separate thread, and their streams are merged
 * by time (merge/merge.h). One alone is decoded as it is.
 *
 *	struct input_many many = {.names = argv + 1, .n = argc - 1};
 *	input_many(&many, &w, d, &end);
 *	status = end.status;
 */
#ifndef PP_INPUT_MANY_H
#define PP_INPUT_MANY_H

#include "input/input.h"

#define INPUT_MANY_MAX	  512 /* recordings that are merged: each takes a thread and 2 MB */
#define INPUT_OFFSETS_MAX 512

/* What is added to the times of a recording. */
struct input_offset {
	const char *file; /* not terminated; NULL: of all */
	size_t len;
	int64_t ns;
};

struct input_many {
	char **names; /* "-" is stdin; none given: stdin */
	int n;
	struct trace_opts opts;
	const char *clock; /* that all times are brought to; NULL: times stay as they are */
	struct input_offset offsets[INPUT_OFFSETS_MAX];
	size_t noffsets;
	/* Called when the input pauses (src_on_pause): the place to flush one's own output. */
	src_pause_fn *flush;
	void *flush_ctx;
	/* NULL, or that the one file grows, until this is set (src_follow). */
	const volatile sig_atomic_t *follow;
};

/*
 * Takes an offset "[FILE:]NUMBER[UNIT]", the unit being ns, us, ms or s, and ns where there is
 * none. 0, or PP_EUSAGE with what is wrong in `why`. The text must outlive the offsets.
 */
int input_add_offset(struct input_many *m, const char *arg, struct buf *why);

/*
 * Decodes all recordings into the stream, whose header has been written, as the sources 1, 2, ...
 * Adds to the account; its status is PP_EXIT_FAIL when nothing could be decoded. What went wrong
 * has been reported.
 */
void input_many(const struct input_many *m, struct swriter *w, struct diag *d, struct ps_end *end);

#endif
