/* Finds system calls by their name, and groups of them. */
#include "event/syscall_names.h"
#include "strace/syscalls.h"

#include <string.h>

static const struct call_args *find(const char *name, size_t len)
{
	size_t from = 0, to = call_table_n;

	while (from < to) {
		size_t mid = from + (to - from) / 2;
		int r = strncmp(call_table[mid].name, name, len);

		r = r ? r : call_table[mid].name[len] != 0;
		if (!r)
			return &call_table[mid];
		if (r < 0)
			from = mid + 1;
		else
			to = mid;
	}
	return NULL;
}

static bool drop_end(const char *name, size_t *len, const char *end)
{
	size_t n = strlen(end);

	if (*len <= n || memcmp(name + *len - n, end, n) != 0)
		return false;
	*len -= n;
	return true;
}

/* Calls that only machines of 32 bits have. */
static const struct call_args narrow_calls[] = {
	{"_llseek",
	 {{"fd", ARG_FD},
	  {"offset_high", ARG_ULONG},
	  {"offset_low", ARG_ULONG},
	  {"result", ARG_PTR},
	  {"whence", ARG_WHENCE}}},
	{"_newselect",
	 {{"n", ARG_INT}, {"inp", ARG_PTR}, {"outp", ARG_PTR}, {"exp", ARG_PTR}, {"tvp", ARG_PTR}}},
	{"ipc",
	 {{"call", ARG_UINT},
	  {"first", ARG_INT},
	  {"second", ARG_ULONG},
	  {"third", ARG_ULONG},
	  {"ptr", ARG_PTR},
	  {"fifth", ARG_LONG}}},
	{"nice", {{"increment", ARG_INT}}},
	{"old_mmap", {{"arg", ARG_PTR}}},
	{"old_select", {{"arg", ARG_PTR}}},
	{"sigaction", {{"sig", ARG_SIGNAL}, {"act", ARG_PTR}, {"oact", ARG_PTR}}},
	{"signal", {{"sig", ARG_SIGNAL}, {"handler", ARG_PTR}}},
	{"sigprocmask", {{"how", ARG_SIGMASK}, {"set", ARG_PTR}, {"oset", ARG_PTR}}},
	{"socketcall", {{"call", ARG_INT}, {"args", ARG_PTR}}},
	{"ugetrlimit", {{"resource", ARG_RLIMIT}, {"rlim", ARG_PTR}}},
	{"umount", {{"name", ARG_PATH}}},
	{"waitpid", {{"pid", ARG_INT}, {"stat_addr", ARG_PTR}, {"options", ARG_WAIT}}},
};

const struct call_args *call_find(const char *name, size_t len)
{
	static const char *const ends[] = {"_time64", "64", "32", "2"};
	const struct call_args *c = find(name, len);

	for (size_t i = 0; !c && i < sizeof(narrow_calls) / sizeof(narrow_calls[0]); i++)
		if (strlen(narrow_calls[i].name) == len && !memcmp(narrow_calls[i].name, name, len))
			c = &narrow_calls[i];

	for (size_t i = 0; !c && i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t n = len;

		if (drop_end(name, &n, ends[i]))
			c = find(name, n);
	}
	return c;
}

enum arg_kind call_arg_kind(const struct call_args *c, const char *name, size_t len)
{
	for (size_t i = 0; c && i < CALL_ARGS_MAX && c->arg[i].name; i++)
		if (strlen(c->arg[i].name) == len && !memcmp(c->arg[i].name, name, len))
			return c->arg[i].kind;
	return ARG_PTR;
}

/* ---- groups ---- */

static bool has_kind(const char *name, size_t len, enum arg_kind a, enum arg_kind b)
{
	const struct call_args *c = call_find(name, len);

	for (size_t i = 0; c && i < CALL_ARGS_MAX; i++)
		if (c->arg[i].kind == a || c->arg[i].kind == b)
			return true;
	return false;
}

static bool is_one_of(const char *name, size_t len, const char *list)
{
	for (const char *at = list; *at; at += strcspn(at, " "), at += *at == ' ')
		if (strcspn(at, " ") == len && !memcmp(at, name, len))
			return true;
	return false;
}

static const struct group {
	const char *name;
	const char *calls; /* NULL: those with an argument of one of the kinds */
	enum arg_kind kinds[2];
} groups[] = {
	{"file", NULL, {ARG_PATH, ARG_PATH}},
	{"desc", NULL, {ARG_FD, ARG_DIRFD}},
	{"net",
	 "socket socketpair bind listen accept accept4 connect send sendto sendmsg sendmmsg recv "
	 "recvfrom recvmsg recvmmsg shutdown getsockname getpeername setsockopt getsockopt "
	 "socketcall",
	 {0}},
	{"process",
	 "fork vfork clone clone3 execve execveat exit exit_group wait4 waitid waitpid kill tkill "
	 "tgkill pidfd_open pidfd_send_signal",
	 {0}},
	{"memory",
	 "mmap mmap2 old_mmap munmap mremap mprotect pkey_mprotect madvise brk mlock mlock2 munlock "
	 "mlockall munlockall msync mincore mbind",
	 {0}},
	{"ipc",
	 "shmget shmat shmctl shmdt semget semop semctl semtimedop msgget msgsnd msgrcv msgctl ipc",
	 {0}},
	{"signal",
	 "kill tkill tgkill pause alarm signalfd signalfd4 rt_sigaction rt_sigprocmask "
	 "rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigqueueinfo rt_sigsuspend "
	 "rt_tgsigqueueinfo sigaltstack signal sigaction sigprocmask sigreturn sigsuspend sigpending",
	 {0}},
	{"stat",
	 "stat lstat fstat newfstatat fstatat64 stat64 lstat64 fstat64 statx oldstat oldlstat "
	 "oldfstat statfs fstatfs statfs64 fstatfs64 ustat",
	 {0}},
	{"creds",
	 "getuid geteuid getgid getegid setuid setgid setreuid setregid setresuid setresgid "
	 "getresuid getresgid getgroups setgroups setfsuid setfsgid capget capset prctl getuid32 "
	 "geteuid32 getgid32 getegid32 setuid32 setgid32",
	 {0}},
	{"clock",
	 "clock_gettime clock_settime clock_getres clock_nanosleep clock_adjtime gettimeofday "
	 "settimeofday adjtimex time stime nanosleep",
	 {0}},
};

static const struct group *find_group(const char *name, size_t len)
{
	/* strace has two names for it. */
	if (len == 7 && !memcmp(name, "network", 7))
		len = 3;
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (strlen(groups[i].name) == len && !memcmp(groups[i].name, name, len))
			return &groups[i];
	return NULL;
}

bool call_in_group(const char *name, size_t len, const char *group, size_t group_len)
{
	const struct group *g = find_group(group, group_len);

	if (!g)
		return false;
	return g->calls ? is_one_of(name, len, g->calls)
			: has_kind(name, len, g->kinds[0], g->kinds[1]);
}

bool call_group_known(const char *group, size_t len)
{
	return find_group(group, len) != NULL;
}

bool call_name_known(const char *name, size_t len)
{
	static const char *const archs[] = {"x86_64", "i386", "aarch64", "arm"};

	if (call_find(name, len) ||
	    is_one_of(name, len, "old_mmap old_select restart_syscall cacheflush set_tls"))
		return true;
	for (size_t a = 0; a < sizeof(archs) / sizeof(archs[0]); a++) {
		for (uint64_t n = 0; n < CALL_NUMBERS_MAX; n++) {
			const char *s = syscall_name(archs[a], n);

			if (s && strlen(s) == len && !memcmp(s, name, len))
				return true;
		}
	}
	return false;
}
