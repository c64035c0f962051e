/* The options of pcap-ftrace. */
#include "ftrace/pcap_ftrace_options.h"

#include "base/err.h"
#include "ftrace/parts.h"
#include "record/record.h"

#include <stddef.h>
#include <stdlib.h>

enum {
	OPT_DEPTH = OPT_NO_SHORT,
	OPT_NOT_GRAPH,
	OPT_FUNC_STACK,
	OPT_THRESH,
	OPT_DATE,
	OPT_PROFILE,
	OPT_PROBE,
	OPT_KPROBE,
	OPT_VERSION_OF_FILE,
	OPT_START,
	OPT_STOP,
	OPT_SHOW,
	OPT_EXTRACT,
	OPT_RESTORE,
	OPT_SNAPSHOT,
	OPT_CLEAR,
	OPT_STATUS,
	OPT_LIST,
	OPT_CHECK,
	OPT_RESET,
	OPT_HIST,
	OPT_STACK,
	OPT_ALL,
	OPT_YES,
	OPT_WHILE,
	OPT_STRICT,
	OPT_VERBOSE,
};

const struct opt ftrace_options[] = {
	/* what */
	{'e', "event", "EVENT", "record EVENT: sched, sched:sched_switch, *:*wait*, all"},
	{'f', "filter", "EXPR", "keep events of the last -e for which EXPR holds"},
	{'R', "trigger", "TRIGGER", "what the last -e triggers: stacktrace, traceoff if ..., ..."},
	{'v', "not", NULL, "leave out the events of each -e that follows"},
	{'p', "tracer", "TRACER", "function, function_graph, wakeup, ...; see --list tracers"},
	{'l', "function", "GLOB", "functions to trace, or FUNCTION:COMMAND"},
	{'n', "no-function", "GLOB", "functions not to trace"},
	{'g', "graph", "GLOB", "functions to trace, with the functions that they call"},
	{OPT_NOT_GRAPH, "no-graph", "GLOB",
	 "functions not to trace, with the functions that they call"},
	{OPT_DEPTH, "max-graph-depth", "N", "maximum depth of function_graph"},
	{OPT_THRESH, "thresh", "US", "do not trace anything that takes less"},
	{OPT_PROFILE, "profile", NULL, "record the events that show where time goes"},
	{'T', "stacks", NULL, "record the kernel stack of each event"},
	{OPT_FUNC_STACK, "func-stack", NULL, "record the kernel stack of each function"},
	{OPT_PROBE, "probe", "DEFINITION", "make a probe of a program, for this recording only"},
	{'x', "exec", "FILE", "the program or library of --probe"},
	{OPT_KPROBE, "kprobe", "DEFINITION", "make a probe of the kernel, for this recording only"},
	{'B', "buffer", "NAME", "an additional buffer, for the options after it"},
	/* whom */
	{'P', "pid", "PID[,PID]", "trace only these processes"},
	{'F', "only-command", NULL, "trace only COMMAND"},
	{'c', "children", NULL, "and the tasks that they start"},
	{'M', "cpus", "LIST", "trace only these CPUs, such as 0-3,6"},
	/* how */
	{'C', "clock", "CLOCK", "clock: local (default), mono, boot, x86-tsc, ..."},
	{OPT_DATE, "date", NULL, "times are those of the day"},
	{'b', "buffer-size", "KB", "size of each CPU's buffer; by default it grows with the rate"},
	{'O', "option", "NAME[=0]", "switch an ftrace option on, or off (noNAME)"},
	{'s', "interval", "US", "read the buffers at least this often"},
	{'r', "realtime", "PRIO", "run with this SCHED_FIFO priority"},
	{OPT_WHILE, "while", "PID", "end when process PID has ended"},
	{'o', "output", "FILE", "write a trace.dat, not the stream form to stdout"},
	{OPT_VERSION_OF_FILE, "file-version", "N", "version of the trace.dat: 7 (default) or 6"},
	{'z', "compression-level", "[LEVEL]", "compress it with zstd, 1 (default) to 22"},
	/* buffers that stay */
	{OPT_START, "start", "NAME", "set up a buffer that records until it is reset"},
	{OPT_STOP, "stop", "NAME", "stop recording; --start NAME continues"},
	{OPT_SHOW, "show", "NAME", "print its contents"},
	{OPT_EXTRACT, "extract", "NAME", "extract its contents, with -o FILE"},
	{OPT_RESTORE, "restore", "FILE",
	 "make a trace.dat from FILE.cpuN, which a recorder left behind"},
	{OPT_SNAPSHOT, "snapshot", "NAME", "take a snapshot of it, and print that"},
	{OPT_CLEAR, "clear", "NAME", "empty it"},
	{OPT_RESET, "reset", "[NAME]", "remove it, or all that this program has set up"},
	{OPT_ALL, "all", NULL, "with --reset: show what others have set up"},
	{OPT_YES, "yes", NULL, "with --reset --all: also remove that"},
	{OPT_STATUS, "status", NULL, "show what is switched on, and by whom"},
	/* what is there, and what the kernel counts */
	{OPT_LIST, "list", NULL, "list events, tracers, clocks, options, functions; GLOB"},
	{OPT_CHECK, "check-events", NULL, "list events whose text cannot be printed, if any"},
	{OPT_HIST, "hist", "EVENT:KEYS", "let the kernel count EVENT by KEYS, and print the table"},
	{OPT_STACK, "stack", NULL, "find the deepest kernel stack"},
	{OPT_STRICT, "strict", NULL, "exit with 1 if the kernel lost events"},
	{'q', "quiet", NULL, "no warnings"},
	{OPT_VERBOSE, "verbose", NULL, "print more messages on stderr"},
	{0},
};

/* Actions by which nothing is set up, or nothing is recorded. */
#define WITHOUT_SETUP_BUT_STACK \
	"stop show extract restore snapshot clear reset status list check-events"
#define WITHOUT_SETUP WITHOUT_SETUP_BUT_STACK " stack"
#define NO_RECORDING  WITHOUT_SETUP " hist"

const struct opt_rule ftrace_rules[] = {
	{"compression-level", "file-version=6", "output"},
	{"file-version", NULL, "output"},
	{"max-graph-depth", NULL, "tracer"},
	{"graph", NULL, "tracer"},
	{"no-graph", NULL, "tracer"},
	{"function", NULL, "tracer"},
	{"no-function", NULL, "tracer"},
	{"func-stack", NULL, "tracer"},
	{"children", NULL, "pid only-command"},
	{"exec", NULL, "probe"},
	{"all", NULL, "reset"},
	{"yes", NULL, "all"},
	{"extract", NULL, "output"},
	{"restore", NULL, "output"},
	{"event", NO_RECORDING, NULL},
	{"tracer", NO_RECORDING, NULL},
	{"profile", NO_RECORDING, NULL},
	{"probe", NO_RECORDING " start", NULL},
	{"kprobe", NO_RECORDING " start", NULL},
	{"buffer", NO_RECORDING " start", NULL},
	{"not", NO_RECORDING, NULL},
	{"stacks", NO_RECORDING, NULL},
	{"thresh", NO_RECORDING, NULL},
	{"pid", NO_RECORDING, NULL},
	{"only-command", NO_RECORDING, NULL},
	{"cpus", "stop extract restore clear reset status list check-events hist stack", NULL},
	{"clock", WITHOUT_SETUP, NULL},
	{"date", "start stop show restore snapshot clear reset status list check-events hist stack",
	 NULL},
	{"buffer-size", NO_RECORDING, NULL},
	{"option", WITHOUT_SETUP, NULL},
	{"interval", NO_RECORDING " start", NULL},
	{"realtime", NO_RECORDING " start", NULL},
	{"while", WITHOUT_SETUP_BUT_STACK " start", NULL},
	{"output", "start stop show snapshot clear reset status list check-events hist stack",
	 NULL},
	{"strict",
	 "start stop show restore snapshot clear reset status list check-events hist stack", NULL},
	{0},
};

/* Options that are a bool: of everything, and of a buffer. */
static const struct {
	int id;
	size_t offset;
} flags[] =
	{
		{'F', offsetof(struct ftrace_options, c.only_command)},
		{'c', offsetof(struct ftrace_options, c.children)},
		{OPT_DATE, offsetof(struct ftrace_options, c.date)},
		{OPT_ALL, offsetof(struct ftrace_options, all)},
		{OPT_YES, offsetof(struct ftrace_options, yes)},
		{OPT_STRICT, offsetof(struct ftrace_options, strict)},
		{'q', offsetof(struct ftrace_options, quiet)},
		{OPT_VERBOSE, offsetof(struct ftrace_options, verbose)},
},
  buffer_flags[] = {
	  {'v', offsetof(struct ftrace_config, not )},
	  {'T', offsetof(struct ftrace_config, stacks)},
	  {OPT_FUNC_STACK, offsetof(struct ftrace_config, func_stacks)},
};

/* Those that begin another action. */
static const struct {
	int id;
	enum ftrace_action action;
} actions[] = {
	{OPT_START, FTRACE_START},     {OPT_STOP, FTRACE_STOP},		{OPT_SHOW, FTRACE_SHOW},
	{OPT_EXTRACT, FTRACE_EXTRACT}, {OPT_SNAPSHOT, FTRACE_SNAPSHOT}, {OPT_CLEAR, FTRACE_CLEAR},
	{OPT_STATUS, FTRACE_STATUS},   {OPT_LIST, FTRACE_LIST},		{OPT_CHECK, FTRACE_CHECK},
	{OPT_RESET, FTRACE_RESET},     {OPT_HIST, FTRACE_HIST},		{OPT_STACK, FTRACE_STACK},
	{OPT_RESTORE, FTRACE_RESTORE},
};

static const struct {
	int id;
	size_t offset;
} words[] = {
	{'l', offsetof(struct ftrace_config, functions)},
	{'n', offsetof(struct ftrace_config, not_functions)},
	{'g', offsetof(struct ftrace_config, graph)},
	{OPT_NOT_GRAPH, offsetof(struct ftrace_config, not_graph)},
	{'O', offsetof(struct ftrace_config, options)},
};

#define N(table) (sizeof(table) / sizeof((table)[0]))

/* Options of the tables. 1: the id is one of them; 0; or an error. */
static int by_table(struct ftrace_options *o, struct ftrace_config *c, int id, const char *arg,
		    struct buf *why)
{
	for (size_t i = 0; i < N(flags); i++)
		if (flags[i].id == id)
			return *(bool *)((char *)o + flags[i].offset) = true;
	for (size_t i = 0; i < N(buffer_flags); i++)
		if (buffer_flags[i].id == id)
			return *(bool *)((char *)c + buffer_flags[i].offset) = true;
	for (size_t i = 0; i < N(actions); i++)
		if (actions[i].id == id) {
			if (o->action != FTRACE_RECORD && o->action != actions[i].action) {
				buf_adds(why, "only one of --start, --stop, --show, ... at a time");
				return PP_EUSAGE;
			}
			o->action = actions[i].action;
			o->name = arg;
			return 1;
		}
	for (size_t i = 0; i < N(words); i++)
		if (words[i].id == id) {
			void *w = (char *)c + words[i].offset;
			int rc = ftrace_words_add(w, arg);

			return rc ? rc : 1;
		}
	return 0;
}

static int number(const char *name, const char *arg, uint64_t min, uint64_t max, uint64_t *v,
		  struct buf *why)
{
	if (!opt_u64(arg, min, max, v))
		return 0;
	buf_addf(why, "%s: '%s' is not a number from %llu to %llu", name, arg,
		 (unsigned long long)min, (unsigned long long)max);
	return PP_EUSAGE;
}

/*
 * What tells where time goes, of what the kernel has: switches with their stacks, wakeups,
 * interrupts, faults, system calls.
 */
static int profile(struct ftrace_config *c, struct buf *why)
{
	static const char *const events[] = {
		"sched:sched_wakeup*",	  "sched:sched_process_*", "irq:*",
		"exceptions:page_fault*", "raw_syscalls:*",	   "sched:sched_switch",
	};
	int rc = 0;

	c->profile = true;
	for (size_t i = 0; i < N(events) && !rc; i++) {
		rc = ftrace_add_event(c, events[i], why);
		if (!rc)
			c->events[c->n_events - 1].maybe = true;
	}
	return rc ? rc : ftrace_trigger(c, "stacktrace if prev_state > 0", why);
}

static int with_number(struct ftrace_options *o, struct ftrace_config *now, int id, const char *arg,
		       struct buf *why)
{
	struct ftrace_config *c = &o->c;
	uint64_t v = 0;
	int rc;

	switch (id) {
	case OPT_DEPTH:
		rc = number("--max-graph-depth", arg, 1, 1000, &v, why);
		now->depth = (uint32_t)v;
		return rc;
	case OPT_VERSION_OF_FILE:
		rc = number("--file-version", arg, 6, 7, &v, why);
		c->version = (unsigned)v;
		return rc;
	case 'b': return number("-b", arg, 1, 1u << 30, &now->buffer_kb, why);
	case 'r':
		rc = number("-r", arg, 1, 99, &v, why);
		c->realtime = (int)v;
		return rc;
	case 's':
		rc = number("-s", arg, 1000, 60000000, &v, why);
		c->interval_ns = v * 1000;
		return rc;
	case OPT_WHILE:
		rc = number("--while", arg, 1, INT32_MAX, &v, why);
		c->while_pid = (pid_t)v;
		return rc;
	case 'z':
		rc = arg ? number("-z", arg, 1, 22, &v, why) : 0;
		c->pack_level = arg ? (int)v : 1;
		return rc;
	default: return PP_END;
	}
}

static int add_buffer(struct ftrace_options *o, const char *name, struct buf *why)
{
	int rc = ftrace_add_buffer(&o->c, name, why);

	for (o->now = &o->c; o->now->next;)
		o->now = o->now->next;
	return rc;
}

static int add_probe(struct ftrace_options *o, const char *arg, enum probe_of of, struct buf *why)
{
	if (!o->now)
		return probe_words_add(&o->c.probes, arg, of, why);
	buf_adds(why, "probes are for the main buffer: before -B");
	return PP_EUSAGE;
}

int ftrace_option(void *options, int id, const char *arg, struct buf *why)
{
	struct ftrace_options *o = options;
	struct ftrace_config *c = &o->c, *now = o->now ? o->now : c;
	int rc = by_table(o, now, id, arg, why);

	if (rc)
		return rc < 0 ? rc : 0;
	rc = with_number(o, now, id, arg, why);
	if (rc != PP_END)
		return rc;
	switch (id) {
	case 'e': return ftrace_add_event(now, arg, why);
	case 'f': return ftrace_filter(now, arg, why);
	case 'R': return ftrace_trigger(now, arg, why);
	case 'B': return add_buffer(o, arg, why);
	case 'p': now->tracer = arg; break;
	case 'P': c->pids = arg; break;
	case 'M': now->cpus = arg; break;
	case 'C': now->clock = arg; break;
	case 'o': c->output = arg; break;
	case 'x': probe_words_file(&c->probes, arg); break;
	case OPT_THRESH: now->thresh = arg; break;
	case OPT_PROFILE: return profile(now, why);
	case OPT_PROBE: return add_probe(o, arg, PROBE_OF_FILE, why);
	case OPT_KPROBE: return add_probe(o, arg, PROBE_OF_KERNEL, why);
	}
	return 0;
}

/* Other tracers do not look at the settings of graphs. */
static int check_graph(const struct ftrace_config *c, struct buf *why)
{
	if ((!c->graph.n && !c->not_graph.n && !c->depth) || fttext_is(c->tracer) ||
	    (c->tracer && !strcmp(c->tracer, "function_graph")))
		return 0;
	buf_adds(why, "--graph, --no-graph and --max-graph-depth need -p function_graph");
	return PP_EUSAGE;
}

/* What is the same for all buffers, and whether each has something to record. */
static int end_buffers(struct ftrace_config *c, struct buf *why)
{
	int rc = check_graph(c, why);

	c->name = "";
	for (struct ftrace_config *b = c->next; b; b = b->next) {
		b->pids = c->pids;
		b->only_command = c->only_command;
		b->children = c->children;
		b->command = c->command;
		b->clock = b->clock ? b->clock : c->clock;
		if (!b->n_events && !b->tracer) {
			buf_addf(why,
				 "nothing to record into the buffer '%s': -e EVENT or -p "
				 "TRACER after -B",
				 b->name);
			return PP_EUSAGE;
		}
		rc = rc ? rc : check_graph(b, why);
	}
	return rc;
}

/* Without anything to record the command may be a word of trace-cmd: what is typed here for it. */
static void tell_nothing(const struct ftrace_config *c, struct buf *why)
{
	static const struct {
		const char *word, *here;
	} said[] = {
		{"record", "-e EVENT -o FILE"},
		{"start", "--start NAME"},
		{"stream", "... | pdecode -t"},
		{"stop", "--stop NAME"},
		{"set", "--start NAME"},
		{"restart", "--start NAME"},
		{"show", "--show NAME"},
		{"extract", "--extract NAME"},
		{"reset", "--reset"},
		{"clear", "--clear NAME"},
		{"stat", "--status"},
		{"snapshot", "--snapshot NAME"},
		{"list", "--list"},
		{"stack", "--stack"},
		{"hist", "--hist"},
		{"profile", "--profile"},
		{"restore", "--restore FILE"},
		{"check-events", "--check-events"},
		{"report", "pdecode -t FILE"},
		{"split", "pfilter --split"},
		{"options", "pdecode -t -O help"},
		{"listen", "nc -l -p PORT | pdecode"},
	};

	for (size_t i = 0; c->command && i < sizeof(said) / sizeof(*said); i++) {
		if (!strcmp(c->command[0], said[i].word)) {
			buf_addf(why, "there is no word '%s' here: %s", said[i].word, said[i].here);
			return;
		}
	}
	buf_adds(why, "nothing to record: -e EVENT or -p TRACER; --list shows what there is");
}

int ftrace_options_end(struct ftrace_options *o, char **rest, bool dashes, struct buf *why)
{
	static struct record_config end;
	struct ftrace_config *c = &o->c;
	int rc;

	if (!c->version)
		c->version = 7;
	o->words = rest;
	if (o->action == FTRACE_LIST)
		return 0;
	if (o->action == FTRACE_RESET && !o->name && rest[0]) {
		o->name = *rest++;
	} else if (o->action == FTRACE_HIST || o->action == FTRACE_STACK ||
		   o->action == FTRACE_RECORD) {
		rc = record_set_end(&end, rest, dashes, why);
		c->duration_ns = end.duration_ns;
		c->command = end.command;
		rest += rc || end.command ? 0 : !!rest[0];
		if (rc)
			return rc;
	}
	if (rest[0] && !c->command) {
		buf_addf(why, "'%s' is one word too many", rest[0]);
		return PP_EUSAGE;
	}
	if (c->only_command && !c->command) {
		buf_adds(why, "--only-command needs a command: -- COMMAND");
		return PP_EUSAGE;
	}
	if (c->only_command && c->pids) {
		buf_adds(why, "either processes or the command (-P, -F)");
		return PP_EUSAGE;
	}
	if (o->action == FTRACE_RECORD && !c->n_events && !c->tracer && !c->probes.n && !c->next) {
		tell_nothing(c, why);
		return PP_EUSAGE;
	}
	return end_buffers(c, why);
}
