/* The marks of stacks that are not whole, what helps them, and the account of all. */
#include "stream/ends.h"

#include <string.h>

#define COPIES "record copies of the stack (pcap-perf -g)"
#define LARGER "record larger copies of the stack (--call-graph dwarf,65528)"
#define BINARY "psym --symfs with the recorded machine's files, or --debuginfod"
#define WALKED "record with --call-graph fp: a larger copy does not help"

/* The mark's text, whether the file of the last frame follows it, and what helps. */
static const struct end_words {
	const char *mark;
	bool file;
	const char *help;
} words[PS_END_MAX] = {
	[PS_END_COPY] = {"truncated", false, LARGER},
	[PS_END_NO_CFI] = {"no unwind table", true,
			   "build it with -fasynchronous-unwind-tables or frame pointers; its "
			   "debug package can have .debug_frame"},
	[PS_END_NO_FILE] = {"file not found", true, BINARY},
	[PS_END_BUILD_ID] = {"other build-id", true, BINARY},
	[PS_END_NO_MAPPING] = {"broken stack", false, COPIES},
	[PS_END_LOOP] = {"stack in a circle", false, NULL},
	[PS_END_MEMORY] = {"memory not copied", false, LARGER},
	[PS_END_REGISTERS] = {"register not recorded", false, "record without --user-regs"},
	[PS_END_OTHER_STACK] = {"on another stack", false, WALKED},
	[PS_END_DEPTH] = {"too deep", false, "sysctl kernel.perf_event_max_stack"},
	[PS_END_DAMAGED] = {"damaged unwind table", true,
			    "psym --symfs with a sound copy of the file"},
	[PS_END_GENERATED] = {"generated code", false,
			      "a perf map of the still living process (jcmd PID "
			      "Compiler.perfmap); java -XX:+PreserveFramePointer, node --perf-prof "
			      "--perf-prof-unwinding-info, python3 -X perf"},
	[PS_END_NOT_THERE] = {"stack not in memory", false, WALKED},
	[PS_END_FRAMES] = {"no frame pointer", true, COPIES},
	[PS_END_UNKNOWN] = {"mappings not recorded", false, "record from the start of the process"},
};

const char *ps_end_mark(uint32_t end, bool *file)
{
	*file = end < PS_END_MAX && words[end].file;
	return end < PS_END_MAX ? words[end].mark : NULL;
}

void ps_end_mark_add(struct buf *b, uint32_t flags, struct ps_str path)
{
	uint32_t end = (flags & PS_STACK_END_MASK) >> PS_STACK_END_SHIFT;
	uint32_t bytes = flags >> PS_STACK_BYTES_SHIFT;
	bool file;
	const char *text = ps_end_mark(end, &file), *slash;

	if (!text)
		return;
	buf_addf(b, "[%s", text);
	if (file && path.len) {
		slash = memrchr(path.p, '/', path.len);
		slash = slash ? slash + 1 : path.p;
		buf_adds(b, ": ");
		buf_add(b, slash, (size_t)(path.p + path.len - slash));
	} else if (end == PS_END_COPY && bytes) {
		buf_addf(b, ": %u kB", (bytes + 1023) / 1024);
	}
	buf_addc(b, ']');
}

const char *ps_end_help(uint32_t end)
{
	return end < PS_END_MAX ? words[end].help : NULL;
}

uint32_t ps_end_of_mark(const char *frame, size_t n)
{
	if (n < 3 || frame[0] != '[' || frame[n - 1] != ']')
		return PS_END_NONE;
	for (uint32_t i = 0; i < PS_END_MAX; i++) {
		const char *mark = words[i].mark;
		size_t len = mark ? strlen(mark) : 0;

		if (mark && n >= len + 2 && !memcmp(frame + 1, mark, len) &&
		    (n == len + 2 || !memcmp(frame + 1 + len, ": ", 2)))
			return i;
	}
	return PS_END_NONE;
}

uint8_t ps_ends_add(struct ps_ends *e, uint8_t above, const char *frame, size_t n,
		    long double weight)
{
	uint8_t end = above ? above : (uint8_t)ps_end_of_mark(frame, n);

	e->marked[end] += weight;
	e->all += weight;
	return end;
}

/* The end, among those that are left, that most stacks have; PS_END_NONE: there is none. */
static uint32_t take_most(long double left[PS_END_MAX])
{
	uint32_t most = PS_END_NONE;

	for (uint32_t i = 1; i < PS_END_MAX; i++)
		if (words[i].mark && left[i] > 0 && (!most || left[i] > left[most]))
			most = i;
	return most;
}

/* What helps the most stacks: several ends can have the same help. */
static const char *best_help(const struct ps_ends *e)
{
	long double most = 0;
	const char *best = NULL;

	for (uint32_t i = 1; i < PS_END_MAX; i++) {
		long double sum = 0;

		for (uint32_t k = 1; words[i].help && k < PS_END_MAX; k++)
			if (words[k].help && !strcmp(words[k].help, words[i].help))
				sum += e->marked[k];
		if (sum > most) {
			most = sum;
			best = words[i].help;
		}
	}
	return best;
}

void ps_ends_describe(const struct ps_ends *e, struct buf *b)
{
	long double left[PS_END_MAX], marked = 0;
	const char *help = best_help(e);
	uint32_t i, shown = 0;

	memcpy(left, e->marked, sizeof(left));
	for (i = 0; i < PS_END_MAX; i++)
		marked += words[i].mark ? left[i] : 0;
	if (!(e->all > 0) || !(marked > 0)) {
		buf_adds(b, e->all > 0 ? "all stacks are complete" : "no stacks");
		return;
	}
	buf_addf(b, "%.1Lf %% of the stacks are complete", 100 * (e->all - marked) / e->all);
	while ((i = take_most(left))) {
		buf_addf(b, "%s[%s] %.1Lf %%", shown++ ? ", " : "; ", words[i].mark,
			 100 * left[i] / e->all);
		left[i] = 0;
	}
	if (help)
		buf_addf(b, "; what helps most: %s", help);
}
