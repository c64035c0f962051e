/* Events by perf's names, by numbers, and breakpoints. */
#include "base/err.h"
#include "base/opt.h"
#include "perfdata/format.h"
#include "pevent/parts.h"

#include <ctype.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HW PERF_TYPE_HARDWARE
#define SW PERF_TYPE_SOFTWARE

/* perf's names of the generic events and their aliases; perf shows the name that was used. */
static const struct {
	const char *name;
	uint32_t type;
	uint32_t config;
	uint32_t tool;
} known[] = {
#define HW_EVENT(kernel, perf) {perf, HW, PERF_COUNT_HW_##kernel, 0},
#define SW_EVENT(kernel, perf) {perf, SW, PERF_COUNT_SW_##kernel, 0},
	PERF_HW_EVENTS(HW_EVENT) PERF_SW_EVENTS(SW_EVENT)
#undef HW_EVENT
#undef SW_EVENT
		{"cpu-cycles", HW, PERF_COUNT_HW_CPU_CYCLES, 0},
	{"branch-instructions", HW, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 0},
	{"idle-cycles-frontend", HW, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, 0},
	{"idle-cycles-backend", HW, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, 0},
	{"faults", SW, PERF_COUNT_SW_PAGE_FAULTS, 0},
	{"cs", SW, PERF_COUNT_SW_CONTEXT_SWITCHES, 0},
	{"migrations", SW, PERF_COUNT_SW_CPU_MIGRATIONS, 0},
	{"duration_time", SW, PERF_COUNT_SW_DUMMY, PEVENT_DURATION_TIME},
	{"user_time", SW, PERF_COUNT_SW_DUMMY, PEVENT_USER_TIME},
	{"system_time", SW, PERF_COUNT_SW_DUMMY, PEVENT_SYSTEM_TIME},
};
#define N_KNOWN (sizeof(known) / sizeof(known[0]))

/* Words of cache events; the config is cache | op << 8 | result << 16. */
struct word {
	const char *name;
	uint32_t value;
};

static const struct word caches[] = {
#define CACHE(kernel, perf) {perf, PERF_COUNT_HW_CACHE_##kernel},
	PERF_CACHES(CACHE)
#undef CACHE
		{"l1-d", PERF_COUNT_HW_CACHE_L1D},
	{"l1d", PERF_COUNT_HW_CACHE_L1D},
	{"L1-data", PERF_COUNT_HW_CACHE_L1D},
	{"l1-i", PERF_COUNT_HW_CACHE_L1I},
	{"l1i", PERF_COUNT_HW_CACHE_L1I},
	{"L1-instruction", PERF_COUNT_HW_CACHE_L1I},
	{"L2", PERF_COUNT_HW_CACHE_LL},
	{"d-tlb", PERF_COUNT_HW_CACHE_DTLB},
	{"Data-TLB", PERF_COUNT_HW_CACHE_DTLB},
	{"i-tlb", PERF_COUNT_HW_CACHE_ITLB},
	{"Instruction-TLB", PERF_COUNT_HW_CACHE_ITLB},
	{"branches", PERF_COUNT_HW_CACHE_BPU},
	{"bpu", PERF_COUNT_HW_CACHE_BPU},
	{"btb", PERF_COUNT_HW_CACHE_BPU},
	{"bpc", PERF_COUNT_HW_CACHE_BPU},
	{0},
};

#define OP(x)	  ((uint32_t)PERF_COUNT_HW_CACHE_OP_##x << 8)
#define RESULT(x) ((uint32_t)PERF_COUNT_HW_CACHE_RESULT_##x << 16)
static const struct word ops[] = {
	{"load", OP(READ)},
	{"loads", OP(READ)},
	{"read", OP(READ)},
	{"store", OP(WRITE)},
	{"stores", OP(WRITE)},
	{"write", OP(WRITE)},
	{"prefetch", OP(PREFETCH)},
	{"prefetches", OP(PREFETCH)},
	{"speculative-read", OP(PREFETCH)},
	{"speculative-load", OP(PREFETCH)},
	{0},
};
static const struct word results[] = {
	{"refs", RESULT(ACCESS)},
	{"Reference", RESULT(ACCESS)},
	{"ops", RESULT(ACCESS)},
	{"access", RESULT(ACCESS)},
	{"misses", RESULT(MISS)},
	{"miss", RESULT(MISS)},
	{0},
};

/* Moves *p over "-WORD", whose value is added to *config. */
static bool take_word(const char **p, const struct word *words, uint64_t *config)
{
	if (**p != '-')
		return false;
	for (; words->name; words++) {
		size_t len = strlen(words->name);
		const char *end = *p + 1 + len;

		if (strncasecmp(*p + 1, words->name, len) != 0 || (*end && *end != '-'))
			continue;
		*config |= words->value;
		*p = end;
		return true;
	}
	return false;
}

/* A cache, then what is done and what comes of it, in either order; loads and accesses else. */
static bool find_cache(const char *name, struct pevent *ev)
{
	for (const struct word *c = caches; c->name; c++) {
		size_t len = strlen(c->name);
		const char *p = name + len;
		uint64_t config = c->value;
		bool result;

		if (strncasecmp(name, c->name, len) != 0 || (*p && *p != '-'))
			continue;
		result = take_word(&p, results, &config);
		(void)take_word(&p, ops, &config);
		if (!result)
			(void)take_word(&p, results, &config);
		if (*p)
			continue;
		ev->attr.type = PERF_TYPE_HW_CACHE;
		ev->attr.config = config;
		return true;
	}
	return false;
}

/* rNNN: a number of the CPU's manual, hexadecimal. */
static bool find_raw(const char *name, struct pevent *ev)
{
	size_t digits = name[0] == 'r' ? strspn(name + 1, "0123456789abcdefABCDEF") : 0;

	if (!digits || digits > 16 || name[1 + digits])
		return false;
	ev->attr.type = PERF_TYPE_RAW;
	ev->attr.config = strtoull(name + 1, NULL, 16);
	return true;
}

bool name_find(const char *name, struct pevent *ev)
{
	for (size_t i = 0; i < N_KNOWN; i++) {
		if (strcmp(name, known[i].name) != 0)
			continue;
		ev->attr.type = known[i].type;
		ev->attr.config = known[i].config;
		ev->tool = known[i].tool;
		return true;
	}
	return find_cache(name, ev) || find_raw(name, ev);
}

const char *name_in_sysfs(const char *name)
{
	if (strcmp(name, "cycles") == 0)
		return "cpu-cycles";
	return strcmp(name, "branches") == 0 ? "branch-instructions" : NULL;
}

const char *name_nearest(const char *name)
{
	const char *names[N_KNOWN];

	for (size_t i = 0; i < N_KNOWN; i++)
		names[i] = known[i].name;
	return opt_nearest(name, names, N_KNOWN);
}

/* The caches' usual names: "LLC-load-misses". */
static int each_cache(name_visit *visit, void *ctx)
{
	static const char *const tails[] = {"-loads",	     "-load-misses", "-stores",
					    "-store-misses", "-prefetches",  "-prefetch-misses"};
#define CACHE(kernel, perf) perf,
	static const char *const usual[] = {PERF_CACHES(CACHE)};
#undef CACHE
	char name[64];
	int rc = 0;

	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
		for (size_t k = 0; k < 6 && !rc; k++) {
			struct pevent ev = {.attr = {.size = sizeof(ev.attr)}};

			snprintf(name, sizeof(name), "%s%s", usual[i], tails[k]);
			if (find_cache(name, &ev))
				rc = visit(ctx, name, NULL, "cache", &ev);
		}
	}
	return rc;
}

int name_each(name_visit *visit, void *ctx)
{
	int rc = 0;

	for (size_t i = 0; i < N_KNOWN && !rc; i++) {
		struct pevent ev = {.attr = {.size = sizeof(ev.attr)}};
		const char *other = NULL;
		bool first = true;

		for (size_t k = 0; k < N_KNOWN && !known[i].tool; k++) {
			if (k == i || known[k].type != known[i].type || known[k].tool ||
			    known[k].config != known[i].config)
				continue;
			other = known[k].name;
			first = i < k;
		}
		(void)name_find(known[i].name, &ev);
		if (first)
			rc = visit(ctx, known[i].name, other,
				   ev.tool		 ? "tool"
				   : known[i].type == HW ? "hardware"
							 : "software",
				   &ev);
	}
	return rc ? rc : each_cache(visit, ctx);
}

/* A number of C, and what follows it. */
static bool number(const char *s, uint64_t *v, char **end)
{
	if (!isdigit((unsigned char)*s))
		return false;
	errno = 0;
	*v = strtoull(s, end, 0);
	return !errno;
}

bool name_numbers(const char *text, struct pevent *ev, const char **mods)
{
	uint64_t type, config;
	char *end;

	if (!number(text, &type, &end) || *end != ':' || type > UINT32_MAX ||
	    !number(end + 1, &config, &end) || (*end && *end != ':'))
		return false;
	ev->attr.type = (uint32_t)type;
	ev->attr.config = config;
	*mods = *end ? end + 1 : end;
	return true;
}

/* r, w and x, up to the end or a colon. 0: other letters. */
static uint32_t access_bits(const char *s, size_t len)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < len; i++) {
		if (s[i] != 'r' && s[i] != 'w' && s[i] != 'x')
			return 0;
		bits |= s[i] == 'r'   ? HW_BREAKPOINT_R
			: s[i] == 'w' ? HW_BREAKPOINT_W
				      : HW_BREAKPOINT_X;
	}
	return bits;
}

int name_breakpoint(const char *text, struct pevent *ev, const char **mods, struct buf *why)
{
	uint64_t addr, len = 0;
	uint32_t bits = 0;
	char *end;

	if (!number(text, &addr, &end) || (*end == '/' && (!number(end + 1, &len, &end) || !len)) ||
	    (*end && *end != ':')) {
		buf_adds(why, "a breakpoint is mem:ADDRESS[/LENGTH][:rwx], not mem:");
		buf_add_safe(why, text, strlen(text));
		return PP_EUSAGE;
	}
	if (*end) {
		size_t n = strcspn(++end, ":");

		bits = access_bits(end, n);
		if (bits)
			end += n + (end[n] == ':');
	}
	*mods = end;
	bits = bits ? bits : HW_BREAKPOINT_R | HW_BREAKPOINT_W;
	if (!len)
		len = bits == HW_BREAKPOINT_X ? sizeof(long) : HW_BREAKPOINT_LEN_4;
	ev->attr.type = PERF_TYPE_BREAKPOINT;
	ev->attr.bp_addr = addr;
	ev->attr.bp_type = bits;
	ev->attr.bp_len = len;
	return 0;
}
