/* pfilter: marks the samples of an event stream for which an expression holds. */
#include "cli.h"
#include "base/out_end.h"
#include "select/marker.h"
#include "symbol/kfunc.h"

#include <unistd.h>

enum { SPLIT = OPT_NO_SHORT, KALLSYMS, EXPLAIN, STRICT };

static const struct opt options[] = {
	{'d', "drop", NULL, "leave out the samples that do not pass"},
	{SPLIT, "split", "TIME|N",
	 "write several files, each of this much time, or this many samples"},
	{'o', "output", "PREFIX", "with --split: the files are PREFIX.0001, PREFIX.0002, ..."},
	{KALLSYMS, "kallsyms", "FILE", "kernel functions from a saved /proc/kallsyms"},
	{EXPLAIN, "explain", NULL, "print how the expression is understood, and exit"},
	{'s', "stats", NULL, "print on stderr how many samples passed"},
	{STRICT, "strict", NULL, "exit with 1 if the recording reports losses"},
	{0},
};

struct config {
	struct marker m;
	struct select_opts select;
	const char *kallsyms;
	bool stats, strict;
};

static int on_option(void *ctx, int id, const char *arg, struct buf *why)
{
	struct config *c = ctx;

	switch (id) {
	case 'd': c->m.drop = true; break;
	case 'o': c->m.split.prefix = arg; break;
	case SPLIT: return split_parse(&c->m.split, arg, why);
	case EXPLAIN: c->m.out.form = SSINK_NONE; break;
	case KALLSYMS: c->kallsyms = arg; break;
	case 's': c->stats = true; break;
	case STRICT: c->strict = true; break;
	}
	return 0;
}

/* Prints what was understood in the place of the stream. */
static int explain(struct config *c, char **files, int n, struct diag *d)
{
	struct buf text = BUF_INIT;
	int rc = select_explain(c->m.select, files, n, &text, d);
	int written = out_text(STDOUT_FILENO, &text, d);

	buf_release(&text);
	return rc || written ? PP_EXIT_FAIL : PP_EXIT_OK;
}

static int mark(struct config *c, char **files, int n, struct diag *d)
{
	const uint64_t *marks = select_stats(c->m.select)->marks;
	int status = marker_run(&c->m, files, n, c->strict, d);

	if (c->stats)
		diag_say(d, NULL, "%llu samples pass, %llu fail, it does not apply to %llu",
			 (unsigned long long)marks[PS_MARK_PASS],
			 (unsigned long long)marks[PS_MARK_FAIL],
			 (unsigned long long)marks[PS_MARK_NA]);
	return status;
}

/* An operand that is a file: no expression. */
static bool is_input(const char *arg)
{
	return !strcmp(arg, "-") || !access(arg, F_OK);
}

int main(int argc, char **argv)
{
	struct config c = {.select = SELECT_OPTS_INIT, .m = {.argc = argc, .argv = argv}};
	struct cli cli;
	const struct opt_group groups[] = {{ssink_options, ssink_option, &c.m.out, ssink_rules},
					   {stext_options, stext_option, &c.m.out.text},
					   {select_options, select_option, &c.select, select_rules},
					   {options, on_option, &c, marker_rules},
					   {cli_sandbox_options, cli_sandbox_option, &cli},
					   {0}};
	const struct opt_spec spec = {"pfilter", "[OPTION]... [EXPR] [FILE]...",
				      "mark the samples for which an expression holds", groups};
	struct buf why = BUF_INIT;
	struct kfunc *k = NULL;
	int rc = cli_start(&cli, &spec, argc, argv), status;

	if (rc || cli_sink_effects(&cli, &spec, argc, argv, ssink_effects, &c.m.out)) {
		select_opts_release(&c.select);
		return rc ? cli.status : cli_finish(&cli, cli.status);
	}
	cli_confine(&cli, (struct sandbox){.output = c.m.split.prefix});
	rc = kfunc_new(&k, c.kallsyms, cli.diag);
	c.select.symbols = (struct expr_symbols){kfunc_name, kfunc_see, kfunc_lacks, k};
	if (!rc && !c.select.given && cli.first < argc && !is_input(argv[cli.first]))
		rc = select_add(&c.select, argv[cli.first++], &why);
	if (!rc)
		rc = split_check(&c.m.split, &why);
	if (!rc)
		rc = select_new(&c.m.select, &c.select, &why);
	/* What is wrong with the file of --kallsyms was reported. */
	if (rc && (k || rc == PP_ENOMEM))
		diag_lines(cli.diag, rc == PP_EUSAGE ? buf_str(&why) : pp_strerror(rc));
	if (rc)
		status = rc == PP_EUSAGE ? PP_EXIT_USAGE : PP_EXIT_FAIL;
	else if (c.m.out.form == SSINK_NONE)
		status = explain(&c, argv + cli.first, argc - cli.first, cli.diag);
	else
		status = mark(&c, argv + cli.first, argc - cli.first, cli.diag);
	select_free(c.m.select);
	select_opts_release(&c.select);
	kfunc_free(k);
	buf_release(&why);
	return cli_finish(&cli, status);
}
