/*
 * The probes of --paths: where the kernel and programs have paths and addresses of sockets at hand,
 * of which system calls have addresses only.
 *
 * The kernel copies every path by one function, which has those of all programs when it returns,
 * and every address of a socket before it goes on with it.
 * Where it has no probes of its own functions, those of the C library's are made; they do not tell
 * what the library opens for itself, the loader opens, and programs without that library do.
 */
#include "base/err.h"
#include "pevent/tracefs.h"
#include "record/pcap_perf_options.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The registers of a function's first two arguments. */
#if defined(__x86_64__)
#define ARG1 "%di"
#define ARG2 "%si"
#elif defined(__aarch64__)
#define ARG1 "%x0"
#define ARG2 "%x1"
#elif defined(__riscv)
#define ARG1 "%a0"
#define ARG2 "%a1"
#endif

#ifndef ARG1
int record_add_paths(struct record_options *o, struct buf *why)
{
	(void)o;
	buf_adds(why, "--paths: not on this machine: where functions have arguments is not known");
	return PP_EUNSUPPORTED;
}
#else

/*
 * What was copied: the user's memory may not be there yet, and has no arrays in probes. Compilers
 * make two functions of getname_flags, of which only the second does the work of all.
 */
#define COPIED	" filename=+0(+0($retval)):string"
#define CONNECT "__sys_connect_file sockaddr=+0(" ARG2 "):x8[16]"
#define PART	"getname_flags.part.0"
static const char *const of_kernel[] = {"getname_flags%return" COPIED, CONNECT};
static const char *const of_split_kernel[] = {"getname_flags=" PART "%return" COPIED, CONNECT};

#define FIRST(name)  name " filename=+0(" ARG1 "):string"
#define SECOND(name) name " filename=+0(" ARG2 "):string"
static const char *const of_libc[] = {
	FIRST("open"),
	SECOND("openat"),
	FIRST("creat"),
	FIRST("stat"),
	FIRST("lstat"),
	SECOND("fstatat"),
	SECOND("statx"),
	FIRST("access"),
	SECOND("faccessat"),
	FIRST("execve"),
	FIRST("readlink"),
	FIRST("unlink"),
	SECOND("unlinkat"),
	FIRST("mkdir"),
	FIRST("rmdir"),
	FIRST("chdir"),
	"rename filename=+0(" ARG1 "):string newname=+0(" ARG2 "):string",
	"connect sockaddr=+0(" ARG2 "):x8[16]",
};

static bool kernel_has_probes(void)
{
	struct buf why = BUF_INIT;
	char path[512];
	const char *dir;
	bool yes = !tracefs_find(&dir, &why) &&
		   (size_t)snprintf(path, sizeof(path), "%s/kprobe_events", dir) < sizeof(path) &&
		   !access(path, W_OK);

	buf_release(&why);
	return yes;
}

/* Whether the compiler has split getname_flags. */
static bool is_split(void)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[256];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = strstr(line, " " PART "\n") != NULL;
	if (f)
		fclose(f);
	return found;
}

/* Whether the beginnings of calls are recorded anyway. */
static bool has_calls(const struct pevents *e)
{
	for (size_t i = 0; i < e->n; i++)
		if (e->v[i].tp && !strncmp(e->v[i].tp, "sys_enter", 9))
			return true;
	return false;
}

int record_add_paths(struct record_options *o, struct buf *why)
{
	bool kernel = kernel_has_probes();
	const char *const *v = !kernel ? of_libc : is_split() ? of_split_kernel : of_kernel;
	size_t n = kernel ? sizeof(of_kernel) / sizeof(of_kernel[0])
			  : sizeof(of_libc) / sizeof(of_libc[0]);
	int rc = has_calls(&o->c.events)
			 ? 0
			 : pevents_add(&o->c.events, "raw_syscalls:sys_enter,raw_syscalls:sys_exit",
				       why);

	for (size_t i = 0; i < n && !rc; i++) {
		rc = probe_words_add(&o->probes, v[i], kernel ? PROBE_OF_KERNEL : PROBE_OF_FILE,
				     why);
		if (!rc)
			o->probes.v[o->probes.n - 1].file = kernel ? NULL : "libc.so.6";
	}
	return rc;
}
#endif
