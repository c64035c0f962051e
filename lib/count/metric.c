/*
 * Figures that follow from several counts: instructions per cycle, parts of accesses that missed,
 * rates per second of CPU time. They are those of perf stat, in its words. An event's partners are
 * those in the same group and cgroup that leave out the same levels; several of one kind (cpu-clock
 * and task-clock) count by their mean.
 */
#include "count/count.h"

#include <linux/perf_event.h>
#include <string.h>

/* What an event is to others. */
enum role {
	ROLE_NONE,
	ROLE_CLOCK,
	ROLE_CYCLES,
	ROLE_INSTRUCTIONS,
	ROLE_STALLED_FRONT,
	ROLE_STALLED_BACK,
	ROLE_BRANCHES,
	ROLE_BRANCH_MISSES,
	ROLE_CACHE_REFS,
	ROLE_CACHE_MISSES,
	ROLE_L1D,
	ROLE_L1I,
	ROLE_LL,
	ROLE_DTLB,
	ROLE_ITLB,
	ROLE_L1D_MISSES,
	ROLE_L1I_MISSES,
	ROLE_LL_MISSES,
	ROLE_DTLB_MISSES,
	ROLE_ITLB_MISSES,
};

#define CACHE(cache, result) \
	(PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_READ << 8 | \
	 PERF_COUNT_HW_CACHE_RESULT_##result << 16)

static const struct {
	uint32_t type;
	uint32_t config;
	enum role role;
} roles[] = {
	{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, ROLE_CLOCK},
	{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, ROLE_CLOCK},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, ROLE_CYCLES},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, ROLE_INSTRUCTIONS},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, ROLE_STALLED_FRONT},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, ROLE_STALLED_BACK},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, ROLE_BRANCHES},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, ROLE_BRANCH_MISSES},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, ROLE_CACHE_REFS},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, ROLE_CACHE_MISSES},
	{PERF_TYPE_HW_CACHE, CACHE(L1D, ACCESS), ROLE_L1D},
	{PERF_TYPE_HW_CACHE, CACHE(L1I, ACCESS), ROLE_L1I},
	{PERF_TYPE_HW_CACHE, CACHE(LL, ACCESS), ROLE_LL},
	{PERF_TYPE_HW_CACHE, CACHE(DTLB, ACCESS), ROLE_DTLB},
	{PERF_TYPE_HW_CACHE, CACHE(ITLB, ACCESS), ROLE_ITLB},
	{PERF_TYPE_HW_CACHE, CACHE(L1D, MISS), ROLE_L1D_MISSES},
	{PERF_TYPE_HW_CACHE, CACHE(L1I, MISS), ROLE_L1I_MISSES},
	{PERF_TYPE_HW_CACHE, CACHE(LL, MISS), ROLE_LL_MISSES},
	{PERF_TYPE_HW_CACHE, CACHE(DTLB, MISS), ROLE_DTLB_MISSES},
	{PERF_TYPE_HW_CACHE, CACHE(ITLB, MISS), ROLE_ITLB_MISSES},
};

/* Parts of another event, in percent. */
static const struct part {
	enum role role, of;
	const char *unit;
	int decimals, width;
	bool space;   /* before the percent sign */
	bool partner; /* nothing is shown without the other event; else 0 */
	bool nonzero; /* nor when there is none of it */
} parts[] = {
	{ROLE_BRANCH_MISSES, ROLE_BRANCHES, "of all branches", 2, 7, false, true, false},
	{ROLE_CACHE_MISSES, ROLE_CACHE_REFS, "of all cache refs", 3, 8, true, true, false},
	{ROLE_L1D_MISSES, ROLE_L1D, "of all L1-dcache accesses", 2, 7, false, true, false},
	{ROLE_L1I_MISSES, ROLE_L1I, "of all L1-icache accesses", 2, 7, false, true, false},
	{ROLE_LL_MISSES, ROLE_LL, "of all LL-cache accesses", 2, 7, false, true, false},
	{ROLE_DTLB_MISSES, ROLE_DTLB, "of all dTLB cache accesses", 2, 7, false, true, false},
	{ROLE_ITLB_MISSES, ROLE_ITLB, "of all iTLB cache accesses", 2, 7, false, true, false},
	{ROLE_STALLED_FRONT, ROLE_CYCLES, "frontend cycles idle", 2, 7, false, false, true},
	{ROLE_STALLED_BACK, ROLE_CYCLES, "backend cycles idle", 2, 7, false, false, false},
};

uint8_t count_role(const struct count_event *e)
{
	/* The upper half says which PMU of several counts it. */
	uint64_t config = e->type == PERF_TYPE_SOFTWARE ? e->config : e->config & UINT32_MAX;

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (roles[i].type == e->type && roles[i].config == config)
			return roles[i].role;
	return ROLE_NONE;
}

bool count_is_clock(const struct count_event *e)
{
	return e->role == ROLE_CLOCK;
}

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* The mean of the partners that have a role; false: there is none. */
static bool partner(const struct counts *c, uint32_t event, uint32_t group, enum role role,
		    double *mean)
{
	const struct count_event *of = &c->events[event];
	double sum = 0;
	unsigned n = 0;

	for (uint32_t i = 0; i < c->n_events; i++) {
		const struct count_event *e = &c->events[i];

		if (!e->supported || e->role != role || !same(e->cgroup, of->cgroup) ||
		    (role != ROLE_CLOCK && e->without != of->without))
			continue;
		sum += counts_row(c, i, group)->value * (role == ROLE_CLOCK ? 1 : e->scale);
		n++;
	}
	*mean = n ? sum / n : 0;
	return n > 0;
}

static unsigned instructions(const struct counts *c, uint32_t event, uint32_t group, double value,
			     struct count_metric *m)
{
	double cycles, front, back;

	partner(c, event, group, ROLE_CYCLES, &cycles);
	partner(c, event, group, ROLE_STALLED_FRONT, &front);
	partner(c, event, group, ROLE_STALLED_BACK, &back);
	m[0] = (struct count_metric){cycles ? value / cycles : 0, "insn per cycle", 2, 7,
				     .only = true};
	m[0].suffix = ' ';
	m[0].none = !cycles;
	front = front > back ? front : back;
	if (!front || !value)
		return 1;
	m[1] = (struct count_metric){front / value, "stalled cycles per insn", 2, 7, .only = true};
	m[1].suffix = ' ';
	return 2;
}

static void rate(double value, double ns, struct count_metric *m)
{
	static const char *const units[] = {"/sec", "K/sec", "M/sec", "G/sec"};
	double v = ns ? 1e9 * value / ns : 0;
	size_t i = 0;

	for (; i + 1 < sizeof(units) / sizeof(units[0]) && v > 1000; i++)
		v /= 1000;
	*m = (struct count_metric){v, units[i], 3, 8, .only = false};
}

unsigned count_metrics(const struct counts *c, uint32_t event, uint32_t group,
		       struct count_metric *m)
{
	const struct count_event *e = &c->events[event];
	double raw = counts_row(c, event, group)->value, value = raw * e->scale, other;
	enum role role = e->role;

	if (role == ROLE_INSTRUCTIONS)
		return instructions(c, event, group, value, m);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const struct part *p = &parts[i];
		bool there;

		if (p->role != role)
			continue;
		there = partner(c, event, group, p->of, &other);
		*m = (struct count_metric){other ? value / other * 100 : 0, p->unit, p->decimals,
					   p->width, .only = true};
		m->suffix = '%';
		m->space = p->space;
		m->none = (p->partner && !there) || (p->nonzero && m->value == 0);
		return 1;
	}
	if (role == ROLE_CYCLES) {
		partner(c, event, group, ROLE_CLOCK, &other);
		*m = (struct count_metric){other ? value / other : 0, "GHz", 3, 8, .only = true};
		m->none = !other;
		return 1;
	}
	if (role == ROLE_CLOCK) {
		*m = (struct count_metric){c->elapsed ? raw / (double)c->elapsed : 0,
					   "CPUs utilized", 3, 8, .only = false};
		m->none = !c->elapsed;
		return 1;
	}
	if (!partner(c, event, group, ROLE_CLOCK, &other))
		return 0;
	rate(value, other, m);
	return 1;
}
