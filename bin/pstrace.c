/* pstrace: the system calls of a recording, as strace prints them. */
#include "cli.h"
#include "strace/strace.h"

#include <unistd.h>

static int run(const struct strace_opts *o, const struct cli *c, char **names, int n)
{
	struct strace *s;
	int rc = strace_new(&s, o, STDOUT_FILENO, c->diag), status;

	if (rc)
		return rc == PP_EUSAGE ? PP_EXIT_USAGE : PP_EXIT_FAIL;
	status = strace_close(s, strace_files(s, names, n));
	if ((!status || status == PP_EXIT_UNSURE) && c->strict && strace_lost(s))
		status = PP_EXIT_PARTIAL;
	if (c->stats)
		strace_describe(s);
	strace_free(s);
	return status;
}

int main(int argc, char **argv)
{
	struct strace_opts o = {0};
	struct cli cli;
	const struct opt_group groups[] = {{strace_options, strace_option, &o, strace_rules},
					   {cli_account_options, cli_account_option, &cli},
					   {cli_sandbox_options, cli_sandbox_option, &cli},
					   {0}};
	const struct opt_spec spec = {"pstrace", "[OPTION]... [FILE]...",
				      "print the system calls of a recording", groups};

	if (cli_start(&cli, &spec, argc, argv))
		return cli.status;
	cli_confine(&cli, (struct sandbox){0});
	return cli_finish(&cli, run(&o, &cli, argv + cli.first, argc - cli.first));
}
