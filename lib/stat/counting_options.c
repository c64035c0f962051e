/* The words of the command line, to a struct stat_config. */
#include "stat/counting_options.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define MS	    1000000u
#define S	    1000000000u
#define TIMEOUT_MIN 10	      /* ms */
#define MS_MAX	    86400000u /* of an option in ms: a day */

enum {
	STAT = OPT_NO_SHORT,
	ALL_KERNEL,
	ALL_USER,
	APPEND,
	CONTROL,
	CPUTYPE,
	EACH_CGROUP,
	EXEC,
	FILTER,
	HYBRID_MERGE,
	INTERVAL_CLEAR,
	INTERVAL_COUNT,
	IOSTAT,
	KPROBE,
	LOG_FD,
	METRIC_NO_GROUP,
	METRIC_NO_MERGE,
	METRIC_ONLY,
	NO_BIG_NUM,
	NO_CSV_SUMMARY,
	NO_MERGE,
	NO_SCALE,
	PER_CORE,
	PER_DIE,
	PER_NODE,
	PER_SOCKET,
	PER_THREAD,
	PERCORE_SHOW_THREAD,
	POST,
	PRE,
	PROBE,
	QUIET,
	SCALE,
	SMI_COST,
	SUMMARY,
	TABLE,
	TD_LEVEL,
	TIMEOUT,
	TOPDOWN,
	TSV,
};

const struct opt stat_options[] = {
	{STAT, "stat", NULL, "count; the first option"},
	{'a', "all-cpus", NULL, "count on all CPUs; the default without -p, -t and COMMAND"},
	{'A', "no-aggr", NULL, "print a row for each CPU"},
	{ALL_KERNEL, "all-kernel", NULL, "count all events only in the kernel"},
	{ALL_USER, "all-user", NULL, "count all events only in user space"},
	{APPEND, "append", NULL, "add to the file of -o"},
	{'B', "big-num", NULL, "group thousands as the locale has them; the default"},
	{'C', "cpu", "LIST", "count only on these CPUs, such as 0-3,6"},
	{CONTROL, "control", "HOW", "take commands from fd:CTL[,ACK] or fifo:CTL[,ACK]"},
	{CPUTYPE, "cputype", "TYPE", "refused: name the events of one PMU, as cpu_core/cycles/"},
	{'d', "detailed", NULL, "also caches; twice: TLBs; three times: prefetches"},
	{'D', "delay", "MS", "begin this much later; -1: when --control says so"},
	{'e', "event", "EVENT", "count EVENT: cycles, {cs,faults}, sched:*, ..."},
	{PROBE, "probe", "DEFINITION", "make a probe of a program, for this count only"},
	{EXEC, "exec", "FILE",
	 "the program or library of --probe; by default that of -p or COMMAND"},
	{KPROBE, "kprobe", "DEFINITION", "make a probe of the kernel, for this count only"},
	{EACH_CGROUP, "for-each-cgroup", "LIST", "count all events for each of these cgroups"},
	{FILTER, "filter", "EXPR",
	 "count tracepoints of the last -e or --probe for which EXPR holds"},
	{'G', "cgroup", "NAMES", "cgroups of the events of the last -e, in their order"},
	{'g', "group", NULL, "count all events at the same time, or not at all"},
	{HYBRID_MERGE, "hybrid-merge", NULL, "accepted: events of several PMUs stay separate"},
	{'i', "no-inherit", NULL, "do not count tasks that the tasks start"},
	{'I', "interval-print", "MS", "print the counts at regular intervals"},
	{INTERVAL_CLEAR, "interval-clear", NULL, "clear the screen before each interval"},
	{INTERVAL_COUNT, "interval-count", "N", "end after N intervals"},
	{IOSTAT, "iostat", "[PORTS]", "refused: count the uncore events with -e"},
	{'j', "json-output", NULL, "a JSON object for each row"},
	{LOG_FD, "log-fd", "FD", "print to this descriptor"},
	{'M', "metrics", "NAMES", "refused: count the events with -e"},
	{METRIC_NO_GROUP, "metric-no-group", NULL, "accepted: has no effect without -M"},
	{METRIC_NO_MERGE, "metric-no-merge", NULL, "accepted: has no effect without -M"},
	{METRIC_ONLY, "metric-only", NULL, "print metrics such as insn per cycle, not the counts"},
	{'n', "null", NULL, "count nothing: print only the times"},
	{NO_BIG_NUM, "no-big-num", NULL, "do not group thousands"},
	{NO_CSV_SUMMARY, "no-csv-summary", NULL, "CSV: do not mark the rows of --summary"},
	{NO_MERGE, "no-merge", NULL, "accepted: events of several PMUs stay separate"},
	{NO_SCALE, "no-scale", NULL, "do not make up for the time an event was not counted"},
	{'o', "output", "FILE", "print to FILE; -: standard output"},
	{'p', "pid", "PID[,PID]", "count these processes"},
	{PER_CORE, "per-core", NULL, "a row for each core"},
	{PER_DIE, "per-die", NULL, "a row for each die"},
	{PER_NODE, "per-node", NULL, "a row for each NUMA node"},
	{PER_SOCKET, "per-socket", NULL, "a row for each socket"},
	{PER_THREAD, "per-thread", NULL, "a row for each thread"},
	{PERCORE_SHOW_THREAD, "percore-show-thread", NULL, "refused: use --per-core or -A"},
	{POST, "post", "COMMAND", "let the shell run it after each run"},
	{PRE, "pre", "COMMAND", "let the shell run it before each run"},
	{QUIET, "quiet", NULL, "print nothing"},
	{'r', "repeat", "N", "run the command N times, print means; 0: until Ctrl-C"},
	{'S', "sync", NULL, "call sync(2) before each run"},
	{SCALE, "scale", NULL, "make up for the time an event was not counted; the default"},
	{SMI_COST, "smi-cost", NULL, "refused: count msr/smi/, msr/aperf/ and cycles with -e"},
	{SUMMARY, "summary", NULL, "with -I: also print the total"},
	{'t', "tid", "TID[,TID]", "count these threads"},
	{'T', "transaction", NULL, "refused: count the transaction events with -e"},
	{TABLE, "table", NULL, "with -r: print the time of each run"},
	{TD_LEVEL, "td-level", "N", "refused: like --topdown"},
	{TIMEOUT, "timeout", "MS", "end the command after MS milliseconds"},
	{TOPDOWN, "topdown", NULL, "refused: count the topdown- events of the PMU with -e"},
	{TSV, "tsv", NULL, "a perfpipe-table(5) for phist, psvg and pdiff, to standard output"},
	{'v', "verbose", NULL, "print raw counts, and why events are not supported"},
	{'x', "field-separator", "SEP", "CSV with SEP between the fields"},
	{0},
};

static int refuse(struct buf *why, const char *text)
{
	buf_adds(why, text);
	return PP_EUSAGE;
}

static int number(const char *arg, uint64_t min, uint64_t max, uint64_t factor, uint64_t *v,
		  struct buf *why)
{
	if (opt_u64(arg, min, max, v)) {
		buf_addf(why, "'%s' is not a number from %llu to %llu", arg,
			 (unsigned long long)min, (unsigned long long)max);
		return PP_EUSAGE;
	}
	*v *= factor;
	return 0;
}

static int on_events(struct stat_options *o, int rc, struct buf *why)
{
	if (rc)
		buf_adds(why, buf_str(&o->why));
	if (rc && rc != PP_EUSAGE && !o->rc)
		o->rc = rc; /* no fault of the words */
	return rc == PP_EUSAGE ? rc : 0;
}

static int delay(struct stat_config *c, const char *arg, struct buf *why)
{
	if (!strcmp(arg, "-1")) {
		c->disabled = true;
		return 0;
	}
	return number(arg, 0, MS_MAX, MS, &c->delay_ns, why);
}

static int repeat(struct stat_config *c, const char *arg, struct buf *why)
{
	uint64_t n;
	int rc = number(arg, 0, STAT_REPEAT_MAX, 1, &n, why);

	if (!rc)
		c->repeat = (unsigned)n;
	return rc;
}

static int log_fd(struct stat_config *c, const char *arg, struct buf *why)
{
	uint64_t fd;
	int rc = number(arg, 1, INT32_MAX, 1, &fd, why);

	if (!rc)
		c->log_fd = (int)fd;
	return rc;
}

static int filter(struct stat_options *o, const char *expr, struct buf *why)
{
	int rc = probe_words_filter(&o->probes, expr, why);

	if (rc != PP_END)
		return rc;
	return on_events(o, o->rc ? 0 : pevents_filter(&o->c.events, expr, &o->why), why);
}

/* Options with an argument. */
static int with_argument(struct stat_options *o, int id, const char *arg, struct buf *why)
{
	struct stat_config *c = &o->c;

	switch (id) {
	case 'C': c->want.cpus = arg; return 0;
	case CONTROL: c->control = arg; return 0;
	case 'D': return delay(c, arg, why);
	case 'e':
		o->probes.last = false;
		return on_events(o, o->rc ? 0 : pevents_add(&c->events, arg, &o->why), why);
	case EACH_CGROUP: c->each_cgroup = arg; return 0;
	case EXEC: probe_words_file(&o->probes, arg); return 0;
	case FILTER: return filter(o, arg, why);
	case KPROBE: return probe_words_add(&o->probes, arg, PROBE_OF_KERNEL, why);
	case PROBE: return probe_words_add(&o->probes, arg, PROBE_OF_FILE, why);
	case 'G': return on_events(o, o->rc ? 0 : pevents_cgroups(&c->events, arg, &o->why), why);
	case 'I': return number(arg, 1, MS_MAX, MS, &c->interval_ns, why);
	case INTERVAL_COUNT: return number(arg, 1, UINT32_MAX, 1, &c->intervals, why);
	case LOG_FD: return log_fd(c, arg, why);
	case 'o': c->output = arg; return 0;
	case 'p': c->want.pids = arg; return 0;
	case POST: c->after = arg; return 0;
	case PRE: c->before = arg; return 0;
	case 'r': return repeat(c, arg, why);
	case 't': c->want.tids = arg; return 0;
	case TIMEOUT: return number(arg, TIMEOUT_MIN, MS_MAX, MS, &c->timeout_ns, why);
	case 'x':
		c->form = STAT_CSV;
		c->separator = strcmp(arg, "\\t") ? arg : "\t";
		return 0;
	}
	return 0;
}

/* What this program does not do, and what to do instead. */
static int refused(int id, struct buf *why)
{
	switch (id) {
	case CPUTYPE: return refuse(why, "--cputype: name the PMU: -e cpu_core/cycles/");
	case IOSTAT: return refuse(why, "--iostat: count the events of the uncore PMUs with -e");
	case 'M':
		return refuse(why, "the vendors' metrics are not here: count their events by -e; "
				   "IPC, miss ratios and rates come with the events");
	case PERCORE_SHOW_THREAD:
		return refuse(why, "--percore-show-thread: use --per-core, or -A");
	case SMI_COST: return refuse(why, "--smi-cost: use -e '{msr/aperf/,msr/smi/,cycles}'");
	case 'T': return refuse(why, "use -e '{cycles,cpu/cycles-t/,cpu/tx-start/}'");
	case TD_LEVEL:
	case TOPDOWN:
		return refuse(why, "--topdown: count the PMU's events: see perf list, or "
				   "/sys/bus/event_source/devices/cpu/events/topdown-*");
	}
	return PP_END;
}

static void flag(struct stat_config *c, int id)
{
	switch (id) {
	case 'a': c->want.all_cpus = true; break;
	case 'A': c->by = COUNT_BY_CPU; break;
	case ALL_KERNEL: c->all_kernel = true; break;
	case ALL_USER: c->all_user = true; break;
	case APPEND: c->append = true; break;
	case 'B': c->no_thousands = false; break;
	case 'd': c->detail++; break;
	case 'g': c->group = true; break;
	case 'i': c->no_inherit = true; break;
	case INTERVAL_CLEAR: c->clear = true; break;
	case 'j': c->form = STAT_JSON; break;
	case METRIC_ONLY: c->metric_only = true; break;
	case 'n': c->nothing = true; break;
	case NO_BIG_NUM: c->no_thousands = true; break;
	case NO_CSV_SUMMARY: c->no_csv_summary = true; break;
	case NO_SCALE: c->no_scale = true; break;
	case PER_CORE: c->by = COUNT_BY_CORE; break;
	case PER_DIE: c->by = COUNT_BY_DIE; break;
	case PER_NODE: c->by = COUNT_BY_NODE; break;
	case PER_SOCKET: c->by = COUNT_BY_SOCKET; break;
	case PER_THREAD: c->by = COUNT_BY_THREAD; break;
	case QUIET: c->quiet = true; break;
	case 'S': c->sync = true; break;
	case SCALE: c->no_scale = false; break;
	case SUMMARY: c->summary = true; break;
	case TABLE: c->runs_table = true; break;
	case TSV: c->form = STAT_TSV; break;
	case 'v': c->verbose = true; break;
	}
}

int stat_option(void *ctx, int id, const char *arg, struct buf *why)
{
	struct stat_options *o = ctx;
	size_t begin;
	int rc;

	if (id < OPT_NO_SHORT)
		buf_addf(why, "-%c: ", id);
	begin = why->len;
	rc = refused(id, why);
	if (rc != PP_END)
		return rc;
	if (!arg) {
		flag(&o->c, id);
		return 0;
	}
	rc = with_argument(o, id, arg, why);
	return rc && why->len == begin ? refuse(why, "cannot be used in this way") : rc;
}

/* "2.5" or "500ms" */
static bool is_time(const char *s)
{
	char *end;
	double v = strtod(s, &end);

	return *s >= '0' && *s <= '9' && v > 0 &&
	       (!*end || !strcmp(end, "s") || !strcmp(end, "ms") || !strcmp(end, "m"));
}

static uint64_t time_of(const char *s)
{
	char *end;
	double v = strtod(s, &end);

	if (!strcmp(end, "ms"))
		return (uint64_t)(v * MS);
	return (uint64_t)(v * S * (*end == 'm' ? 60 : 1));
}

int stat_options_end(struct stat_options *o, char **words, bool dashes)
{
	if (o->rc)
		return o->rc;
	if (!words[0])
		return 0;
	if (!dashes && is_time(words[0])) {
		o->c.duration_ns = time_of(words[0]);
		if (words[1])
			buf_addf(&o->why, "either SECONDS or a command, not both: %s", words[1]);
		return words[1] ? PP_EUSAGE : o->why.err;
	}
	if (!dashes && !strcmp(words[0], "report")) {
		buf_adds(&o->why, "report: use pdecode FILE | phist");
		return PP_EUSAGE;
	}
	if (!dashes && !strcmp(words[0], "record")) {
		buf_adds(&o->why, "record: counts are kept as a table: --tsv > FILE, which phist "
				  "--merge and psvg read");
		return PP_EUSAGE;
	}
	o->c.command = words;
	return 0;
}

void stat_options_release(struct stat_options *o)
{
	pevents_release(&o->c.events);
	probe_words_release(&o->probes);
	buf_release(&o->why);
}
