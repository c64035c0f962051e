/* pcap-ftrace: records with ftrace, as a trace.dat or into a pipe. */
#include "cli.h"
#include "ftrace/pcap_ftrace_options.h"

#include <stdio.h>
#include <unistd.h>

/* The exit status for an error of the library. */
static int status_of(int rc)
{
	return !rc ? PP_EXIT_OK : rc == PP_EUSAGE ? PP_EXIT_USAGE : PP_EXIT_FAIL;
}

static int ended(const struct ftrace_options *o, int rc, const struct ftrace_stats *st,
		 struct diag *d)
{
	if (rc == PP_EPIPE && signal(SIGPIPE, SIG_DFL) != SIG_ERR)
		raise(SIGPIPE);
	if (rc)
		return status_of(rc);
	if (o->verbose || (!o->quiet && isatty(STDERR_FILENO)))
		diag_say(d, NULL, "%llu bytes of events", (unsigned long long)st->bytes);
	if (st->command)
		return st->command;
	return o->strict && st->lost ? PP_EXIT_PARTIAL : PP_EXIT_OK;
}

static int print(int rc, struct buf *text, struct diag *d)
{
	if (!rc && (fwrite(text->data, 1, text->len, stdout) != text->len || fflush(stdout))) {
		diag_error(d, NULL, -1, "cannot write");
		rc = PP_EIO;
	}
	buf_release(text);
	return status_of(rc);
}

static int run(struct ftrace_options *o, struct diag *d)
{
	const volatile sig_atomic_t *stop = cli_until_interrupt();
	struct buf text = BUF_INIT;
	struct ftrace_stats st = {0};
	bool failed;
	int rc;

	switch (o->action) {
	case FTRACE_START: return status_of(ftrace_start(&o->c, o->name, d));
	case FTRACE_STOP: return status_of(ftrace_switch(o->name, false, d));
	case FTRACE_SHOW: return status_of(ftrace_show(o->name, o->c.cpus, STDOUT_FILENO, d));
	case FTRACE_SNAPSHOT:
		return status_of(ftrace_snapshot(o->name, o->c.cpus, STDOUT_FILENO, d));
	case FTRACE_CLEAR: return status_of(ftrace_clear(o->name, d));
	case FTRACE_RESET:
		return status_of(o->all ? ftrace_reset_all(o->yes, d) : ftrace_reset(o->name, d));
	case FTRACE_STATUS: return print(ftrace_status(&text, d), &text, d);
	case FTRACE_LIST: return print(ftrace_list(o->words, &text, d), &text, d);
	case FTRACE_CHECK:
		rc = ftrace_check_events(&text, d);
		failed = text.len != 0;
		rc = print(rc, &text, d);
		return rc ? rc : failed ? PP_EXIT_PARTIAL : PP_EXIT_OK;
	case FTRACE_HIST: return status_of(ftrace_hist(&o->c, o->name, stop, d));
	case FTRACE_STACK: return status_of(ftrace_stack(&o->c, stop, d));
	case FTRACE_EXTRACT:
		rc = ftrace_extract(&o->c, o->name, d, &st);
		return ended(o, rc, &st, d);
	case FTRACE_RESTORE: return status_of(ftrace_restore(&o->c, o->name, d));
	case FTRACE_RECORD: break;
	}
	rc = ftrace_record(&o->c, stop, d, &st);
	return ended(o, rc, &st, d);
}

int main(int argc, char **argv)
{
	static struct ftrace_options o; /* outlives an early return */
	const struct opt_group groups[] = {{ftrace_options, ftrace_option, &o, ftrace_rules}, {0}};
	const struct opt_spec spec = {
		"pcap-ftrace", "[OPTION]... [SECONDS | COMMAND [ARG]... | --list [WORD]...]",
		"record with ftrace: events, functions, latencies", groups, NULL};
	struct buf why = BUF_INIT;
	struct cli cli;
	int rc, status;

	o.c.argc = argc;
	o.c.argv = argv;
	if (cli_start_command(&cli, &spec, argc, argv))
		return cli.status;
	diag_set_verbose(cli.diag, o.verbose);
	diag_set_quiet(cli.diag, o.quiet);
	rc = ftrace_options_end(&o, argv + cli.first, !strcmp(argv[cli.first - 1], "--"), &why);
	if (rc)
		diag_error(cli.diag, NULL, -1, "%s", why.len ? buf_str(&why) : pp_strerror(rc));
	status = rc ? status_of(rc) : run(&o, cli.diag);
	buf_release(&why);
	ftrace_config_release(&o.c);
	return cli_finish(&cli, status);
}
