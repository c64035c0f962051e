/* An event's attribute as text, in the form in which perf shows it. */
#include "perfdata/info.h"

#include <inttypes.h>

struct bit_name {
	uint64_t bit;
	const char *name;
};

#define BIT(n, name) \
	{ \
		UINT64_C(1) << (n), #name \
	}

/* The order is perf's. */
static const struct bit_name sample_bits[] = {BIT(0, IP),
					      BIT(1, TID),
					      BIT(2, TIME),
					      BIT(3, ADDR),
					      BIT(4, READ),
					      BIT(5, CALLCHAIN),
					      BIT(6, ID),
					      BIT(7, CPU),
					      BIT(8, PERIOD),
					      BIT(9, STREAM_ID),
					      BIT(10, RAW),
					      BIT(11, BRANCH_STACK),
					      BIT(12, REGS_USER),
					      BIT(13, STACK_USER),
					      BIT(16, IDENTIFIER),
					      BIT(18, REGS_INTR),
					      BIT(15, DATA_SRC),
					      BIT(14, WEIGHT),
					      BIT(19, PHYS_ADDR),
					      BIT(20, AUX),
					      BIT(21, CGROUP),
					      BIT(22, DATA_PAGE_SIZE),
					      BIT(23, CODE_PAGE_SIZE),
					      BIT(24, WEIGHT_STRUCT),
					      BIT(17, TRANSACTION),
					      {0, NULL}};

static const struct bit_name branch_bits[] = {
	BIT(0, USER),	    BIT(1, KERNEL),	BIT(2, HV),	    BIT(3, ANY),
	BIT(4, ANY_CALL),   BIT(5, ANY_RETURN), BIT(6, IND_CALL),   BIT(7, ABORT_TX),
	BIT(8, IN_TX),	    BIT(9, NO_TX),	BIT(10, COND),	    BIT(11, CALL_STACK),
	BIT(12, IND_JUMP),  BIT(13, CALL),	BIT(14, NO_FLAGS),  BIT(15, NO_CYCLES),
	BIT(16, TYPE_SAVE), BIT(17, HW_INDEX),	BIT(18, PRIV_SAVE), BIT(19, COUNTERS),
	{0, NULL}};

static const struct bit_name read_bits[] = {BIT(0, TOTAL_TIME_ENABLED),
					    BIT(1, TOTAL_TIME_RUNNING),
					    BIT(2, ID),
					    BIT(3, GROUP),
					    BIT(4, LOST),
					    {0, NULL}};

/* Bits of the flags; precise_ip is two of them. */
static const char *const flag_names[] = {
	"disabled",
	"inherit",
	"pinned",
	"exclusive",
	"exclude_user",
	"exclude_kernel",
	"exclude_hv",
	"exclude_idle",
	"mmap",
	"comm",
	"freq",
	"inherit_stat",
	"enable_on_exec",
	"task",
	"watermark",
	"precise_ip",
	NULL,
	"mmap_data",
	"sample_id_all",
	"exclude_host",
	"exclude_guest",
	"exclude_callchain_kernel",
	"exclude_callchain_user",
	"mmap2",
	"comm_exec",
	"use_clockid",
	"context_switch",
	"write_backward",
	"namespaces",
	"ksymbol",
	"bpf_event",
	"aux_output",
	"cgroup",
	"text_poke",
	"build_id",
	"inherit_thread",
	"remove_on_exec",
	"sigtrap",
	"defer_callchain",
	"defer_output",
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char *const type_names[] = {"HARDWARE", "SOFTWARE", "TRACEPOINT",
					 "HW_CACHE", "RAW",	 "BREAKPOINT"};
#define ID(kernel, perf) #kernel,
static const char *const hw_ids[] = {PERF_HW_EVENTS(ID)};
static const char *const sw_ids[] = {PERF_SW_EVENTS(ID)};
static const char *const cache_ids[] = {PERF_CACHES(ID)};
#undef ID
static const char *const cache_op_ids[] = {"READ", "WRITE", "PREFETCH"};
static const char *const cache_result_ids[] = {"ACCESS", "MISS"};

static void add_bits(struct buf *b, const char *name, const struct bit_name *bits, uint64_t v)
{
	const char *sep = "";

	if (!v)
		return;
	buf_addf(b, ", %s = ", name);
	for (; bits->name; bits++) {
		if (v & bits->bit) {
			buf_addf(b, "%s%s", sep, bits->name);
			sep = "|";
		}
	}
}

static void add_num(struct buf *b, const char *name, uint64_t v)
{
	if (v)
		buf_addf(b, ", %s = %" PRIu64, name, v);
}

static void add_hex(struct buf *b, const char *name, uint64_t v)
{
	if (v)
		buf_addf(b, ", %s = %#" PRIx64, name, v);
}

static void add_type(struct buf *b, const struct perf_info *p, uint32_t type)
{
	const char *pmu = perf_pmu_name(p, type);

	buf_addf(b, ", type = %" PRIu32, type);
	if (type < COUNT(type_names)) {
		buf_addf(b, " (PERF_TYPE_%s)", type_names[type]);
	} else if (pmu) {
		buf_adds(b, " (");
		buf_add_safe(b, pmu, strlen(pmu));
		buf_addc(b, ')');
	}
}

static void add_cache(struct buf *b, uint64_t config)
{
	uint64_t what = config & 0xff, op = config >> 8 & 0xff, result = config >> 16 & 0xff;

	if (what < COUNT(cache_ids) && op < COUNT(cache_op_ids) && result < COUNT(cache_result_ids))
		buf_addf(b,
			 " (PERF_COUNT_HW_CACHE_RESULT_%s | PERF_COUNT_HW_CACHE_OP_%s | "
			 "PERF_COUNT_HW_CACHE_%s)",
			 cache_result_ids[result], cache_op_ids[op], cache_ids[what]);
}

static void add_config(struct buf *b, const struct perf_info *p, const struct perf_attr *a)
{
	const char *system, *name;
	size_t len;

	buf_addf(b, ", config = %#" PRIx64, a->config);
	switch (a->type) {
	case 0:
		if (a->config < COUNT(hw_ids))
			buf_addf(b, " (PERF_COUNT_HW_%s)", hw_ids[a->config]);
		break;
	case 1:
		if (a->config < COUNT(sw_ids))
			buf_addf(b, " (PERF_COUNT_SW_%s)", sw_ids[a->config]);
		break;
	case 2:
		if (perf_tracing_format(p->tracing, a->config, &len, &system, &name)) {
			buf_adds(b, " (");
			buf_add_safe(b, system, strlen(system));
			buf_addc(b, ':');
			buf_add_safe(b, name, strlen(name));
			buf_addc(b, ')');
		}
		break;
	case 3: add_cache(b, a->config); break;
	default: break;
	}
}

void perf_attr_text(const struct perf_info *p, const struct perf_attr *a, struct buf *b)
{
	add_type(b, p, a->type);
	add_num(b, "size", a->size);
	add_config(b, p, a);
	add_num(b, "{ sample_period, sample_freq }", a->sample_period);
	add_bits(b, "sample_type", sample_bits, a->sample_type);
	add_bits(b, "read_format", read_bits, a->read_format);
	for (size_t i = 0; i < COUNT(flag_names); i++)
		if (flag_names[i])
			add_num(b, flag_names[i],
				a->flags >> i & (i == PERF_ATTR_PRECISE_SHIFT ? 3 : 1));
	add_num(b, "{ wakeup_events, wakeup_watermark }", a->wakeup);
	add_num(b, "bp_type", a->bp_type);
	add_hex(b, "{ bp_addr, config1 }", a->config1);
	add_hex(b, "{ bp_len, config2 }", a->config2);
	add_bits(b, "branch_sample_type", branch_bits, a->branch_sample_type);
	add_hex(b, "sample_regs_user", a->regs_user);
	add_num(b, "sample_stack_user", a->stack_user);
	if (a->clockid)
		buf_addf(b, ", clockid = %" PRId32, a->clockid);
	add_hex(b, "sample_regs_intr", a->regs_intr);
	add_num(b, "aux_watermark", a->aux_watermark);
	add_num(b, "sample_max_stack", a->max_stack);
	add_num(b, "aux_sample_size", a->aux_sample_size);
	add_num(b, "sig_data", a->sig_data);
	add_hex(b, "config3", a->config3);
	add_hex(b, "config4", a->config4);
}
