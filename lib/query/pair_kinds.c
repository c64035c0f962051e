#include "query/pair.h"

/* clang-format off */
const struct pair_kind pair_kinds[] = {
	[SCHED_RUNQ] = {"runq", "run queue: woken, preempted or new, until it runs",
	 .by = "comm", .state = true},
	[SCHED_ONCPU] = {"oncpu", "on the CPU: switched in, until switched out",
	 .by = "comm", .state = true},
	[SCHED_OFFCPU] = {"offcpu", "off the CPU: switched out, until switched in",
	 .by = "comm,state", .state = true},
	[SCHED_BLOCKED] = {"blocked", "asleep or blocked: switched out, until woken",
	 .by = "comm,state", .state = true},
	[SCHED_WAKING] = {"waking", "being woken: sched_waking, until on a run queue",
	 .by = "comm", .state = true},
	[SCHED_MIGRATE] = {"migrate", "migration: to another CPU's queue, until it runs",
	 .by = "comm", .state = true},
	[SCHED_IDLE] = {"idle", "a CPU without work",
	 .by = "cpu", .state = true, .per_cpu = true},

	{"syscall", "system calls", .by = "name", .restart = PAIR_REPLACE,
	 .events = {{PAIR_START, "raw_syscalls:sys_enter", "TID,id", "id:syscall"},
		    {PAIR_END, "raw_syscalls:sys_exit", "TID,id", "id:syscall"},
		    {PAIR_START, "syscalls:sys_enter_*", "TID,*", "*"},
		    {PAIR_END, "syscalls:sys_exit_*", "TID,*", "*"}}},

	{"irq", "interrupt handlers", .by = "name", .restart = PAIR_NEST, .per_cpu = true,
	 .events = {{PAIR_START, "irq:irq_handler_entry", "CPU,irq", "name"},
		    {PAIR_END, "irq:irq_handler_exit", "CPU,irq"}}},
	{"softirq", "softirq handlers", .by = "name", .restart = PAIR_REPLACE, .per_cpu = true,
	 .events = {{PAIR_START, "irq:softirq_entry", "CPU,vec", "vec:symbolic"},
		    {PAIR_END, "irq:softirq_exit", "CPU,vec", "vec:symbolic"}}},
	{"softirq-raise", "softirq raised, until its handler runs", .by = "name",
	 .restart = PAIR_KEEP, .per_cpu = true,
	 .events = {{PAIR_START, "irq:softirq_raise", "CPU,vec", "vec:symbolic"},
		    {PAIR_END, "irq:softirq_entry", "CPU,vec", "vec:symbolic"}}},
};
/* clang-format on */

const unsigned pair_nkinds = sizeof(pair_kinds) / sizeof(pair_kinds[0]);
