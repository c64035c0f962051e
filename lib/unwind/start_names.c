/* Where stacks begin, and what changes them: by the names of functions. */
#include "unwind/start.h"

#include <string.h>

/* The length of a name without its version, or the ABI that Go's assembler gives it. */
static size_t plain_length(const char *name)
{
	const char *abi = strstr(name, ".abi0");

	return abi && !abi[5] ? (size_t)(abi - name) : strcspn(name, "@");
}

static bool is_one_of(const char *const *names, size_t count, const char *name)
{
	size_t n = plain_length(name);

	for (size_t i = 0; i < count; i++)
		if (strlen(names[i]) == n && !memcmp(names[i], name, n))
			return true;
	return false;
}

bool start_by_name(const char *name, bool threads)
{
	/* Go's, and what C libraries start programs with: glibc, musl, bionic. */
	static const char *const any[] = {
		"_start",
		"_start_c",
		"__libc_start_main",
		"__libc_start_main_impl",
		"__libc_start_call_main",
		"libc_start_main_stage2",
		"__libc_init",
		"__libc_csu_init",
		"_dl_start_user",
		"runtime.goexit",
		"runtime.goexit1",
		"runtime.rt0_go",
		"runtime.mstart",
	};
	/* Threads of theirs. */
	static const char *const of_threads[] = {
		"start_thread", "__pthread_start", "__start_thread", "clone",	  "__clone",
		"clone3",	"__clone3",	   "thread_start",   "start_c11",
	};

	return is_one_of(any, sizeof(any) / sizeof(*any), name) ||
	       (threads && is_one_of(of_threads, sizeof(of_threads) / sizeof(*of_threads), name));
}

unsigned start_of_go(const char *name)
{
	static const char *const leave[] = {"runtime.systemstack", "runtime.asmcgocall",
					    "runtime.cgocallback"};
	static const char *const top[] = {"runtime.mcall", "runtime.morestack"};

	return is_one_of(leave, sizeof(leave) / sizeof(*leave), name) ? ROW_LEAVES
	       : is_one_of(top, sizeof(top) / sizeof(*top), name)     ? ROW_TOP
								      : 0;
}

void start_anchor(struct start_anchors *a, const char *name, uint64_t start, uint64_t end)
{
	size_t n = plain_length(name);
	uint64_t *place = n == 17 && !memcmp(name, "__libc_start_main", n) ? a->main
			  : n == 14 && !memcmp(name, "pthread_create", n)  ? a->thread
									   : NULL;

	a->go |= n == 14 && !memcmp(name, "runtime.goexit", n);
	if (place && end > start) {
		place[0] = start;
		place[1] = end;
	}
}
