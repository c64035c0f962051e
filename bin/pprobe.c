/* pprobe: probes at functions, lines and variables of programs and of the kernel. */
#include "cli.h"
#include "inplace/inplace.h"
#include "probe/probe.h"

/* clang-format off */
enum { PATTERNS_MAX = 256, ALL_MINE = OPT_NO_SHORT, BLACKLIST, BTF, EACH, EXTERNS, FPROBE, GROUP,
       JSON, KALLSYMS, MINE, NO_INLINES, TRACEFS, TSV, TYPE, VMLINUX };
/* clang-format on */

static const struct opt options[] = {
	{'x', "exec", "FILE", "the program or library: a path, or a name that is searched for"},
	{'p', "pid", "PID", "the program of this process, or FILE as it sees it (containers)"},
	{'k', "kernel", NULL, "the kernel; the default without -x and -p"},
	{KALLSYMS, "kallsyms", "FILE", "the kernel's symbols (/proc/kallsyms)"},
	{VMLINUX, "vmlinux", "FILE", "the kernel's image with debug information"},
	{BTF, "btf", "FILE", "the kernel's types (/sys/kernel/btf/vmlinux)"},
	{BLACKLIST, "blacklist", "FILE", "functions that the kernel forbids to probe"},
	{'F', "funcs", NULL, "list functions; operand: a pattern"},
	{'L', "lines", "WHAT", "list lines of FUNC or of FILE[:N-M] that can take a probe"},
	{'V', "vars", "WHAT", "list variables at FUNC[:LINE|+OFF]"},
	{TYPE, "type", "TYPE", "list members of a structure of the kernel: 'struct sock'"},
	{'U', "usdt", NULL, "list markers (USDT); operand: a pattern"},
	{EXTERNS, "externs", NULL, "with -V: also variables outside functions"},
	{'n', "dry-run", NULL, "print definitions, but make no probes"},
	{GROUP, "group", "NAME", "the group of the events (probe_FILE)"},
	{FPROBE, "fprobe", NULL,
	 "for the kernel: fprobes, which cost less, if the kernel has them"},
	{NO_INLINES, "no-inlines", NULL, "make no probes where a function was inlined"},
	{EACH, "each", NULL, "make an event for each function of a pattern, however many"},
	{'l', "list", NULL, "list the existing probes; operands: patterns"},
	{'d', "del", "PATTERN", "remove probes; operands: additional patterns"},
	{ALL_MINE, "all-mine", NULL,
	 "remove all probes that pprobe made, or a recorder left behind"},
	{TSV, "tsv", NULL, "write lists as tab-separated values"},
	{JSON, "json", NULL, "write lists as JSON, one object a line"},
	{TRACEFS, "tracefs", "DIR", "where the kernel's lists of probes are"},
	{MINE, "mine", "FILE", "where the names of probes that pprobe made are kept"},
	{'v', "verbose", NULL,
	 "print more: places, names, inlined copies; with -F of the kernel: declarations"},
	{0},
};

struct config {
	struct probe_opts o;
	char *patterns[PATTERNS_MAX]; /* of -d, then operands */
	int n;
};

static int act(struct config *c, enum probe_action action, const char *what)
{
	c->o.action = action;
	c->o.what = what;
	return 0;
}

static int on_option(void *ctx, int id, const char *arg, struct buf *why)
{
	struct config *c = ctx;
	uint64_t pid;
	switch (id) {
	case 'x': c->o.binary = arg; break;
	case 'p':
		if (opt_u64(arg, 1, INT32_MAX, &pid))
			return buf_addf(why, "-p: '%s' is not a process id", arg), PP_EUSAGE;
		c->o.pid = (pid_t)pid;
		break;
	case 'k': c->o.kernel = true; break;
	case KALLSYMS: c->o.kallsyms = arg; break;
	case VMLINUX: c->o.vmlinux = arg; break;
	case BTF: c->o.btf = arg; break;
	case BLACKLIST: c->o.blacklist = arg; break;
	case 'F': return act(c, PROBE_FUNCTIONS, NULL);
	case 'L': return act(c, PROBE_LINES, arg);
	case 'V': return act(c, PROBE_VARIABLES, arg);
	case TYPE: return act(c, PROBE_MEMBERS, arg);
	case 'U': return act(c, PROBE_MARKERS, NULL);
	case 'l': return act(c, PROBE_LIST, NULL);
	case 'd':
		if (c->n == PATTERNS_MAX)
			return buf_adds(why, "-d: too many patterns"), PP_EUSAGE;
		c->patterns[c->n++] = (char *)arg;
		return act(c, PROBE_DELETE, NULL);
	case ALL_MINE: c->o.all_mine = true; return act(c, PROBE_DELETE, NULL);
	case EXTERNS: c->o.externs = true; break;
	case 'n': c->o.dry_run = true; break;
	case GROUP: c->o.group = arg; break;
	case FPROBE: c->o.fprobe = true; break;
	case NO_INLINES: c->o.no_copies = true; break;
	case EACH: c->o.each = true; break;
	case TSV:
	case JSON: c->o.form = id == TSV ? TABLE_FORM_TSV : TABLE_FORM_JSON; break;
	case TRACEFS: c->o.tracefs = arg; break;
	case MINE: c->o.mine_file = arg; break;
	case 'v': c->o.verbose = true; break;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct config config = {0};
	const struct opt_group groups[] = {{options, on_option, &config}, {0}};
	const struct opt_spec spec = {"pprobe", "[OPTION]... [DEFINITION|PATTERN]...",
				      "find what can be probed; create, list and remove probes",
				      groups};
	struct cli cli;

	if (cli_start(&cli, &spec, argc, argv))
		return cli.status;
	diag_set_verbose(cli.diag, config.o.verbose);
	if (config.o.action == PROBE_DELETE)
		while (cli.first < argc && config.n < PATTERNS_MAX)
			config.patterns[config.n++] = argv[cli.first++];
	cli.status = config.n ? probe_run(&config.o, config.patterns, config.n, cli.diag)
			      : probe_run(&config.o, argv + cli.first, argc - cli.first, cli.diag);
	if (config.o.all_mine && inplace_clean(config.o.tracefs, cli.diag))
		cli.status = PP_EXIT_FAIL;
	return cli_finish(&cli, cli.status);
}
