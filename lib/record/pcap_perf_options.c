/* The options of a recording: one table, what each one sets, and perf's that have no place here. */
#include "record/pcap_perf_options.h"

#include "base/err.h"
#include "record/parts.h"

#include <stddef.h>

/* Options without a short one. */
enum {
	OPT_ALL_CGROUPS = OPT_NO_SHORT,
	OPT_ALL_KERNEL,
	OPT_ALL_USER,
	OPT_BUNDLE,
	OPT_PERF_MAP,
	OPT_CALL_GRAPH,
	OPT_CGROUP,
	OPT_CODE_PAGE,
	OPT_CONTROL,
	OPT_DATA_PAGE,
	OPT_DRY_RUN,
	OPT_EXCLUDE_SELF,
	OPT_EXCLUDE_PERF,
	OPT_FILTER,
	OPT_GROUP,
	OPT_K_CHAINS,
	OPT_KPROBE,
	OPT_FEATURES,
	OPT_LDLAT,
	OPT_LIST,
	OPT_MEM,
	OPT_LIST_FUNCTIONS,
	OPT_MAX_SIZE,
	OPT_MAX_STACK,
	OPT_NAMESPACES,
	OPT_NO_BPF,
	OPT_NO_BUFFERING,
	OPT_NO_TOUCH,
	OPT_OVERHEAD,
	OPT_OVERWRITE,
	OPT_PATHS,
	OPT_PER_THREAD,
	OPT_PHYS,
	OPT_PROBE,
	OPT_RECORD_CGROUPS,
	OPT_RUNNING_TIME,
	OPT_SNAPSHOT,
	OPT_STAT,
	OPT_STRICT,
	OPT_STRICT_FREQ,
	OPT_SWITCH_EVENTS,
	OPT_SWITCH_MAX,
	OPT_SWITCH_OUTPUT,
	OPT_SYNTH,
	OPT_TIMESTAMP_FILE,
	OPT_TRANSACTION,
	OPT_U_CHAINS,
	OPT_USER_REGS,
	OPT_WALL,
	OPT_SAME,
	OPT_AIO,
	OPT_WHILE,
};

const struct opt record_options[] = {
	/* whom */
	{'a', "all-cpus", NULL, "record all CPUs; the default if nothing else is given"},
	{'C', "cpu", "LIST", "record only these CPUs, such as 0-3,6"},
	{'p', "pid", "PID[,PID]", "record these processes"},
	{'t', "tid", "TID[,TID]", "record these threads"},
	{'u', "uid", "USER", "record the processes of a user"},
	{OPT_CGROUP, "cgroup", "NAME[,NAME]", "record a cgroup, such as docker/9c2281"},
	{'i', "no-inherit", NULL, "leave out tasks that the recorded tasks start"},
	{OPT_PER_THREAD, "per-thread", NULL, "a buffer for each thread, not for each CPU"},
	/* what */
	{'e', "event", "EVENT", "record EVENT: cycles, cpu-clock:u, sched:*, ...; see --list"},
	{OPT_PROBE, "probe", "DEFINITION", "make a probe of a program, for this recording only"},
	{'x', "exec", "FILE",
	 "the program or library of --probe; by default that of -p or COMMAND"},
	{OPT_KPROBE, "kprobe", "DEFINITION", "make a probe of the kernel, for this recording only"},
	{OPT_WALL, "wall", NULL, "record what threads do and wait for, for plat --emit wall"},
	{OPT_PATHS, "paths", NULL, "record system calls with their paths, for pstrace"},
	{OPT_FILTER, "filter", "EXPR",
	 "keep tracepoints of the last -e or --probe for which EXPR holds"},
	{OPT_EXCLUDE_SELF, "exclude-self", NULL,
	 "keep only tracepoints of the last -e by other processes"},
	{OPT_GROUP, "group", NULL, "make all events one group"},
	{OPT_ALL_USER, "all-user", NULL, "record all events only in user space"},
	{OPT_ALL_KERNEL, "all-kernel", NULL, "record all events only in the kernel"},
	{'F', "freq", "HZ", "take HZ samples per second, or max"},
	{OPT_STRICT_FREQ, "strict-freq", NULL, "fail if the kernel does not allow that many"},
	{'c', "count", "N", "take a sample every N events"},
	{'n', "no-samples", NULL, "take none: only tasks and mappings"},
	/* with what */
	{'g', "chains", NULL, "record correct call chains: --call-graph auto"},
	{OPT_CALL_GRAPH, "call-graph", "HOW", "record them with fp, dwarf[,SIZE], lbr or auto"},
	{OPT_MAX_STACK, "max-stack", "N", "maximum number of frames in a call chain"},
	{OPT_NO_TOUCH, "no-touch", NULL, "do not read the memory of the recorded tasks"},
	{OPT_U_CHAINS, "user-callchains", NULL, "only the user part of call chains"},
	{OPT_K_CHAINS, "kernel-callchains", NULL, "only the kernel part of call chains"},
	{'b', "branch-any", NULL, "record the last branches"},
	{'j', "branch-filter", "KIND[,KIND]", "those of a kind: any_call, u, ..."},
	{'d', "data", NULL, "record the addresses of data"},
	{OPT_MEM, "mem", "[KIND]", "sample memory accesses: load, store, both; list what there is"},
	{OPT_LDLAT, "ldlat", "CYCLES", "of --mem: loads that took so long (30)"},
	{OPT_PHYS, "phys-data", NULL, "record their physical addresses"},
	{OPT_DATA_PAGE, "data-page-size", NULL, "record the sizes of their pages"},
	{OPT_CODE_PAGE, "code-page-size", NULL, "record the sizes of the code's pages"},
	{'W', "weight", NULL, "record weights, which are latencies of loads"},
	{OPT_TRANSACTION, "transaction", NULL, "record transaction flags"},
	{'I', "intr-regs", "[REG,...]", "record registers"},
	{OPT_USER_REGS, "user-regs", "[REG,...]", "record user-space registers"},
	{'R', "raw-samples", NULL, "record raw data of all events"},
	{'s', "thread-counts", NULL, "record counts of each thread at its end"},
	{OPT_SWITCH_EVENTS, "switch-events", NULL, "record task switches"},
	{OPT_NAMESPACES, "namespaces", NULL, "record namespaces of tasks"},
	{OPT_RECORD_CGROUPS, "record-cgroups", NULL, "record the cgroup of each sample"},
	{OPT_NO_BPF, "no-bpf-event", NULL, "leave out records about BPF programs"},
	{'k', "clockid", "CLOCK", "clock: monotonic (default), monotonic_raw, boottime, ..."},
	/* how long, how much, where */
	{'D', "delay", "MS", "begin after MS, or in ranges A-B,C-D, or disabled (-1)"},
	{OPT_WHILE, "while", "PID", "end when this process ends, whatever is recorded"},
	{OPT_CONTROL, "control", "WHERE", "obey commands from fd:N[,ACK] or fifo:PATH[,ACK]"},
	{OPT_MAX_SIZE, "max-size", "SIZE", "end when this much is written, such as 100M"},
	{OPT_SWITCH_OUTPUT, "switch-output", "[WHEN]", "begin new files: signal, SIZE, TIME"},
	{OPT_SWITCH_MAX, "switch-max-files", "N", "keep the N newest of them"},
	{OPT_SNAPSHOT, "snapshot", "[SIZE]",
	 "keep the newest events; write them at SIGUSR2 and at the end"},
	{'m', "mmap-pages", "N", "pages of each CPU's buffer, a power of two, or a size"},
	{'r', "realtime", "PRIO", "run with this SCHED_FIFO priority"},
	{'o', "output", "FILE", "write to FILE instead of stdout"},
	{'z', "compression-level", "[LEVEL]", "compress the events with zstd, 1 (default) to 22"},
	{OPT_BUNDLE, "bundle", "FILE", "pack the binaries that were hit, for psym --symfs"},
	{OPT_PERF_MAP, "perf-map", NULL, "make Java programs write the names of their code"},
	{OPT_STRICT, "strict", NULL, "exit with 1 if the kernel lost events"},
	{OPT_OVERHEAD, "overhead", NULL, "report at the end what recording cost"},
	{'q', "quiet", NULL, "no warnings"},
	{'v', "verbose", NULL, "print more messages on stderr"},
	{OPT_STAT, "stat", NULL, "count, not record: the first option; see --stat --help"},
	{OPT_FEATURES, "features", NULL, "with --version: its libraries, what the kernel allows"},
	{OPT_LIST, "list", NULL, "list events: all, or by class, GLOB or part of a name"},
	{OPT_LIST_FUNCTIONS, "list-functions", "GLOB", "list the kernel's functions"},
	{OPT_DRY_RUN, "dry-run", NULL, "only check the options"},
	/* as perf record has them */
	{'G', "G", "NAME", "cgroup of the last -e, like --cgroup"},
	{OPT_ALL_CGROUPS, "all-cgroups", NULL, "--record-cgroups"},
	{OPT_EXCLUDE_PERF, "exclude-perf", NULL, "--exclude-self"},
	{OPT_OVERWRITE, "overwrite", NULL, "--snapshot"},
	{OPT_RUNNING_TIME, "running-time", NULL, "record the times that counters ran"},
	{OPT_NO_BUFFERING, "no-buffering", NULL, "wake up at each event"},
	{OPT_SYNTH, "synth", "WHAT", "write about existing tasks: all, no, task, mmap, cgroup"},
	{OPT_TIMESTAMP_FILE, "timestamp-filename", NULL, "add the time to the file name"},
	{'B', "no-buildid", NULL, "leave out build-ids"},
	/* What is so in any case, or has nothing to act on here. */
	{'N', "no-buildid-cache", NULL, "accepted: always done"},
	{'P', "period", NULL, "accepted: always done"},
	{'T', "timestamp", NULL, "accepted: always done"},
	{OPT_SAME, "sample-cpu", NULL, "accepted: always done"},
	{OPT_SAME, "sample-identifier", NULL, "accepted: always done"},
	{OPT_SAME, "buildid-all", NULL, "accepted: always done"},
	{OPT_SAME, "buildid-mmap", NULL, "accepted: always done"},
	{OPT_SAME, "timestamp-boundary", NULL, "accepted: always done"},
	{OPT_SAME, "tail-synthesize", NULL, "accepted: changes nothing"},
	{OPT_SAME, "proc-map-timeout", "MS", "accepted: changes nothing"},
	{OPT_SAME, "num-thread-synthesize", "N", "accepted: changes nothing"},
	{OPT_SAME, "affinity", "WHAT", "accepted: changes nothing"},
	{OPT_SAME, "mmap-flush", "N", "accepted: changes nothing"},
	{OPT_SAME, "threads", "[SPEC]", "accepted: changes nothing"},
	{OPT_AIO, "aio", "[N]", "accepted: changes nothing"},
	{0},
};

/* Options that are a bool of the configuration. */
#define FLAG(id, field) \
	{ \
		id, offsetof(struct record_options, field) \
	}
static const struct {
	int id;
	size_t offset;
} flags[] = {
	FLAG('a', c.whom.all_cpus),
	FLAG('i', c.no_inherit),
	FLAG(OPT_PER_THREAD, c.per_thread),
	FLAG(OPT_GROUP, c.group),
	FLAG(OPT_ALL_USER, c.all_user),
	FLAG(OPT_ALL_KERNEL, c.all_kernel),
	FLAG(OPT_STRICT_FREQ, c.strict_freq),
	FLAG('n', c.no_samples),
	FLAG(OPT_U_CHAINS, c.user_chains),
	FLAG(OPT_K_CHAINS, c.kernel_chains),
	FLAG('s', c.thread_counts),
	FLAG(OPT_SWITCH_EVENTS, c.switch_events),
	FLAG(OPT_NAMESPACES, c.namespaces),
	FLAG(OPT_RECORD_CGROUPS, c.cgroups),
	FLAG(OPT_ALL_CGROUPS, c.cgroups),
	FLAG(OPT_NO_BPF, c.no_bpf),
	FLAG(OPT_NO_TOUCH, c.no_touch),
	FLAG(OPT_OVERWRITE, c.snapshot),
	FLAG(OPT_RUNNING_TIME, c.running_time),
	FLAG(OPT_NO_BUFFERING, c.no_buffering),
	FLAG('B', c.no_build_ids),
	FLAG('P', c.with_period),
	FLAG(OPT_OVERHEAD, c.overhead),
	FLAG(OPT_WALL, wall),
	FLAG(OPT_STRICT, strict),
	FLAG('v', verbose),
	FLAG('q', quiet),
	FLAG(OPT_LIST, list),
	FLAG(OPT_DRY_RUN, dry),
};

/* Options that add a field to each sample. */
static const struct {
	int id;
	uint64_t bits;
} fields[] = {
	{'d', PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC},
	{OPT_PHYS, PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR},
	{OPT_DATA_PAGE, PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE},
	{OPT_CODE_PAGE, PERF_SAMPLE_CODE_PAGE_SIZE},
	{'W', PERF_SAMPLE_WEIGHT_STRUCT},
	{OPT_TRANSACTION, PERF_SAMPLE_TRANSACTION},
	{'R', PERF_SAMPLE_RAW},
};

#define N(table) (sizeof(table) / sizeof((table)[0]))

/* Options of the tables. 1: the id is one of them. */
static int by_table(struct record_options *o, int id, struct buf *why)
{
	for (size_t i = 0; i < N(flags); i++)
		if (flags[i].id == id) {
			*(bool *)((char *)o + flags[i].offset) = true;
			return 1;
		}
	for (size_t i = 0; i < N(fields); i++)
		if (fields[i].id == id) {
			o->c.sample |= fields[i].bits;
			o->c.map_data |= id == 'd';
			return 1;
		}
	if (id == OPT_STAT) {
		buf_adds(
			why,
			"to count, --stat has to be the first option (perf record's option: use -s)");
		return PP_EUSAGE;
	}
	return id == OPT_SAME || id == OPT_AIO || id == 'N' || id == 'T';
}

/* What is wrong with the words is told at once; what the machine lacks, when all are read. */
static int later(struct record_options *o, int rc, struct buf *why)
{
	o->rc = rc;
	buf_adds(why, buf_str(&o->why));
	return rc == PP_EUSAGE || rc == PP_ENOMEM ? rc : 0;
}

static int on_event(struct record_options *o, const char *arg, struct buf *why)
{
	o->probes.last = false;
	if (strcmp(arg, "help") == 0)
		o->list = true;
	else if (!o->rc)
		return later(o, pevents_add(&o->c.events, arg, &o->why), why);
	return 0;
}

static int on_cgroup(struct record_options *o, const char *arg, struct buf *why)
{
	if (o->c.events.n)
		return o->rc ? 0 : pevents_cgroups(&o->c.events, arg, why);
	o->cgroup_first = arg;
	return 0;
}

static int on_filter(struct record_options *o, const char *expr, struct buf *why)
{
	int rc = probe_words_filter(&o->probes, expr, why);

	if (rc != PP_END)
		return rc;
	return o->rc ? 0 : pevents_filter(&o->c.events, expr, why);
}

static int on_self(struct record_options *o, struct buf *why)
{
	char filter[64];

	snprintf(filter, sizeof(filter), "common_pid != %d", (int)getpid());
	return on_filter(o, filter, why);
}

static int on_memory(struct record_options *o, const char *arg, struct buf *why)
{
	if (!arg || !strcmp(arg, "both"))
		o->memory = PEVENT_LOADS | PEVENT_STORES;
	else if (!strcmp(arg, "load"))
		o->memory = PEVENT_LOADS;
	else if (!strcmp(arg, "store"))
		o->memory = PEVENT_STORES;
	else if (!strcmp(arg, "list"))
		o->list_memory = true;
	else
		return buf_addf(why, "--mem: neither load, store, both nor list: %.40s", arg),
		       PP_EUSAGE;
	return 0;
}

static int on_latency(struct record_options *o, const char *arg, struct buf *why)
{
	uint64_t v;

	if (opt_u64(arg, 1, UINT16_MAX, &v))
		return buf_addf(why, "--ldlat: not a number from 1 to 65535: %.40s", arg),
		       PP_EUSAGE;
	o->ldlat = (unsigned)v;
	return 0;
}

/* The events of memory accesses, and what their samples are to have. */
static int add_memory(struct record_options *o, struct buf *why)
{
	struct buf words = BUF_INIT;
	int rc = pevents_memory(&o->c.events, o->memory, o->ldlat, &words, why);

	if (!rc)
		rc = pevents_add(&o->c.events, buf_str(&words), why);
	buf_release(&words);
	o->c.sample |= PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_WEIGHT_STRUCT;
	o->c.map_data = true;
	return rc;
}

static int on_branches(struct record_options *o, const char *arg, struct buf *why)
{
	return words_branches(arg, &o->c.branches, why);
}

int record_option(void *options, int id, const char *arg, struct buf *why)
{
	struct record_options *o = options;
	struct record_config *c = &o->c;
	int rc;

	if (id < OPT_NO_SHORT)
		buf_addf(why, "-%c: ", id);
	rc = by_table(o, id, why);
	if (rc)
		return rc < 0 ? rc : 0;
	switch (id) {
	case 'b': return on_branches(o, "any", why);
	case 'c': return record_set_period(c, arg, why);
	case 'C': c->whom.cpus = arg; break;
	case 'D': return record_set_delay(c, arg, why);
	case 'e': return on_event(o, arg, why);
	case 'F': return record_set_freq(c, arg, why);
	case 'g': c->chains = c->chains ? c->chains : RECORD_CHAINS_AUTO; break;
	case 'G':
	case OPT_CGROUP: return on_cgroup(o, arg, why);
	case 'I': return words_registers(arg, &c->regs_intr, why);
	case 'j': return on_branches(o, arg, why);
	case 'k': return record_set_clock(c, arg, why);
	case 'm': return record_set_pages(c, arg, why);
	case 'o': o->output = arg; break;
	case 'p': c->whom.pids = arg; break;
	case 'r': return record_set_realtime(c, arg, why);
	case 't': c->whom.tids = arg; break;
	case 'u': c->whom.user = arg; break;
	case 'z': return record_set_pack(c, arg, why);
	case 'x': probe_words_file(&o->probes, arg); break;
	case OPT_CALL_GRAPH: return record_set_chains(c, arg, why);
	case OPT_BUNDLE: c->bundle = arg; break;
	case OPT_PERF_MAP: c->perf_map = true; break;
	case OPT_CONTROL: c->control = arg; break;
	case OPT_EXCLUDE_SELF:
	case OPT_EXCLUDE_PERF: return on_self(o, why);
	case OPT_FILTER: return on_filter(o, arg, why);
	case OPT_KPROBE: return probe_words_add(&o->probes, arg, PROBE_OF_KERNEL, why);
	case OPT_LIST_FUNCTIONS: o->functions = arg; break;
	case OPT_MEM: return on_memory(o, arg, why);
	case OPT_LDLAT: return on_latency(o, arg, why);
	case OPT_FEATURES: return buf_adds(why, "--features comes after --version"), PP_EUSAGE;
	case OPT_MAX_SIZE: return record_set_max_size(c, arg, why);
	case OPT_MAX_STACK: return record_set_max_stack(c, arg, why);
	case OPT_PATHS: o->paths = true; break;
	case OPT_PROBE: return probe_words_add(&o->probes, arg, PROBE_OF_FILE, why);
	case OPT_SNAPSHOT: return record_set_snapshot(c, arg, why);
	case OPT_SWITCH_MAX: return record_set_switch_files(c, arg, why);
	case OPT_SWITCH_OUTPUT: return record_set_switch(c, arg, why);
	case OPT_SYNTH: return record_set_synth(c, arg, why);
	case OPT_TIMESTAMP_FILE: c->stamp_file = true; break;
	case OPT_WHILE: return record_set_while(c, arg, why);
	case OPT_USER_REGS: return words_registers(arg, &c->regs_user, why);
	}
	return 0;
}

int record_options_end(struct record_options *o, char **words, bool dashes)
{
	int rc = o->rc;

	if (!rc && o->paths)
		rc = record_add_paths(o, &o->why);
	if (!rc && o->wall)
		rc = record_add_wall(o, &o->why);
	if (!rc && o->ldlat && !(o->memory & PEVENT_LOADS)) {
		buf_adds(&o->why, "--ldlat is for loads: --mem");
		rc = PP_EUSAGE;
	}
	if (!rc && o->memory)
		rc = add_memory(o, &o->why);
	if (!rc && o->cgroup_first && o->c.events.n)
		rc = pevents_cgroups(&o->c.events, o->cgroup_first, &o->why);
	else if (o->cgroup_first)
		o->c.cgroup = o->cgroup_first;
	if (!rc)
		rc = record_set_end(&o->c, words, dashes, &o->why);
	return rc;
}

/* A line for each kind: its words for -e, or why there are none. */
static int list_memory(struct record_options *o, struct buf *text)
{
	static const struct {
		const char *name;
		unsigned kinds;
	} kinds[] = {{"load", PEVENT_LOADS},
		     {"store", PEVENT_STORES},
		     {"both", PEVENT_LOADS | PEVENT_STORES}};
	struct buf words = BUF_INIT;
	int rc = 0;

	for (size_t i = 0; i < N(kinds) && !rc; i++) {
		buf_reset(&words);
		rc = pevents_memory(&o->c.events, kinds[i].kinds, o->ldlat, &words, &o->why);
		buf_addf(text, "%-6s %s\n", kinds[i].name, buf_str(&words));
	}
	buf_release(&words);
	return rc ? rc : text->err;
}

int record_options_list(struct record_options *o, char **words, struct buf *text)
{
	if (o->functions)
		return pevents_list_functions(&o->c.events, o->functions, text, &o->why);
	if (o->list_memory)
		return list_memory(o, text);
	return pevents_list(&o->c.events, words, pevent_has, text, &o->why);
}

void record_options_release(struct record_options *o)
{
	pevents_release(&o->c.events);
	probe_words_release(&o->probes);
	buf_release(&o->why);
}
