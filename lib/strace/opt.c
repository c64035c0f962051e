/* The command line options of pstrace. */
#include "base/err.h"
#include "strace/strace.h"

enum { FAILED = OPT_NO_SHORT, SLOWER, BY_THREAD, RAW, ARCH, TSV, JSON, SORT, TOP };

const struct opt strace_options[] = {
	{'e', "calls", "CALLS",
	 "only CALLS: names, patterns, file, desc, net, process, memory, ..."},
	{FAILED, "failed", NULL, "only calls that failed"},
	{SLOWER, "slower", "TIME", "only calls that took TIME or longer, such as 1ms"},
	{'s', "summary", NULL, "a table of calls, their errors and times, not the calls"},
	{BY_THREAD, "by-thread", NULL, "with --summary: a row for each thread's calls"},
	{'n', "top", "N", "with --summary: only the first N rows; the others become one"},
	{SORT, "sort", "COLUMN", "with --summary: sort by time, errors, count, max, call, ..."},
	{RAW, "raw", NULL, "numbers, not the names of flags and errors"},
	{ARCH, "arch", "ARCH", "calls and flags are those of ARCH: x86_64, i386, aarch64"},
	{TSV, "tsv", NULL, "write tab-separated values"},
	{JSON, "json", NULL, "write JSON, one object a call"},
	{0},
};

int strace_option(void *opts, int id, const char *arg, struct buf *why)
{
	struct strace_opts *o = opts;

	switch (id) {
	case 'e': o->calls = arg; break;
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
	case RAW: o->raw = true; break;
	case ARCH: o->arch = arg; break;
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
