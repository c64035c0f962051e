/* pconv: converts to and from the formats of other viewers. */
#include "cli.h"

#include "conv/conv.h"

int main(int argc, char **argv)
{
	struct conv_opts o = {0};
	struct cli cli;
	const struct opt_group groups[] = {{conv_options, conv_option, &o},
					   {cli_sandbox_options, cli_sandbox_option, &cli},
					   {0}};
	const struct opt_spec spec = {"pconv", "[OPTION]... [FILE]...",
				      "convert to and from the formats of other viewers", groups};
	const struct conv_args args = {argc, argv};

	if (cli_start(&cli, &spec, argc, argv))
		return cli.status;
	cli_confine(&cli, (struct sandbox){.output = o.output});
	return cli_finish(&cli, conv_run(&o, argv + cli.first, argc - cli.first, &args, cli.diag));
}
