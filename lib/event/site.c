/*
 * The kernel's functions that wait, lock and allocate for others, by name: the scheduler, locks,
 * the page and slab allocators and what wraps them, and what a tracepoint calls.
 */
#include "event/site.h"

#include <string.h>

/*
 * Names without leading underscores and without what a compiler appends (".constprop.0"):
 * N(text), in order; "x_*" is every name that begins with "x_".
 */
#define NAMES(N) \
	N("alarm_timer_nsleep_restart") \
	N("alloc_from_pcs") \
	N("alloc_frozen_pages*") \
	N("alloc_hooks_*") \
	N("alloc_page") \
	N("alloc_page_interleave") \
	N("alloc_page_noprof") \
	N("alloc_pages*") \
	N("alloc_percpu*") \
	N("alloc_slab_obj_exts") \
	N("alloc_tagging_slab_*") \
	N("allocate_slab") \
	N("arch_spin_*") \
	N("bit_wait*") \
	N("closure_return_sync") \
	N("closure_sync*") \
	N("cond_resched*") \
	N("console_conditional_schedule") \
	N("context_switch") \
	N("devm_kasprintf") \
	N("devm_kmalloc*") \
	N("devm_kmemdup*") \
	N("devm_kstrdup*") \
	N("devm_kvasprintf") \
	N("devres_alloc*") \
	N("discard_slab*") \
	N("do_nanosleep") \
	N("do_raw_*") \
	N("down") \
	N("down_*") \
	N("folio_alloc") \
	N("folio_alloc_mpol*") \
	N("folio_alloc_noprof") \
	N("free_frozen_page*") \
	N("free_page") \
	N("free_pages") \
	N("free_pages_exact") \
	N("free_pages_ok") \
	N("free_pages_prepare") \
	N("free_slab*") \
	N("free_unref_*") \
	N("get_free_page*") \
	N("get_zeroed_page*") \
	N("hrtimer_nanosleep_restart") \
	N("io_schedule*") \
	N("kasprintf*") \
	N("kfree") \
	N("kfree_bulk") \
	N("kfree_const") \
	N("kfree_sensitive") \
	N("kmalloc*") \
	N("kmem_cache_alloc*") \
	N("kmem_cache_free*") \
	N("kmem_cache_zalloc*") \
	N("kmemdup*") \
	N("krealloc*") \
	N("kstrdup") \
	N("kstrdup_const") \
	N("kstrdup_noprof") \
	N("kstrndup*") \
	N("kvasprintf") \
	N("kvasprintf_const") \
	N("kvfree") \
	N("kvfree_sensitive") \
	N("kvmalloc*") \
	N("kvmemdup*") \
	N("kvrealloc*") \
	N("kvzalloc*") \
	N("kzalloc*") \
	N("ldsem_*") \
	N("mark_wakeup_next_waiter") \
	N("memcg_slab_*") \
	N("memdup_user*") \
	N("mempool_alloc*") \
	N("mempool_free*") \
	N("mempool_kfree") \
	N("mempool_kmalloc") \
	N("mempool_kvfree") \
	N("mempool_kvmalloc") \
	N("mutex_*") \
	N("native_queued_spin_*") \
	N("new_slab") \
	N("osq_*") \
	N("out_of_line_wait_on_bit*") \
	N("pcpu_alloc*") \
	N("percpu_down_*") \
	N("percpu_rwsem_*") \
	N("percpu_up_*") \
	N("perf_trace_*") \
	N("preempt_schedule*") \
	N("put_partials*") \
	N("pv_queued_spin_*") \
	N("queued_*") \
	N("raw_callee_save___pv_queued_*") \
	N("raw_read_*") \
	N("raw_spin_*") \
	N("raw_write_*") \
	N("read_lock*") \
	N("refill_objects") \
	N("refill_sheaf") \
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
	N("slab_alloc*") \
	N("slab_free*") \
	N("slab_post_alloc_hook") \
	N("spin_lock*") \
	N("strndup_user") \
	N("task_blocks_on_rt_mutex") \
	N("trace_contention_*") \
	N("trace_event_raw_event_*") \
	N("trace_kfree") \
	N("trace_kmalloc*") \
	N("trace_kmem_cache_*") \
	N("trace_mm_page_*") \
	N("trace_sched_*") \
	N("traceiter_*") \
	N("try_to_take_rt_mutex") \
	N("up") \
	N("up_*") \
	N("usleep_range_state") \
	N("vfree") \
	N("vma_alloc_folio*") \
	N("vmalloc") \
	N("vmalloc_32*") \
	N("vmalloc_array*") \
	N("vmalloc_huge*") \
	N("vmalloc_node*") \
	N("vmalloc_noprof") \
	N("vmalloc_user*") \
	N("vmemdup_user") \
	N("vzalloc*") \
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

bool site_skips(const char *name, size_t len)
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
