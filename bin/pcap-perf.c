/* pcap-perf: records events of the running system as a perf.data stream. */
#include "cli.h"
#include "record/record.h"

#include <signal.h>
#include <unistd.h>

enum { OPT_FILTER = OPT_NO_SHORT, OPT_STRICT, OPT_CALL_GRAPH };

struct options {
	struct record_config c;
	const char *output;
	bool strict, verbose;
	int rc; /* why it cannot be done; in words: */
	struct buf why;
};

static const struct opt options[] = {
	{'a', "all-cpus", NULL, "record all CPUs; the default without -p and COMMAND"},
	{'c', "count", "N", "take a sample every N events"},
	{'C', "cpu", "LIST", "record these CPUs only, such as 0-3,6"},
	{'e', "event", "EVENT", "record EVENT: cycles, cpu-clock:u, sched:*, ..."},
	{'F', "freq", "HZ", "take HZ samples per second, or max"},
	{OPT_FILTER, "filter", "EXPR", "keep tracepoints of the last -e that EXPR fits"},
	{'g', "chains", NULL, "record call chains by frame pointers"},
	{OPT_CALL_GRAPH, "call-graph", "HOW", "by fp, dwarf[,SIZE] or lbr"},
	{'k', "clockid", "CLOCK", "stamp by monotonic, monotonic_raw, boottime, realtime, tai"},
	{'m', "mmap-pages", "N", "pages of each CPU's buffer, a power of two"},
	{'o', "output", "FILE", "write to FILE instead of stdout"},
	{'p', "pid", "PID[,PID]", "record these processes"},
	{OPT_STRICT, "strict", NULL, "exit 1 if the kernel lost events"},
	{'v', "verbose", NULL, "say more on stderr"},
	{0},
};

static int on_event(struct options *o, const char *arg, struct buf *why)
{
	if (!o->rc)
		o->rc = pevents_add(&o->c.events, arg, &o->why);
	buf_adds(why, buf_str(&o->why));
	return o->rc == PP_EUSAGE ? o->rc : 0; /* the others are no fault of the words */
}

static int on_option(void *ctx, int id, const char *arg, struct buf *why)
{
	struct options *o = ctx;

	if (id < OPT_NO_SHORT)
		buf_addf(why, "-%c: ", id);
	switch (id) {
	case 'a': o->c.all_cpus = true; break;
	case 'c': return record_set_period(&o->c, arg, why);
	case 'C': o->c.cpus = arg; break;
	case 'e': return on_event(o, arg, why);
	case 'F': return record_set_freq(&o->c, arg, why);
	case OPT_FILTER: return o->rc ? 0 : pevents_filter(&o->c.events, arg, why);
	case 'g':
		if (!o->c.chains)
			o->c.chains = RECORD_CHAINS_FP;
		break;
	case OPT_CALL_GRAPH: return record_set_chains(&o->c, arg, why);
	case 'k': return record_set_clock(&o->c, arg, why);
	case 'm': return record_set_pages(&o->c, arg, why);
	case 'o': o->output = arg; break;
	case 'p': o->c.pids = arg; break;
	case OPT_STRICT: o->strict = true; break;
	case 'v': o->verbose = true; break;
	}
	return 0;
}

/* The exit status for an error of the library. */
static int status_of(int rc)
{
	return !rc ? PP_EXIT_OK : rc == PP_EUSAGE ? PP_EXIT_USAGE : PP_EXIT_FAIL;
}

static int record(struct options *o, struct diag *d)
{
	struct record_stats st;
	int rc = record_run(&o->c, d, &st);

	if (rc == PP_EPIPE && signal(SIGPIPE, SIG_DFL) != SIG_ERR)
		raise(SIGPIPE);
	if (!rc && (o->verbose || isatty(STDERR_FILENO)))
		diag_say(d, NULL, "%llu samples, %llu bytes written",
			 (unsigned long long)st.samples, (unsigned long long)st.bytes);
	return !rc && o->strict && st.lost ? PP_EXIT_PARTIAL : status_of(rc);
}

int main(int argc, char **argv)
{
	static struct options o; /* outlives an early return */
	const struct opt_group groups[] = {{options, on_option, &o}, {0}};
	const struct opt_spec spec = {"pcap-perf", "[OPTION]... [SECONDS | -- COMMAND [ARG]...]",
				      "record events of the running system as perf.data", groups};
	struct cli cli;
	int status, dashes;

	o.c = (struct record_config){.argc = argc, .argv = argv};
	if (cli_start_command(&cli, &spec, argc, argv))
		return cli.status;
	diag_set_verbose(cli.diag, o.verbose);
	dashes = strcmp(argv[cli.first - 1], "--") == 0;
	if (o.rc || (o.rc = record_set_end(&o.c, argv + cli.first, dashes, &o.why)))
		diag_error(cli.diag, NULL, -1, "%s",
			   o.why.len ? buf_str(&o.why) : pp_strerror(o.rc));
	status = o.rc ? status_of(o.rc) : status_of(record_open_output(&o.c, o.output, cli.diag));
	if (!status)
		status = record(&o, cli.diag);
	pevents_release(&o.c.events);
	buf_release(&o.why);
	return cli_finish(&cli, status);
}
