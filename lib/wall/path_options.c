/* The command line options of plat's wall clock. */
#include "wall/wall.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define SLOW 99. /* --tail: the percentile from which on spans are slow */

enum { IDLE = OPT_NO_SHORT, PATH, TAIL, OF, NTH, SLOWEST, FOLDED };

const struct opt wall_options[] = {
	{PATH, "path", NULL, "what determined when spans ended: their critical paths"},
	{TAIL, "tail", "[pN]", "what slow spans, from p99 on, have more of than ordinary ones"},
	{OF, "of", "SPANS", "with --path, --tail: \"process\", the default, or kinds as for -k"},
	{NTH, "nth", "N", "with --path: each step of the Nth span"},
	{SLOWEST, "slowest", NULL, "with --path: each step of the longest span"},
	{FOLDED, "folded", NULL, "with --tail: stacks with both counts, for psvg --diff"},
	{IDLE, "idle", NULL,
	 "with --emit wall, chain: include threads that wait for work at their idle place"},
	{0},
};

#define NO_PATHS "path tail"
#define WHOLE	 "emit=wall emit=chain" /* the time of all threads: of no spans */

const struct opt_rule wall_rules[] = {
	/* What is of tables of intervals. */
	{"by", NO_PATHS, NULL},
	{"over-time", NO_PATHS, NULL},
	{"heatmap", NO_PATHS, NULL},
	{"slower", NO_PATHS, NULL},
	{"unmatched", NO_PATHS " " WHOLE, NULL},
	{"threads", NO_PATHS, NULL},
	{"timeline", NO_PATHS, NULL},
	{"log2", NO_PATHS, NULL},
	{"fine", NO_PATHS, NULL},
	{"linear", NO_PATHS, NULL},
	{"every", NO_PATHS, NULL},
	{"fail-if", NO_PATHS, NULL},
	{"stats", NO_PATHS " " WHOLE, NULL},
	{"name", NO_PATHS, NULL},
	{"start", WHOLE, NULL},
	{"end", WHOLE, NULL},
	{"raw", NO_PATHS, NULL},
	{"timehist", NO_PATHS " emit", NULL},
	{"map", NO_PATHS " emit", NULL},
	{"kallsyms", NO_PATHS, NULL},
	{"emit", NO_PATHS, NULL},
	{"path", "tail", NULL},
	{"of", "kind start end", "path tail emit=path"},
	{"nth", "slowest top sort", "path"},
	{"slowest", "top sort", "path"},
	{"folded", "tsv json markdown top sort stacks wide", "tail"},
	{"idle", NULL, WHOLE},
	{0},
};

static int set_tail(struct wall_opts *o, const char *arg, struct buf *why)
{
	char *end;

	o->tail = SLOW;
	if (!arg)
		return 0;
	if (*arg == 'p') {
		o->tail = strtod(arg + 1, &end);
		if (end > arg + 1 && !*end && o->tail >= 50 && o->tail < 100)
			return 0;
	}
	buf_adds(why, "--tail: not a percentile from p50 to below p100: ");
	buf_add_safe(why, arg, strlen(arg));
	return PP_EUSAGE;
}

int wall_option(void *opts, int id, const char *arg, struct buf *why)
{
	struct wall_opts *o = opts;

	switch (id) {
	case PATH: o->path = true; break;
	case TAIL: return set_tail(o, arg, why);
	case OF: o->of = arg; break;
	case SLOWEST: o->slowest = true; break;
	case FOLDED: o->folded = true; break;
	case IDLE: o->idle = true; break;
	case NTH:
		if (!opt_u64(arg, 1, UINT64_MAX, &o->nth))
			break;
		buf_adds(why, "--nth: not a number of at least 1: ");
		buf_add_safe(why, arg, strlen(arg));
		return PP_EUSAGE;
	}
	return 0;
}

enum wall_form wall_form(const struct wall_opts *o, const char *emit)
{
	if (emit)
		return !strcmp(emit, "wall")	? WALL_EMIT
		       : !strcmp(emit, "chain") ? WALL_EMIT_CHAIN
		       : !strcmp(emit, "path")	? WALL_EMIT_PATH
						: WALL_NONE;
	return o->path ? WALL_PATH : o->tail > 0 ? WALL_TAIL : WALL_NONE;
}
