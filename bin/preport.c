/* preport: which functions have how much of the samples, and how they were called. */
#include "cli.h"
#include "report/report.h"

#include <locale.h>
#include <unistd.h>

static int run(const struct report_opts *o, const struct cli *c, char **names, int n)
{
	struct report *r;
	int rc = report_new(&r, o, c->diag), status;

	if (rc)
		return rc == PP_EUSAGE ? PP_EXIT_USAGE : PP_EXIT_FAIL;
	status = report_files(r, names, n);
	status = report_print(r, status, STDOUT_FILENO);
	if ((!status || status == PP_EXIT_UNSURE) && c->strict && report_lost(r))
		status = PP_EXIT_PARTIAL;
	if (c->stats)
		report_describe(r);
	report_free(r);
	return status;
}

int main(int argc, char **argv)
{
	struct report_opts o = REPORT_OPTS_INIT;
	struct cli cli;
	const struct opt_group groups[] = {{report_options, report_option, &o, report_rules},
					   {cli_account_options, cli_account_option, &cli},
					   {cli_sandbox_options, cli_sandbox_option, &cli},
					   {0}};
	const struct opt_spec spec = {"preport", "[OPTION]... [FILE]...",
				      "report where samples are: tables and call trees", groups};

	setlocale(LC_CTYPE, "");
	if (cli_start(&cli, &spec, argc, argv))
		return cli.status;
	cli_confine(&cli, (struct sandbox){.output = o.view ? "/dev/tty" : NULL});
	return cli_finish(&cli, run(&o, &cli, argv + cli.first, argc - cli.first));
}
