/*
 * The command line of psvg: its options, and what they make of a picture.
 *
 *	struct picture_command c = PICTURE_COMMAND_INIT;
 *	const struct opt_group groups[] = {{picture_options, picture_option, &c}, {0}};
 *	...
 *	rc = picture_new(&p, c.reverse, diag);
 */
#ifndef PP_DRAW_PSVG_OPTIONS_H
#define PP_DRAW_PSVG_OPTIONS_H

#include "base/opt.h"
#include "draw/picture.h"

struct picture_command {
	struct picture_opts o;
	bool reverse, stats, diff, chart;
	const char *event; /* NULL: there has to be only one */
};

#define PICTURE_COMMAND_INIT \
	{ \
		.o = PICTURE_OPTS_INIT \
	}

/* Their handler's context is a struct picture_command. */
extern const struct opt picture_options[];
extern const struct opt_rule picture_rules[];
extern const struct opt_effect picture_effects[]; /* by picture_kind */
opt_handler picture_option;

#endif
