/* What threads wait for, and what wakes them, by the names of functions: tables. */
#include "wall/wait_kinds.h"

#include "base/err.h"
#include "event/glob.h"
#include "event/site.h"

#include <string.h>

const struct wall_kind_name wall_kinds[WALL_NKINDS] = {
#define K(name, text, idle, what) {text, idle},
	WALL_KINDS(K)
#undef K
};

struct row {
	const char *pattern;
	enum wall_kind kind;
};

/*
 * Functions of the kernel in which threads wait. From the innermost frame outwards, the first frame
 * that one of these fits tells; of the rows the first.
 */
static const struct row waits[] = {
	{"kthread_worker_fn", WALL_KIND_WORK},
	{"worker_thread", WALL_KIND_WORK},
	{"kthreadd", WALL_KIND_WORK},
	{"smpboot_thread_fn", WALL_KIND_WORK},
	{"rescuer_thread", WALL_KIND_WORK},
	{"rcu_gp_*", WALL_KIND_WORK},
	{"rcu_nocb_*", WALL_KIND_WORK},
	{"rcu_tasks_*", WALL_KIND_WORK},
	{"kswapd*", WALL_KIND_WORK},
	{"kcompactd*", WALL_KIND_WORK},
	{"khugepaged*", WALL_KIND_WORK},
	{"ksm_scan_thread", WALL_KIND_WORK},
	{"kauditd_thread", WALL_KIND_WORK},
	{"oom_reaper", WALL_KIND_WORK},
	{"kdamond_fn", WALL_KIND_WORK},
	{"kjournald2", WALL_KIND_WORK},
	{"irq_thread*", WALL_KIND_WORK},
	{"irq_wait_for_*", WALL_KIND_WORK},
	{"scsi_error_handler", WALL_KIND_WORK},
	{"io_wq_worker", WALL_KIND_WORK},
	{"io_sq_thread", WALL_KIND_WORK},
	{"vhost_*worker", WALL_KIND_WORK},
	{"balance_dirty_pages*", WALL_KIND_DISK},
	{"io_schedule*", WALL_KIND_DISK},
	{"folio_wait_*", WALL_KIND_DISK},
	{"wait_on_page_*", WALL_KIND_DISK},
	{"bit_wait_io*", WALL_KIND_DISK},
	{"__wait_on_buffer", WALL_KIND_DISK},
	{"submit_bio_wait", WALL_KIND_DISK},
	{"blk_*", WALL_KIND_DISK},
	{"rq_qos_wait", WALL_KIND_DISK},
	{"jbd2_*", WALL_KIND_DISK},
	{"*_log_force*", WALL_KIND_DISK},
	{"xlog_*", WALL_KIND_DISK},
	{"btrfs_*", WALL_KIND_DISK},
	{"nfs*_wait*", WALL_KIND_DISK},
	{"rpc_wait_bit_killable", WALL_KIND_DISK},
	{"p9_client_rpc", WALL_KIND_DISK},
	{"request_wait_answer", WALL_KIND_DISK},
	{"throttle_direct_reclaim", WALL_KIND_MEMORY},
	{"reclaim_throttle", WALL_KIND_MEMORY},
	{"mem_cgroup_handle_over_high", WALL_KIND_MEMORY},
	{"do_swap_page", WALL_KIND_MEMORY},
	{"migration_entry_wait*", WALL_KIND_MEMORY},
	{"handle_userfault", WALL_KIND_MEMORY},
	{"ep_poll", WALL_KIND_POLL},
	{"do_epoll_*", WALL_KIND_POLL},
	{"do_sys_poll", WALL_KIND_POLL},
	{"do_poll*", WALL_KIND_POLL},
	{"do_select", WALL_KIND_POLL},
	{"poll_schedule_timeout*", WALL_KIND_POLL},
	{"inet_csk_accept", WALL_KIND_POLL},
	{"inet_accept", WALL_KIND_POLL},
	{"unix_accept", WALL_KIND_POLL},
	{"do_accept", WALL_KIND_POLL},
	{"eventfd_read", WALL_KIND_POLL},
	{"inotify_read", WALL_KIND_POLL},
	{"io_cqring_wait", WALL_KIND_POLL},
	{"do_mq_timedreceive", WALL_KIND_POLL},
	{"signalfd_*", WALL_KIND_SIGNAL},
	{"do_sigtimedwait", WALL_KIND_SIGNAL},
	{"sigsuspend", WALL_KIND_SIGNAL},
	{"*_sys_pause", WALL_KIND_SIGNAL},
	{"ptrace_stop*", WALL_KIND_STOPPED},
	{"do_signal_stop", WALL_KIND_STOPPED},
	{"do_jobctl_trap", WALL_KIND_STOPPED},
	{"do_freezer_trap", WALL_KIND_STOPPED},
	{"__refrigerator", WALL_KIND_STOPPED},
	{"pipe_read", WALL_KIND_PIPE},
	{"pipe_write", WALL_KIND_PIPE},
	{"anon_pipe_*", WALL_KIND_PIPE},
	{"pipe_wait*", WALL_KIND_PIPE},
	{"wait_for_partner", WALL_KIND_PIPE},
	{"fifo_open", WALL_KIND_PIPE},
	{"n_tty_*", WALL_KIND_TERMINAL},
	{"do_wait*", WALL_KIND_CHILD},
	{"kernel_wait*", WALL_KIND_CHILD},
	{"kernel_clone", WALL_KIND_CHILD},
	{"wait_for_vfork_done", WALL_KIND_CHILD},
	{"sk_wait_data", WALL_KIND_NETWORK},
	{"sk_stream_wait_*", WALL_KIND_NETWORK},
	{"sock_wait_*", WALL_KIND_NETWORK},
	{"wait_for_connect", WALL_KIND_NETWORK},
	{"inet_wait_for_connect", WALL_KIND_NETWORK},
	{"inet_stream_connect", WALL_KIND_NETWORK},
	{"__skb_wait_for_more_packets", WALL_KIND_NETWORK},
	{"__skb_recv_udp", WALL_KIND_NETWORK},
	{"unix_stream_*", WALL_KIND_NETWORK},
	{"unix_dgram_*", WALL_KIND_NETWORK},
	{"unix_wait_for_peer", WALL_KIND_NETWORK},
	{"netlink_*", WALL_KIND_NETWORK},
	{"tcp_recvmsg*", WALL_KIND_NETWORK},
	{"tcp_sendmsg*", WALL_KIND_NETWORK},
	{"sock_alloc_send_*", WALL_KIND_NETWORK},
	{"futex_wait*", WALL_KIND_LOCK},
	{"futex_lock_pi*", WALL_KIND_LOCK},
	{"do_futex", WALL_KIND_LOCK},
	{"rwsem_down_*", WALL_KIND_LOCK},
	{"__mutex_lock*", WALL_KIND_LOCK},
	{"mutex_lock*", WALL_KIND_LOCK},
	{"__down*", WALL_KIND_LOCK},
	{"rt_mutex_*", WALL_KIND_LOCK},
	{"__rt_mutex_*", WALL_KIND_LOCK},
	{"rtlock_*", WALL_KIND_LOCK},
	{"percpu_down_*", WALL_KIND_LOCK},
	{"percpu_rwsem_wait", WALL_KIND_LOCK},
	{"flock_lock_inode_wait", WALL_KIND_LOCK},
	{"locks_lock_inode_wait", WALL_KIND_LOCK},
	{"fcntl_setlk", WALL_KIND_LOCK},
	{"do_semtimedop", WALL_KIND_LOCK},
	{"do_nanosleep", WALL_KIND_TIMER},
	{"hrtimer_nanosleep*", WALL_KIND_TIMER},
	{"msleep*", WALL_KIND_TIMER},
	{"usleep_range*", WALL_KIND_TIMER},
};

/* Where no other row fits. */
static const struct row weak[] = {
	{"schedule_hrtimeout*", WALL_KIND_TIMER},
	{"schedule_timeout_*", WALL_KIND_TIMER},
};

/* Functions of programs that tell more of a wait for a futex. */
static const struct row of_locks[] = {
	{"pthread_cond_*", WALL_KIND_CONDITION},
	{"__pthread_cond_*", WALL_KIND_CONDITION},
	{"___pthread_cond_*", WALL_KIND_CONDITION},
	{"cnd_*wait*", WALL_KIND_CONDITION},
	{"std::condition_variable*", WALL_KIND_CONDITION},
	{"std::__1::condition_variable*", WALL_KIND_CONDITION},
	{"pthread_join*", WALL_KIND_JOIN},
	{"__pthread_clockjoin*", WALL_KIND_JOIN},
	{"__pthread_timedjoin*", WALL_KIND_JOIN},
	{"std::thread::join*", WALL_KIND_JOIN},
	{"runtime.notetsleep*", WALL_KIND_POLL},
	{"runtime.stopm", WALL_KIND_POLL},
};

/* Where an interrupt enters the kernel, and what it calls first, if the entry has no name. */
static const char *const entries[] = {
	"__sysvec_*",
	"hrtimer_interrupt",
	"handle_irq_event",
	"asm_*interrupt*",
	"asm_sysvec_*",
	"asm_exc_nmi",
	"sysvec_*",
	"common_interrupt",
	"el1*_irq*",
	"el0*_irq*",
	"el1_interrupt",
	"el0_interrupt",
	"__irq_svc",
	"__irq_usr",
	"gic_handle_irq",
	"do_IRQ",
	"apic_timer_interrupt",
	"ret_from_intr",
	"handle_arch_irq",
	"run_ksoftirqd",
};

/* What an interrupt was for. */
static const struct row of_interrupts[] = {
	{"hrtimer_wakeup", WALL_KIND_TIMER},
	{"process_timeout", WALL_KIND_TIMER},
	{"it_real_fn", WALL_KIND_TIMER},
	{"posix_timer_fn", WALL_KIND_TIMER},
	{"call_timer_fn", WALL_KIND_TIMER},
	{"blk_*", WALL_KIND_DISK},
	{"bio_endio", WALL_KIND_DISK},
	{"nvme_*", WALL_KIND_DISK},
	{"virtblk_*", WALL_KIND_DISK},
	{"scsi_*", WALL_KIND_DISK},
	{"ata_*", WALL_KIND_DISK},
	{"p9_virtio_*", WALL_KIND_DISK},
	{"*req_done", WALL_KIND_DISK},
	{"net_rx_action", WALL_KIND_NETWORK},
	{"napi_*", WALL_KIND_NETWORK},
	{"tcp_*", WALL_KIND_NETWORK},
	{"sock_def_readable", WALL_KIND_NETWORK},
};

/* Functions of C libraries that only wait, or call the kernel, for those who call them. */
static const char *const helpers[] = {
	"_*",
	"pthread_*",
	"futex_*",
	"lll_*",
	"sem_*",
	"clock_nanosleep*",
	"usleep",
	"nanosleep",
	"sleep",
	"clock_gettime*",
	"poll",
	"ppoll",
	"select",
	"epoll_*",
	"read*",
	"write*",
	"pread*",
	"pwrite*",
	"recv*",
	"send*",
	"accept*",
	"connect*",
	"wait*",
	"syscall",
	"fsync",
	"fdatasync",
	"open*",
	"fwrite",
	"fread",
	"new_do_write",
	"cnd_*",
	"mtx_*",
	"timerfd_*",
	"std::mutex*",
	"posix_spawn*",
	"std::unique_lock*",
	"std::condition_variable*",
};

#define N(v) (sizeof(v) / sizeof((v)[0]))

static bool fits(const struct lat_stack_frame *f, const char *pattern)
{
	return f->name && glob_match(pattern, strlen(pattern), f->name, f->len);
}

/* The kind of the first frame from `i` outwards that a row fits; n rows. */
static enum wall_kind look_up(const struct lat_stacks *k, uint32_t stack, uint32_t i, bool kernel,
			      const struct row *rows, size_t n)
{
	struct lat_stack_frame f;

	for (; lat_stacks_frame(k, stack, i, &f); i++) {
		if (kernel != ((f.flags & PS_FRAME_KERNEL) != 0)) {
			if (kernel)
				break;
			continue;
		}
		for (size_t r = 0; r < n; r++)
			if (fits(&f, rows[r].pattern))
				return rows[r].kind;
	}
	return WALL_KIND_BLOCKED;
}

static enum wall_kind wait_kind(const struct lat_stacks *k, uint32_t stack)
{
	enum wall_kind kind = look_up(k, stack, 0, true, waits, N(waits)), more;

	if (kind == WALL_KIND_BLOCKED)
		return look_up(k, stack, 0, true, weak, N(weak));
	if (kind != WALL_KIND_LOCK)
		return kind;
	more = look_up(k, stack, 0, false, of_locks, N(of_locks));
	return more == WALL_KIND_BLOCKED ? kind : more;
}

/* WALL_NKINDS: it is in no interrupt. */
static enum wall_kind interrupt_kind(const struct lat_stacks *k, uint32_t stack)
{
	struct lat_stack_frame f;

	for (uint32_t i = 0; lat_stacks_frame(k, stack, i, &f) && f.flags & PS_FRAME_KERNEL; i++)
		for (size_t r = 0; r < N(entries); r++)
			if (fits(&f, entries[r]))
				return look_up(k, stack, 0, true, of_interrupts, N(of_interrupts));
	return WALL_NKINDS;
}

/* What a function says of a stack. */
static int ask(struct wall *w, enum wall_kind (*fn)(const struct lat_stacks *, uint32_t),
	       uint32_t stack, enum wall_kind *kind)
{
	uint64_t which = fn == interrupt_kind;
	uint32_t *slot = map64_put(&w->kinds, which << 32 | stack, NULL);

	if (!slot)
		return PP_ENOMEM;
	if (!*slot)
		*slot = (uint32_t)fn(w->kept, stack) + 1;
	*kind = (enum wall_kind)(*slot - 1);
	return 0;
}

int wall_wait(struct wall *w, uint32_t stack, uint32_t waker, enum wall_kind *kind)
{
	enum wall_kind by;
	int rc = ask(w, wait_kind, stack, kind);

	if (rc || *kind != WALL_KIND_BLOCKED)
		return rc;
	rc = ask(w, interrupt_kind, waker, &by);
	*kind = rc || by == WALL_NKINDS ? *kind : by;
	return rc;
}

int wall_in_interrupt(struct wall *w, uint32_t stack, bool *in)
{
	enum wall_kind kind;
	int rc = ask(w, interrupt_kind, stack, &kind);

	*in = !rc && kind != WALL_NKINDS;
	return rc;
}

/* Whether it is a function of the C library without a name, as psym has it: libc.so.6+0x86100. */
static bool is_unnamed_libc(const struct lat_stack_frame *f)
{
	static const char *const files[] = {"libc.so", "libc-", "libpthread", "ld-linux",
					    "ld-musl"};

	if (!memmem(f->name, f->len, "+0x", 3))
		return false;
	for (size_t i = 0; i < N(files); i++)
		if (f->len > strlen(files[i]) && !memcmp(f->name, files[i], strlen(files[i])))
			return true;
	return false;
}

/* Of name@@GLIBC_2.2.5: the name. */
static bool is_helper(struct lat_stack_frame *f)
{
	const char *at = memchr(f->name, '@', f->len);

	if (is_unnamed_libc(f))
		return true;
	if (at && at > f->name)
		f->len = (size_t)(at - f->name);
	for (size_t i = 0; i < N(helpers); i++)
		if (fits(f, helpers[i]))
			return true;
	return false;
}

bool wall_place(const struct lat_stacks *k, uint32_t stack, uint32_t skip,
		struct lat_stack_frame *f)
{
	uint32_t n = wall_kernel_frames(k, stack);

	for (uint32_t i = n; lat_stacks_frame(k, stack, i, f); i++)
		if (f->name && !is_helper(f))
			return true;
	for (uint32_t i = skip; i < n && lat_stacks_frame(k, stack, i, f); i++)
		if (f->name && *f->name != '[' && !site_skips(f->name, f->len))
			return true;
	return false;
}

uint32_t wall_kernel_frames(const struct lat_stacks *k, uint32_t stack)
{
	struct lat_stack_frame f;
	uint32_t n = 0;

	while (lat_stacks_frame(k, stack, n, &f) && f.flags & PS_FRAME_KERNEL)
		n++;
	return n;
}
