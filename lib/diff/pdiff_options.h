/*
 * The command line of pdiff: its options, and what they make of a comparison and its exit status.
 *
 *	struct diff_command c = DIFF_COMMAND_INIT;
 *	const struct opt_group groups[] = {{diff_options, diff_option, &c}, {0}};
 *	...
 *	if (!diff_command_check(&c, diag))
 *		... diff_new(&d, &c.opts, diag) ... status = diff_status(d, &c, diag);
 *	diff_command_release(&c);
 */
#ifndef PP_DIFF_PDIFF_OPTIONS_H
#define PP_DIFF_PDIFF_OPTIONS_H

#include "diff/diff.h"

enum diff_gate { DIFF_GATE_NONE, DIFF_GATE_PLAIN, DIFF_GATE_STRICT };

struct diff_names {
	char **v;
	int n;
};

struct diff_command {
	struct diff_opts opts;
	enum diff_form form;
	enum diff_gate gate;
	bool learn;
	struct diff_names base, other; /* of --base and --new, patterns expanded */
};

#define DIFF_COMMAND_INIT \
	{ \
		.opts = DIFF_OPTS_INIT \
	}

/* Their handler's context is a struct diff_command. */
extern const struct opt diff_options[];
extern const struct opt_rule diff_rules[];
opt_handler diff_option;

/* Whether options exclude each other. 0, or PP_EUSAGE, which is reported. */
int diff_command_check(struct diff_command *c, struct diag *diag);

/* The exit status of a comparison that was written; reports why a gate failed, or is undecided. */
int diff_status(const struct diff *d, const struct diff_command *c, struct diag *diag);

void diff_command_release(struct diff_command *c);

#endif
