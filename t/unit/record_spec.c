/* Event specifications and filters, against a small tracefs. */
#include "record/parts.h"

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
	{"cycles:P", "cycles:P", PERF_TYPE_HARDWARE, 0, "g", RECORD_PRECISE_MAX},
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
	{"r1a8", "r1a8", PERF_TYPE_RAW, 0x1a8, "g", 0},
	{"rFFFFffffFFFFffff:k", "rFFFFffffFFFFffff:k", PERF_TYPE_RAW, UINT64_MAX, "uhg", 0},
	{" cs ", "cs", PERF_TYPE_SOFTWARE, 3, "g", 0},
	{"sched:sched_switch", "sched:sched_switch", PERF_TYPE_TRACEPOINT, 372, "g", 0},
	{"sched:sched_switch:k", "sched:sched_switch:k", PERF_TYPE_TRACEPOINT, 372, "uhg", 0},
	{"sched:*switc?", "sched:sched_switch", PERF_TYPE_TRACEPOINT, 372, "g", 0},
	{"irq:*:u", "irq:softirq_entry:u", PERF_TYPE_TRACEPOINT, 150, "khg", 0},
};

static void test_good(const char *tracefs)
{
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct record_events e = {0};
		struct buf why = BUF_INIT;
		struct record_event *ev;
		char flags[16];
		size_t n = 0;

		is_int(record_events_add(&e, good[i].spec, tracefs, &why), 0, "%s: understood",
		       good[i].spec);
		is_int((int64_t)e.n, 1, "%s: one event", good[i].spec);
		ev = e.n ? e.v : &(struct record_event){0};
		is_str(ev->name, good[i].name, "%s: name", good[i].spec);
		is_u64(ev->type, good[i].type, "%s: type", good[i].spec);
		is_u64(ev->config, good[i].config, "%s: config", good[i].spec);
		is_int(ev->precise, good[i].precise, "%s: precision", good[i].spec);
		if (ev->exclude_user)
			flags[n++] = 'u';
		if (ev->exclude_kernel)
			flags[n++] = 'k';
		if (ev->exclude_hv)
			flags[n++] = 'h';
		if (ev->exclude_guest)
			flags[n++] = 'g';
		if (ev->exclude_host)
			flags[n++] = 'o';
		if (ev->exclude_idle)
			flags[n++] = 'i';
		if (ev->pinned)
			flags[n++] = 'd';
		flags[n] = 0;
		is_str(flags, good[i].excluded, "%s: exclusions", good[i].spec);
		buf_release(&why);
		record_events_release(&e);
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
	{"cycles:z", PP_EUSAGE, "event modifier 'z' is none of u k h p P G H I D"},
	{"cycles:pppp", PP_EUSAGE, "event modifier 'p' stands more than three times"},
	{"cycles:u:k", PP_EUSAGE, "event modifier ':' is none of u k h p P G H I D"},
	{"cpu/event=1/", PP_EUSAGE, "events in pmu/.../ form and {groups} are not supported"},
	{"{cycles,instructions}", PP_EUSAGE, NULL},
	{"sched:", PP_EUSAGE, NULL},
	{":sched_switch", PP_EUSAGE, NULL},
	{"sched:sched_swich", PP_ENOENT,
	 "no tracepoint is called 'sched:sched_swich'; did you mean sched:sched_switch?"},
	{"sced:sched_switch", PP_ENOENT,
	 "no tracepoint is called 'sced:sched_switch'; did you mean sched:sched_switch?"},
	{"sched:nothing*", PP_ENOENT, "no tracepoint is called 'sched:nothing*'"},
	{"sched:enable", PP_ENOENT, NULL},
	{"cycles,\033[1m", PP_EUSAGE, NULL},
};

static void test_wrong(const char *tracefs)
{
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct record_events e = {0};
		struct buf why = BUF_INIT;

		is_int(record_events_add(&e, wrong[i].spec, tracefs, &why), wrong[i].rc,
		       "wrong %zu: refused", i);
		if (wrong[i].why)
			is_str(buf_str(&why), wrong[i].why, "wrong %zu: reason", i);
		else
			ok(why.len, "wrong %zu: a reason is given", i);
		ok(!why.len || !memchr(why.data, '\033', why.len), "wrong %zu: printable", i);
		buf_release(&why);
		record_events_release(&e);
	}
}

static void test_lists(const char *tracefs)
{
	static const char *const names[] = {"cs", "sched:sched_stat_runtime", "sched:sched_switch",
					    "sched:sched_wakeup", "irq:softirq_entry"};
	struct record_events e = {0};
	struct buf why = BUF_INIT;

	is_int(record_events_add(&e, "cs,sched:*,irq:softirq_entry", tracefs, &why), 0, "list");
	is_int((int64_t)e.n, 5, "list with a glob: five events");
	for (size_t i = 0; i < e.n && i < 5; i++)
		is_str(e.v[i].name, names[i], "list: place %zu", i);
	record_events_release(&e);
	is_int(record_events_add(&e, "*:*", tracefs, &why), 0, "all tracepoints");
	is_int((int64_t)e.n, 4, "ftrace's own entries are left out");
	is_str(e.n ? e.v[0].name : "", "irq:softirq_entry", "systems are in order");
	record_events_release(&e);
	is_int(record_events_add(&e, "ftrace:function", tracefs, &why), 0, "but can be named");
	record_events_release(&e);
	buf_release(&why);
}

static void test_filters(const char *tracefs)
{
	struct record_events e = {0};
	struct buf why = BUF_INIT;

	is_int(record_events_filter(&e, "a == 1", &why), PP_EUSAGE, "a filter needs an event");
	ok(why.len, "and this is said");
	record_events_add(&e, "sched:sched_wakeup", tracefs, &why);
	record_events_add(&e, "cs,sched:sched_s*", tracefs, &why);
	is_int(record_events_filter(&e, "prev_pid != 0", &why), 0, "filter");
	is_str(e.v[0].filter, NULL, "the event of an earlier -e has none");
	is_str(e.v[1].filter, NULL, "nor has one that is no tracepoint");
	is_str(e.v[2].filter, "prev_pid != 0", "all of the last -e have it");
	is_str(e.v[3].filter, "prev_pid != 0", "all of the last -e have it (2)");
	record_events_filter(&e, "a || b", &why);
	is_str(e.v[3].filter, "(prev_pid != 0) && (a || b)", "a second one is joined");
	record_events_release(&e);
	buf_reset(&why);
	record_events_add(&e, "cs", tracefs, &why);
	is_int(record_events_filter(&e, "a == 1", &why), PP_EUSAGE, "no tracepoint, no filter");
	record_events_release(&e);
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
	struct record_event ev = {.system = "sched", .tp = "sched_switch"};

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct buf why = BUF_INIT;

		ev.filter = (char *)faults[i].filter;
		tracefs_filter_fault(tracefs, &ev, &why);
		is_str(buf_str(&why), faults[i].fault, "fault: %s", faults[i].filter);
		buf_release(&why);
	}
}

/* The layout that trace-cmd.dat(5) calls version 6 after its header; perf writes 0.6 so, too. */
static void test_data(const char *tracefs)
{
	struct record_events e = {0};
	struct buf why = BUF_INIT, got = BUF_INIT, want = BUF_INIT;
	const uint16_t one = 1;
	uint32_t u32;
	uint64_t u64;

#define U32(v)	(u32 = (v), buf_add(&want, &u32, 4))
#define U64(v)	(u64 = (v), buf_add(&want, &u64, 8))
#define TEXT(s) buf_add(&want, (s), strlen(s) + 1)
	record_events_add(&e, "sched:sched_wakeup,cs,irq:*,sched:sched_stat*", tracefs, &why);
	record_events_add(&e, "sched:sched_wakeup", tracefs, &why);
	is_int(tracefs_data(tracefs, &e, &got), 0, "tracing data");
	buf_add(&want, "\x17\x08\x44tracing0.6", 14);
	buf_addc(&want, *(const uint8_t *)&one ? 0 : 1);
	buf_addc(&want, sizeof(long));
	U32((uint32_t)sysconf(_SC_PAGESIZE));
	TEXT("header_page");
	U64(4);
	buf_adds(&want, "PAGE");
	TEXT("header_event");
	U64(5);
	buf_adds(&want, "EVENT");
	U32(0);
	U32(2);
	TEXT("irq");
	U32(1);
	U64(1);
	buf_adds(&want, "e");
	TEXT("sched");
	U32(2);
	U64(1);
	buf_adds(&want, "r");
	U64(27);
	buf_adds(&want, "name: sched_wakeup\nID: 374\n");
	U32(0);
	U32(25);
	buf_adds(&want, "0xffffffff81000000 : \"a\"\n");
	U64(0);
	is_mem(got.data, got.len, want.data, want.len, "each format once, in order");
	record_events_release(&e);
	buf_release(&got);
	buf_release(&want);
	buf_release(&why);
}

int main(void)
{
	char tracefs[PATH_MAX + 8];

	tree_begin();
	make_tracefs();
	snprintf(tracefs, sizeof(tracefs), "%s/t", tree_root);
	test_good(tracefs);
	test_wrong(tracefs);
	test_lists(tracefs);
	test_filters(tracefs);
	test_faults(tracefs);
	test_data(tracefs);
	return done();
}
