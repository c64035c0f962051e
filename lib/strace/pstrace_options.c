/* The command line options of pstrace. */
#include "base/err.h"
#include "strace/strace.h"
#include "strace/syscalls.h"
#include "table/gate.h"

#include <string.h>

enum {
	FAILED = OPT_NO_SHORT,
	SLOWER,
	BY_THREAD,
	RAW,
	ARCH,
	ABI,
	STRACE,
	TSV,
	JSON,
	SORT,
	TOP,
	FAIL_IF
};

const struct opt strace_options[] = {
	{'e', "calls", "CALLS",
	 "only CALLS: names, patterns, %file, %desc, %net, %process, %memory, ..."},
	{FAILED, "failed", NULL, "only calls that failed"},
	{SLOWER, "slower", "TIME", "only calls that took TIME or longer, such as 1ms"},
	{'s', "summary", NULL, "a table of calls, their errors and times, not the calls"},
	{BY_THREAD, "by-thread", NULL, "with --summary: a row for each thread's calls"},
	{'n', "top", "N", "with --summary: only the first N rows; the others become one"},
	{SORT, "sort", "COLUMN", "with --summary: sort by time, errors, count, max, call, ..."},
	GATE_OPTION(FAIL_IF, "max(time) > 10ms"),
	{RAW, "raw", NULL, "numbers, not the names of flags and errors"},
	{ARCH, "arch", "ARCH", "calls and flags are those of ARCH: x86_64, i386, aarch64, arm"},
	{ABI, "abi", "ABI",
	 "calls are 32-bit or 64-bit; 32:WHO: those of a thread, by name or number"},
	{STRACE, "strace", NULL, "lines as strace -f -ttt -T prints them"},
	{TSV, "tsv", NULL, "write tab-separated values"},
	{JSON, "json", NULL, "write JSON, one object a call"},
	{0},
};

#define TABLES "summary by-thread"

const struct opt_rule strace_rules[] = {
	{"top", NULL, TABLES},
	{"sort", NULL, TABLES},
	{"fail-if", NULL, TABLES},
	{"raw", TABLES, NULL},
	{"strace", TABLES " tsv json", NULL},
	{"tsv", "json", NULL},
	{0},
};

/* Names of -e that are no patterns have to be those of calls or groups. */
static int check_calls(const char *list, struct buf *why)
{
	list += strncmp(list, "trace=", 6) ? 0 : 6;
	for (list += *list == '!'; *list; list += *list == ',') {
		size_t n;

		list += strspn(list, " ");
		n = strcspn(list, ",");
		if (*list == '%' ? call_group_known(list + 1, n - 1)
				 : memchr(list, '*', n) || memchr(list, '?', n) ||
					   memchr(list, '[', n) || call_group_known(list, n) ||
					   call_name_known(list, n)) {
			list += n;
			continue;
		}
		buf_adds(why,
			 *list == '%' ? "not a group of system calls: " : "not a system call: ");
		buf_add_safe(why, list, n);
		return PP_EUSAGE;
	}
	return 0;
}

static int add_abi(struct strace_opts *o, const char *arg, struct buf *why)
{
	bool fine = !strncmp(arg, "32", 2) || !strncmp(arg, "64", 2);

	if (!fine || (arg[2] && (arg[2] != ':' || !arg[3]))) {
		buf_adds(why, "--abi: neither 32 nor 64, with :WHO after it: ");
		buf_add_safe(why, arg, strlen(arg));
		return PP_EUSAGE;
	}
	if (o->nabis == STRACE_ABIS_MAX) {
		buf_adds(why, "--abi: too often");
		return PP_EUSAGE;
	}
	o->abis[o->nabis++] = arg;
	return 0;
}

int strace_option(void *opts, int id, const char *arg, struct buf *why)
{
	struct strace_opts *o = opts;

	switch (id) {
	case 'e': o->calls = arg; return check_calls(arg, why);
	case FAILED: o->failed = true; break;
	case SLOWER: return opt_duration("slower", arg, false, &o->slower, why);
	case 's': o->summary = true; break;
	case BY_THREAD: o->summary = o->by_thread = true; break;
	case 'n': {
		uint64_t n = 0;

		if (opt_u64(arg, 1, TABLE_ROWS_MAX, &n)) {
			buf_adds(why, "--top: not a number of rows: ");
			buf_add_safe(why, arg, strlen(arg));
			return PP_EUSAGE;
		}
		o->table.top = (uint32_t)n;
		break;
	}
	case SORT: o->table.sort = arg; break;
	case FAIL_IF: return gate_texts_add(&o->table.gates, arg, why);
	case RAW: o->raw = true; break;
	case ARCH: o->arch = arg; break;
	case ABI: return add_abi(o, arg, why);
	case STRACE: o->form = STRACE_LINES; break;
	case TSV:
		o->form = STRACE_TSV;
		o->table.form = TABLE_FORM_TSV;
		break;
	case JSON:
		o->form = STRACE_JSON;
		o->table.form = TABLE_FORM_JSON;
		break;
	}
	return 0;
}
