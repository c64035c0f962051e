/* Events, groups, PMUs and filters, against a small tracefs and a made-up sysfs. */
#include "pevent/pevent.h"
#include "pevent/tracefs.h"

#include "base/err.h"
#include "record_tree.h"
#include "tap.h"

#define SWITCH_FORMAT \
	"name: sched_switch\nID: 372\nformat:\n" \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n" \
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n" \
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n" \
	"\tfield:__data_loc char[] name;\toffset:28;\tsize:4;\tsigned:0;\n\nprint fmt: \"x\"\n"

static void make_tracefs(void)
{
	tree_file("t/events/header_page", "PAGE");
	tree_file("t/events/header_event", "EVENT");
	tree_file("t/events/enable", "0\n");
	tree_file("t/events/sched/enable", "0\n");
	tree_file("t/events/sched/filter", "none\n");
	tree_file("t/events/sched/sched_switch/id", "372\n");
	tree_file("t/events/sched/sched_switch/format", SWITCH_FORMAT);
	tree_file("t/events/sched/sched_wakeup/id", "374\n");
	tree_file("t/events/sched/sched_wakeup/format", "name: sched_wakeup\nID: 374\n");
	tree_file("t/events/sched/sched_stat_runtime/id", "366\n");
	tree_file("t/events/sched/sched_stat_runtime/format", "r");
	tree_file("t/events/irq/softirq_entry/id", "150\n");
	tree_file("t/events/irq/softirq_entry/format", "e");
	tree_file("t/events/ftrace/function/id", "1\n");
	tree_file("t/printk_formats", "0xffffffff81000000 : \"a\"\n");
}

/*
 * PMUs as kernels have them on an Intel CPU, with AMD's format of event, which is in two pieces;
 * see Documentation/ABI/testing/sysfs-bus-event_source-devices-format.
 */
static void make_sysfs(void)
{
	static const struct {
		const char *file, *text;
	} files[] = {
		{"cpu/type", "4\n"},
		{"cpu/format/event", "config:0-7\n"},
		{"cpu/format/umask", "config:8-15\n"},
		{"cpu/format/edge", "config:18\n"},
		{"cpu/format/inv", "config:23\n"},
		{"cpu/format/cmask", "config:24-31\n"},
		{"cpu/format/ldlat", "config1:0-15\n"},
		{"cpu/format/offcore_rsp", "config1:0-63\n"},
		{"cpu/format/metrics", "config2:4,6,8-9\n"},
		{"cpu/format/broken", "confug:1\n"},
		{"cpu/events/cpu-cycles", "event=0x3c\n"},
		{"cpu/events/branch-instructions", "event=0xc4\n"},
		{"cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n"},
		{"cpu/events/slots", "event=0x00,umask=0x4\n"},
		{"cpu/events/loop", "loop\n"},
		{"amd/type", "15\n"},
		{"amd/format/event", "config:0-7,32-35\n"},
		{"hv_24x7/type", "16\n"},
		{"hv_24x7/format/domain", "config:0-3\n"},
		{"hv_24x7/format/core", "config:16-31\n"},
		{"hv_24x7/events/HPM_INST", "domain=2,core=?\n"},
		{"uncore_imc_0/type", "20\n"},
		{"uncore_imc_0/cpumask", "0,18\n"},
		{"uncore_imc_0/format/event", "config:0-7\n"},
		{"uncore_imc_0/format/umask", "config:8-15\n"},
		{"uncore_imc_0/events/cas_count_read", "event=0x04,umask=0x03\n"},
		{"uncore_imc_0/events/cas_count_read.scale", "6.103515625e-5\n"},
		{"uncore_imc_0/events/cas_count_read.unit", "MiB\n"},
		{"uncore_imc_1/type", "21\n"},
		{"uncore_imc_1/cpumask", "0,18\n"},
		{"uncore_imc_1/format/event", "config:0-7\n"},
		{"uncore_imc_1/format/umask", "config:8-15\n"},
		{"uncore_imc_1/events/cas_count_read", "event=0x04,umask=0x03\n"},
		{"uncore_imc_free/type", "22\n"},
		{"power/type", "23\n"},
		{"power/cpumask", "0\n"},
		{"power/format/event", "config:0-7\n"},
		{"power/events/energy-pkg", "event=0x02\n"},
		{"power/events/energy-pkg.scale", "2.3283064365386962890625e-10\n"},
		{"power/events/energy-pkg.unit", "Joules\n"},
		{"power/events/energy-pkg.per-pkg", "1\n"},
	};
	char path[256];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "s/bus/event_source/devices/%s", files[i].file);
		tree_file(path, files[i].text);
	}
}

/*
 * The encodings: IA32_PERFEVTSELx of Intel's manual (event select in bits 0-7, unit mask 8-15, edge
 * 18, invert 23, counter mask 24-31), AMD's EventSelect[11:8] in bits 32-35.
 */
static const struct {
	const char *spec, *name, *pmu;
	uint32_t type;
	uint64_t config, config1, config2;
} pmus[] = {
	{"cpu/event=0x0e,umask=1/", "cpu/event=0x0e,umask=1/", "cpu", 4, 0x10e, 0, 0},
	{"cpu/event=0x0e,umask=0x1,inv,cmask=1/u", "cpu/event=0x0e,umask=0x1,inv,cmask=1/u", "cpu",
	 4, 0x180010e, 0, 0},
	{"cpu/umask=1,event=14,edge/:k", "cpu/umask=1,event=14,edge/:k", "cpu", 4, 0x4010e, 0, 0},
	{"cpu/cpu-cycles/", "cpu/cpu-cycles/", "cpu", 4, 0x3c, 0, 0},
	{"cpu/cycles/", "cpu/cycles/", "cpu", 4, 0x3c, 0, 0},
	{"cpu/event=branches/", "cpu/event=branches/", "cpu", 4, 0xc4, 0, 0},
	{"cpu/mem-loads,ldlat=30/P", "cpu/mem-loads,ldlat=30/P", "cpu", 4, 0x1cd, 30, 0},
	{"cpu/config=0xff,config1=0x10,config2=3/", "cpu/config=0xff,config1=0x10,config2=3/",
	 "cpu", 4, 0xff, 0x10, 3},
	{"cpu/r1a8/", "cpu/r1a8/", "cpu", 4, 0x1a8, 0, 0},
	{"cpu/event=0xb7,offcore_rsp=0xffffffffffffffff,name=off/", "off", "cpu", 4, 0xb7,
	 UINT64_MAX, 0},
	{"cpu/metrics=15/", "cpu/metrics=15/", "cpu", 4, 0, 0, 0x350},
	{"cpu/metrics=5/", "cpu/metrics=5/", "cpu", 4, 0, 0, 0x110},
	{"cpu/name='a,b',event=1/", "a,b", "cpu", 4, 1, 0, 0},
	{"cpu//", "cpu//", "cpu", 4, 0, 0, 0},
	{"mem-loads", "mem-loads", "cpu", 4, 0x1cd, 3, 0},
	{"slots:u", "slots:u", "cpu", 4, 0x400, 0, 0},
	{"amd/event=0x1c2/", "amd/event=0x1c2/", "amd", 15, 0x1000000c2, 0, 0},
	{"hv_24x7/HPM_INST,core=3/", "hv_24x7/HPM_INST,core=3/", "hv_24x7", 16, 0x30002, 0, 0},
	{"power/energy-pkg/", "power/energy-pkg/", "power", 23, 2, 0, 0},
};

static void test_pmus(const char *tracefs, const char *sys)
{
	struct pevents e = {.tracefs = tracefs, .sys = sys};
	struct buf why = BUF_INIT;

	for (size_t i = 0; i < sizeof(pmus) / sizeof(pmus[0]); i++) {
		const struct pevent *ev;

		is_int(pevents_add(&e, pmus[i].spec, &why), 0, "%s: understood", pmus[i].spec);
		is_str(buf_str(&why), "", "%s: nothing to tell", pmus[i].spec);
		buf_reset(&why);
		ev = e.n ? &e.v[e.n - 1] : &(struct pevent){0};
		is_int((int64_t)e.n, 1, "%s: one event", pmus[i].spec);
		is_str(ev->name, pmus[i].name, "%s: name", pmus[i].spec);
		is_str(ev->pmu, pmus[i].pmu, "%s: PMU", pmus[i].spec);
		is_u64(ev->attr.type, pmus[i].type, "%s: type", pmus[i].spec);
		is_u64(ev->attr.config, pmus[i].config, "%s: config", pmus[i].spec);
		is_u64(ev->attr.config1, pmus[i].config1, "%s: config1", pmus[i].spec);
		is_u64(ev->attr.config2, pmus[i].config2, "%s: config2", pmus[i].spec);
		pevents_release(&e);
	}
	is_int(pevents_add(&e, "imc/cas_count_read/", &why), 0, "uncore PMUs by a short name");
	is_int((int64_t)e.n, 2, "those with a number, of which there are two");
	is_u64(e.n == 2 ? e.v[1].attr.type : 0, 21, "each has its type");
	is_u64(e.n == 2 ? e.v[1].attr.config : 0, 0x304, "and the event");
	is_str(e.n ? e.v[0].unit : "", "MiB", "the unit of its counts");
	ok(e.n && e.v[0].scale > 6.1035e-5 && e.v[0].scale < 6.1036e-5, "and their scale");
	is_str(e.n ? e.v[0].cpus : "", "0,18", "where it is to be opened");
	ok(e.n && !e.v[0].attr.exclude_guest, "it counts for whoever runs");
	pevents_release(&e);
	pevents_add(&e, "power/energy-pkg/", &why);
	ok(e.n && e.v[0].per_pkg && !e.v[0].snapshot, "one count for each socket");
	pevents_release(&e);
	buf_release(&why);
}

static void test_terms(const char *tracefs, const char *sys)
{
	struct pevents e = {.tracefs = tracefs, .sys = sys};
	struct buf why = BUF_INIT;
	const struct pevent *ev;

	is_int(pevents_add(&e,
			   "cpu-clock/period=1000,call-graph=dwarf,stack-size=4096,time=0/u,"
			   "cs/freq=max,no-inherit,max-stack=7/,"
			   "sched:sched_s*/call-graph=no,name=switch/,cpu/event=1,period=77/",
			   &why),
	       0, "terms that say how to record");
	is_str(buf_str(&why), "", "nothing to tell");
	if (e.n != 5) {
		ok(false, "five events");
		return;
	}
	ev = e.v;
	is_u64(ev->period, 1000, "period");
	is_str(ev->callgraph, "dwarf", "call graph");
	is_u64(ev->stack_size, 4096, "size of the copied stack");
	is_int(ev->time, PEVENT_NO, "time");
	is_int(ev->inherit, PEVENT_OPEN, "what is not said is open");
	ok(ev->attr.exclude_kernel && !ev->attr.exclude_user, "modifiers follow the slash");
	is_str(ev->name, "cpu-clock/period=1000,call-graph=dwarf,stack-size=4096,time=0/u", "name");
	ev++;
	is_u64(ev->freq, UINT64_MAX, "as fast as allowed");
	is_int(ev->inherit, PEVENT_NO, "no-inherit");
	is_u64(ev->max_stack, 7, "frames");
	ev++;
	is_str(ev->tp, "sched_stat_runtime", "a tracepoint with terms");
	is_str(ev->name, "switch", "by another name");
	is_str(ev->callgraph, "no", "all tracepoints of a glob have them");
	is_str(ev[1].callgraph, "no", "all tracepoints of a glob have them (2)");
	is_u64(ev[2].period, 77, "a PMU's event, too");
	pevents_release(&e);
	buf_release(&why);
}

static void test_groups(const char *tracefs, const char *sys)
{
	struct pevents e = {.tracefs = tracefs, .sys = sys};
	struct buf why = BUF_INIT;

	is_int(pevents_add(&e,
			   "cs, {cycles:u,instructions}:kS , g{cpu/event=1,umask=2/,faults},faults",
			   &why),
	       0, "groups");
	is_int((int64_t)e.n, 6, "six events");
	if (e.n == 6) {
		is_u64(e.v[0].group, 0, "an event of its own");
		is_u64(e.v[1].group, 1, "the first group");
		is_u64(e.v[2].group, 1, "the first group (2)");
		is_u64(e.v[3].group, 2, "the second group");
		is_u64(e.v[5].group, 0, "none after it");
		is_str(e.v[4].group_name, "g", "its name");
		ok(e.v[1].counted_too && e.v[2].counted_too, "modifiers of a group are for all");
		ok(!e.v[1].attr.exclude_user && !e.v[1].attr.exclude_kernel, "and add to theirs");
		ok(e.v[2].attr.exclude_user && !e.v[2].attr.exclude_kernel, "or are all there is");
		ok(!e.v[3].counted_too, "but for no other group");
	}
	pevents_release(&e);
	buf_release(&why);
}

/* Breakpoints: perf_event_open(2), bp_type and bp_len. */
static void test_breakpoints(const char *tracefs, const char *sys)
{
	static const struct {
		const char *spec;
		uint64_t addr, len;
		uint32_t bits;
		bool user;
	} rows[] = {
		{"mem:0x1000", 0x1000, 4, 3, false},	 {"mem:4096:rw", 4096, 4, 3, false},
		{"mem:0x1000:x", 0x1000, 8, 4, false},	 {"mem:0x1000/8:w:u", 0x1000, 8, 2, true},
		{"mem:0x1000/2:r", 0x1000, 2, 1, false}, {"mem:0x1000:u", 0x1000, 4, 3, true},
	};
	struct pevents e = {.tracefs = tracefs, .sys = sys};
	struct buf why = BUF_INIT;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct pevent *ev;

		is_int(pevents_add(&e, rows[i].spec, &why), 0, "%s: understood", rows[i].spec);
		ev = e.n ? e.v : &(struct pevent){0};
		is_u64(ev->attr.type, PERF_TYPE_BREAKPOINT, "%s: type", rows[i].spec);
		is_u64(ev->attr.bp_addr, rows[i].addr, "%s: address", rows[i].spec);
		if (rows[i].len != 8 || sizeof(long) == 8)
			is_u64(ev->attr.bp_len, rows[i].len, "%s: length", rows[i].spec);
		is_u64(ev->attr.bp_type, rows[i].bits, "%s: access", rows[i].spec);
		is_int(ev->attr.exclude_kernel, rows[i].user, "%s: modifier", rows[i].spec);
		pevents_release(&e);
	}
	buf_release(&why);
}

static bool has_software(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE;
}

static bool lists(const struct pevents *where, char *const *words, const char *text)
{
	struct buf b = BUF_INIT, why = BUF_INIT;
	bool found = !pevents_list(where, words, has_software, &b, &why) &&
		     strstr(buf_str(&b), text) != NULL;

	if (!found)
		printf("# %s%s\n", buf_str(&b), buf_str(&why));
	buf_release(&b);
	buf_release(&why);
	return found;
}

#define WORDS(...) ((char *const[]){__VA_ARGS__, NULL})

static void test_list(const char *tracefs, const char *sys)
{
	struct pevents e = {.tracefs = tracefs, .sys = sys};
	struct buf b = BUF_INIT, why = BUF_INIT;

	ok(lists(&e, NULL, "\nsched:sched_switch "), "all");
	ok(lists(&e, WORDS("hw", "sw"), "context-switches"), "a class");
	ok(lists(&e, WORDS("sched:*wakeup"), "sched:sched_wakeup"), "a glob");
	ok(lists(&e, WORDS("energy"), "power/energy-pkg/"), "a part of a name");
	ok(lists(&e, WORDS("faults"), "also faults"), "another name");
	ok(lists(&e, WORDS("umask"), "cpu/umask=N/"), "a format");
	ok(lists(&e, WORDS("sched:sched_switch"),
		 "\n  prev_comm                                     char[16]\n"),
	   "the fields of a tracepoint");
	is_int(pevents_list(&e, WORDS("hw"), has_software, &b, &why), PP_ENOENT, "none");
	is_str(buf_str(&why), "nothing matches hw", "none: this is reported");
	buf_release(&b);
	buf_release(&why);
}

static void test_list_functions(const char *tracefs)
{
	struct pevents e = {.tracefs = tracefs};
	struct buf text = BUF_INIT, why = BUF_INIT;

	is_int(pevents_list_functions(&e, "*", &text, &why), PP_ENOENT, "no list of functions");
	ok(strstr(buf_str(&why), "/available_filter_functions: "), "the file is named");
	tree_file("t/available_filter_functions",
		  "vfs_read\nvfs_readv\nksys_read\next4_vfs_read [ext4]\next4_read [ext4]");
	is_int(pevents_list_functions(&e, "vfs_*", &text, &why), 0, "functions by a glob");
	is_str(buf_str(&text), "vfs_read\nvfs_readv\n", "are those that it fits as a whole");
	buf_reset(&text);
	is_int(pevents_list_functions(&e, "ext4_*", &text, &why), 0, "functions of a module");
	is_str(buf_str(&text), "ext4_vfs_read [ext4]\next4_read [ext4]\n",
	       "come with its name; the last line may lack its end");
	buf_reset(&text);
	buf_reset(&why);
	is_int(pevents_list_functions(&e, "vfs", &text, &why), PP_ENOENT, "a glob that fits none");
	is_str(buf_str(&why), "the kernel has no traceable function that matches 'vfs'", "why");
	ok(!text.len, "nothing is listed");
	buf_release(&text);
	buf_release(&why);
}

static void test_cgroups(const char *tracefs, const char *sys)
{
	struct pevents e = {.tracefs = tracefs, .sys = sys};
	struct buf why = BUF_INIT;

	is_int(pevents_cgroups(&e, "a", &why), PP_EUSAGE, "a cgroup needs an event");
	buf_reset(&why);
	pevents_add(&e, "cs,faults,cs", &why);
	is_int(pevents_cgroups(&e, "a,b", &why), 0, "two names");
	is_str(e.v[0].cgroup, "a", "the first event's");
	is_str(e.v[1].cgroup, "b", "the second event's");
	is_str(e.v[2].cgroup, NULL, "the third has none");
	is_int(pevents_cgroups(&e, "c,d", &why), PP_EUSAGE, "more names than events");
	pevents_release(&e);
	pevents_add(&e, "cs,faults", &why);
	pevents_cgroups(&e, "one", &why);
	is_str(e.v[1].cgroup, "one", "one name is for all");
	pevents_release(&e);
	buf_release(&why);
}

/* One event that is understood. flags: u k h G (no host) H (no guest) I D, as excluded. */
static const struct {
	const char *spec, *name;
	uint32_t type;
	uint64_t config;
	const char *excluded;
	int precise;
} good[] = {
	{"cycles", "cycles", PERF_TYPE_HARDWARE, 0, "g", 0},
	{"cpu-cycles", "cpu-cycles", PERF_TYPE_HARDWARE, 0, "g", 0},
	{"instructions:u", "instructions:u", PERF_TYPE_HARDWARE, 1, "khg", 0},
	{"cache-references", "cache-references", PERF_TYPE_HARDWARE, 2, "g", 0},
	{"cache-misses:k", "cache-misses:k", PERF_TYPE_HARDWARE, 3, "uhg", 0},
	{"branches", "branches", PERF_TYPE_HARDWARE, 4, "g", 0},
	{"branch-misses:uk", "branch-misses:uk", PERF_TYPE_HARDWARE, 5, "hg", 0},
	{"bus-cycles:h", "bus-cycles:h", PERF_TYPE_HARDWARE, 6, "ukg", 0},
	{"idle-cycles-frontend", "idle-cycles-frontend", PERF_TYPE_HARDWARE, 7, "g", 0},
	{"stalled-cycles-backend", "stalled-cycles-backend", PERF_TYPE_HARDWARE, 8, "g", 0},
	{"ref-cycles", "ref-cycles", PERF_TYPE_HARDWARE, 9, "g", 0},
	{"cycles:pp", "cycles:pp", PERF_TYPE_HARDWARE, 0, "g", 2},
	{"cycles:uppp", "cycles:uppp", PERF_TYPE_HARDWARE, 0, "khg", 3},
	{"cycles:P", "cycles:P", PERF_TYPE_HARDWARE, 0, "g", 3},
	{"cycles:G", "cycles:G", PERF_TYPE_HARDWARE, 0, "o", 0},
	{"cycles:GH", "cycles:GH", PERF_TYPE_HARDWARE, 0, "", 0},
	{"cycles:HI", "cycles:HI", PERF_TYPE_HARDWARE, 0, "gi", 0},
	{"cycles:D", "cycles:D", PERF_TYPE_HARDWARE, 0, "gd", 0},
	{"cpu-clock", "cpu-clock", PERF_TYPE_SOFTWARE, 0, "g", 0},
	{"task-clock", "task-clock", PERF_TYPE_SOFTWARE, 1, "g", 0},
	{"faults", "faults", PERF_TYPE_SOFTWARE, 2, "g", 0},
	{"cs", "cs", PERF_TYPE_SOFTWARE, 3, "g", 0},
	{"migrations", "migrations", PERF_TYPE_SOFTWARE, 4, "g", 0},
	{"minor-faults", "minor-faults", PERF_TYPE_SOFTWARE, 5, "g", 0},
	{"major-faults", "major-faults", PERF_TYPE_SOFTWARE, 6, "g", 0},
	{"alignment-faults", "alignment-faults", PERF_TYPE_SOFTWARE, 7, "g", 0},
	{"emulation-faults", "emulation-faults", PERF_TYPE_SOFTWARE, 8, "g", 0},
	{"dummy", "dummy", PERF_TYPE_SOFTWARE, 9, "g", 0},
	{"bpf-output", "bpf-output", PERF_TYPE_SOFTWARE, 10, "g", 0},
	{"cgroup-switches", "cgroup-switches", PERF_TYPE_SOFTWARE, 11, "g", 0},
	{"L1-dcache-load-misses", "L1-dcache-load-misses", PERF_TYPE_HW_CACHE, 0x10000, "g", 0},
	{"dTLB-stores:u", "dTLB-stores:u", PERF_TYPE_HW_CACHE, 0x103, "khg", 0},
	{"node-prefetches", "node-prefetches", PERF_TYPE_HW_CACHE, 0x206, "g", 0},
	{"LLC-misses", "LLC-misses", PERF_TYPE_HW_CACHE, 0x10002, "g", 0},
	{"L1-dcache", "L1-dcache", PERF_TYPE_HW_CACHE, 0, "g", 0},
	{"l1d-loads-misses", "l1d-loads-misses", PERF_TYPE_HW_CACHE, 0x10000, "g", 0},
	{"iTLB-miss-read", "iTLB-miss-read", PERF_TYPE_HW_CACHE, 0x10004, "g", 0},
	{"branch-load-misses", "branch-load-misses", PERF_TYPE_HW_CACHE, 0x10005, "g", 0},
	{"1:2:u", "1:2:u", PERF_TYPE_SOFTWARE, 2, "khg", 0},
	{"cpu-clock//u", "cpu-clock//u", PERF_TYPE_SOFTWARE, 0, "khg", 0},
	{"duration_time", "duration_time", PERF_TYPE_SOFTWARE, 9, "g", 0},
	{"r1a8", "r1a8", PERF_TYPE_RAW, 0x1a8, "g", 0},
	{"rFFFFffffFFFFffff:k", "rFFFFffffFFFFffff:k", PERF_TYPE_RAW, UINT64_MAX, "uhg", 0},
	{" cs ", "cs", PERF_TYPE_SOFTWARE, 3, "g", 0},
	{"sched:sched_switch", "sched:sched_switch", PERF_TYPE_TRACEPOINT, 372, "g", 0},
	{"sched:sched_switch:k", "sched:sched_switch:k", PERF_TYPE_TRACEPOINT, 372, "uhg", 0},
	{"sched:*switc?", "sched:sched_switch", PERF_TYPE_TRACEPOINT, 372, "g", 0},
	{"irq:*:u", "irq:softirq_entry:u", PERF_TYPE_TRACEPOINT, 150, "khg", 0},
};

static void test_good(const char *tracefs, const char *sys)
{
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct pevents e = {.tracefs = tracefs, .sys = sys};
		struct buf why = BUF_INIT;
		struct pevent *ev;
		char flags[16];
		size_t n = 0;

		is_int(pevents_add(&e, good[i].spec, &why), 0, "%s: understood", good[i].spec);
		is_int((int64_t)e.n, 1, "%s: one event", good[i].spec);
		ev = e.n ? e.v : &(struct pevent){0};
		is_str(ev->name, good[i].name, "%s: name", good[i].spec);
		is_u64(ev->attr.type, good[i].type, "%s: type", good[i].spec);
		is_u64(ev->attr.config, good[i].config, "%s: config", good[i].spec);
		is_int(ev->attr.precise_ip, good[i].precise, "%s: precision", good[i].spec);
		if (ev->attr.exclude_user)
			flags[n++] = 'u';
		if (ev->attr.exclude_kernel)
			flags[n++] = 'k';
		if (ev->attr.exclude_hv)
			flags[n++] = 'h';
		if (ev->attr.exclude_guest)
			flags[n++] = 'g';
		if (ev->attr.exclude_host)
			flags[n++] = 'o';
		if (ev->attr.exclude_idle)
			flags[n++] = 'i';
		if (ev->attr.pinned)
			flags[n++] = 'd';
		flags[n] = 0;
		is_str(flags, good[i].excluded, "%s: exclusions", good[i].spec);
		buf_release(&why);
		pevents_release(&e);
	}
}

static const struct {
	const char *spec;
	int rc;
	const char *why;
} wrong[] = {
	{"cyclse", PP_EUSAGE, "no event is called 'cyclse'; did you mean cycles?"},
	{"zzzzzzzzzz", PP_EUSAGE, "no event is called 'zzzzzzzzzz'; tracepoints are system:name"},
	{"r", PP_EUSAGE, NULL},
	{"r12345678123456789", PP_EUSAGE, NULL},
	{"r1x", PP_EUSAGE, NULL},
	{"", PP_EUSAGE, "an event name is empty"},
	{"cycles,", PP_EUSAGE, "an event name is empty"},
	{",cycles", PP_EUSAGE, "an event name is empty"},
	{"cycles:z", PP_EUSAGE, "event modifier 'z' is not one of u k h G H I p P S D W e b"},
	{"cycles:pppp", PP_EUSAGE, "event modifier 'p' occurs more than three times"},
	{"cycles:u:k", PP_EUSAGE, "event modifier ':' is not one of u k h G H I p P S D W e b"},
	{"cpu/event=1", PP_EUSAGE, "the second / is missing in 'cpu/event=1'"},
	{"gpu/event=1/", PP_ENOENT, "this machine has no PMU 'gpu'"},
	{"cpu/event=0x1ff/", PP_EUSAGE, "cpu: the term event takes numbers up to 0xff"},
	{"cpu/event=x1/", PP_EUSAGE, "cpu: the term event takes a number"},
	{"cpu/umsk=1/", PP_EUSAGE, "cpu has no term or event 'umsk'; did you mean umask?"},
	{"cpu/loop/", PP_EUSAGE, NULL},
	{"cpu/broken=1/", PP_EUSAGE, "cpu: the term broken has a format that is not understood"},
	{"cpu/../", PP_EUSAGE, NULL},
	{"../cpu/event=1/", PP_EUNSUPPORTED, NULL},
	{"./prog.c/map:out.event=evt/", PP_EUNSUPPORTED,
	 "BPF programs as events are not supported: use bpftrace or bcc"},
	{"prog.o/x/", PP_EUNSUPPORTED, NULL},
	{"hv_24x7/HPM_INST/", PP_EUSAGE, "hv_24x7: the term core= must be given for this event"},
	{"cs/umask=1/", PP_EUSAGE, "this event has no term 'umask'"},
	{"cs/perod=1/", PP_EUSAGE, "this event has no term 'perod'; did you mean period?"},
	{"cs/period=x/", PP_EUSAGE, "the term period= takes a number, not x"},
	{"cs/period/", PP_EUSAGE, "the term period= takes a number, not nothing"},
	{"cs/time=2/", PP_EUSAGE, "the term time= takes 0 or 1, not 2"},
	{"cs:b", PP_EUSAGE, "event modifier 'b' (counting by BPF) is not supported"},
	{"{cs,faults", PP_EUSAGE, "a group is not closed: } is missing"},
	{"{cs,{faults}}", PP_EUSAGE, NULL},
	{"{}", PP_EUSAGE, "an event name is empty"},
	{"cs}", PP_EUSAGE, "a comma is missing before '}'"},
	{"{cs}faults", PP_EUSAGE, "a comma is missing before 'faults'"},
	{"{cs}:z", PP_EUSAGE, NULL},
	{"mem:x", PP_EUSAGE, "a breakpoint is mem:ADDRESS[/LENGTH][:rwx], not mem:x"},
	{"mem:0x10/0:w", PP_EUSAGE, NULL},
	{"probe:tcp_sendmsg", PP_ENOENT,
	 "no tracepoint is called 'probe:tcp_sendmsg'; a probe must be created before it can be recorded"},
	{"inst_retired.any", PP_EUSAGE,
	 "no event is called 'inst_retired.any'; names of a CPU's manual are not known here: write rNNN, or cpu/event=N,umask=N/"},
	{"sched:", PP_EUSAGE, NULL},
	{":sched_switch", PP_EUSAGE, NULL},
	{"sched:sched_swich", PP_ENOENT,
	 "no tracepoint is called 'sched:sched_swich'; did you mean sched:sched_switch?"},
	{"sced:sched_switch", PP_ENOENT,
	 "no tracepoint is called 'sced:sched_switch'; did you mean sched:sched_switch?"},
	{"sched:nothing*", PP_ENOENT, "no tracepoint is called 'sched:nothing*'"},
	{"sched:enable", PP_ENOENT, NULL},
	{"cycles,\033[1m", PP_EUSAGE, NULL},
	{"!sched:*", PP_EUSAGE, "no event is left after '!sched:*'"},
	{"sched:sched_s*,!sched:*", PP_EUSAGE, "no event is left after '!sched:*'"},
	{"sched:*,!irq:*", PP_EUSAGE, "none of the events before it is called 'irq:*'"},
	{"sched:*,!\033[1m:x", PP_EUSAGE, NULL},
	{"sched:*,!sched", PP_EUSAGE,
	 "! leaves out tracepoints, as in 'sched:*,!sched:sched_stat*'"},
	{"sched:*,!", PP_EUSAGE, NULL},
	{"sched:*,!:x", PP_EUSAGE, NULL},
	{"sched:*,!sched:", PP_EUSAGE, NULL},
	{"{cs,!sched:*}", PP_ENOENT, "no tracepoint is called '!sched:*'"},
};

static void test_wrong(const char *tracefs, const char *sys)
{
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct pevents e = {.tracefs = tracefs, .sys = sys};
		struct buf why = BUF_INIT;

		is_int(pevents_add(&e, wrong[i].spec, &why), wrong[i].rc, "wrong %zu: refused", i);
		if (wrong[i].why)
			is_str(buf_str(&why), wrong[i].why, "wrong %zu: reason", i);
		else
			ok(why.len, "wrong %zu: a reason is given", i);
		ok(!why.len || !memchr(why.data, '\033', why.len), "wrong %zu: printable", i);
		buf_release(&why);
		pevents_release(&e);
	}
}

static void test_lists(const char *tracefs, const char *sys)
{
	static const char *const names[] = {"cs", "sched:sched_stat_runtime", "sched:sched_switch",
					    "sched:sched_wakeup", "irq:softirq_entry"};
	struct pevents e = {.tracefs = tracefs, .sys = sys};
	struct buf why = BUF_INIT;

	is_int(pevents_add(&e, "cs,sched:*,irq:softirq_entry", &why), 0, "list");
	is_int((int64_t)e.n, 5, "list with a glob: five events");
	for (size_t i = 0; i < e.n && i < 5; i++)
		is_str(e.v[i].name, names[i], "list: place %zu", i);
	pevents_release(&e);
	is_int(pevents_add(&e, "*:*", &why), 0, "all tracepoints");
	is_int((int64_t)e.n, 4, "ftrace's own entries are left out");
	is_str(e.n ? e.v[0].name : "", "irq:softirq_entry", "systems are in order");
	pevents_release(&e);
	is_int(pevents_add(&e, "*:*,!sched:sched_s*, !irq:* ,cs", &why), 0, "some left out");
	is_int((int64_t)e.n, 2, "left out by glob");
	is_str(e.n ? e.v[0].name : "", "sched:sched_wakeup", "what is left");
	is_str(e.n > 1 ? e.v[1].name : "", "cs", "and what follows");
	pevents_release(&e);
	is_int(pevents_add(&e, "sched:*", &why), 0, "one -e");
	is_int(pevents_add(&e, "{sched:sched_wakeup,cs},!*:sched_w*", &why), 0, "another");
	is_int((int64_t)e.n, 4, "of both, but not of groups");
	is_int(pevents_filter(&e, "pid == 1", &why), 0, "a filter for the other");
	is_str(e.n > 1 ? e.v[1].filter : "", NULL, "not for the one");
	is_str(e.n > 2 ? e.v[2].filter : "", "pid == 1", "but for the other");
	pevents_release(&e);
	is_int(pevents_add(&e, "ftrace:function", &why), 0, "but can be named");
	pevents_release(&e);
	buf_release(&why);
}

static void test_filters(const char *tracefs, const char *sys)
{
	struct pevents e = {.tracefs = tracefs, .sys = sys};
	struct buf why = BUF_INIT;

	is_int(pevents_filter(&e, "a == 1", &why), PP_EUSAGE, "a filter needs an event");
	ok(why.len, "and this is reported");
	pevents_add(&e, "sched:sched_wakeup", &why);
	pevents_add(&e, "cs,sched:sched_s*", &why);
	is_int(pevents_filter(&e, "prev_pid != 0", &why), 0, "filter");
	is_str(e.v[0].filter, NULL, "the event of an earlier -e has none");
	is_str(e.v[1].filter, NULL, "nor has one that is no tracepoint");
	is_str(e.v[2].filter, "prev_pid != 0", "all of the last -e have it");
	is_str(e.v[3].filter, "prev_pid != 0", "all of the last -e have it (2)");
	pevents_filter(&e, "a || b", &why);
	is_str(e.v[3].filter, "(prev_pid != 0) && (a || b)", "a second one is joined");
	pevents_release(&e);
	buf_reset(&why);
	pevents_add(&e, "cs", &why);
	is_int(pevents_filter(&e, "a == 1", &why), PP_EUSAGE, "no tracepoint, no filter");
	pevents_release(&e);
	buf_release(&why);
}

static const struct {
	const char *filter, *fault;
} faults[] = {
	{"prev_pidd != 0", ": it has no field 'prev_pidd'; did you mean prev_pid?"},
	{"prev_pid == 1 && (nmae ~ \"x && y\")", ": it has no field 'nmae'; did you mean name?"},
	{"zzzzzzzzz == 1", ": it has no field 'zzzzzzzzz'; its fields are prev_comm prev_pid name"},
	{"prev_pid !== 0", ": its fields are prev_comm prev_pid name"},
	{"comm == \"sh\" && CPU > 1 &", ": its fields are prev_comm prev_pid name"},
	{"name == \"unclosed", ": its fields are prev_comm prev_pid name"},
};

static void test_faults(const char *tracefs)
{
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct buf why = BUF_INIT;

		tracefs_filter_fault(tracefs, "sched", "sched_switch", faults[i].filter, &why);
		is_str(buf_str(&why), faults[i].fault, "fault: %s", faults[i].filter);
		buf_release(&why);
	}
}

int main(void)
{
	char tracefs[PATH_MAX + 8], sys[PATH_MAX + 8];

	tree_begin();
	make_tracefs();
	snprintf(tracefs, sizeof(tracefs), "%s/t", tree_root);
	snprintf(sys, sizeof(sys), "%s/s", tree_root);
	make_sysfs();
	test_pmus(tracefs, sys);
	test_terms(tracefs, sys);
	test_groups(tracefs, sys);
	test_breakpoints(tracefs, sys);
	test_list(tracefs, sys);
	test_list_functions(tracefs);
	test_cgroups(tracefs, sys);
	test_good(tracefs, sys);
	test_wrong(tracefs, sys);
	test_lists(tracefs, sys);
	test_filters(tracefs, sys);
	test_faults(tracefs);
	return done();
}
