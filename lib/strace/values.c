/* Names of numbers that system calls take and return: flags, commands, signals, errors. */
#include "strace/syscalls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct name {
	uint64_t value;
	const char *name;
};

#define N(x) \
	{ \
		x, #x \
	}
#define END \
	{ \
		0, NULL \
	}

/* clang-format off */
static const struct name prots[] = {
	N(PROT_READ), N(PROT_WRITE), N(PROT_EXEC), N(PROT_GROWSDOWN), N(PROT_GROWSUP), END};

static const struct name maps[] = {
	N(MAP_SHARED), N(MAP_PRIVATE), N(MAP_FIXED), N(MAP_ANONYMOUS), N(MAP_GROWSDOWN),
	N(MAP_DENYWRITE), N(MAP_EXECUTABLE), N(MAP_LOCKED), N(MAP_NORESERVE), N(MAP_POPULATE),
	N(MAP_NONBLOCK), N(MAP_STACK), N(MAP_HUGETLB), N(MAP_SYNC), N(MAP_FIXED_NOREPLACE), END};

static const struct name accesses[] = {
	N(R_OK), N(W_OK), N(X_OK), END};

static const struct name families[] = {
	N(AF_UNSPEC), N(AF_UNIX), N(AF_INET), N(AF_INET6), N(AF_NETLINK), N(AF_PACKET),
	N(AF_ALG), N(AF_VSOCK), N(AF_BLUETOOTH), N(AF_XDP), END};

static const struct name sockets[] = {
	N(SOCK_STREAM), N(SOCK_DGRAM), N(SOCK_RAW), N(SOCK_RDM), N(SOCK_SEQPACKET),
	N(SOCK_PACKET), END};

static const struct name socket_flags[] = {
	N(SOCK_CLOEXEC), N(SOCK_NONBLOCK), END};

static const struct name msgs[] = {
	N(MSG_OOB), N(MSG_PEEK), N(MSG_DONTROUTE), N(MSG_CTRUNC), N(MSG_TRUNC), N(MSG_DONTWAIT),
	N(MSG_EOR), N(MSG_WAITALL), N(MSG_CONFIRM), N(MSG_ERRQUEUE), N(MSG_NOSIGNAL),
	N(MSG_MORE), N(MSG_WAITFORONE), N(MSG_CMSG_CLOEXEC), END};

static const struct name whences[] = {
	N(SEEK_SET), N(SEEK_CUR), N(SEEK_END), N(SEEK_DATA), N(SEEK_HOLE), END};

static const struct name futexes[] = {
	N(FUTEX_WAIT), N(FUTEX_WAKE), N(FUTEX_FD), N(FUTEX_REQUEUE), N(FUTEX_CMP_REQUEUE),
	N(FUTEX_WAKE_OP), N(FUTEX_LOCK_PI), N(FUTEX_UNLOCK_PI), N(FUTEX_TRYLOCK_PI),
	N(FUTEX_WAIT_BITSET), N(FUTEX_WAKE_BITSET), N(FUTEX_WAIT_REQUEUE_PI),
	N(FUTEX_CMP_REQUEUE_PI), END};

static const struct name futex_flags[] = {
	N(FUTEX_PRIVATE_FLAG), N(FUTEX_CLOCK_REALTIME), END};

static const struct name fcntls[] = {
	N(F_DUPFD), N(F_GETFD), N(F_SETFD), N(F_GETFL), N(F_SETFL), N(F_GETLK), N(F_SETLK),
	N(F_SETLKW), N(F_SETOWN), N(F_GETOWN), N(F_SETSIG), N(F_GETSIG), N(F_DUPFD_CLOEXEC),
	N(F_SETPIPE_SZ), N(F_GETPIPE_SZ), N(F_ADD_SEALS), N(F_GET_SEALS), N(F_OFD_GETLK),
	N(F_OFD_SETLK), N(F_OFD_SETLKW), N(F_SETLEASE), N(F_GETLEASE), N(F_NOTIFY), END};

static const struct name clones[] = {
	N(CLONE_VM), N(CLONE_FS), N(CLONE_FILES), N(CLONE_SIGHAND), N(CLONE_PIDFD),
	N(CLONE_PTRACE), N(CLONE_VFORK), N(CLONE_PARENT), N(CLONE_THREAD), N(CLONE_NEWNS),
	N(CLONE_SYSVSEM), N(CLONE_SETTLS), N(CLONE_PARENT_SETTID), N(CLONE_CHILD_CLEARTID),
	N(CLONE_DETACHED), N(CLONE_UNTRACED), N(CLONE_CHILD_SETTID), N(CLONE_NEWCGROUP),
	N(CLONE_NEWUTS), N(CLONE_NEWIPC), N(CLONE_NEWUSER), N(CLONE_NEWPID), N(CLONE_NEWNET),
	N(CLONE_IO), END};

static const struct name advices[] = {
	N(MADV_NORMAL), N(MADV_RANDOM), N(MADV_SEQUENTIAL), N(MADV_WILLNEED), N(MADV_DONTNEED),
	N(MADV_FREE), N(MADV_REMOVE), N(MADV_DONTFORK), N(MADV_DOFORK), N(MADV_MERGEABLE),
	N(MADV_UNMERGEABLE), N(MADV_HUGEPAGE), N(MADV_NOHUGEPAGE), N(MADV_DONTDUMP),
	N(MADV_DODUMP), N(MADV_WIPEONFORK), N(MADV_KEEPONFORK), N(MADV_COLD), N(MADV_PAGEOUT),
	END};

static const struct name epolls[] = {
	N(EPOLL_CTL_ADD), N(EPOLL_CTL_DEL), N(EPOLL_CTL_MOD), END};

static const struct name clocks[] = {
	N(CLOCK_REALTIME), N(CLOCK_MONOTONIC), N(CLOCK_PROCESS_CPUTIME_ID),
	N(CLOCK_THREAD_CPUTIME_ID), N(CLOCK_MONOTONIC_RAW), N(CLOCK_REALTIME_COARSE),
	N(CLOCK_MONOTONIC_COARSE), N(CLOCK_BOOTTIME), N(CLOCK_REALTIME_ALARM),
	N(CLOCK_BOOTTIME_ALARM), N(CLOCK_TAI), END};

static const struct name limits[] = {
	N(RLIMIT_CPU), N(RLIMIT_FSIZE), N(RLIMIT_DATA), N(RLIMIT_STACK), N(RLIMIT_CORE),
	N(RLIMIT_RSS), N(RLIMIT_NPROC), N(RLIMIT_NOFILE), N(RLIMIT_MEMLOCK), N(RLIMIT_AS),
	N(RLIMIT_LOCKS), N(RLIMIT_SIGPENDING), N(RLIMIT_MSGQUEUE), N(RLIMIT_NICE),
	N(RLIMIT_RTPRIO), N(RLIMIT_RTTIME), END};

static const struct name masks[] = {
	N(SIG_BLOCK), N(SIG_UNBLOCK), N(SIG_SETMASK), END};

static const struct name waits[] = {
	N(WNOHANG), N(WUNTRACED), N(WEXITED), N(WCONTINUED), N(WNOWAIT), N(__WNOTHREAD),
	N(__WALL), N(__WCLONE), END};

static const struct name shuts[] = {
	N(SHUT_RD), N(SHUT_WR), N(SHUT_RDWR), END};

static const struct name ats[] = {
	N(AT_SYMLINK_NOFOLLOW), N(AT_REMOVEDIR), N(AT_SYMLINK_FOLLOW), N(AT_NO_AUTOMOUNT),
	N(AT_EMPTY_PATH), END};

static const struct name signals[] = {
	N(SIGHUP), N(SIGINT), N(SIGQUIT), N(SIGILL), N(SIGTRAP), N(SIGABRT), N(SIGBUS),
	N(SIGFPE), N(SIGKILL), N(SIGUSR1), N(SIGSEGV), N(SIGUSR2), N(SIGPIPE), N(SIGALRM),
	N(SIGTERM), N(SIGSTKFLT), N(SIGCHLD), N(SIGCONT), N(SIGSTOP), N(SIGTSTP), N(SIGTTIN),
	N(SIGTTOU), N(SIGURG), N(SIGXCPU), N(SIGXFSZ), N(SIGVTALRM), N(SIGPROF), N(SIGWINCH),
	N(SIGIO), N(SIGPWR), N(SIGSYS), END};

/* asm-generic/errno.h and errno-base.h, which x86 and arm share. */
static const struct name errors[] = {
	N(EPERM), N(ENOENT), N(ESRCH), N(EINTR), N(EIO), N(ENXIO), N(E2BIG), N(ENOEXEC),
	N(EBADF), N(ECHILD), N(EAGAIN), N(ENOMEM), N(EACCES), N(EFAULT), N(ENOTBLK), N(EBUSY),
	N(EEXIST), N(EXDEV), N(ENODEV), N(ENOTDIR), N(EISDIR), N(EINVAL), N(ENFILE), N(EMFILE),
	N(ENOTTY), N(ETXTBSY), N(EFBIG), N(ENOSPC), N(ESPIPE), N(EROFS), N(EMLINK), N(EPIPE),
	N(EDOM), N(ERANGE), N(EDEADLK), N(ENAMETOOLONG), N(ENOLCK), N(ENOSYS), N(ENOTEMPTY),
	N(ELOOP), N(ENOMSG), N(EIDRM), N(ECHRNG), N(EL2NSYNC), N(EL3HLT), N(EL3RST), N(ELNRNG),
	N(EUNATCH), N(ENOCSI), N(EL2HLT), N(EBADE), N(EBADR), N(EXFULL), N(ENOANO), N(EBADRQC),
	N(EBADSLT), N(EBFONT), N(ENOSTR), N(ENODATA), N(ETIME), N(ENOSR), N(ENONET), N(ENOPKG),
	N(EREMOTE), N(ENOLINK), N(EADV), N(ESRMNT), N(ECOMM), N(EPROTO), N(EMULTIHOP),
	N(EDOTDOT), N(EBADMSG), N(EOVERFLOW), N(ENOTUNIQ), N(EBADFD), N(EREMCHG), N(ELIBACC),
	N(ELIBBAD), N(ELIBSCN), N(ELIBMAX), N(ELIBEXEC), N(EILSEQ), N(ERESTART), N(ESTRPIPE),
	N(EUSERS), N(ENOTSOCK), N(EDESTADDRREQ), N(EMSGSIZE), N(EPROTOTYPE), N(ENOPROTOOPT),
	N(EPROTONOSUPPORT), N(ESOCKTNOSUPPORT), N(EOPNOTSUPP), N(EPFNOSUPPORT), N(EAFNOSUPPORT),
	N(EADDRINUSE), N(EADDRNOTAVAIL), N(ENETDOWN), N(ENETUNREACH), N(ENETRESET),
	N(ECONNABORTED), N(ECONNRESET), N(ENOBUFS), N(EISCONN), N(ENOTCONN), N(ESHUTDOWN),
	N(ETOOMANYREFS), N(ETIMEDOUT), N(ECONNREFUSED), N(EHOSTDOWN), N(EHOSTUNREACH),
	N(EALREADY), N(EINPROGRESS), N(ESTALE), N(EUCLEAN), N(ENOTNAM), N(ENAVAIL), N(EISNAM),
	N(EREMOTEIO), N(EDQUOT), N(ENOMEDIUM), N(EMEDIUMTYPE), N(ECANCELED), N(ENOKEY),
	N(EKEYEXPIRED), N(EKEYREVOKED), N(EKEYREJECTED), N(EOWNERDEAD), N(ENOTRECOVERABLE),
	N(ERFKILL), N(EHWPOISON), END};

/* clang-format on */
/* Of open: values of the generic table, which x86 has; arm has others for four of them. */
static const struct name opens[] = {{00100, "O_CREAT"},
				    {00200, "O_EXCL"},
				    {00400, "O_NOCTTY"},
				    {01000, "O_TRUNC"},
				    {02000, "O_APPEND"},
				    {04000, "O_NONBLOCK"},
				    {04010000, "O_SYNC"},
				    {010000, "O_DSYNC"},
				    {020000, "O_ASYNC"},
				    {01000000, "O_NOATIME"},
				    {02000000, "O_CLOEXEC"},
				    {010000000, "O_PATH"},
				    END};
static const struct name opens_x86[] = {{040000, "O_DIRECT"},	  {0100000, "O_LARGEFILE"},
					{020200000, "O_TMPFILE"}, {0200000, "O_DIRECTORY"},
					{0400000, "O_NOFOLLOW"},  END};
static const struct name opens_arm[] = {{0200000, "O_DIRECT"},	  {0400000, "O_LARGEFILE"},
					{020040000, "O_TMPFILE"}, {040000, "O_DIRECTORY"},
					{0100000, "O_NOFOLLOW"},  END};

/* ---- writing ---- */

/* A value by its name; a number if it has none. */
static void add_one(struct buf *b, const struct name *names, uint64_t v)
{
	for (; names->name; names++) {
		if (names->value == v) {
			buf_adds(b, names->name);
			return;
		}
	}
	buf_addf(b, "%" PRId64, (int64_t)(int32_t)v);
}

/* Appends the names of the bits that are set; what is left of them. */
static uint64_t add_bits(struct buf *b, const struct name *names, uint64_t v, bool *any)
{
	for (; names->name; names++) {
		if (!names->value || (v & names->value) != names->value)
			continue;
		buf_addf(b, "%s%s", *any ? "|" : "", names->name);
		*any = true;
		v &= ~names->value;
	}
	return v;
}

static void end_bits(struct buf *b, uint64_t rest, bool any)
{
	if (rest)
		buf_addf(b, "%s0x%" PRIx64, any ? "|" : "", rest);
	else if (!any)
		buf_addc(b, '0');
}

static void add_flags(struct buf *b, const struct name *names, uint64_t v)
{
	bool any = false;
	uint64_t rest = add_bits(b, names, v, &any);

	end_bits(b, rest, any);
}

static void add_open(struct buf *b, uint64_t v, bool arm)
{
	static const char *const modes[] = {"O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE"};
	bool any = true;

	v &= UINT32_MAX;
	buf_adds(b, modes[v & 3]);
	v = add_bits(b, arm ? opens_arm : opens_x86, v & ~UINT64_C(3), &any);
	v = add_bits(b, opens, v, &any);
	end_bits(b, v, any);
}

/* A number with flags above it. */
static void add_both(struct buf *b, const struct name *names, const struct name *flags, uint64_t v)
{
	uint64_t all = 0;
	bool any = true;

	v &= UINT32_MAX;
	for (const struct name *f = flags; f->name; f++)
		all |= f->value;
	add_one(b, names, v & ~all);
	(void)add_bits(b, flags, v & all, &any);
}

static void add_signal(struct buf *b, uint64_t v)
{
	if (v >= 32 && v <= 64)
		buf_addf(b, "SIGRT_%u", (unsigned)v - 32);
	else
		add_one(b, signals, v);
}

/* The names of a kind whose values are bits, or one of a set; NULL: neither. */
static const struct name *bits_of(enum arg_kind kind)
{
	switch (kind) {
	case ARG_PROT: return prots;
	case ARG_MAP: return maps;
	case ARG_ACCESS: return accesses;
	case ARG_MSG: return msgs;
	case ARG_WAIT: return waits;
	case ARG_AT: return ats;
	default: return NULL;
	}
}

static const struct name *set_of(enum arg_kind kind)
{
	switch (kind) {
	case ARG_FAMILY: return families;
	case ARG_WHENCE: return whences;
	case ARG_FCNTL: return fcntls;
	case ARG_MADVISE: return advices;
	case ARG_EPOLL: return epolls;
	case ARG_CLOCK: return clocks;
	case ARG_RLIMIT: return limits;
	case ARG_SIGMASK: return masks;
	case ARG_SHUTDOWN: return shuts;
	default: return NULL;
	}
}

void value_add(struct buf *b, enum arg_kind kind, uint64_t v, bool arm)
{
	if (bits_of(kind)) {
		if (kind == ARG_ACCESS && !v)
			buf_adds(b, "F_OK");
		else if (kind == ARG_PROT && !v)
			buf_adds(b, "PROT_NONE");
		else
			add_flags(b, bits_of(kind), v & UINT32_MAX);
		return;
	}
	if (set_of(kind)) {
		add_one(b, set_of(kind), v & UINT32_MAX);
		return;
	}
	switch (kind) {
	case ARG_OPEN: add_open(b, v, arm); break;
	case ARG_CLOEXEC: add_flags(b, opens, v & UINT32_MAX); break;
	case ARG_SOCKET: add_both(b, sockets, socket_flags, v); break;
	case ARG_FUTEX: add_both(b, futexes, futex_flags, v); break;
	case ARG_CLONE:
		/* The low byte is the signal at the end. */
		add_flags(b, clones, v & ~UINT64_C(0xff));
		if (v & 0xff) {
			buf_addc(b, '|');
			add_signal(b, v & 0xff);
		}
		break;
	case ARG_SIGNAL: add_signal(b, v & UINT32_MAX); break;
	case ARG_MODE: buf_addf(b, "0%o", (unsigned)v & 0177777); break;
	case ARG_DIRFD:
		if ((int32_t)v == AT_FDCWD) {
			buf_adds(b, "AT_FDCWD");
			break;
		}
		buf_addf(b, "%" PRId32, (int32_t)v);
		break;
	case ARG_FD:
	case ARG_INT:
		if (v & 1u << 31)
			buf_addf(b, "%" PRId32, (int32_t)v);
		else
			buf_add_u64(b, v & UINT32_MAX, 0, ' ');
		break;
	case ARG_UINT: buf_add_u64(b, v & UINT32_MAX, 0, ' '); break;
	case ARG_LONG: buf_addf(b, "%" PRId64, (int64_t)v); break;
	case ARG_PTR:
	case ARG_PATH:
	case ARG_SOCKADDR:
		buf_adds(b, v ? "0x" : "NULL");
		if (v)
			buf_add_hex(b, v, 0, ' ');
		break;
	default:
		if (v > UINT32_MAX)
			buf_addf(b, "0x%" PRIx64, v);
		else
			buf_add_u64(b, v, 0, ' ');
	}
}

void value_add_sockaddr(struct buf *b, const char *bytes, size_t len)
{
	char text[INET6_ADDRSTRLEN];
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	uint16_t family;

	if (len < sizeof(family)) {
		buf_addf(b, "{%zu bytes}", len);
		return;
	}
	memcpy(&family, bytes, sizeof(family));
	buf_addc(b, '{');
	add_one(b, families, family);
	if (family == AF_INET && len >= sizeof(in)) {
		memcpy(&in, bytes, sizeof(in));
		inet_ntop(AF_INET, &in.sin_addr, text, sizeof(text));
		buf_addf(b, ", %s:%u", text, ntohs(in.sin_port));
	} else if (family == AF_INET6 && len >= sizeof(in6) - sizeof(in6.sin6_scope_id)) {
		memcpy(&in6, bytes, sizeof(in6) - sizeof(in6.sin6_scope_id));
		inet_ntop(AF_INET6, &in6.sin6_addr, text, sizeof(text));
		buf_addf(b, ", [%s]:%u", text, ntohs(in6.sin6_port));
	} else if (family == AF_UNIX && len > 2) {
		/* A name that begins with a zero is one of no file. */
		const char *name = bytes + 2 + !bytes[2];

		buf_adds(b, ", \"");
		buf_adds(b, bytes[2] ? "" : "@");
		buf_add_safe(b, name, strnlen(name, len - (size_t)(name - bytes)));
		buf_addc(b, '"');
	} else if (family == AF_NETLINK && len >= 8) {
		uint32_t pid;

		memcpy(&pid, bytes + 4, sizeof(pid));
		buf_addf(b, ", pid %" PRIu32, pid);
	}
	buf_addc(b, '}');
}

const char *value_errno(uint32_t err, const char **text)
{
	static const struct name kernel[] = {{512, "ERESTARTSYS"},
					     {513, "ERESTARTNOINTR"},
					     {514, "ERESTARTNOHAND"},
					     {516, "ERESTART_RESTARTBLOCK"},
					     {524, "ENOTSUPP"},
					     {529, "EIOCBQUEUED"},
					     END};

	*text = NULL;
	for (const struct name *n = kernel; n->name; n++)
		if (n->value == err) {
			*text = err < 520 ? "interrupted by a signal" : "not for programs";
			return n->name;
		}
	for (const struct name *n = errors; n->name; n++)
		if (n->value == err) {
			*text = strerror((int)err);
			return n->name;
		}
	return NULL;
}
