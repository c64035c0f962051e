/* pfold: collapses call stacks to folded text. */
#include "cli.h"

#include "fold/inputs.h"
#include "fold/pfold_options.h"

#include <unistd.h>

/* Changes the stacks as the options ask. 0, or an error, which is reported. */
static int shape(struct fold **f, const struct fold_shape *s, struct diag *d)
{
	struct fold *to;
	int rc;

	if (!fold_shape_any(s))
		return 0;
	rc = fold_shape(*f, s, &to);
	if (rc && rc != PP_EMISMATCH)
		diag_error(d, NULL, -1, "cannot keep all stacks: %s", pp_strerror(rc));
	if (rc)
		return rc;
	fold_free(*f);
	*f = to;
	return 0;
}

static int run(const struct pfold_opts *o, char **names, int n, struct diag *d)
{
	struct fold *f;
	int status;

	if (fold_new(&f, &o->fold, d))
		return PP_EXIT_FAIL;
	status = fold_files(f, names, n, d);
	if (status != PP_EXIT_FAIL && shape(&f, &o->shape, d))
		status = PP_EXIT_FAIL;
	if (status != PP_EXIT_FAIL)
		status = fold_print(f, STDOUT_FILENO, !o->no_header, status);
	if (!status && o->strict && fold_account(f)->lost)
		status = PP_EXIT_PARTIAL;
	if (o->stats)
		fold_describe(f, d);
	fold_free(f);
	return status;
}

int main(int argc, char **argv)
{
	struct pfold_opts o = PFOLD_OPTS_INIT;
	struct cli cli;
	const struct opt_group groups[] = {{pfold_options, pfold_option, &o, pfold_rules},
					   {cli_sandbox_options, cli_sandbox_option, &cli},
					   {0}};
	const struct opt_spec spec = {"pfold", "[OPTION]... [FILE]...",
				      "collapse call stacks to folded text", groups};
	int status;

	if (cli_start(&cli, &spec, argc, argv)) {
		pfold_opts_release(&o);
		return cli.status;
	}
	cli_confine(&cli, (struct sandbox){0});
	status = run(&o, argv + cli.first, argc - cli.first, cli.diag);
	pfold_opts_release(&o);
	return cli_finish(&cli, status);
}
