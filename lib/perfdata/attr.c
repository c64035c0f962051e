/* Events of a perf.data recording: attributes, ids, descriptors, names. */
#include "perfdata/parts.h"

#include "base/buf.h"
#include "base/err.h"
#include "event/fields.h"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdlib.h>

static uint64_t reverse_bits(uint64_t v)
{
	uint64_t r = 0;

	for (int i = 0; i < 64; i++, v >>= 1)
		r = r << 1 | (v & 1);
	return r;
}

int perf_attr_parse(const struct perf *p, struct cursor c, struct perf_attr *a)
{
	a->type = get_u32(&c);
	a->size = get_u32(&c);
	a->config = get_u64(&c);
	a->sample_period = get_u64(&c);
	a->sample_type = get_u64(&c);
	a->read_format = get_u64(&c);
	a->flags = get_u64(&c);
	/* Big endian compilers lay bit fields out from the most significant bit. */
	if (p->big_endian) {
		uint64_t f = reverse_bits(a->flags);
		uint64_t low = f >> PERF_ATTR_PRECISE_SHIFT & 1;
		uint64_t high = f >> (PERF_ATTR_PRECISE_SHIFT + 1) & 1;

		f &= ~(UINT64_C(3) << PERF_ATTR_PRECISE_SHIFT);
		a->flags = f | (low << 1 | high) << PERF_ATTR_PRECISE_SHIFT;
	}
	a->wakeup = get_u32(&c);
	a->bp_type = get_u32(&c);
	a->config1 = get_u64(&c);
	if (c.bad)
		return PP_ECUT;
	/* What follows came with later versions; absent is 0. */
	a->config2 = get_u64(&c);
	a->branch_sample_type = get_u64(&c);
	a->regs_user = get_u64(&c);
	a->stack_user = get_u32(&c);
	a->clockid = (int32_t)get_u32(&c);
	a->regs_intr = get_u64(&c);
	a->aux_watermark = get_u32(&c);
	a->max_stack = get_u16(&c);
	get_u16(&c);
	a->aux_sample_size = get_u32(&c);
	get_u32(&c); /* aux_action */
	a->sig_data = get_u64(&c);
	a->config3 = get_u64(&c);
	a->config4 = get_u64(&c);
	return 0;
}

int perf_attr_add(struct perf *p, struct cursor c, struct perf_attr **added)
{
	struct perf_attr *a;
	int rc;

	if (p->nattrs >= PERF_ATTRS_MAX)
		return PP_ELIMIT;
	if (p->nattrs == p->attrs_cap) {
		uint32_t cap = p->attrs_cap ? p->attrs_cap * 2 : 16;

		a = realloc(p->attrs, cap * sizeof(*a));
		if (!a)
			return PP_ENOMEM;
		p->attrs = a;
		p->attrs_cap = cap;
	}
	a = &p->attrs[p->nattrs];
	*a = (struct perf_attr){.event = p->nattrs + 1};
	rc = perf_attr_parse(p, c, a);
	if (rc)
		return rc;
	p->nattrs++;
	*added = a;
	return 0;
}

int perf_attr_id(struct perf *p, struct perf_attr *a, uint64_t id)
{
	uint32_t *slot;

	if (p->by_id.n >= PERF_IDS_MAX)
		return PP_ELIMIT;
	slot = map64_put(&p->by_id, id, NULL);
	if (!slot)
		return PP_ENOMEM;
	*slot = (uint32_t)(a - p->attrs) + 1;
	return 0;
}

/* Index of the u64 before which a sample has the fields of `before`. */
static int position(uint64_t type, uint64_t before)
{
	return __builtin_popcountll(type & before);
}

/*
 * Where the id lies must be the same for all events, else no sample could be told from another:
 * recorders set PERF_SAMPLE_IDENTIFIER when the events' samples differ. The time is looked up by
 * event.
 */
void perf_attr_layout(struct perf *p)
{
	uint64_t type = p->nattrs ? p->attrs[0].sample_type : 0;

	p->alike = true;
	for (uint32_t i = 0; i < p->nattrs; i++) {
		struct perf_attr *a = &p->attrs[i];

		p->alike = p->alike && a->sample_type == type;
		a->time_pos = a->sample_type & PSB_TIME
				      ? position(a->sample_type, PSB_IDENTIFIER | PSB_IP | PSB_TID)
				      : -1;
		a->nfront = (uint32_t)position(
			a->sample_type, PSB_IDENTIFIER | PSB_IP | PSB_TID | PSB_TIME | PSB_ADDR |
						PSB_ID | PSB_STREAM_ID | PSB_CPU | PSB_PERIOD);
		if (a->sample_type & PSB_CALLCHAIN)
			p->order.ahead = perf_ahead;
	}
	p->id_pos = -1;
	p->id_back = 0;
	if (type & PSB_IDENTIFIER) {
		p->id_pos = 0;
		p->id_back = 1;
	} else if (type & PSB_ID) {
		p->id_pos = position(type, PSB_IP | PSB_TID | PSB_TIME | PSB_ADDR);
		p->id_back = 1 + position(type, PSB_STREAM_ID | PSB_CPU);
	}
}

int perf_attr_rename(struct perf *p, struct perf_attr *a, const char *name, size_t len)
{
	char *copy = strndup(name, len);

	if (!copy)
		return PP_ENOMEM;
	free(a->name);
	a->name = copy;
	if (!a->written)
		return 0;
	a->written = false;
	return perf_attr_write(p, a);
}

/* ---- names ---- */

static const char *const hw_names[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};
static const char *const sw_names[] = {
	"cpu-clock",	    "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",	    "bpf-output",   "cgroup-switches",
};
static const char *const cache_names[] = {"L1-dcache", "L1-icache", "LLC", "dTLB",
					  "iTLB",      "branch",    "node"};
static const char *const cache_ops[] = {"load", "store", "prefetch"};
static const char *const cache_results[2][3] = {{"loads", "stores", "prefetches"},
						{"load-misses", "store-misses", "prefetch-misses"}};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void cache_name(uint64_t config, struct buf *b)
{
	uint64_t what = config & 0xff, op = config >> 8 & 0xff, result = config >> 16 & 0xff;

	if (what >= COUNT(cache_names) || op >= COUNT(cache_ops) || result > 1)
		buf_addf(b, "invalid-cache");
	else
		buf_addf(b, "%s-%s", cache_names[what], cache_results[result][op]);
}

/*
 * The modifiers that perf appends: ":u", ":ppp", ":HG". An event that counts in guests, too, says
 * so, since perf's own do not; with other modifiers before, one that does not.
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
	if (b->len == start + 1)
		b->len = start; /* no modifier */
}

void perf_attr_name(const struct perf *p, const struct perf_attr *a, struct buf *b)
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

/* What the period of an event counts. */
static const char *unit(const struct perf_attr *a)
{
	if (a->type == PERF_TYPE_SOFTWARE && a->config <= PERF_COUNT_SW_TASK_CLOCK)
		return "ns";
	if (a->type == PERF_TYPE_HARDWARE && a->config < COUNT(hw_names))
		return hw_names[a->config];
	return "events";
}

/* ---- descriptors ---- */

int perf_attr_write(struct perf *p, struct perf_attr *a)
{
	struct ps_event e = {.id = a->event, .perf_type = a->type, .config = a->config};
	struct buf name = BUF_INIT, table = BUF_INIT;
	const char *system, *event, *u = unit(a), *format;
	size_t len;
	int rc;

	if (a->written)
		return 0;
	e.sample_type = a->sample_type;
	if (a->type != PERF_TYPE_TRACEPOINT && a->sample_period)
		e.flags |= PS_EVENT_SAMPLED;
	if (a->flags & PERF_ATTR_FREQ)
		e.flags |= PS_EVENT_FREQ;
	if (a->sample_type & PSB_CALLCHAIN)
		e.flags |= PS_EVENT_CHAINS;
	if (a->name)
		buf_adds(&name, a->name);
	else
		perf_attr_name(p, a, &name);
	e.name = ps_str(buf_str(&name), name.len);
	e.unit = ps_str(u, strlen(u));
	if (a->type == PERF_TYPE_TRACEPOINT) {
		format = perf_tracing_format(p->tracing, a->config, &len, &system, &event);
		if (format) {
			e.format = ps_str(format, len);
			fields_of_format(format, len, perf_tracing_long_size(p->tracing), &table);
			e.fields = ps_str(buf_str(&table), table.len);
		}
	}
	rc = name.err ? name.err : table.err;
	if (!rc)
		rc = perf_put(p, PS_EVENT, &e);
	a->written = true;
	buf_release(&name);
	buf_release(&a->fields);
	a->fields = table;
	return rc;
}

int perf_attr_write_all(struct perf *p)
{
	int rc = 0;

	for (uint32_t i = 0; i < p->nattrs && !rc; i++)
		rc = perf_attr_write(p, &p->attrs[i]);
	p->described = true;
	return rc;
}

void perf_attr_release(struct perf_attr *a)
{
	free(a->name);
	buf_release(&a->fields);
}
