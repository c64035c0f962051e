#include "event/site.h"

#include <string.h>

/*
 * Names without the underscores before them and what a compiler hangs on (".constprop.0"): N(text), in
 * order; "x_*" is every name that begins with "x_".
 */
#define NAMES(N) \
	N("alarm_timer_nsleep_restart") \
	N("alloc_frozen_pages*") \
	N("alloc_page") \
	N("alloc_page_interleave") \
	N("alloc_page_noprof") \
	N("alloc_pages*") \
	N("arch_spin_*") \
	N("bit_wait*") \
	N("closure_return_sync") \
	N("closure_sync*") \
	N("cond_resched*") \
	N("console_conditional_schedule") \
	N("context_switch") \
	N("do_nanosleep") \
	N("do_raw_*") \
	N("down") \
	N("down_*") \
	N("folio_alloc") \
	N("folio_alloc_mpol*") \
	N("folio_alloc_noprof") \
	N("get_free_page*") \
	N("get_zeroed_page*") \
	N("hrtimer_nanosleep_restart") \
	N("io_schedule*") \
	N("ldsem_*") \
	N("mark_wakeup_next_waiter") \
	N("mutex_*") \
	N("native_queued_spin_*") \
	N("osq_*") \
	N("out_of_line_wait_on_bit*") \
	N("percpu_down_*") \
	N("percpu_rwsem_*") \
	N("percpu_up_*") \
	N("perf_trace_*") \
	N("preempt_schedule*") \
	N("pv_queued_spin_*") \
	N("queued_*") \
	N("raw_callee_save___pv_queued_*") \
	N("raw_read_*") \
	N("raw_spin_*") \
	N("raw_write_*") \
	N("read_lock*") \
	N("remove_waiter") \
	N("resilient_queued_spin_*") \
	N("resilient_tas_spin_*") \
	N("rt_mutex_*") \
	N("rt_read_*") \
	N("rt_spin_*") \
	N("rt_write_*") \
	N("rtlock_*") \
	N("rwbase_*") \
	N("rwsem_*") \
	N("schedule") \
	N("schedule_hrtimeout*") \
	N("schedule_idle") \
	N("schedule_preempt_disabled") \
	N("schedule_rtlock") \
	N("schedule_timeout*") \
	N("spin_lock*") \
	N("task_blocks_on_rt_mutex") \
	N("trace_contention_*") \
	N("trace_event_raw_event_*") \
	N("trace_mm_page_*") \
	N("trace_sched_*") \
	N("traceiter_*") \
	N("try_to_take_rt_mutex") \
	N("up") \
	N("up_*") \
	N("usleep_range_state") \
	N("vma_alloc_folio*") \
	N("wait_for_common*") \
	N("wait_for_completion*") \
	N("wait_on_bit*") \
	N("write_lock*") \
	N("ww_mutex_*") \
	N("ww_rt_mutex_*") \
	N("yield") \
	N("yield_to")

static const struct {
	const char *text;
	size_t len; /* without the '*' */
	bool more;  /* '*' */
} names[] = {
#define STAR(text) ((text)[sizeof(text) - 2] == '*')
#define N(text)	   {(text), sizeof(text) - 1 - STAR(text), STAR(text)},
	NAMES(N)
#undef N
#undef STAR
};

bool site_passes_over(const char *name, size_t len)
{
	const char *dot;

	/* A piece of a lock that the kernel writes in assembly. */
	if (len == 9 && !memcmp(name, ".slowpath", 9))
		return true;
	for (; len && *name == '_'; len--)
		name++;
	dot = memchr(name, '.', len);
	if (dot)
		len = (size_t)(dot - name);
	/* Most names are of none: the first byte tells. */
	for (size_t i = 0; len && i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].text[0] < name[0])
			continue;
		if (names[i].text[0] > name[0])
			break;
		if ((names[i].more ? len >= names[i].len : len == names[i].len) &&
		    !memcmp(name, names[i].text, names[i].len))
			return true;
	}
	return false;
}
