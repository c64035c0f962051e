/* The names of events by their attributes, as perf builds them. */
#include "perfdata/info.h"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

#define NAME(kernel, perf) perf,
static const char *const hw_names[] = {PERF_HW_EVENTS(NAME)};
static const char *const sw_names[] = {PERF_SW_EVENTS(NAME)};
static const char *const cache_names[] = {PERF_CACHES(NAME)};
#undef NAME
static const char *const cache_results[2][3] = {{"loads", "stores", "prefetches"},
						{"load-misses", "store-misses", "prefetch-misses"}};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void cache_name(uint64_t config, struct buf *b)
{
	uint64_t what = config & 0xff, op = config >> 8 & 0xff, result = config >> 16 & 0xff;

	if (what >= COUNT(cache_names) || op >= COUNT(cache_results[0]) || result > 1)
		buf_addf(b, "invalid-cache");
	else
		buf_addf(b, "%s-%s", cache_names[what], cache_results[result][op]);
}

/*
 * The modifiers that perf appends: ":u", ":ppp", ":HG". An event that also counts in guests is
 * marked, since those of perf do not; after other modifiers, one that does not is marked.
 */
static void modifiers(const struct perf_attr *a, struct buf *b)
{
	unsigned precise = a->flags >> PERF_ATTR_PRECISE_SHIFT & 3;
	uint64_t parts = PERF_ATTR_EXCLUDE_USER | PERF_ATTR_EXCLUDE_KERNEL | PERF_ATTR_EXCLUDE_HV;
	size_t start = b->len;
	bool guest_default = true;

	buf_addc(b, ':');
	if (a->flags & parts) {
		buf_adds(b, a->flags & PERF_ATTR_EXCLUDE_KERNEL ? "" : "k");
		buf_adds(b, a->flags & PERF_ATTR_EXCLUDE_USER ? "" : "u");
		buf_adds(b, a->flags & PERF_ATTR_EXCLUDE_HV ? "" : "h");
		guest_default = false;
	}
	if (precise) {
		buf_add(b, "ppp", precise);
		guest_default = false;
	}
	if ((a->flags & PERF_ATTR_EXCLUDE_HOST) ||
	    !(a->flags & PERF_ATTR_EXCLUDE_GUEST) == guest_default) {
		buf_adds(b, a->flags & PERF_ATTR_EXCLUDE_HOST ? "" : "H");
		buf_adds(b, a->flags & PERF_ATTR_EXCLUDE_GUEST ? "" : "G");
	}
	if (b->len == start + 1) /* no modifier */
		b->data[b->len = start] = 0;
}

static void made_name(const struct perf_info *p, const struct perf_attr *a, struct buf *b)
{
	const char *system, *name, *pmu;
	size_t len;

	switch (a->type) {
	case PERF_TYPE_HARDWARE:
		buf_adds(b, a->config < COUNT(hw_names) ? hw_names[a->config] : "unknown-hardware");
		modifiers(a, b);
		return;
	case PERF_TYPE_SOFTWARE:
		buf_adds(b, a->config < COUNT(sw_names) ? sw_names[a->config] : "unknown-software");
		modifiers(a, b);
		return;
	case PERF_TYPE_TRACEPOINT:
		if (perf_tracing_format(p->tracing, a->config, &len, &system, &name))
			buf_addf(b, "%s:%s", system, name);
		else
			buf_adds(b, "unknown tracepoint");
		return;
	case PERF_TYPE_HW_CACHE:
		cache_name(a->config, b);
		modifiers(a, b);
		return;
	case PERF_TYPE_BREAKPOINT:
		buf_addf(b, "mem:0x%llx:%s%s%s", (unsigned long long)a->config1,
			 a->bp_type & HW_BREAKPOINT_R ? "r" : "",
			 a->bp_type & HW_BREAKPOINT_W ? "w" : "",
			 a->bp_type & HW_BREAKPOINT_X ? "x" : "");
		modifiers(a, b);
		return;
	case PERF_TYPE_RAW:
		buf_addf(b, "raw 0x%llx", (unsigned long long)a->config);
		modifiers(a, b);
		return;
	default:
		pmu = perf_pmu_name(p, a->type);
		if (pmu)
			buf_addf(b, "%s/config=0x%llx/", pmu, (unsigned long long)a->config);
		else
			buf_addf(b, "unknown attr type: %u", a->type);
		return;
	}
}

void perf_attr_name(const struct perf_info *p, const struct perf_attr *a, struct buf *b)
{
	if (a->name)
		buf_adds(b, a->name);
	else
		made_name(p, a, b);
}

/* The upper half is the type of a PMU, of machines with cores of several kinds (Linux 5.13). */
#define HW_EVENT(config) ((config)&0xffffffff)

const char *perf_attr_unit(const struct perf_attr *a)
{
	if (a->type == PERF_TYPE_SOFTWARE && a->config <= PERF_COUNT_SW_TASK_CLOCK)
		return "ns";
	if (a->type == PERF_TYPE_HARDWARE && HW_EVENT(a->config) < COUNT(hw_names))
		return hw_names[HW_EVENT(a->config)];
	return "events";
}
