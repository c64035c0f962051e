/*
 * The options of counting: those of perf stat, with their meaning, or refused with what to use
 * instead, and a few more.
 *
 *	static struct stat_options o;
 *	const struct opt_group groups[] = {{stat_options, stat_option, &o}, {0}};
 *	... opt_parse_command() ...
 *	rc = stat_options_end(&o, argv + first, dashes);
 *	rc = stat_run(&o.c, diag, &status);
 *	stat_options_release(&o);
 */
#ifndef PP_STAT_COUNTING_OPTIONS_H
#define PP_STAT_COUNTING_OPTIONS_H

#include "base/opt.h"
#include "record/probes.h"
#include "stat/stat.h"

struct stat_options {
	struct stat_config c;
	struct probe_words probes; /* to be made before counting; see inplace/ */
	int rc;			   /* why it cannot be done though the words are right; in words: */
	struct buf why;
};

extern const struct opt stat_options[];
opt_handler stat_option;

/*
 * After the last option: no word at all, SECONDS, or a command. A lone number is a command if
 * `dashes` is set ("--" stood before it). 0, or a code with the reason in o->why.
 */
int stat_options_end(struct stat_options *o, char **words, bool dashes);

void stat_options_release(struct stat_options *o);

#endif
