/* plat: pairs events into intervals: latencies. */
#include "cli.h"
#include "history/history.h"
#include "interval/lat_run.h"
#include "symbol/kfunc.h"
#include "wall/wall.h"

#include <string.h>
#include <unistd.h>

struct config {
	struct plat_opts o;
	struct history_opts history;
	struct wall_opts wall;
	bool table; /* an option of tables */
};

static int on_table(void *ctx, int id, const char *arg, struct buf *why)
{
	struct config *c = ctx;

	c->table = true;
	return table_option(&c->o.out, id, arg, why);
}

/* --timehist and --map: lines of switches, no intervals. */
static int run_history(struct config *c, char **names, int n, struct diag *d)
{
	if (c->o.any || c->table) {
		diag_error(d, NULL, -1,
			   "--timehist and --map can be combined only with their own options");
		return PP_EXIT_USAGE;
	}
	c->history.strict = c->o.strict;
	return history_run(&c->history, names, n, STDOUT_FILENO, d);
}

/* The wall clock: forms of --emit, --path and --tail, of intervals of plat and with its options. */
static int run_wall(struct config *c, char **names, int n, struct diag *d)
{
	if (c->o.lat.npids || c->o.lat.comms) {
		diag_error(
			d, NULL, -1,
			"--pid and --comm choose intervals, which --emit %s has none of: pfilter "
			"after it does",
			c->o.emit);
		return PP_EXIT_USAGE;
	}
	c->wall.sink = c->o.sink;
	if (c->o.out.form == TABLE_FORM_JSON)
		c->wall.sink.form = SSINK_JSON;
	c->wall.spans = &c->o.lat;
	c->wall.table = &c->o.out;
	c->wall.see = c->o.see;
	c->wall.stacks = c->o.lat.stacks;
	c->wall.strict = c->o.strict;
	c->wall.argc = c->o.argc;
	c->wall.argv = c->o.argv;
	return wall_run(&c->wall, names, n, d);
}

static int run(struct config *c, char **names, int n, struct diag *d)
{
	struct kfunc *k;
	int status;

	c->wall.form = wall_form(&c->wall, c->o.emit);
	if (c->history.form && !c->wall.form)
		return run_history(c, names, n, d);
	if (kfunc_new(&k, c->o.kallsyms, d))
		return PP_EXIT_FAIL;
	c->o.lat.symbol = kfunc_name;
	c->o.lat.device = kfunc_device;
	c->o.see = kfunc_see;
	c->o.failed = kfunc_failed;
	c->o.lat.symbol_ctx = c->o.see_ctx = k;
	if (!c->o.out.source && n == 1)
		c->o.out.source = names[0];
	status = c->wall.form ? run_wall(c, names, n, d) : plat_run(&c->o, names, n, d);
	if (c->wall.form && status != PP_EXIT_FAIL && kfunc_failed(k)) {
		diag_error(d, NULL, -1, "%s", pp_strerror(PP_ENOMEM));
		status = PP_EXIT_FAIL;
	}
	kfunc_free(k);
	return status;
}

int main(int argc, char **argv)
{
	struct config c = {.o = {.argc = argc, .argv = argv}};
	struct cli cli;
	const struct opt_group groups[] = {
		{plat_options, plat_option, &c.o, plat_rules},
		{history_options, history_option, &c.history, history_rules},
		{wall_options, wall_option, &c.wall, wall_rules},
		{table_options, on_table, &c, table_rules},
		{cli_sandbox_options, cli_sandbox_option, &cli},
		{0}};
	const struct opt_spec spec = {"plat", "[OPTION]... [FILE]...", "pair events into intervals",
				      groups};

	if (cli_start(&cli, &spec, argc, argv))
		return cli.status;
	cli_confine(&cli, (struct sandbox){0});
	return cli_finish(&cli, run(&c, argv + cli.first, argc - cli.first, cli.diag));
}
