/* pconv: converts to and from the formats of other viewers. */
#include "cli.h"

#include "conv/conv.h"

int main(int argc, char **argv)
{
	struct conv_opts o = {0};
	const struct opt_group groups[] = {{conv_options, conv_option, &o}, {0}};
	const struct opt_spec spec = {"pconv", "[OPTION]... [FILE]...",
				      "convert to and from the formats of other viewers", groups};
	const struct conv_args args = {argc, argv};
	struct cli cli;

	if (cli_start(&cli, &spec, argc, argv))
		return cli.status;
	return cli_finish(&cli, conv_run(&o, argv + cli.first, argc - cli.first, &args, cli.diag));
}
