/* plat: pairs events into intervals: latencies. */
#include "cli.h"
#include "query/lat_run.h"

#include <string.h>

enum {
	KINDS = OPT_NO_SHORT + 1,
	RESTART,
	NAME,
	OVER_TIME,
	HEATMAP,
	SLOWER,
	STACKS,
	UNMATCHED,
	THREADS,
	EMIT,
	BINARY,
	STATS,
	STRICT
};

static const struct opt opts[] = {
	{'k', "kind", "KINDS", "only these kinds of intervals, commas between (--list-kinds)"},
	{KINDS, "list-kinds", NULL, "print the kinds there are"},
	{'b', "by", "KEYS", "a row for each KEYS: names or expressions, commas between"},
	{'s', "start", "EVENT", "EVENT[:KEY] begins an interval (repeatable)"},
	{'e', "end", "EVENT", "EVENT[:KEY] ends the one with the same KEY (repeatable)"},
	{RESTART, "restart", "HOW", "begun again before it ended: replace, nest or keep"},
	{NAME, "name", "NAME", "what to call the pairs of -s and -e"},
	{SLOWER, "slower", "TIME", "list each interval of TIME, such as 10ms, or longer"},
	{STACKS, "stacks", NULL, "with their stacks"},
	{'u', "unmatched", NULL, "show what is still open at the end"},
	{THREADS, "threads", NULL, "show for each thread how long it ran and waited"},
	{OVER_TIME, "over-time", "[WIDTH]", "a row for each window of time, such as 10ms"},
	{HEATMAP, "heatmap", "[WIDTH]", "the same, to be drawn by psvg as a heat map"},
	TABLE_OPTIONS,
	{EMIT, "emit", "KINDS", "write the intervals as samples of an event stream"},
	{BINARY, "binary", NULL, "with --emit: in binary form, also to a terminal"},
	{'t', "text", NULL, "with --emit: as text"},
	{STATS, "stats", NULL, "print what became of all starts and ends to stderr"},
	{STRICT, "strict", NULL, "make losses that the recording reports exit status 1"},
	{0},
};

static const struct opt_spec spec = {"plat", "[OPTION]... [FILE]...", "pair events into intervals",
				     opts};

static int add(const char **list, uint32_t *n, const char *arg, struct buf *why)
{
	if (*n == LAT_EVENTS_MAX) {
		buf_addf(why, "more than %d events", LAT_EVENTS_MAX);
		return PP_EUSAGE;
	}
	list[(*n)++] = arg;
	return 0;
}

static int restart(struct plat_opts *o, const char *arg, struct buf *why)
{
	static const char *const names[] = {"replace", "nest", "keep"};

	for (int i = 0; i < 3; i++)
		if (!strcmp(arg, names[i])) {
			o->lat.pair.restart = (enum pair_restart)i;
			return 0;
		}
	buf_adds(why, "--restart: replace, nest or keep");
	return PP_EUSAGE;
}

static int window(struct plat_opts *o, const char *name, const char *view, const char *arg,
		  struct buf *why)
{
	o->view = view;
	o->lat.window = LAT_WINDOW_AUTO;
	return arg ? opt_duration(name, arg, &o->lat.window, why) : 0;
}

static int on_option(void *ctx, int id, const char *arg, struct buf *why)
{
	struct plat_opts *o = ctx;
	struct lat_pair *p = &o->lat.pair;
	int rc;

	if (table_option(&o->out, id, arg, why, &rc))
		return rc;
	switch (id) {
	case 'k': o->lat.kinds = arg; break;
	case KINDS: o->list_kinds = true; break;
	case 'b': o->lat.by = arg; break;
	case 's': return add(p->starts, &p->nstarts, arg, why);
	case 'e': return add(p->ends, &p->nends, arg, why);
	case RESTART: return restart(o, arg, why);
	case NAME: p->name = arg; break;
	case SLOWER: o->list = true; return opt_duration("slower", arg, &o->slower, why);
	case STACKS: o->lat.stacks = true; break;
	case 'u': o->lat.unmatched = true; break;
	case THREADS: o->lat.threads = true; break;
	case OVER_TIME: return window(o, "over-time", "lines", arg, why);
	case HEATMAP: return window(o, "heatmap", "heat", arg, why);
	case EMIT: o->emit = arg; break;
	case BINARY: o->sink.form = SSINK_BINARY; break;
	case 't': o->sink.form = SSINK_TEXT; break;
	case STATS: o->stats = true; break;
	case STRICT: o->strict = true; break;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct plat_opts o = {.argc = argc, .argv = argv};
	struct cli cli;

	if (cli_start(&cli, &spec, argc, argv, on_option, &o))
		return cli.status;
	return cli_finish(&cli, plat_run(&o, argv + cli.first, argc - cli.first, cli.diag));
}
