/* pdiff: compares recordings, and says what got slower and how sure that is. */
#include "cli.h"
#include "base/out_end.h"

#include "diff/diff.h"
#include "diff/pdiff_options.h"

#include <string.h>
#include <unistd.h>

/* Where "--" is in the arguments: the base's recordings come before it, the new ones after it. */
static int find_border(int argc, char **argv)
{
	int i = 1;

	while (i < argc && strcmp(argv[i], "--") != 0)
		i++;
	return i;
}

static int add_files(struct diff *d, enum diff_side side, char **names, int n)
{
	int rc = 0;

	for (int i = 0; names && i < n && !rc; i++)
		rc = diff_add(d, side, names[i]);
	return rc;
}

/*
 * Without "--" (more is NULL), of two names the first is the base; with --learn-noise all are.
 * After a "--" there may be nothing, such as for a pattern: that compares nothing.
 */
static int add_all(struct diff *d, const struct diff_command *c, char **names, int n, char **more,
		   int m)
{
	int base = c->learn || c->base.n || c->other.n || more || n != 2 ? n : 1, rc;

	rc = add_files(d, DIFF_BASE, names, base);
	if (!rc)
		rc = add_files(d, DIFF_BASE, c->base.v, c->base.n);
	if (!rc)
		rc = add_files(d, DIFF_OTHER, names + base, n - base);
	if (!rc)
		rc = add_files(d, DIFF_OTHER, c->other.v, c->other.n);
	return rc ? rc : add_files(d, DIFF_OTHER, more, m);
}

/* Whether two recordings are compared, and no more. */
static bool is_pair(const struct diff_command *c, char **names, int n, char **more, int m)
{
	char **const lists[] = {names, c->base.v, c->other.v, more};
	const int counts[] = {n, c->base.n, c->other.n, more ? m : 0};
	bool pair = counts[0] + counts[1] + counts[2] + counts[3] == 2;

	for (size_t k = 0; k < sizeof(lists) / sizeof(*lists) && pair; k++)
		for (int i = 0; lists[k] && i < counts[k]; i++)
			pair = pair && !diff_is_directory(lists[k][i]);
	return pair;
}

static int print(struct diff *d, const struct diff_command *c, struct diag *diag)
{
	struct out out;
	int rc = out_init(&out, STDOUT_FILENO);

	if (!rc)
		rc = c->learn ? diff_learn(d, &out) : diff_write(d, c->form, &out);
	if (rc != PP_EUSAGE)
		return out_end(&out, rc, diag);
	(void)out_close(&out);
	return rc;
}

static int run(struct diff_command *c, char **names, int n, char **more, int m, struct diag *diag)
{
	struct diff *d;
	int rc, status;

	c->opts.pair = is_pair(c, names, n, more, m);
	rc = diff_new(&d, &c->opts, diag);
	if (!rc)
		rc = add_all(d, c, names, n, more, m);
	if (!rc && !c->learn)
		rc = diff_run(d);
	if (!rc)
		rc = print(d, c, diag);
	status = rc == PP_EUSAGE ? PP_EXIT_USAGE : rc ? PP_EXIT_FAIL : diff_status(d, c, diag);
	diff_free(d);
	return status;
}

int main(int argc, char **argv)
{
	struct diff_command command = DIFF_COMMAND_INIT;
	struct cli cli;
	const struct opt_group groups[] = {{diff_options, diff_option, &command, diff_rules},
					   {cli_sandbox_options, cli_sandbox_option, &cli},
					   {0}};
	const struct opt_spec spec = {
		"pdiff", "[OPTION]... BASE... -- NEW...",
		"compare recordings: what got slower, and how certain that is", groups};
	int border = find_border(argc, argv), after = border + (border < argc);
	int status = PP_EXIT_USAGE;

	if (cli_start(&cli, &spec, border, argv)) {
		diff_command_release(&command);
		return cli.status;
	}
	cli_confine(&cli, (struct sandbox){0});
	if (!diff_command_check(&command, cli.diag))
		status = run(&command, argv + cli.first, border - cli.first,
			     after > border ? argv + after : NULL, argc - after, cli.diag);
	diff_command_release(&command);
	return cli_finish(&cli, status);
}
