/* Where stacks begin: by unwind tables, by names, and by the code that leads there. */
#include "unwind/start.h"

#include "base/err.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define CODE_MAX (64u << 10) /* bytes of a function that are searched; pthread_create has 4 kB */

int start_by_table(struct cfi *c, const struct rows *rows, uint64_t vaddr, bool *is)
{
	uint32_t id;
	int rc = cfi_row(c, vaddr, &id);

	*is = !rc && rows_get(rows, id)->flags & ROW_OUTERMOST;
	return rc || *is ? rc : cfi_is_entry(c, vaddr, is);
}

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
		/* These leave a goroutine for the stack of the scheduler. */
		"runtime.mcall",
		"runtime.morestack",
	};
	/* Threads of theirs. */
	static const char *const of_threads[] = {
		"start_thread", "__pthread_start", "__start_thread", "clone",	  "__clone",
		"clone3",	"__clone3",	   "thread_start",   "start_c11",
	};

	return is_one_of(any, sizeof(any) / sizeof(*any), name) ||
	       (threads && is_one_of(of_threads, sizeof(of_threads) / sizeof(*of_threads), name));
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

static int64_t displacement(const uint8_t *p)
{
	return (int32_t)(p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
}

/* Whether the 7 bytes at p are a call (call rel32), or take an address (lea n(%rip),%reg). */
static bool leads(const uint8_t *p, uint64_t vaddr, bool call, uint64_t *target)
{
	if (call && *p == 0xe8)
		*target = vaddr + 5 + (uint64_t)displacement(p + 1);
	else if (!call && (*p & 0xfb) == 0x48 && p[1] == 0x8d && (p[2] & 0xc7) == 5)
		*target = vaddr + 7 + (uint64_t)displacement(p + 3);
	else
		return false;
	return true;
}

/*
 * Whether the code from[0] to from[1] calls a function, or takes its address; `deep`: or a function
 * that it calls does. 0 or PP_ENOMEM.
 */
static int search(struct cfi *c, const uint64_t from[2], bool call, bool deep, uint64_t target,
		  bool *is)
{
	uint64_t n = from[1] - from[0], to, range[2];
	struct cfi_function f;
	uint8_t *code;
	int rc = 0;

	if (n < 7 || n > CODE_MAX)
		return 0;
	code = malloc(n);
	if (!code)
		return PP_ENOMEM;
	if (cfi_read(c, from[0], code, n))
		n = 0;
	for (uint64_t i = 0; i + 7 <= n && !*is && !rc; i++) {
		if (leads(code + i, from[0] + i, call, &to))
			*is = to == target;
		if (*is || !deep || !leads(code + i, from[0] + i, true, &to))
			continue;
		rc = cfi_function(c, to, &f);
		range[0] = to;
		range[1] = f.end;
		if (!rc && f.start == to)
			rc = search(c, range, call, false, target, is);
		rc = rc == PP_ENOMEM ? rc : 0;
	}
	free(code);
	return rc;
}

int start_by_code(struct cfi *c, const struct start_anchors *a, uint64_t vaddr, bool *is)
{
	struct cfi_function f;
	int rc;

	*is = false;
	if (cfi_machine(c) != EM_X86_64 || (!a->main[1] && !a->thread[1]))
		return 0;
	rc = cfi_function(c, vaddr, &f);
	if (rc)
		return rc == PP_ENOMEM ? rc : 0;
	rc = search(c, a->main, true, false, f.start, is);
	return rc || *is ? rc : search(c, a->thread, false, true, f.start, is);
}
