/* psym: symbolizes an event stream. */
#include "cli.h"
#include "filter/filter.h"
#include "resolve/symopt.h"

#include <unistd.h>

enum { STRICT = OPT_NO_SHORT };

static const struct opt options[] = {
	{'v', "verbose", NULL, "report what is done"},
	{'s', "stats", NULL, "print a summary of samples and frames on stderr"},
	{STRICT, "strict", NULL, "exit with 1 if the recording reports losses"},
	{0},
};

struct config {
	struct ssink_opts out;
	bool verbose, strict, stats;
	struct symopt from;
};

static int on_option(void *ctx, int id, const char *arg, struct buf *why)
{
	struct config *c = ctx;

	(void)arg;
	(void)why;
	switch (id) {
	case 'v': c->verbose = true; break;
	case 's': c->stats = true; break;
	case STRICT: c->strict = true; break;
	}
	return 0;
}

static int on_record(void *ctx, const struct sreader *r, const struct ps_record *rec)
{
	return resolver_record(ctx, r, rec);
}

/* What the user has to know about the names: the account, and what is missing. */
static void say_result(struct resolver *r, bool stats, struct diag *d)
{
	const struct resolver_stats *s = resolver_stats(r);

	if (stats)
		diag_say(d, NULL, "%llu samples, %llu frames, %llu of them without a name",
			 (unsigned long long)s->samples, (unsigned long long)s->frames,
			 (unsigned long long)s->unknown);
	for (uint32_t i = 1; stats && i < PS_REASON_MAX; i++)
		if (s->reasons[i])
			diag_say(d, NULL, "%llu address%s: %s", (unsigned long long)s->reasons[i],
				 s->reasons[i] == 1 ? "" : "es", ps_reason(i));
	if (stats)
		resolver_say_stacks(r, d);
	if (!stats && s->unknown * 20 > s->frames)
		diag_say(d, NULL, "%.1f %% of the frames have no name (psym --missing says why)",
			 100.0 * (double)s->unknown / (double)s->frames);
	if (s->user_stacks)
		diag_say(d, NULL, "%llu copies of user stacks cannot be unwound%s%s",
			 (unsigned long long)s->user_stacks, s->strange_arch[0] ? ", of " : "",
			 s->strange_arch);
}

int main(int argc, char **argv)
{
	struct config c = {0};
	struct cli cli;
	const struct opt_group groups[] = {{ssink_options, ssink_option, &c.out, ssink_rules},
					   {stext_options, stext_option, &c.out.text},
					   {stext_cpu_options, stext_option, &c.out.text},
					   {symopt_options, symopt_option, &c.from},
					   {options, on_option, &c},
					   {cli_sandbox_options, cli_sandbox_option, &cli},
					   {0}};
	const struct opt_spec spec = {"psym", "[OPTION]... [FILE]...", "symbolize an event stream",
				      groups};
	struct ps_end end = {0};
	struct filter f = {.name = "psym", .argc = argc, .argv = argv, .record = on_record};
	struct resolver *r;
	struct ssink sink;
	int status;

	if (cli_start(&cli, &spec, argc, argv))
		return cli.status;
	diag_set_verbose(cli.diag, c.verbose);
	c.from.r.stats = c.stats;
	if (symopt_no_stream(&c.from))
		c.out.form = SSINK_NONE;
	cli_confine(&cli, symopt_needs(&c.from));
	if (cli_sink_effects(&cli, &spec, argc, argv, ssink_cpu_effects, &c.out) ||
	    symopt_ready(&c.from, cli.diag) || ssink_open(&sink, STDOUT_FILENO, &c.out, cli.diag)) {
		symopt_release(&c.from);
		return cli_finish(&cli, cli.status);
	}
	if (resolver_new(&r, &c.from.r, &sink.w, cli.diag)) {
		end.status = PP_EXIT_FAIL;
		ssink_close(&sink, &end, cli.diag);
		symopt_release(&c.from);
		return cli_finish(&cli, PP_EXIT_FAIL);
	}
	f.keep = SREADER_EVENTS | SREADER_CHAINS | SREADER_SYMBOLS | SREADER_HELPERS;
	f.keep |= sink.w.pack ? SREADER_PARTS : 0;
	f.drain = resolver_drain, f.ctx = r;
	filter_run(&f, argv + cli.first, argc - cli.first, &sink, cli.diag, &end);
	if (((c.strict && end.lost) || c.from.damaged) && !end.status)
		end.status = PP_EXIT_PARTIAL;
	if (resolver_status(r) > end.status)
		end.status = resolver_status(r);
	say_result(r, c.stats, cli.diag);
	status = ssink_close(&sink, &end, cli.diag);
	if (status < PP_EXIT_FAIL && symopt_no_stream(&c.from) &&
	    symopt_result(&c.from, r, STDOUT_FILENO, cli.diag))
		status = PP_EXIT_FAIL;
	resolver_free(r);
	symopt_release(&c.from);
	return cli_finish(&cli, status);
}
