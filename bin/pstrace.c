/* pstrace: the system calls of a recording, as strace prints them. */
#include "cli.h"
#include "strace/strace.h"

#include <unistd.h>

enum { STATS = OPT_NO_SHORT, STRICT };

static const struct opt options[] = {
	{STATS, "stats", NULL, "print what happened to the events on stderr"},
	{STRICT, "strict", NULL, "exit with 1 if the recording reports losses"},
	{0},
};

struct config {
	struct strace_opts o;
	bool stats, strict;
};

static int on_option(void *ctx, int id, const char *arg, struct buf *why)
{
	struct config *c = ctx;

	(void)arg;
	(void)why;
	switch (id) {
	case STATS: c->stats = true; break;
	case STRICT: c->strict = true; break;
	}
	return 0;
}

static int run(const struct config *c, char **names, int n, struct diag *d)
{
	struct strace *s;
	int status;

	if (strace_new(&s, &c->o, STDOUT_FILENO, d))
		return PP_EXIT_FAIL;
	status = strace_close(s, strace_files(s, names, n));
	if (!status && c->strict && strace_lost(s))
		status = PP_EXIT_PARTIAL;
	if (c->stats)
		strace_describe(s);
	strace_free(s);
	return status;
}

int main(int argc, char **argv)
{
	struct config config = {0};
	struct cli cli;
	const struct opt_group groups[] = {{strace_options, strace_option, &config.o, strace_rules},
					   {options, on_option, &config},
					   {cli_sandbox_options, cli_sandbox_option, &cli},
					   {0}};
	const struct opt_spec spec = {"pstrace", "[OPTION]... [FILE]...",
				      "print the system calls of a recording", groups};

	if (cli_start(&cli, &spec, argc, argv))
		return cli.status;
	cli_confine(&cli, (struct sandbox){0});
	return cli_finish(&cli, run(&config, argv + cli.first, argc - cli.first, cli.diag));
}
