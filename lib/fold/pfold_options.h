/*
 * The command line options of pfold.
 *
 *	struct pfold_opts o = PFOLD_OPTS_INIT;
 *	const struct opt_group groups[] = {{pfold_options, pfold_option, &o}, {0}};
 *	...
 *	pfold_opts_release(&o);
 */
#ifndef PP_FOLD_PFOLD_OPTIONS_H
#define PP_FOLD_PFOLD_OPTIONS_H

#include "base/opt.h"
#include "fold/fold.h"
#include "fold/reshape.h"

struct pfold_opts {
	struct fold_opts fold;
	struct fold_shape shape;
	char *keys; /* what fold.by points into; owned */
	bool stats, strict, no_header;
};

#define PFOLD_OPTS_INIT \
	{ \
		.shape = FOLD_SHAPE_INIT \
	}

/* The options, and their handler, whose context is a struct pfold_opts. */
extern const struct opt pfold_options[];
extern const struct opt_rule pfold_rules[];
opt_handler pfold_option;

void pfold_opts_release(struct pfold_opts *o);

#endif
