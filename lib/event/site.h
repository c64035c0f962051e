/*
 * Who waits, or asks for memory: the kernel's functions that only do it for others are skipped,
 * as `ps -o wchan` skips the scheduler's.
 *
 *	i = 0;
 *	while (frame i is the kernel's && site_skips(name, len))
 *		i++;
 *
 * They are known by their names, so that it does not matter where the symbols come from: what the
 * kernel puts into its sections .sched.text and .spinlock.text (include/linux/sched/debug.h,
 * spinlock_api_smp.h), what is inlined there, the page and slab allocators with the helpers that
 * record their own caller as call_site (kmalloc_track_caller), and what a tracepoint calls.
 */
#ifndef PP_EVENT_SITE_H
#define PP_EVENT_SITE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether it waits, locks, allocates, frees or traces for its caller. The name is that of
 * kallsyms.
 */
bool site_skips(const char *name, size_t len);

#endif
