/* pdecode: recordings to an event stream. */
#include "cli.h"
#include "input/many.h"
#include "filter/ssink.h"
#include "print/check.h"

#include <unistd.h>

enum { CLOCK = OPT_NO_SHORT, OFFSET, SEPARATE_STACKS, STRICT };

static const struct opt options[] = {
	{'f', "follow", NULL, "wait for more at the end of a file, until Control-C"},
	{'v', "verbose", NULL, "report what is skipped and what is done"},
	{'s', "stats", NULL, "print a summary of samples and records on stderr"},
	{CLOCK, "clock", "NAME", "convert all times to this clock, such as realtime"},
	{OFFSET, "offset", "TIME",
	 "add TIME to all times; FILE:TIME: to those of FILE (repeatable)"},
	{SEPARATE_STACKS, "separate-stacks", NULL,
	 "trace.dat: do not join stacks with their events"},
	{STRICT, "strict", NULL, "exit with 1 if the recording reports losses"},
	{0},
};

struct config {
	struct ssink_opts out;
	struct input_many in;
	struct input_show show;
	bool verbose, strict, stats;
};

static int on_option(void *ctx, int id, const char *arg, struct buf *why)
{
	struct config *c = ctx;
	switch (id) {
	case 'f': c->in.follow = cli_until_interrupt(); break;
	case 'v': c->verbose = true; break;
	case 's': c->stats = c->in.opts.stats = true; break;
	case CLOCK: c->in.clock = arg; break;
	case SEPARATE_STACKS: c->in.opts.separate_stacks = true; break;
	case OFFSET: return input_add_offset(&c->in, arg, why);
	case STRICT: c->strict = true; break;
	}
	return 0;
}

static int describe(struct config *c, struct diag *d)
{
	struct print_check *printer = NULL;
	struct input_check check = {.fn = print_check_recorded};
	int status;

	if (c->show.view == INPUT_CHECK) {
		if (print_check_new(&printer))
			return PP_EXIT_FAIL;
		check.ctx = printer;
		c->show.check = &check;
	}
	status = input_describe_all(c->in.names, c->in.n, &c->show, STDOUT_FILENO, d);
	c->show.check = NULL;
	print_check_free(printer);
	return status;
}

int main(int argc, char **argv)
{
	struct config c = {0};
	struct cli cli;
	const struct opt_group groups[] = {
		{ssink_options, ssink_option, &c.out, ssink_rules},
		{stext_options, stext_option, &c.out.text},
		{stext_cpu_options, stext_option, &c.out.text},
		{input_view_options, input_view_option, &c.show, input_view_rules},
		{options, on_option, &c},
		{cli_sandbox_options, cli_sandbox_option, &cli},
		{0}};
	const struct opt_spec spec = {
		"pdecode", "[OPTION]... [FILE]...",
		"decode recordings (perf.data, trace.dat, ftrace text) to an event stream", groups};
	struct ps_end end = {0};
	struct buf types = BUF_INIT;
	struct ssink sink;
	int status;

	if (cli_start(&cli, &spec, argc, argv))
		return cli.status;
	if (c.show.view == INPUT_EVENTS
		    ? cli_sink_effects(&cli, &spec, argc, argv, ssink_cpu_effects, &c.out)
		    : cli_effects(&cli, &spec, argc, argv, input_view_effects, 1,
				  "--header, --dump, --list, --functions and --check"))
		return cli_finish(&cli, cli.status);
	diag_set_verbose(cli.diag, c.verbose);
	cli_confine(&cli, (struct sandbox){0});
	c.in.names = argv + cli.first;
	c.in.n = argc - cli.first;
	c.in.opts.threads = c.out.threads;
	if (c.show.view != INPUT_EVENTS) {
		c.show.json = c.out.form == SSINK_JSON;
		c.show.all = c.out.text.all;
		return cli_finish(&cli, describe(&c, cli.diag));
	}
	if (ssink_open(&sink, STDOUT_FILENO, &c.out, cli.diag))
		return cli_finish(&cli, PP_EXIT_FAIL);
	swriter_header(&sink.w);
	swriter_provenance(&sink.w, "pdecode", argc, argv);
	c.in.flush = ssink_flush;
	c.in.flush_ctx = &sink;
	input_many(&c.in, &sink.w, cli.diag, &end);
	if (c.strict && end.lost && !end.status)
		end.status = PP_EXIT_PARTIAL;
	status = ssink_close(&sink, &end, cli.diag);
	if (c.stats) {
		swriter_add_types(&sink.w, &types);
		diag_say(cli.diag, NULL, "records written: %s", buf_str(&types));
		diag_say(cli.diag, NULL, "%llu samples, %llu lost by the recorder, %llu missing",
			 (unsigned long long)end.samples + sink.w.earlier,
			 (unsigned long long)end.lost, (unsigned long long)end.missing);
	}
	buf_release(&types);
	return cli_finish(&cli, status);
}
