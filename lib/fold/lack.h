/*
 * What perf script text does not tell, though the stacks or the options need it: its -F chose other
 * fields. Private to lib/fold.
 *
 *	struct fold_lack l = {0};
 *
 *	fold_lack_header(&l, &header, tracepoint, opts);	(of each sample)
 *	fold_lack_frame(&l, &frame, opts);			(of each distinct frame)
 *	if (fold_lack_tell(&l, diag, "x.txt"))
 *		... the result differs from that of the recording ...
 */
#ifndef PP_FOLD_LACK_H
#define PP_FOLD_LACK_H

#include "base/diag.h"
#include "fold/fold.h"
#include "fold/frame.h"
#include "fold/sample_header.h"

struct fold_lack {
	/* By the names of fields of perf script. */
	bool comm, pid, tid, cpu, event, period, ip, sym, dso;
	size_t columns;	     /* of an event that follows a command */
	bool columns_differ; /* ... are not those of all: the last bytes of commands are blanks */
};

void fold_lack_header(struct fold_lack *l, const struct fold_header *h, bool tracepoint,
		      const struct fold_opts *o);
void fold_lack_frame(struct fold_lack *l, const struct fold_frame_line *f,
		     const struct fold_opts *o);

/* Reports it; false: nothing is missing. */
bool fold_lack_tell(const struct fold_lack *l, struct diag *d, const char *name);

#endif
