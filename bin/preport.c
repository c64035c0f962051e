/* preport: which functions have how much of the samples, and how they were called. */
#include "cli.h"
#include "report/report.h"

#include <locale.h>
#include <unistd.h>

enum { STATS = OPT_NO_SHORT, STRICT };

static const struct opt options[] = {
	{STATS, "stats", NULL, "print what happened to the samples on stderr"},
	{STRICT, "strict", NULL, "exit with 1 if the recording reports losses"},
	{0},
};

struct config {
	struct report_opts o;
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
	struct report *r;
	int rc = report_new(&r, &c->o, d), status;

	if (rc)
		return rc == PP_EUSAGE ? PP_EXIT_USAGE : PP_EXIT_FAIL;
	status = report_files(r, names, n);
	status = report_print(r, status, STDOUT_FILENO);
	if (!status && c->strict && report_lost(r))
		status = PP_EXIT_PARTIAL;
	if (c->stats)
		report_describe(r);
	report_free(r);
	return status;
}

int main(int argc, char **argv)
{
	struct config config = {.o = REPORT_OPTS_INIT};
	struct cli cli;
	const struct opt_group groups[] = {{report_options, report_option, &config.o, report_rules},
					   {options, on_option, &config},
					   {cli_sandbox_options, cli_sandbox_option, &cli},
					   {0}};
	const struct opt_spec spec = {"preport", "[OPTION]... [FILE]...",
				      "report where samples are: tables and call trees", groups};

	setlocale(LC_CTYPE, "");
	if (cli_start(&cli, &spec, argc, argv))
		return cli.status;
	cli_confine(&cli, (struct sandbox){.output = config.o.view ? "/dev/tty" : NULL});
	return cli_finish(&cli, run(&config, argv + cli.first, argc - cli.first, cli.diag));
}
