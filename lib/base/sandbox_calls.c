/* The system calls that a filter gives up, as a program for seccomp(2). */
#include "base/sandbox_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Numbers of calls mean something only together with the architecture. */
#if defined(__x86_64__) && !defined(__ILP32__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__i386__)
#define ARCH AUDIT_ARCH_I386
#elif defined(__aarch64__)
#define ARCH (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? AUDIT_ARCH_AARCH64 : 0)
#elif defined(__arm__)
#define ARCH (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? AUDIT_ARCH_ARM : AUDIT_ARCH_ARMEB)
#elif defined(__s390x__)
#define ARCH AUDIT_ARCH_S390X
#elif defined(__powerpc64__)
#define ARCH (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? AUDIT_ARCH_PPC64LE : AUDIT_ARCH_PPC64)
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCH AUDIT_ARCH_RISCV64
#else
#define ARCH 0 /* not known: no filter */
#endif

#define X32_CALLS 0x40000000u /* x86-64: the same calls again, for programs of 32 bits */

/* Sets of calls, by who may need them. */
enum {
	NEVER = 1,    /* nobody */
	PROGRAMS = 2, /* who starts programs */
	FILES = 4,    /* who writes files that have a name, and who starts programs */
};

/* Headers of Debian 12 lack the calls of newer kernels; not every architecture has the old ones. */
#define CALL_PIDFD_OPEN 434 /* from here on the numbers are the same everywhere */
#define CALL_FCHMODAT2	452

static const struct {
	unsigned nr, set;
} calls[] = {
	{__NR_ptrace, NEVER},
	{__NR_process_vm_readv, NEVER},
	{__NR_process_vm_writev, NEVER},
	{__NR_kcmp, NEVER},
	{424 /* pidfd_send_signal */, NEVER},
	{425 /* io_uring_setup: it would go around this filter */, NEVER},
	{426 /* io_uring_enter */, NEVER},
	{427 /* io_uring_register */, NEVER},
	{428 /* open_tree */, NEVER},
	{429 /* move_mount */, NEVER},
	{430 /* fsopen */, NEVER},
	{431 /* fsconfig */, NEVER},
	{432 /* fsmount */, NEVER},
	{433 /* fspick */, NEVER},
	{438 /* pidfd_getfd */, NEVER},
	{440 /* process_madvise */, NEVER},
	{442 /* mount_setattr */, NEVER},
	{467 /* open_tree_attr */, NEVER},
	{__NR_mount, NEVER},
	{__NR_umount2, NEVER},
	{__NR_pivot_root, NEVER},
	{__NR_chroot, NEVER},
	{__NR_unshare, NEVER},
	{__NR_setns, NEVER},
	{__NR_bpf, NEVER},
	{__NR_perf_event_open, NEVER},
	{__NR_userfaultfd, NEVER},
	{__NR_keyctl, NEVER},
	{__NR_add_key, NEVER},
	{__NR_request_key, NEVER},
	{__NR_init_module, NEVER},
	{__NR_finit_module, NEVER},
	{__NR_delete_module, NEVER},
#ifdef __NR_kexec_load
	{__NR_kexec_load, NEVER},
#endif
#ifdef __NR_kexec_file_load
	{__NR_kexec_file_load, NEVER},
#endif
	{__NR_reboot, NEVER},
	{__NR_swapon, NEVER},
	{__NR_swapoff, NEVER},
#ifdef __NR_umount
	{__NR_umount, NEVER},
#endif
	{__NR_settimeofday, NEVER},
	{__NR_clock_settime, NEVER},
	{__NR_adjtimex, NEVER},
	{__NR_clock_adjtime, NEVER},
	{__NR_sethostname, NEVER},
	{__NR_setdomainname, NEVER},
	{__NR_acct, NEVER},
	{__NR_quotactl, NEVER},
	{__NR_syslog, NEVER},
	{__NR_personality, NEVER},
	{__NR_name_to_handle_at, NEVER},
	{__NR_open_by_handle_at, NEVER},
	{__NR_fanotify_init, NEVER},
#ifdef __NR_iopl
	{__NR_iopl, NEVER},
#endif
#ifdef __NR_ioperm
	{__NR_ioperm, NEVER},
#endif
	{__NR_execve, PROGRAMS},
	{__NR_execveat, PROGRAMS},
#ifdef __NR_socketcall
	{__NR_socketcall, PROGRAMS},
#endif
#ifdef __NR_socket
	{__NR_socket, PROGRAMS},
	{__NR_socketpair, PROGRAMS},
	{__NR_connect, PROGRAMS},
	{__NR_bind, PROGRAMS},
	{__NR_listen, PROGRAMS},
	{__NR_accept4, PROGRAMS},
	{__NR_sendto, PROGRAMS},
	{__NR_sendmsg, PROGRAMS},
	{__NR_sendmmsg, PROGRAMS},
	{__NR_recvmsg, PROGRAMS},
#endif
#ifdef __NR_accept
	{__NR_accept, PROGRAMS},
#endif
	{__NR_mq_open, PROGRAMS},
	/* raise(3) and abort(3) are tgkill; a program that ran too long is ended by kill. */
	{__NR_kill, PROGRAMS},
	{__NR_tkill, PROGRAMS},
	{__NR_rt_sigqueueinfo, PROGRAMS},
	{__NR_rt_tgsigqueueinfo, PROGRAMS},
#ifdef __NR_creat
	{__NR_creat, FILES},
	{__NR_mkdir, FILES},
	{__NR_rmdir, FILES},
	{__NR_unlink, FILES},
	{__NR_rename, FILES},
	{__NR_link, FILES},
	{__NR_symlink, FILES},
	{__NR_mknod, FILES},
	{__NR_chmod, FILES},
	{__NR_chown, FILES},
	{__NR_lchown, FILES},
	{__NR_utimes, FILES},
	{__NR_utime, FILES},
#endif
#ifdef __NR_futimesat
	{__NR_futimesat, FILES},
#endif
#ifdef __NR_renameat
	{__NR_renameat, FILES},
#endif
	{__NR_mkdirat, FILES},
	{__NR_unlinkat, FILES},
	{__NR_renameat2, FILES},
	{__NR_linkat, FILES},
	{__NR_symlinkat, FILES},
	{__NR_mknodat, FILES},
	{__NR_fchmod, FILES},
	{__NR_fchmodat, FILES},
	{CALL_FCHMODAT2, FILES},
	{__NR_fchown, FILES},
	{__NR_fchownat, FILES},
	{__NR_utimensat, FILES},
	{__NR_truncate, FILES},
#ifdef __NR_truncate64
	{__NR_truncate64, FILES},
#endif
#ifdef __NR_chown32
	{__NR_chown32, FILES},
	{__NR_lchown32, FILES},
	{__NR_fchown32, FILES},
#endif
	{__NR_setxattr, FILES},
	{__NR_lsetxattr, FILES},
	{__NR_fsetxattr, FILES},
	{__NR_removexattr, FILES},
	{__NR_lremovexattr, FILES},
	{__NR_fremovexattr, FILES},
	{463 /* setxattrat */, FILES},
	{466 /* removexattrat */, FILES},
};

/* clone3 keeps its flags where no filter sees them: glibc takes clone where it is missing. */
#define CALL_CLONE3  435
#define CALL_OPENAT2 437 /* the same; who needs it can do without, by openat */

#ifdef __s390x__
#define CLONE_FLAGS 1
#else
#define CLONE_FLAGS 0
#endif
#define NEW_NAMESPACES \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
	 CLONE_NEWPID | CLONE_NEWNET)

#define N_CALLS (sizeof(calls) / sizeof(*calls))

#define NR_MAX 512 /* above all numbers of the table */
#define CHUNK  10  /* about the root of how many there are */

struct code {
	struct sock_filter op[2 * N_CALLS + 64];
	unsigned short n;
};

#define DENY (SECCOMP_RET_ERRNO | EPERM)

static void add(struct code *c, unsigned op, unsigned k, unsigned yes, unsigned no)
{
	c->op[c->n++] = (struct sock_filter)BPF_JUMP(op, k, yes, no);
}

static void answer(struct code *c, unsigned what)
{
	add(c, BPF_RET | BPF_K, what, 0, 0);
}

static void answer_if(struct code *c, unsigned nr, unsigned what)
{
	add(c, BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1);
	answer(c, what);
}

static void load(struct code *c, size_t offset)
{
	add(c, BPF_LD | BPF_W | BPF_ABS, (unsigned)offset, 0, 0);
}

/* The lower half of an argument. */
static void load_arg(struct code *c, unsigned i)
{
	load(c, offsetof(struct seccomp_data, args) + 8 * i +
			(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0));
}

/* Denied, of some numbers in their order. What does not concern them goes on after it. */
static void deny_chunk(struct code *c, const unsigned *nr, unsigned n, unsigned short *to_end)
{
	add(c, BPF_JMP | BPF_JGT | BPF_K, nr[n - 1], n + 2, 0);
	for (unsigned i = 0; i < n; i++)
		add(c, BPF_JMP | BPF_JEQ | BPF_K, nr[i], n - i, 0);
	*to_end = c->n;
	add(c, BPF_JMP | BPF_JA, 0, 0, 0);
	answer(c, DENY);
}

/*
 * Denies the calls of some sets. In chunks, since the kernel runs the filter for each number there
 * is when it takes it: comparing with all of them one by one costs half a millisecond.
 */
static void deny_sets(struct code *c, unsigned sets)
{
	unsigned nr[N_CALLS], n = 0;
	unsigned short to_end[N_CALLS / CHUNK + 1], chunks = 0;
	bool deny[NR_MAX] = {false};

	for (size_t i = 0; i < N_CALLS; i++)
		if (calls[i].set & sets && calls[i].nr < NR_MAX &&
		    !(SANITIZED && calls[i].nr == __NR_ptrace))
			deny[calls[i].nr] = true;
	for (unsigned i = 0; i < NR_MAX; i++)
		if (deny[i])
			nr[n++] = i;
	for (unsigned i = 0; i < n; i += CHUNK)
		deny_chunk(c, nr + i, n - i < CHUNK ? n - i : CHUNK, &to_end[chunks++]);
	while (chunks--)
		c->op[to_end[chunks]].k = c->n - to_end[chunks] - 1u;
}

/* Denied where one of these bits is set in an argument, but none of `unless`. */
static void deny_bits(struct code *c, unsigned nr, unsigned arg, unsigned bits, unsigned unless)
{
	add(c, BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 5);
	load_arg(c, arg);
	add(c, BPF_JMP | BPF_JSET | BPF_K, unless, 2, 0);
	add(c, BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
	answer(c, DENY);
	answer(c, SECCOMP_RET_ALLOW);
}

/* Typing into the terminal is starting programs. */
static void deny_typing(struct code *c)
{
	add(c, BPF_JMP | BPF_JEQ | BPF_K, __NR_ioctl, 0, 5);
	load_arg(c, 1);
	add(c, BPF_JMP | BPF_JEQ | BPF_K, TIOCSTI, 1, 0);
	add(c, BPF_JMP | BPF_JEQ | BPF_K, TIOCLINUX, 0, 1);
	answer(c, DENY);
	answer(c, SECCOMP_RET_ALLOW);
}

/* Without its own bit, O_TMPFILE is O_DIRECTORY: what is opened to be written has no name then. */
static void deny_writing(struct code *c)
{
	const unsigned writing = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;
	const unsigned unnamed = O_TMPFILE & ~(unsigned)O_DIRECTORY;

#ifdef __NR_open
	deny_bits(c, __NR_open, 1, writing, unnamed);
#endif
	deny_bits(c, __NR_openat, 2, writing, unnamed);
	answer_if(c, CALL_OPENAT2, DENY);
}

bool sandbox_calls(bool programs, bool files)
{
	unsigned sets =
		NEVER | (programs || SANITIZED ? 0 : PROGRAMS) | (programs || files ? 0 : FILES);
	struct code c = {.n = 0};
	struct sock_fprog prog = {.filter = c.op};

	if (!ARCH)
		return false;
	load(&c, offsetof(struct seccomp_data, arch));
	add(&c, BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0);
	answer(&c, programs ? SECCOMP_RET_ALLOW : SECCOMP_RET_KILL_PROCESS);
	load(&c, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
	add(&c, BPF_JMP | BPF_JGE | BPF_K, X32_CALLS, 0, 1);
	answer(&c, DENY);
#endif
	deny_sets(&c, sets);
	answer_if(&c, CALL_CLONE3, SECCOMP_RET_ERRNO | ENOSYS);
	if (sets & FILES)
		deny_writing(&c);
	deny_bits(&c, __NR_clone, CLONE_FLAGS, NEW_NAMESPACES, 0);
	deny_typing(&c);
	answer(&c, SECCOMP_RET_ALLOW);
	prog.len = c.n;
	/* Without that flag, some kernels slow the program down against Spectre. */
	return !syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW,
			&prog) ||
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0);
}
