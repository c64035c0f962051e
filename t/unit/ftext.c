/* Lines of ftrace text: what is found in each, as text. */
#include "ftext/parts.h"

#include "base/buf.h"
#include "tap.h"

#include <inttypes.h>
#include <stdlib.h>

static const struct line_case {
	const char *line;
	const char *head; /* comm|pid|tgid|cpu|time, NULL: no event */
	const char *event;
} lines[] = {
	/* trace */
	{"     rcu_preempt-18      [001] d..2.   267.745693: sched_switch: prev_comm=rcu_preempt "
	 "prev_pid=18 prev_prio=120 prev_state=I ==> next_comm=swapper/1 next_pid=0 next_prio=120",
	 "rcu_preempt|18|-|1|267745693000",
	 "sched:sched_switch prev_comm='rcu_preempt' prev_pid=18 prev_prio=120 prev_state=128 "
	 "next_comm='swapper/1' next_pid=0 next_prio=120"},
	{"            bash-74      [000] d.h2.   267.745761: sched_stat_runtime: comm=bash pid=74 "
	 "runtime=4237984 [ns]",
	 "bash|74|-|0|267745761000", "sched:sched_stat_runtime comm='bash' pid=74 runtime=4237984"},
	{"          <idle>-0       [001] d.h1.   267.753457: softirq_raise: vec=1 [action=TIMER]",
	 "<idle>|0|-|1|267753457000", "irq:softirq_raise vec=1 action='TIMER'"},
	{"            bash-74      (     73) [001] d.h2.   268.286927: x: a=1",
	 "bash|74|73|1|268286927000", "x a=1"},
	{"          <idle>-0       (-------) [000] d.s3.   268.289417: x: a=1",
	 "<idle>|0|-|0|268289417000", "x a=1"},
	{"  a-b 12 [x]-34-5678    [011] .....  1.000000001: x: a=1",
	 "a-b 12 [x]-34|5678|-|11|1000000001", "x a=1"},
	{"              wl-1219    [000]    280.922358: vfs_read <-ksys_read",
	 "wl|1219|-|0|280922358000", "ftrace:function ip='vfs_read' parent_ip='ksys_read'"},
	{"  bash-151     [000] ...1.    78.675734: vfs_statx(dfd=4294967196, flags=0) <-vfs_fstatat",
	 "bash|151|-|0|78675734000",
	 "ftrace:function ip='vfs_statx' parent_ip='vfs_fstatat' args='(dfd=4294967196, flags=0)'"},
	{"  bash-74      [001] .....   269.087574: sys_write -> 0x2", "bash|74|-|1|269087574000",
	 "syscalls:sys_exit_write ret=2"},
	{"  bash-74      [001] .....   269.087574: sys_write -> 0xfffffffffffffff7",
	 "bash|74|-|1|269087574000", "syscalls:sys_exit_write ret=-9"},
	{"  bash-74      [001] .....   1.0: sys_dup2(oldfd: a, newfd: 10)",
	 "bash|74|-|1|1000000000", "syscalls:sys_enter_dup2 oldfd=10 newfd=16"},
	{"  bash-74      [001] .....   1.0: sys_getpid()", "bash|74|-|1|1000000000",
	 "syscalls:sys_enter_getpid"},
	{"  wl-7 [001] ..... 2.5: <stack trace>", "wl|7|-|1|2500000000", "ftrace:kernel_stack"},
	{"  wl-7 [001] ..... 2.5: <user stack trace>", "wl|7|-|1|2500000000", "ftrace:user_stack"},
	{"  wl-7 [001] ..... 2.5: tracing_mark_write: a=b: c", "wl|7|-|1|2500000000",
	 "ftrace:tracing_mark_write buf='a=b: c'"},
	{"  wl-7 [001] ..... 2.5: #1   inner/outer(us): 28077/15241 ts:1795177248.223936301 count:99",
	 "wl|7|-|1|2500000000", "ftrace:text"},
	{"  wl-7 [001] ..... 2.5:  a line: without a name", "wl|7|-|1|2500000000", "ftrace:text"},
	/* values */
	{"  wl-7 [001] ..... 2.5: x: name=two words pid=-3 q=\"a=b, c\" h=0x1F list={1,2} last=a,b",
	 "wl|7|-|1|2500000000",
	 "x name='two words' pid=-3 q='a=b, c' h=31 list='{1,2}' last='a,b'"},
	{"  wl-7 [001] ..... 2.5: x: a= b=1, c=2; d=(e=3)", "wl|7|-|1|2500000000",
	 "x a='' b=1 c=2 d='(e=3)'"},
	{"  wl-7 [001] ..... 2.5: x: timer=ffff888012345678 p=0000000012345678 cpu=007 big=18446744073709551615",
	 "wl|7|-|1|2500000000",
	 "x timer=18446612682375452280 p=305419896 cpu=7 big=18446744073709551615"},
	{"  wl-7 [001] ..... 2.5: x: f=1.5 g=12abc i=a==b", "wl|7|-|1|2500000000",
	 "x f='1.5' g='12abc' i='a==b'"},
	{"  wl-7 [001] ..... 2.5: x: fd: 3, buf: 0x7f, name: a b", "wl|7|-|1|2500000000",
	 "x fd=3 buf=127 name='a b'"},
	{"  wl-7 [001] ..... 2.5: x: fd: 3, and so on", "wl|7|-|1|2500000000", "x"},
	{"  wl-7 [001] ..... 2.5: x: q=\"open", "wl|7|-|1|2500000000", "x q='\"open'"},
	{"  wl-7 [001] ..... 2.5: sched_process_fork: comm=a pid=1 child_comm=b child_pid=2",
	 "wl|7|-|1|2500000000",
	 "sched:sched_process_fork parent_comm='a' parent_pid=1 child_comm='b' child_pid=2"},
	{"  wl-7 [001] ..... 2.5: irq_handler_exit: irq=4 ret=handled", "wl|7|-|1|2500000000",
	 "irq:irq_handler_exit irq=4 ret=1"},
	{"  wl-7 [001] ..... 2.5: sched_switch: prev_comm=a prev_state=R+ ==> next_comm=b",
	 "wl|7|-|1|2500000000", "sched:sched_switch prev_comm='a' prev_state=256 next_comm='b'"},
	/* trace-cmd report */
	{"inst sys:               wl-101   [000]    33.084035: sys_exit:             NR 1 = -1",
	 "inst sys/wl|101|-|0|33084035000", "raw_syscalls:sys_exit id=1 ret=-1"},
	{"  wl-101   [000]    33.084196: sys_enter:            NR 1 (5, 55da, 1, 0, 7, ff)",
	 "wl|101|-|0|33084196000",
	 "raw_syscalls:sys_enter id=1 arg0=5 arg1=21978 arg2=1 arg3=0 arg4=7 arg5=255"},
	{"  trace-cmd-96  [001]    33.092164: sched_switch:         trace-cmd:99 [120] S ==> "
	 "rcu:x [1]:18 [-2]",
	 "trace-cmd|96|-|1|33092164000",
	 "sched:sched_switch prev_comm='trace-cmd' prev_pid=99 prev_prio=120 prev_state=1 "
	 "next_comm='rcu:x [1]' next_pid=18 next_prio=-2"},
	{"  <idle>-0   [000]   186.790746: sched_wakeup:         rcu_preempt:18 [120] CPU:003",
	 "<idle>|0|-|0|186790746000",
	 "sched:sched_wakeup comm='rcu_preempt' pid=18 prio=120 target_cpu=3"},
	{"  wl-7 [001] 2.5: print:  func: a text", "wl|7|-|1|2500000000",
	 "ftrace:print ip='func' buf='a text'"},
	{"          <idle>-0     [001]600085053685: x: a=1", "<idle>|0|-|1|600085053685 ticks",
	 "x a=1"},
	{"      wl-192     1d.h2.    10.782401: x: a=1", "wl|192|-|1|10782401000", "x a=1"},
	/* latency format */
	{"rcu_pree-18        1d..2. 52074us#: x: a=1", "rcu_pree|18|-|1|52074000", "x a=1"},
	{"  bash-7 [000] .... 1.5: sys_close <-system_call_fastpath", "bash|7|-|0|1500000000",
	 "ftrace:function ip='sys_close' parent_ip='system_call_fastpath'"},
	{"  <idle>-0         0d.s7.   10us!: try_to_wake_up <-wake_up_process",
	 "<idle>|0|-|0|10000", "ftrace:function ip='try_to_wake_up' parent_ip='wake_up_process'"},
	/* names of more than 16 bytes, and buffers */
	{"com.google.android.youtube-23071 (23071) [002] ...1 1.5: x: a=1",
	 "com.google.android.youtube|23071|23071|2|1500000000", "x a=1"},
	{"kworker/u8:18-events_unbound-23    [001] d..3 1.5: x: a=1",
	 "kworker/u8:18-events_unbound|23|-|1|1500000000", "x a=1"},
	{"b1:                   wl-492   [001] 1.5: x: a=1", "b1/wl|492|-|1|1500000000", "x a=1"},
	{"b1:       wl-492     1d..2.     1.500000: x: a=1", "b1/wl|492|-|1|1500000000", "x a=1"},
	{"a_buffer:   <idle>-0       0.....     1.5: x: a=1", "a_buffer/<idle>|0|-|0|1500000000",
	 "x a=1"},
	/* no events */
	{"", NULL, NULL},
	{" => vfs_open", NULL, NULL},
	{"CPU:1 [LOST 12 EVENTS]", NULL, NULL},
	{"18 0 268573482969 type: 251", NULL, NULL},
	{"swapper     0 [001] 267.745: cycles: ffff", NULL, NULL},
	{"bash-74 [001", NULL, NULL},
	{"bash-74 [001] d.h2. 267.745761", NULL, NULL},
	{"bash-99999999999 [001] 267.7: x: a=1", NULL, NULL},
	{"bash-74 [99999999999] 267.7: x: a=1", NULL, NULL},
	{"-74 [001] 1.5: x: a=1", "|74|-|1|1500000000", "x a=1"},
};

static const char *head_text(const struct ftext_head *h, struct buf *b)
{
	if (h->buffer.len)
		buf_addf(b, "%.*s/", (int)h->buffer.len, h->buffer.p);
	buf_addf(b, "%.*s|%u|", (int)h->comm.len, h->comm.p, h->pid);
	if (h->tgid == PS_NONE)
		buf_addc(b, '-');
	else
		buf_addf(b, "%u", h->tgid);
	buf_addf(b, "|%u|%" PRIu64 "%s", h->cpu, h->time, h->ticks ? " ticks" : "");
	return buf_str(b);
}

static const char *event_text(const struct ftext_info *info, struct buf *b)
{
	if (info->system.len)
		buf_addf(b, "%.*s:", (int)info->system.len, info->system.p);
	buf_addf(b, "%s%.*s", info->prefix, (int)info->name.len, info->name.p);
	for (uint32_t i = 0; i < info->n; i++) {
		const struct ftext_pair *p = &info->pairs[i];
		uint64_t v = p->number;
		bool is_hex = false;

		buf_addf(b, " %.*s=", (int)p->key.len, p->key.p);
		if (!p->is_number && !ftext_number(&p->text, info->is_hex, &v, &is_hex))
			buf_addf(b, "'%.*s'", (int)p->text.len, p->text.p);
		else if ((int64_t)v < 0 && !is_hex && (p->is_number || *p->text.p == '-'))
			buf_addf(b, "%" PRId64, (int64_t)v);
		else
			buf_addf(b, "%" PRIu64, v);
	}
	return buf_str(b);
}

static void check_lines(void)
{
	static struct ftext_info info;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		const struct line_case *c = &lines[i];
		struct buf head = BUF_INIT, event = BUF_INIT;
		size_t len = strlen(c->line);
		struct ftext_head h;
		/* In memory of its own size, so that reading past its end is noticed. */
		char *line = malloc(len ? len : 1);

		memcpy(line, c->line, len);
		if (!ftext_head(line, len, &h)) {
			ok(!c->head, "no event: %s", c->line);
		} else {
			is_str(head_text(&h, &head), c->head ? c->head : "(none)", "head: %s",
			       c->line);
			info.flags = h.flags;
			ftext_info(&h.info, false, &info);
			is_str(event_text(&info, &event), c->event ? c->event : "(none)",
			       "event: %s", c->line);
		}
		free(line);
		buf_release(&head);
		buf_release(&event);
	}
}

/* What is cut off at any byte, and what is damaged, ends within its bytes. */
static void check_hostile(void)
{
	static struct ftext_info info;
	uint64_t rng = 88172645463325252u;
	unsigned events = 0;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		size_t len = strlen(lines[i].line);

		for (size_t n = 0; n <= 2 * len; n++) {
			size_t size = n <= len ? n : len;
			char *line = malloc(size ? size : 1);
			struct ftext_head h;

			memcpy(line, lines[i].line, size);
			rng ^= rng << 13, rng ^= rng >> 7, rng ^= rng << 17;
			if (size && n > len)
				line[(rng >> 8) % size] = "\0=:|[](){}\"- 9"[(rng >> 40) % 14];
			if (ftext_head(line, size, &h)) {
				info.flags = h.flags;
				ftext_info(&h.info, false, &info);
				events++;
			}
			free(line);
		}
	}
	ok(events > 1000, "cut and damaged lines: %u are events", events);
}

static void check_detection(void)
{
	static const struct {
		const char *text;
		bool is;
	} texts[] = {
		{"# tracer: nop\n", true},
		{"# tracer: n", true},
		{"cpus=2\n  a-1 [000] 1.5: x: y=1\n", true},
		{"  a-1 [000] 1.5: x: y=1\n", true},
		{"  a-1 [000] 1.5: x: y=1", false},
		{"hello\nworld\n", false},
		{"swapper 0 [000] 1.5: cycles:\n\tffff a (b)\n\n", false},
		{"", false},
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		bool more;

		ok(ftext_looks_like((const uint8_t *)texts[i].text, strlen(texts[i].text), &more) ==
			   texts[i].is,
		   "text %zu is %srecognized", i, texts[i].is ? "" : "not ");
	}
}

/*
 * States of threads as they were recorded, and what trace-cmd 3.1 with libtraceevent 1.7 and 3.4
 * with 1.9 print of them; the last rows are of a recording of Linux 4.9.
 */
static void check_states(void)
{
	static const struct {
		uint64_t state;
		const char *old, *now;
	} rows[] = {
		{0, "R", "R"},	 {1, "S", "S"},	    {2, "D", "D"},	 {4, "T", "T"},
		{8, "t", "t"},	 {16, "Z", "X"},    {32, "X", "Z"},	 {64, "x", "P"},
		{128, "W", "I"}, {3, "S|D", "S|D"}, {130, "D|W", "D|I"}, {64, "x", "x"},
		{128, "W", "K"}, {256, NULL, "W"},  {1024, NULL, "N"},	 {130, "D|W", "D|K"},
	};
	char line[128];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int now = 0; now < 2; now++) {
			const char *text = now ? rows[i].now : rows[i].old;
			static struct ftext_info info;
			struct ftext_head h;

			if (!text)
				continue;
			snprintf(
				line, sizeof(line),
				"  a-5     [000] %s    0.001001: sched_switch:    a:5 [120] %s ==> b:6 [120]",
				now ? "..... " : "", text);
			ok(ftext_head(line, strlen(line), &h) && h.flags == now, "'%s'", line);
			info.flags = h.flags;
			ok(ftext_info(&h.info, false, &info) && info.n == 7 &&
				   info.pairs[3].number == rows[i].state,
			   "is state %" PRIu64, rows[i].state);
		}
}

int main(void)
{
	check_lines();
	check_states();
	check_hostile();
	check_detection();
	return done();
}
