/* pfold: collapses call stacks to folded text. */
#include "cli.h"

#include "fold/fold.h"
#include "fold/input.h"

#include <unistd.h>

enum {
	ADDRS = OPT_NO_SHORT,
	EVENT_FILTER,
	NO_HEADER,
	NO_MARKS,
	OTHER,
	SRCLINE,
	STATS,
	STRICT,
	WAKER
};

static const struct opt options[] = {
	{'p', "pid", NULL, "the first frame is the command and its process id"},
	{'t', "tid", NULL, "the first frame is the command and its process and thread id"},
	{'k', "kernel", NULL, "mark kernel functions with _[k]"},
	{'j', "jit", NULL, "mark functions of JIT maps with _[j]"},
	{'a', "all", NULL, "all marks: --kernel and --jit"},
	{ADDRS, "addrs", NULL, "keep the addresses of unknown functions"},
	{NO_MARKS, "no-marks", NULL, "leave out the frames that say how a stack ended"},
	{NO_HEADER, "no-header", NULL, "leave out the first line, which tells what is counted"},
	{SRCLINE, "srcline", NULL, "read the source lines of perf script -F +srcline"},
	{'e', "event", "EVENT", "fold samples of EVENT (default: of the first event seen)"},
	{EVENT_FILTER, "event-filter", "EVENT", "the same as --event"},
	{'c', "count", NULL, "count samples instead of adding up their periods"},
	{WAKER, "waker", NULL, "add the waker's stack of intervals, upside down"},
	{OTHER, "other", NULL, "fold the second stack of intervals: the waker's"},
	{STATS, "stats", NULL, "print what became of the samples to stderr"},
	{STRICT, "strict", NULL, "exit 1 if the recording reports losses"},
	{0},
};

struct config {
	struct fold_opts fold;
	bool stats, strict, no_header;
};

static int on_option(void *ctx, int id, const char *arg, struct buf *why)
{
	struct config *c = ctx;

	(void)why;
	switch (id) {
	case 'p': c->fold.pid = true; break;
	case 't': c->fold.tid = true; break;
	case 'a': c->fold.kernel = c->fold.jit = true; break;
	case 'k': c->fold.kernel = true; break;
	case 'j': c->fold.jit = true; break;
	case ADDRS: c->fold.addrs = true; break;
	case NO_HEADER: c->no_header = true; break;
	case NO_MARKS: c->fold.no_marks = true; break;
	case SRCLINE: c->fold.srcline = true; break;
	case 'e':
	case EVENT_FILTER: c->fold.event = arg; break;
	case 'c': c->fold.count = true; break;
	case WAKER: c->fold.second = FOLD_BOTH; break;
	case OTHER: c->fold.second = FOLD_OTHER; break;
	case STATS: c->stats = true; break;
	case STRICT: c->strict = true; break;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct config config = {0};
	const struct opt_group groups[] = {{options, on_option, &config}, {0}};
	const struct opt_spec spec = {"pfold", "[OPTION]... [FILE]...",
				      "collapse call stacks to folded text", groups};
	struct fold *f;
	struct cli cli;
	int status;

	if (cli_start(&cli, &spec, argc, argv))
		return cli.status;
	if (fold_new(&f, &config.fold, cli.diag))
		return cli_finish(&cli, PP_EXIT_FAIL);
	status = fold_files(f, argv + cli.first, argc - cli.first, cli.diag);
	if (status != PP_EXIT_FAIL)
		status = fold_print(f, STDOUT_FILENO, !config.no_header, status);
	if (!status && config.strict && fold_account(f)->lost)
		status = PP_EXIT_PARTIAL;
	if (config.stats)
		fold_describe(f, cli.diag);
	fold_free(f);
	return cli_finish(&cli, status);
}
