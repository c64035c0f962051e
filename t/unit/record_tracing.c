/* The tracing data of a recording, against a small tracefs. */
#include "record/parts.h"

#include "base/err.h"
#include "record_tree.h"
#include "tap.h"

static void make_tracefs(void)
{
	tree_file("t/events/header_page", "PAGE");
	tree_file("t/events/header_event", "EVENT");
	tree_file("t/events/sched/sched_wakeup/id", "374\n");
	tree_file("t/events/sched/sched_wakeup/format", "name: sched_wakeup\nID: 374\n");
	tree_file("t/events/sched/sched_stat_runtime/id", "366\n");
	tree_file("t/events/sched/sched_stat_runtime/format", "r");
	tree_file("t/events/irq/softirq_entry/id", "150\n");
	tree_file("t/events/irq/softirq_entry/format", "e");
	tree_file("t/printk_formats", "0xffffffff81000000 : \"a\"\n");
}

/* The layout that trace-cmd.dat(5) calls version 6 after its header; perf writes 0.6 so, too. */
static void test_data(const char *tracefs)
{
	struct pevents e = {.tracefs = tracefs};
	struct buf why = BUF_INIT, got = BUF_INIT, want = BUF_INIT;
	const uint16_t one = 1;
	uint32_t u32;
	uint64_t u64;

#define U32(v)	(u32 = (v), buf_add(&want, &u32, 4))
#define U64(v)	(u64 = (v), buf_add(&want, &u64, 8))
#define TEXT(s) buf_add(&want, (s), strlen(s) + 1)
	pevents_add(&e, "sched:sched_wakeup,cs,irq:*,sched:sched_stat*", &why);
	pevents_add(&e, "sched:sched_wakeup", &why);
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
	pevents_release(&e);
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
	test_data(tracefs);
	return done();
}
