/*
 * The content of header features, as values of facts and as lines of --header. The
 * layouts are those that tools/perf/util/header.c of the kernel tree writes.
 */
#include "base/err.h"
#include "perfdata/decoder.h"
#include "perfdata/info.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#define NS_PER_S  1000000000u
#define NS_PER_US 1000u

/* ---- lines ---- */

static void lines_event_desc(const struct perf_info *p, struct cursor *c, struct buf *b)
{
	uint32_t n = get_u32(c), size = get_u32(c);

	for (uint32_t i = 0; i < n && perf_lines_more(c, b); i++) {
		struct cursor attr = cursor_sub(c, size);
		struct perf_attr a = {0};
		uint32_t nids = get_u32(c);

		if (perf_attr_parse(p, attr, &a))
			c->bad = true;
		buf_adds(b, "event : name = ");
		perf_add_string(c, b);
		buf_adds(b, ", ");
		for (uint32_t k = 0; k < nids && perf_lines_more(c, b); k++)
			buf_addf(b, "%s %" PRIu64, k ? "," : ", id = {", get_u64(c));
		buf_adds(b, nids ? " }" : "");
		perf_attr_text(p, &a, b);
		buf_addc(b, '\n');
	}
}

static void lines_pmu_mappings(const struct perf_info *p, struct cursor *c, struct buf *b)
{
	uint32_t n = get_u32(c);

	(void)p;
	buf_adds(b, n ? "pmu mappings: " : "pmu mappings: not available");
	for (uint32_t i = 0; i < n && perf_lines_more(c, b); i++) {
		uint32_t type = get_u32(c);

		buf_adds(b, i ? ", " : "");
		perf_add_string(c, b);
		buf_addf(b, " = %" PRIu32, type);
	}
	buf_addc(b, '\n');
}

/* The names of the events of each group; a group without a name is called {anon_group}. */
static void lines_group_desc(const struct perf_info *p, struct cursor *c, struct buf *b)
{
	uint32_t n = get_u32(c);

	for (uint32_t i = 0; i < n && perf_lines_more(c, b); i++) {
		size_t len;
		const char *name = perf_get_string(c, &len);
		uint32_t leader = get_u32(c), members = get_u32(c);

		if (c->bad)
			return;
		buf_adds(b, "group: ");
		if (len != 12 || memcmp(name, "{anon_group}", 12) != 0)
			buf_add_safe(b, name, len);
		buf_addc(b, '{');
		for (uint32_t k = 0; k < members && k < p->nattrs && leader < p->nattrs - k; k++) {
			struct buf event = BUF_INIT;

			perf_attr_name(p, &p->attrs[leader + k], &event);
			buf_adds(b, k ? "," : "");
			buf_add_safe(b, buf_str(&event), event.len);
			buf_inherit(b, &event);
			buf_release(&event);
		}
		buf_adds(b, "}\n");
	}
}

static void lines_nrcpus(const struct perf_info *p, struct cursor *c, struct buf *b)
{
	uint32_t avail = get_u32(c), online = get_u32(c);

	(void)p;
	buf_addf(b, "nrcpus online : %" PRIu32 "\nnrcpus avail : %" PRIu32 "\n", online, avail);
}

static void lines_total_mem(const struct perf_info *p, struct cursor *c, struct buf *b)
{
	(void)p;
	buf_addf(b, "total memory : %" PRIu64 " kB\n", get_u64(c));
}

static void lines_sample_time(const struct perf_info *p, struct cursor *c, struct buf *b)
{
	uint64_t first = get_u64(c), last = get_u64(c);

	(void)p;
	buf_addf(b,
		 "time of first sample : %" PRIu64 ".%06" PRIu64 "\ntime of last sample : %" PRIu64
		 ".%06" PRIu64 "\nsample duration : %10.3f ms\n",
		 first / NS_PER_S, first % NS_PER_S / NS_PER_US, last / NS_PER_S,
		 last % NS_PER_S / NS_PER_US, (double)(last - first) / 1e6);
}

/* perf writes MHz after the resolution of the clock in ns, times 1000. */
static void lines_clockid(const struct perf_info *p, struct cursor *c, struct buf *b)
{
	(void)p;
	buf_addf(b, "clockid frequency: %" PRIu64 " MHz\n", get_u64(c) * 1000);
}

static const char *clockid_name(uint32_t clockid)
{
	switch (clockid) {
	case CLOCK_REALTIME: return "realtime";
	case CLOCK_MONOTONIC: return "monotonic";
	case CLOCK_PROCESS_CPUTIME_ID: return "process";
	case CLOCK_THREAD_CPUTIME_ID: return "thread";
	case CLOCK_MONOTONIC_RAW: return "monotonic_raw";
	case CLOCK_MONOTONIC_COARSE: return "monotonic_coarse";
	case CLOCK_REALTIME_COARSE: return "realtime_coarse";
	case CLOCK_BOOTTIME: return "boottime";
	case CLOCK_TAI: return "tai";
	default: return "(not found)";
	}
}

/* One moment by the wall clock and by the clock of the times. */
static void lines_clock_data(const struct perf_info *p, struct cursor *c, struct buf *b)
{
	uint32_t version = get_u32(c), clockid = get_u32(c);
	uint64_t wall = get_u64(c), ref = get_u64(c);
	time_t seconds = (time_t)(wall / NS_PER_S);
	const char *name = clockid_name(clockid);
	char date[64];
	struct tm tm;

	(void)p;
	c->bad = c->bad || version != 1;
	if (!localtime_r(&seconds, &tm) || !strftime(date, sizeof(date), "%F %T", &tm))
		date[0] = 0;
	buf_addf(b, "clockid: %s (%" PRIu32 ")\n", name, clockid);
	buf_addf(b,
		 "reference time: %s.%06" PRIu64 " = %" PRIu64 ".%06" PRIu64 " (TOD) = %" PRIu64
		 ".%09" PRIu64 " (%s)\n",
		 date, wall % NS_PER_S / NS_PER_US, wall / NS_PER_S, wall % NS_PER_S / NS_PER_US,
		 ref / NS_PER_S, ref % NS_PER_S, name);
}

static void lines_dir_format(const struct perf_info *p, struct cursor *c, struct buf *b)
{
	(void)p;
	buf_addf(b, "directory data version : %" PRIu64 "\n", get_u64(c));
}

static void lines_compressed(const struct perf_info *p, struct cursor *c, struct buf *b)
{
	uint32_t type, level, ratio;

	(void)p;
	get_u32(c); /* version */
	type = get_u32(c);
	level = get_u32(c);
	ratio = get_u32(c);
	buf_addf(b, "compressed : %s, level = %" PRId32 ", ratio = %" PRId32 "\n",
		 type == 1 ? "Zstd" : "Unknown", (int32_t)level, (int32_t)ratio);
}

/* A count, and as many names with values. */
static void add_caps(struct cursor *c, struct buf *b)
{
	uint32_t n = get_u32(c);

	buf_adds(b, n ? " pmu capabilities: " : " pmu capabilities: not available");
	for (uint32_t i = 0; i < n && perf_lines_more(c, b); i++) {
		buf_adds(b, i ? ", " : "");
		perf_add_string(c, b);
		buf_addc(b, '=');
		perf_add_string(c, b);
	}
	buf_addc(b, '\n');
}

static void lines_cpu_pmu_caps(const struct perf_info *p, struct cursor *c, struct buf *b)
{
	(void)p;
	buf_adds(b, "cpu");
	add_caps(c, b);
}

/* The name of each PMU comes after what it can do. */
static void lines_pmu_caps(const struct perf_info *p, struct cursor *c, struct buf *b)
{
	uint32_t n = get_u32(c);

	(void)p;
	for (uint32_t i = 0; i < n && perf_lines_more(c, b); i++) {
		struct buf caps = BUF_INIT;

		add_caps(c, &caps);
		perf_add_string(c, b);
		buf_join(b, &caps);
		buf_release(&caps);
	}
}

static void lines_e_machine(const struct perf_info *p, struct cursor *c, struct buf *b)
{
	uint32_t machine = get_u32(c), flags = get_u32(c);

	(void)p;
	buf_addf(b, "e_machine : %" PRIu32 "\n  e_flags : %" PRIu32 "\n", machine, flags);
}

static void lines_cln_size(const struct perf_info *p, struct cursor *c, struct buf *b)
{
	(void)p;
	buf_addf(b, "cacheline size: %" PRIu32 "\n", get_u32(c));
}

static void lines_branch_stack(const struct perf_info *p, struct cursor *c, struct buf *b)
{
	(void)p;
	(void)c;
	buf_adds(b, "contains samples with branch stack\n");
}

static void lines_auxtrace(const struct perf_info *p, struct cursor *c, struct buf *b)
{
	(void)p;
	(void)c;
	buf_adds(b, "contains AUX area data (e.g. instruction trace)\n");
}

static void lines_stat(const struct perf_info *p, struct cursor *c, struct buf *b)
{
	(void)p;
	(void)c;
	buf_adds(b, "contains stat data\n");
}

/* simpleperf: names and values, each ended by a NUL. */
static void lines_simpleperf(const struct perf_info *p, struct cursor *c, struct buf *b)
{
	(void)p;
	for (bool value = false; cursor_left(c) && perf_lines_more(c, b); value = !value) {
		size_t len;
		const char *s = perf_nul_text(c, &len);

		buf_add_safe(b, s, len);
		buf_adds(b, value ? "\n" : " = ");
	}
}

/* ---- the table ---- */

enum value {
	VALUE_LINES,  /* META has the lines that --header has */
	VALUE_STRING, /* META has the string, --header a label before it */
	VALUE_ARGS,   /* strings with a blank after each */
	VALUE_U32,    /* META has so many numbers */
	VALUE_U64,
	VALUE_NONE, /* META has nothing */
};

struct telling {
	enum value value;
	uint32_t numbers;     /* of VALUE_U32 and VALUE_U64 */
	const char *label;    /* of VALUE_STRING */
	perf_lines_fn *lines; /* of the others */
};

static const struct telling tellings[] = {
	[PERF_FEAT_HOSTNAME] = {VALUE_STRING, 0, "hostname", NULL},
	[PERF_FEAT_OSRELEASE] = {VALUE_STRING, 0, "os release", NULL},
	[PERF_FEAT_VERSION] = {VALUE_STRING, 0, "perf version", NULL},
	[PERF_FEAT_ARCH] = {VALUE_STRING, 0, "arch", NULL},
	[PERF_FEAT_NRCPUS] = {VALUE_U32, 2, NULL, lines_nrcpus},
	[PERF_FEAT_CPUDESC] = {VALUE_STRING, 0, "cpudesc", NULL},
	[PERF_FEAT_CPUID] = {VALUE_STRING, 0, "cpuid", NULL},
	[PERF_FEAT_TOTAL_MEM] = {VALUE_U64, 1, NULL, lines_total_mem},
	[PERF_FEAT_CMDLINE] = {VALUE_ARGS, 0, "cmdline", NULL},
	[PERF_FEAT_EVENT_DESC] = {VALUE_LINES, 0, NULL, lines_event_desc},
	[PERF_FEAT_CPU_TOPOLOGY] = {VALUE_LINES, 0, NULL, perf_lines_cpu_topology},
	[PERF_FEAT_NUMA_TOPOLOGY] = {VALUE_LINES, 0, NULL, perf_lines_numa_topology},
	[PERF_FEAT_BRANCH_STACK] = {VALUE_LINES, 0, NULL, lines_branch_stack},
	[PERF_FEAT_PMU_MAPPINGS] = {VALUE_LINES, 0, NULL, lines_pmu_mappings},
	[PERF_FEAT_GROUP_DESC] = {VALUE_LINES, 0, NULL, lines_group_desc},
	[PERF_FEAT_AUXTRACE] = {VALUE_LINES, 0, NULL, lines_auxtrace},
	[PERF_FEAT_STAT] = {VALUE_LINES, 0, NULL, lines_stat},
	[PERF_FEAT_CACHE] = {VALUE_LINES, 0, NULL, perf_lines_cache},
	[PERF_FEAT_SAMPLE_TIME] = {VALUE_U64, 2, NULL, lines_sample_time},
	[PERF_FEAT_MEM_TOPOLOGY] = {VALUE_LINES, 0, NULL, perf_lines_mem_topology},
	[PERF_FEAT_CLOCKID] = {VALUE_U64, 1, NULL, lines_clockid},
	[PERF_FEAT_DIR_FORMAT] = {VALUE_U64, 1, NULL, lines_dir_format},
	[PERF_FEAT_BPF_PROG_INFO] = {VALUE_LINES, 0, NULL, perf_lines_bpf_progs},
	[PERF_FEAT_BPF_BTF] = {VALUE_LINES, 0, NULL, perf_lines_btf},
	[PERF_FEAT_COMPRESSED] = {VALUE_LINES, 0, NULL, lines_compressed},
	[PERF_FEAT_CPU_PMU_CAPS] = {VALUE_LINES, 0, NULL, lines_cpu_pmu_caps},
	[PERF_FEAT_CLOCK_DATA] = {VALUE_LINES, 0, NULL, lines_clock_data},
	[PERF_FEAT_HYBRID_TOPOLOGY] = {VALUE_LINES, 0, NULL, perf_lines_hybrid_topology},
	[PERF_FEAT_PMU_CAPS] = {VALUE_LINES, 0, NULL, lines_pmu_caps},
	[PERF_FEAT_CPU_DOMAIN_INFO] = {VALUE_LINES, 0, NULL, perf_lines_cpu_domains},
	[PERF_FEAT_E_MACHINE] = {VALUE_LINES, 0, NULL, lines_e_machine},
	[PERF_FEAT_CLN_SIZE] = {VALUE_LINES, 0, NULL, lines_cln_size},
	[FEAT_SIMPLEPERF_META] = {VALUE_LINES, 0, NULL, lines_simpleperf},
};

const char *perf_feature_key(uint32_t feature)
{
	switch (feature) {
#define F(name, number, text) \
	case number: return text;
		PERF_FEATURES(F)
#undef F
	case FEAT_SIMPLEPERF_META: return "simpleperf_meta";
	}
	return NULL;
}

/* A value of its own, or the lines without the last newline. */
static void add_value(const struct perf_info *p, const struct telling *t, struct cursor *c,
		      struct buf *b)
{
	uint32_t n = t->value == VALUE_ARGS ? get_u32(c) : t->numbers;
	const char *s;
	size_t len;

	switch (t->value) {
	case VALUE_STRING:
		s = perf_get_string(c, &len);
		if (s)
			buf_add(b, s, len);
		return;
	case VALUE_U32:
	case VALUE_U64:
		for (uint32_t i = 0; i < n; i++)
			buf_addf(b, "%s%" PRIu64, i ? " " : "",
				 t->value == VALUE_U64 ? get_u64(c) : get_u32(c));
		return;
	case VALUE_ARGS:
		for (uint32_t i = 0; i < n && perf_lines_more(c, b); i++) {
			s = perf_get_string(c, &len);
			if (!s)
				return;
			buf_adds(b, i ? " " : "");
			buf_add(b, s, len);
		}
		return;
	default:
		t->lines(p, c, b);
		if (b->len && b->data[b->len - 1] == '\n')
			b->data[--b->len] = 0;
	}
}

/* The lines of --header, each as a comment. */
static void add_lines(const struct perf_info *p, const struct telling *t, struct cursor *c,
		      struct buf *b)
{
	struct buf lines = BUF_INIT;
	const char *at, *nl;

	if (t->label) {
		add_value(p, t, c, &lines);
		buf_addf(b, "# %s : ", t->label);
		buf_add_safe(b, buf_str(&lines), lines.len);
		/* perf prints a blank after each word */
		buf_adds(b, t->value == VALUE_ARGS ? " \n" : "\n");
	} else {
		t->lines(p, c, &lines);
		for (at = buf_str(&lines); (nl = strchr(at, '\n')); at = nl + 1) {
			buf_adds(b, "# ");
			buf_add(b, at, (size_t)(nl + 1 - at));
		}
	}
	buf_inherit(b, &lines);
	buf_release(&lines);
}

static const struct telling *telling_of(uint32_t feature)
{
	const struct telling *t =
		feature < sizeof(tellings) / sizeof(tellings[0]) ? &tellings[feature] : NULL;

	return t && (t->lines || t->label) ? t : NULL;
}

bool perf_feature_known(uint32_t feature)
{
	return telling_of(feature) != NULL;
}

int perf_feature_value(const struct perf_info *p, uint32_t feature, struct cursor c, struct buf *b)
{
	const struct telling *t = telling_of(feature);

	if (t)
		add_value(p, t, &c, b);
	return b->err ? b->err : c.bad ? PP_ECUT : 0;
}

int perf_feature_lines(const struct perf_info *p, uint32_t feature, struct cursor c, struct buf *b)
{
	const struct telling *t = telling_of(feature);

	if (t)
		add_lines(p, t, &c, b);
	return c.bad ? PP_ECUT : b->err;
}

/* ---- facts in the stream ---- */

/* What is added to a time for the time of day. */
static int put_wall(struct perf_decoder *p)
{
	char text[32];

	p->out.wall = true;
	snprintf(text, sizeof(text), "%" PRId64, p->r.info.facts.wall_offset);
	return perf_meta(p, "wall_offset", text, strlen(text));
}

/* Kernel symbols, then printk formats. */
static int put_tables(struct perf_decoder *p, struct cursor c)
{
	struct ps_str tables[PERF_TABLES];
	int rc = perf_tracing_tables(c, tables), put = 0;

	for (uint32_t i = 0; i < PERF_TABLES && !put; i++)
		put = perf_blob(p, PS_BLOB_KALLSYMS + i, tables[i].p, tables[i].len);
	return put ? put : rc;
}

static int put_value(struct perf_decoder *p, uint32_t feature, struct cursor c)
{
	const char *key = perf_feature_key(feature);
	struct buf value = BUF_INIT;
	int rc = perf_feature_value(&p->r.info, feature, c, &value);

	if (!rc)
		rc = perf_meta(p, key, buf_str(&value), value.len);
	buf_release(&value);
	return rc;
}

int perf_feature_put(struct perf_decoder *p, uint32_t feature, struct cursor c)
{
	int rc = 0;

	if (p->r.info.facts.has_wall && !p->out.wall)
		rc = put_wall(p);
	if (!rc && feature == PERF_FEAT_EVENT_DESC)
		rc = perf_event_write_renamed(p);
	if (rc)
		return rc;
	if (feature == PERF_FEAT_TRACING_DATA)
		return put_tables(p, c);
	if (perf_feature_known(feature))
		return put_value(p, feature, c);
	if (feature == FEAT_SIMPLEPERF_FILE || feature == FEAT_SIMPLEPERF_FILE2)
		return perf_names_put(p, feature, c);
	if (feature == FEAT_SIMPLEPERF_KALLSYMS)
		return perf_blob(p, PS_BLOB_KALLSYMS, c.p, cursor_left(&c));
	if (feature != PERF_FEAT_BUILD_ID)
		diag_note(p->r.info.d, p->r.info.name, -1, "header feature %" PRIu32 " is skipped",
			  feature);
	return 0;
}
