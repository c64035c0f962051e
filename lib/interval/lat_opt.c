/* The command line options of plat. */
#include "interval/lat_run.h"

#include "base/err.h"

#include <stdio.h>
#include <string.h>

enum {
	KINDS = OPT_NO_SHORT,
	RESTART,
	NAME,
	PID,
	COMM,
	BYTES,
	OUTERMOST,
	ACROSS_LOSSES,
	OLDER,
	OVER_TIME,
	HEATMAP,
	SLOWER,
	STACKS,
	UNMATCHED,
	THREADS,
	EMIT,
	TIMELINE,
	KALLSYMS,
	RAW,
	LENIENT,
	BINARY,
	STATS,
	STRICT
};

const struct opt plat_options[] = {
	{'k', "kind", "KINDS", "only these kinds of intervals, separated by commas (--list-kinds)"},
	{KINDS, "list-kinds", NULL, "print all kinds"},
	{PID, "pid", "LIST", "only intervals of these processes, separated by commas"},
	{COMM, "comm", "LIST", "only intervals of threads of these names, or shell patterns"},
	{'b', "by", "KEYS", "a row for each KEYS: names or expressions, separated by commas"},
	{'s', "start", "EVENT", "EVENT[:KEY] begins an interval (repeatable)"},
	{'e', "end", "EVENT", "EVENT[:KEY] ends the one with the same KEY (repeatable)"},
	{RESTART, "restart", "HOW", "begun again before it ended: replace, nest or keep"},
	{NAME, "name", "NAME", "name for the pairs of -s and -e"},
	{BYTES, "bytes", "EXPR", "with -u: what to add up; with -s X__return also fields of X"},
	{OUTERMOST, "outermost", NULL, "with -s X__return: not if another of them called X"},
	{ACROSS_LOSSES, "across-losses", NULL,
	 "keep intervals that were open when events were lost"},
	{SLOWER, "slower", "TIME", "list each interval of TIME, such as 10ms, or longer; 0 all"},
	{STACKS, "stacks", NULL, "with their stacks"},
	{'u', "unmatched", NULL, "show the intervals that are still open at the end"},
	{OLDER, "older", "TIME", "with -u: only those open for TIME, such as 10s, or longer"},
	{THREADS, "threads", NULL, "show for each thread how long it ran and waited"},
	{OVER_TIME, "over-time", "[WIDTH]", "a row for each window of time, such as 10ms"},
	{HEATMAP, "heatmap", "[WIDTH]", "the same, to be drawn by psvg as a heat map"},
	{EMIT, "emit", "KINDS", "write the intervals as samples of an event stream"},
	{TIMELINE, "timeline", NULL, "write all intervals for psvg --timeline"},
	{KALLSYMS, "kallsyms", "FILE", "kernel functions from a saved /proc/kallsyms"},
	{RAW, "raw", NULL, "show numbers, even if they have names"},
	{LENIENT, "lenient", NULL, "allow names in --by that no event has"},
	{BINARY, "binary", NULL, "with --emit: in binary form, even to a terminal"},
	{'t', "text", NULL, "with --emit: as text"},
	{STATS, "stats", NULL, "print what happened to all starts and ends on stderr"},
	{STRICT, "strict", NULL, "exit with 1 if the recording reports losses"},
	{0},
};

/* Forms of the result, in the place of tables. */
#define FORMS "emit timeline slower"

const struct opt_rule plat_rules[] = {
	{"fail-if", FORMS, NULL},
	{"top", FORMS, NULL},
	{"sort", FORMS, NULL},
	{"markdown", FORMS, NULL},
	{"log2", FORMS " threads", NULL},
	{"fine", FORMS " threads", NULL},
	{"linear", FORMS " threads", NULL},
	{"wide", "emit timeline", NULL},
	{"every", FORMS " over-time heatmap threads unmatched", NULL},
	{"over-time", FORMS " threads", NULL},
	{"heatmap", FORMS " threads", NULL},
	{"kind", "emit", NULL},
	{"by", "emit timeline threads", NULL},
	{"raw", NULL, "by"},
	{"over-time", "heatmap", NULL},
	{"lenient", NULL, "by"},
	{"stacks", NULL, "slower path tail"},
	{"slower", "emit timeline threads", NULL},
	{"threads", "emit timeline unmatched", NULL},
	{"unmatched", "timeline", NULL},
	{"timeline", "emit tsv json", NULL},
	{"tsv", "emit", NULL},
	{"binary", "text json", "emit"},
	{"text", "json", "emit"},
	{"source", NULL, "tsv=plain"},
	{"list-kinds", "*", NULL},
	{"restart", NULL, "start end"},
	{"name", NULL, "start end"},
	{"bytes", NULL, "start"},
	{"bytes", NULL, "unmatched"},
	{"outermost", NULL, "start"},
	{"across-losses", NULL, "start"},
	{"older", NULL, "unmatched"},
	{"pid", "path tail", NULL},
	{"comm", "path tail", NULL},
	{0},
};

static int window(struct plat_opts *o, const char *name, const char *view, const char *arg,
		  struct buf *why)
{
	o->view = view;
	o->lat.window = LAT_WINDOW_AUTO;
	return arg ? opt_duration(name, arg, false, &o->lat.window, why) : 0;
}

static int pids(struct lat_opts *o, const char *list, struct buf *why)
{
	char one[16];
	uint64_t pid;

	for (const char *p = list;; p++) {
		size_t n = strcspn(p, ",");

		if (o->npids == LAT_PIDS_MAX) {
			buf_addf(why, "--pid: more than %d processes", LAT_PIDS_MAX);
			return PP_EUSAGE;
		}
		snprintf(one, sizeof(one), "%.*s", (int)n, p);
		if (n >= sizeof(one) || opt_u64(one, 0, INT32_MAX, &pid)) {
			buf_addf(why, "--pid: '%s' is not a list of process ids", list);
			return PP_EUSAGE;
		}
		o->pids[o->npids++] = (uint32_t)pid;
		p += n;
		if (!*p)
			return 0;
	}
}

int plat_option(void *opts, int id, const char *arg, struct buf *why)
{
	struct plat_opts *o = opts;
	struct lat_pair *p = &o->lat.pair;

	o->any |= id != STRICT;
	switch (id) {
	case 'k': o->lat.kinds = arg; break;
	case KINDS: o->list_kinds = true; break;
	case 'b': o->lat.by = arg; break;
	case 's': return lat_pair_add(p->starts, &p->nstarts, arg, why);
	case 'e': return lat_pair_add(p->ends, &p->nends, arg, why);
	case RESTART: return lat_pair_restart(p, arg, why);
	case NAME: p->name = arg; break;
	case PID: return pids(&o->lat, arg, why);
	case COMM: o->lat.comms = arg; break;
	case BYTES: p->bytes = arg; break;
	case OUTERMOST: p->outermost = true; break;
	case ACROSS_LOSSES: p->across_losses = true; break;
	case OLDER: return opt_duration("older", arg, false, &o->lat.older, why);
	case SLOWER: o->list = true; return opt_duration("slower", arg, true, &o->slower, why);
	case STACKS: o->lat.stacks = true; break;
	case 'u': o->lat.unmatched = true; break;
	case THREADS: o->lat.threads = true; break;
	case OVER_TIME: return window(o, "over-time", "lines", arg, why);
	case HEATMAP: return window(o, "heatmap", "heat", arg, why);
	case TIMELINE: o->timeline = true; break;
	case EMIT: o->emit = arg; break;
	case KALLSYMS: o->kallsyms = arg; break;
	case RAW: o->lat.raw = true; break;
	case LENIENT: o->lenient = true; break;
	case BINARY: o->sink.form = SSINK_BINARY; break;
	case 't': o->sink.form = SSINK_TEXT; break;
	case STATS: o->stats = true; break;
	case STRICT: o->strict = true; break;
	}
	return 0;
}
