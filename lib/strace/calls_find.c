/* Finds system calls by their name, and groups of them. */
#include "strace/calls.h"

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

const struct call_args *call_find(const char *name, size_t len)
{
	static const char *const ends[] = {"_time64", "64", "32", "2"};
	const struct call_args *c = find(name, len);

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

bool call_in_group(const char *name, size_t len, const char *group, size_t group_len)
{
	static const char net[] =
		"socket socketpair bind listen accept accept4 connect send sendto "
		"sendmsg sendmmsg recv recvfrom recvmsg recvmmsg shutdown "
		"getsockname getpeername setsockopt getsockopt socketcall";
	static const char process[] =
		"fork vfork clone clone3 execve execveat exit exit_group wait4 "
		"waitid waitpid kill tkill tgkill pidfd_open pidfd_send_signal";
	static const char memory[] = "mmap mmap2 munmap mremap mprotect pkey_mprotect madvise brk "
				     "mlock mlock2 munlock mlockall munlockall msync mincore mbind";
	static const char ipc[] = "shmget shmat shmctl shmdt semget semop semctl semtimedop msgget "
				  "msgsnd msgrcv msgctl ipc";
	static const char signals[] = "kill tkill tgkill pause alarm signalfd signalfd4";

	if (group_len == 4 && !memcmp(group, "file", 4))
		return has_kind(name, len, ARG_PATH, ARG_PATH);
	if (group_len == 4 && !memcmp(group, "desc", 4))
		return has_kind(name, len, ARG_FD, ARG_DIRFD);
	if ((group_len == 3 && !memcmp(group, "net", 3)) ||
	    (group_len == 7 && !memcmp(group, "network", 7)))
		return is_one_of(name, len, net);
	if (group_len == 7 && !memcmp(group, "process", 7))
		return is_one_of(name, len, process);
	if (group_len == 6 && !memcmp(group, "memory", 6))
		return is_one_of(name, len, memory);
	if (group_len == 3 && !memcmp(group, "ipc", 3))
		return is_one_of(name, len, ipc);
	if (group_len == 6 && !memcmp(group, "signal", 6))
		return (len > 6 && !memcmp(name, "rt_sig", 6)) || is_one_of(name, len, signals);
	return false;
}
