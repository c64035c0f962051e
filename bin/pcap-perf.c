/* pcap-perf: records events of the running system as a perf.data stream. */
#include "cli.h"
#include "guide/front.h"
#include "inplace/inplace.h"
#include "record/pcap_perf_options.h"
#include "stat/counting_options.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* The exit status for an error of the library. */
static int status_of(int rc)
{
	return !rc ? PP_EXIT_OK : rc == PP_EUSAGE ? PP_EXIT_USAGE : PP_EXIT_FAIL;
}

static int record(struct record_options *o, struct diag *d)
{
	struct inplace in = INPLACE_NONE;
	struct record_stats st;
	int rc = inplace_begin(&in, &o->probes, o->c.whom.pids, o->c.command,
			       o->c.cgroup ? NULL : o->cgroup_first, &o->c.events, &o->c.mask, d);

	o->c.tally = !o->quiet && (o->verbose || isatty(STDERR_FILENO));
	rc = rc ? rc : record_open_output(&o->c, o->output, d);
	rc = rc ? rc : record_run(&o->c, d, &st);
	inplace_end(&in, d);
	if (rc == PP_EPIPE && signal(SIGPIPE, SIG_DFL) != SIG_ERR)
		raise(SIGPIPE);
	if (!rc && o->c.tally)
		diag_say(d, NULL, "%llu samples, %llu bytes written",
			 (unsigned long long)st.samples, (unsigned long long)st.bytes);
	if (rc)
		return status_of(rc);
	if (st.command)
		return st.command;
	return (o->strict && st.lost) || st.missing ? PP_EXIT_PARTIAL : PP_EXIT_OK;
}

static int list(struct record_options *o, char **words, struct diag *d)
{
	struct buf text = BUF_INIT;
	int rc = record_options_list(o, words, &text);

	if (rc)
		diag_error(d, NULL, -1, "%s", o->why.len ? buf_str(&o->why) : pp_strerror(rc));
	else if (fwrite(text.data, 1, text.len, stdout) != text.len || fflush(stdout))
		rc = PP_EIO;
	buf_release(&text);
	return status_of(rc);
}

static int run(struct record_options *o, char **words, bool dashes, struct diag *d)
{
	int rc = record_options_end(o, words, dashes);

	if (rc)
		diag_error(d, NULL, -1, "%s", o->why.len ? buf_str(&o->why) : pp_strerror(rc));
	if (!rc && o->dry)
		return PP_EXIT_OK;
	return rc ? status_of(rc) : record(o, d);
}

/* pcap-perf --stat: counts. */
static int count(int argc, char **argv)
{
	static struct stat_options o; /* outlives an early return */
	struct inplace in = {.counting = true};
	const struct opt_group groups[] = {{stat_options, stat_option, &o}, {0}};
	const struct opt_spec spec = {
		"pcap-perf", "--stat [OPTION]... [SECONDS | -- COMMAND [ARG]...]",
		"count events of the running system, as perf stat does", groups};
	struct cli cli;
	int rc, status = 0;

	o.c.repeat = 1;
	o.c.log_fd = -1;
	if (cli_start_command(&cli, &spec, argc, argv))
		return cli.status;
	rc = stat_options_end(&o, argv + cli.first, !strcmp(argv[cli.first - 1], "--"));
	if (rc)
		diag_error(cli.diag, NULL, -1, "%s", o.why.len ? buf_str(&o.why) : pp_strerror(rc));
	else
		rc = inplace_begin(&in, &o.probes, o.c.want.pids, o.c.command, NULL, &o.c.events,
				   &o.c.mask, cli.diag);
	if (!rc)
		rc = stat_run(&o.c, cli.diag, &status);
	inplace_end(&in, cli.diag);
	if (rc == PP_EPIPE && signal(SIGPIPE, SIG_DFL) != SIG_ERR)
		raise(SIGPIPE);
	stat_options_release(&o);
	return cli_finish(&cli, rc ? status_of(rc) : status);
}

int main(int argc, char **argv)
{
	static struct record_options o; /* outlives an early return */
	const struct opt_group groups[] = {{record_options, record_option, &o}, {0}};
	struct opt_spec spec = {"pcap-perf",
				"[OPTION]... [SECONDS | -- COMMAND [ARG]... | --list [WORD]...]",
				"record events of the running system as perf.data", groups};
	struct cli cli;
	int status;

	if (argc > 1 && !strcmp(argv[1], "--stat"))
		return count(argc, argv);
	spec.features = front_features;
	o.c = (struct record_config){.argc = argc, .argv = argv};
	if (cli_start_command(&cli, &spec, argc, argv))
		return cli.status;
	diag_set_verbose(cli.diag, o.verbose);
	diag_set_quiet(cli.diag, o.quiet);
	if (o.list || o.functions || o.list_memory)
		status = list(&o, argv + cli.first, cli.diag);
	else
		status = run(&o, argv + cli.first, !strcmp(argv[cli.first - 1], "--"), cli.diag);
	record_options_release(&o);
	return cli_finish(&cli, status);
}
