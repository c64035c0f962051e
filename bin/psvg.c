/* psvg: draws stacks as an interactive flame graph, and tables as charts. */
#include "cli.h"
#include "draw/psvg_options.h"

#include <unistd.h>

int main(int argc, char **argv)
{
	struct picture_command c = PICTURE_COMMAND_INIT;
	struct cli cli;
	const struct opt_group groups[] = {{picture_options, picture_option, &c, picture_rules},
					   {cli_sandbox_options, cli_sandbox_option, &cli},
					   {0}};
	const struct opt_spec spec = {
		"psvg", "[OPTION]... [FILE]...",
		"draw stacks as an interactive flame graph, tables as charts (SVG)", groups};
	struct picture *p = NULL;
	const char *on;
	unsigned kind;
	int rc;

	if (cli_start(&cli, &spec, argc, argv))
		return cli.status;
	cli_confine(&cli, (struct sandbox){0});
	/* The script of a page merges stacks from either side. */
	rc = picture_new(&p, c.reverse && !c.o.page, cli.diag);
	if (!rc && c.chart)
		picture_chart(p);
	if (!rc)
		picture_choose(p, c.event);
	if (!rc && c.diff)
		rc = picture_compare(p);
	if (!rc && cli.first == argc)
		rc = picture_read(p, "-");
	for (int i = cli.first; i < argc && !rc; i++)
		rc = picture_read(p, argv[i]);
	kind = rc ? 0 : picture_kind(p, &on);
	if (kind && cli_effects(&cli, &spec, argc, argv, picture_effects, kind, on))
		rc = cli.status;
	else
		rc = rc ? PP_EXIT_FAIL : picture_print(p, &c.o, STDOUT_FILENO, c.stats);
	picture_free(p);
	return cli_finish(&cli, rc);
}
