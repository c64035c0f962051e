/* pfilter: marks the samples of an event stream for which an expression holds. */
#include "cli.h"
#include "select/marker.h"
#include "symbol/kfunc.h"

#include <unistd.h>

static const struct opt opts[] = {
	SSINK_OPTIONS_BUT_CPU,
	SELECT_OPTIONS,
	{'d', "drop", NULL, "leave out the samples that do not pass"},
	{OPT_NO_SHORT + 1, "split", "TIME|N", "write files of so much time, or so many samples"},
	{'o', "output", "PREFIX", "of --split: write to PREFIX.0001, PREFIX.0002, ..."},
	{OPT_NO_SHORT + 4, "kallsyms", "FILE", "kernel functions from a saved /proc/kallsyms"},
	{OPT_NO_SHORT + 2, "explain", NULL, "print how the expression is understood, and stop"},
	{'s', "stats", NULL, "print on stderr how many samples passed"},
	{OPT_NO_SHORT + 3, "strict", NULL, "make losses that the recording reports exit status 1"},
	{0},
};
static const struct opt_spec spec = {"pfilter", "[OPTION]... [EXPR] [FILE]...",
				     "mark the samples for which an expression holds", opts};

struct config {
	struct marker m;
	struct select_opts select;
	const char *kallsyms;
	bool expressions, explain, stats, strict;
};

static int on_option(void *ctx, int id, const char *arg, struct buf *why)
{
	struct config *c = ctx;
	int rc;

	c->expressions = c->expressions || id == 'e';
	if (ssink_option(&c->m.out, id, arg, why, &rc) ||
	    select_option(&c->select, id, arg, why, &rc))
		return rc;
	switch (id) {
	case 'd': c->m.drop = true; break;
	case 'o': c->m.split.prefix = arg; break;
	case OPT_NO_SHORT + 1: return split_parse(&c->m.split, arg, why);
	case OPT_NO_SHORT + 2: c->explain = true; break;
	case OPT_NO_SHORT + 4: c->kallsyms = arg; break;
	case 's': c->stats = true; break;
	default: c->strict = true;
	}
	return 0;
}

/* Prints what was understood in the place of the stream. */
static int explain(struct config *c, char **files, int n, struct diag *d)
{
	struct buf text = BUF_INIT;
	struct out out;
	int rc = select_explain(c->m.select, files, n, &text, d);

	if (!text.err && !out_init(&out, STDOUT_FILENO)) {
		out_add(&out, text.data, text.len);
		rc = out_close(&out) ? PP_EIO : rc;
	}
	buf_release(&text);
	return rc ? PP_EXIT_FAIL : PP_EXIT_OK;
}

static int mark(struct config *c, char **files, int n, struct diag *d)
{
	const uint64_t *marks = select_stats(c->m.select)->marks;
	int status = marker_run(&c->m, files, n, c->strict, d);

	if (c->stats)
		diag_say(d, NULL, "%llu samples pass, %llu fail, to %llu it does not apply",
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
	struct buf why = BUF_INIT;
	struct cli cli;
	struct kfunc *k;
	int rc, status;

	if (cli_start(&cli, &spec, argc, argv, on_option, &c)) {
		select_opts_release(&c.select);
		return cli.status;
	}
	rc = kfunc_new(&k, c.kallsyms, cli.diag);
	c.select.symbols = (struct expr_symbols){kfunc_name, kfunc_see, kfunc_lacks, k};
	if (!rc && !c.expressions && cli.first < argc && !is_input(argv[cli.first]))
		rc = select_add(&c.select, argv[cli.first++], &why);
	if (!rc)
		rc = split_check(&c.m.split, &why);
	if (!rc)
		rc = select_new(&c.m.select, &c.select, &why);
	if (rc)
		diag_lines(cli.diag, rc == PP_EUSAGE ? buf_str(&why) : pp_strerror(rc));
	if (rc)
		status = rc == PP_EUSAGE ? PP_EXIT_USAGE : PP_EXIT_FAIL;
	else if (c.explain)
		status = explain(&c, argv + cli.first, argc - cli.first, cli.diag);
	else
		status = mark(&c, argv + cli.first, argc - cli.first, cli.diag);
	select_free(c.m.select);
	select_opts_release(&c.select);
	kfunc_free(k);
	buf_release(&why);
	return cli_finish(&cli, status);
}
