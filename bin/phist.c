/* phist: counts and distributions of what samples have. */
#include "cli.h"
#include "symbol/kfunc.h"
#include "table/phist.h"

#include <unistd.h>

enum { OVER_TIME = OPT_NO_SHORT, HEATMAP, UNIT, RAW, KALLSYMS, MERGE };

static const struct opt options[] = {
	{'f', "field", "EXPR", "make a histogram of EXPR (several: commas, or repeat -f)"},
	{'b', "by", "KEYS", "a row for each KEYS: names or expressions, separated by commas"},
	{OVER_TIME, "over-time", "[WIDTH]", "a row for each window of time, such as 10ms"},
	{HEATMAP, "heatmap", "[WIDTH]", "the same, to be drawn by psvg as a heat map"},
	{UNIT, "unit", "UNIT", "the unit of the fields: ns, bytes, ..."},
	{RAW, "raw", NULL, "show keys as numbers, even if they have names"},
	{KALLSYMS, "kallsyms", "FILE", "kernel functions from a saved /proc/kallsyms"},
	{MERGE, "merge", NULL, "read results in the form of --tsv, and add them up"},
	{0},
};

struct config {
	struct phist_opts o;
	struct table_opts out;
	struct buf fields, by;
	const char *kallsyms;
};

static int add_list(struct buf *b, const char *more, const char **list)
{
	if (b->len)
		buf_adds(b, ", ");
	buf_adds(b, more);
	*list = buf_str(b);
	return b->err;
}

static int window(struct config *c, const char *name, const char *view, const char *arg,
		  struct buf *why)
{
	c->o.view = view;
	c->o.window = PHIST_WINDOW_AUTO;
	return arg ? opt_duration(name, arg, false, &c->o.window, why) : 0;
}

static int on_option(void *ctx, int id, const char *arg, struct buf *why)
{
	struct config *c = ctx;

	switch (id) {
	case 'f': return add_list(&c->fields, arg, &c->o.fields);
	case 'b': return add_list(&c->by, arg, &c->o.by);
	case OVER_TIME: return window(c, "over-time", "lines", arg, why);
	case HEATMAP: return window(c, "heatmap", "heat", arg, why);
	case UNIT: c->o.unit = arg; break;
	case RAW: c->o.raw = true; break;
	case KALLSYMS: c->kallsyms = arg; break;
	case MERGE: c->o.merge = true; break;
	}
	return 0;
}

static int run(struct config *c, struct kfunc *k, const struct cli *cli, char **names, int n)
{
	struct phist *p;
	int status, rc;

	c->o.symbols = (struct expr_symbols){kfunc_name, kfunc_see, NULL, k, kfunc_device};
	c->o.step = c->out.step;
	c->o.as_table = c->out.form != TABLE_FORM_TEXT;
	c->o.gates = &c->out.gates;
	rc = phist_new(&p, &c->o, cli->diag);
	if (rc)
		return rc == PP_EUSAGE ? PP_EXIT_USAGE : PP_EXIT_FAIL;
	c->out.draw |= !c->o.by && !c->o.window && !c->o.merge;
	status = c->o.merge ? phist_merge(p, names, n) : phist_files(p, names, n);
	status = phist_print(p, status, &c->out);
	if ((!status || status == PP_EXIT_UNSURE) && cli->strict && phist_lost(p))
		status = PP_EXIT_PARTIAL;
	if (cli->stats)
		phist_describe(p);
	phist_free(p);
	if (!kfunc_failed(k))
		return status;
	diag_error(cli->diag, NULL, -1, "%s", pp_strerror(PP_ENOMEM));
	return PP_EXIT_FAIL;
}

int main(int argc, char **argv)
{
	struct config c = {.o.every = &c.out};
	struct cli cli;
	const struct opt_group groups[] = {{options, on_option, &c, phist_rules},
					   {cli_account_options, cli_account_option, &cli},
					   {table_options, table_option, &c.out, table_rules},
					   {cli_sandbox_options, cli_sandbox_option, &cli},
					   {0}};
	const struct opt_spec spec = {"phist", "[OPTION]... [FILE]...",
				      "count events, and make histograms of their fields", groups};
	int status = PP_EXIT_FAIL;
	struct kfunc *k = NULL;

	if (cli_start(&cli, &spec, argc, argv)) {
		status = cli.status;
	} else {
		cli_confine(&cli, (struct sandbox){0});
		if (!c.fields.err && !c.by.err && !kfunc_new(&k, c.kallsyms, cli.diag))
			status = run(&c, k, &cli, argv + cli.first, argc - cli.first);
		kfunc_free(k);
		status = cli_finish(&cli, status);
	}
	buf_release(&c.fields);
	buf_release(&c.by);
	return status;
}
