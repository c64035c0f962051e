/*
 * Records of perf(1) about the recording as a whole: they become facts (META records), or change an
 * event's descriptor; those of perf stat are in counts.c. The layouts are those of
 * tools/lib/perf/include/perf/event.h of the kernel tree.
 */
#include "perfdata/decoder.h"

#include "base/err.h"

#include <inttypes.h>

/* Writes what was put together as a fact, unless it was cut off. */
static int fact(struct perf_decoder *p, const char *key, const struct cursor *c, struct buf *b)
{
	return perf_meta_buf(p, key, c->bad, b);
}

/* ---- CPUs ---- */

static int cpu_map(struct perf_decoder *p, struct cursor c)
{
	struct buf b = BUF_INIT;

	perf_add_cpus(&c, &b);
	return fact(p, "cpu_map", &c, &b);
}

/* ---- events ---- */

/* What of an event is updated. */
enum { UPDATE_UNIT, UPDATE_SCALE, UPDATE_NAME, UPDATE_CPUS };

/* "NAME VALUE", the name being that of the event. */
static void add_event_name(const struct perf_decoder *p, const struct perf_attr *a, struct buf *b)
{
	perf_attr_name(&p->r.info, a, b);
	buf_addc(b, ' ');
}

static int event_update(struct perf_decoder *p, struct cursor c)
{
	uint64_t kind = get_u64(&c), id = get_u64(&c), bits;
	uint32_t *slot = map64_get(&p->r.info.by_id, id);
	struct buf b = BUF_INIT;
	struct perf_attr *a;
	const char *text;
	double scale;
	size_t len;
	int rc;

	if (c.bad)
		return PP_ECUT;
	if (!slot)
		return 0;
	a = &p->r.info.attrs[*slot - 1];
	switch (kind) {
	case UPDATE_NAME: return perf_event_write_renamed(p); /* noted by the reader */
	case UPDATE_UNIT: /* of the values as perf stat shows them: by the scale, not of a period */
		text = get_text(&c, cursor_left(&c), &len);
		rc = text ? perf_counter_unit(a, text, len) : PP_ECUT;
		if (rc)
			return rc;
		add_event_name(p, a, &b);
		buf_add_safe(&b, text, len);
		return fact(p, "event_unit", &c, &b);
	case UPDATE_SCALE:
		bits = get_u64(&c);
		memcpy(&scale, &bits, sizeof(scale));
		a->count_scale = c.bad ? 0 : bits;
		add_event_name(p, a, &b);
		buf_addf(&b, "%g", scale);
		return fact(p, "event_scale", &c, &b);
	case UPDATE_CPUS:
		add_event_name(p, a, &b);
		perf_add_cpus(&c, &b);
		return fact(p, "event_cpus", &c, &b);
	default: return 0;
	}
}

/* ---- others ---- */

static int time_conv(struct perf_decoder *p, struct cursor c)
{
	static const char *const names[] = {"shift", "mult", "zero", "cycles", "mask"};
	size_t n = cursor_left(&c) >= PERF_TIME_CONV_LONG ? 5 : 3;
	struct buf b = BUF_INIT;

	for (size_t i = 0; i < n; i++)
		buf_addf(&b, "%s%s %" PRIu64, i ? ", " : "", names[i], get_u64(&c));
	if (n == 5) {
		buf_addf(&b, ", cap_user_time_zero %u", get_u8(&c));
		buf_addf(&b, ", cap_user_time_short %u", get_u8(&c));
	}
	return fact(p, "time_conv", &c, &b);
}

static int auxtrace_info(struct perf_decoder *p, struct cursor c)
{
	static const char *const names[] = {"unknown", "intel_pt",    "intel_bts", "cs_etm",
					    "arm_spe", "s390_cpumsf", "hisi_ptt",  "vpa_dtl"};
	uint32_t type = get_u32(&c);
	struct buf b = BUF_INIT;

	p->r.aux_type = type;
	if (type < sizeof(names) / sizeof(names[0]))
		buf_adds(&b, names[type]);
	else
		buf_addf(&b, "%" PRIu32, type);
	return fact(p, "auxtrace_info", &c, &b);
}

/* Trace data that could not be decoded when this was recorded: it travels with its context. */
static int auxtrace_error(struct perf_decoder *p, struct cursor c)
{
	struct ps_other m = {.record_type = PERF_REC_AUXTRACE_ERROR};
	size_t size = cursor_left(&c);
	uint32_t fmt;

	m.data = ps_str((const char *)c.p - 8, size + 8);
	get_u32(&c); /* type, code */
	get_u32(&c);
	m.cpu = get_u32(&c);
	m.pid = get_u32(&c);
	m.tid = get_u32(&c);
	fmt = get_u32(&c);
	get_u64(&c); /* ip */
	if (fmt)
		m.time = get_u64(&c);
	if (c.bad)
		return PP_ECUT;
	return perf_put(p, PS_OTHER, &m);
}

#define BPF_ENTRY (64 + 256) /* bytes of a name and a value */

/*
 * What BPF programs are annotated with. The room for the name has grown: the size shows which it
 * is.
 */
static int bpf_metadata(struct perf_decoder *p, struct cursor c)
{
	size_t size = cursor_left(&c), len, room = (size - 8) % BPF_ENTRY;
	struct buf b = BUF_INIT;
	const char *text;
	uint64_t n;

	if (size < 8)
		return PP_ECUT;
	if (room != 256)
		room = 512; /* 512 % BPF_ENTRY is 192 */
	text = get_text(&c, room, &len);
	n = get_u64(&c);
	for (uint64_t i = 0; text && i < n && perf_lines_more(&c, &b); i++) {
		size_t klen, vlen;
		const char *key = get_text(&c, 64, &klen), *value = get_text(&c, 256, &vlen);

		if (!key || !value)
			break;
		buf_adds(&b, i ? "\n" : "");
		buf_add_safe(&b, text, len);
		buf_adds(&b, ": ");
		buf_add_safe(&b, key, klen);
		buf_adds(&b, " = ");
		buf_add_safe(&b, value, vlen);
	}
	return fact(p, "bpf_metadata", &c, &b);
}

/* Hardware trace data, which follow the record. */
static int auxtrace(struct perf_decoder *p, struct cursor c)
{
	struct ps_aux m = {.cpu = PS_NONE, .pid = PS_NONE, .kind = PERF_REC_AUXTRACE};

	m.size = get_u64(&c);
	m.offset = get_u64(&c);
	m.flags = get_u64(&c); /* a number that the recorder gives it */
	get_u32(&c);	       /* index of the buffer */
	m.tid = get_u32(&c);
	m.cpu = get_u32(&c);
	return c.bad ? PP_ECUT : perf_put(p, PS_AUX, &m);
}

int perf_session_put(struct perf_decoder *p, const struct perf_raw *raw)
{
	struct cursor c = perf_raw_body(raw, p->r.info.swap);

	switch (raw->type) {
	case PERF_REC_EVENT_UPDATE: return event_update(p, c);
	case PERF_REC_AUXTRACE: return auxtrace(p, c);
	case PERF_REC_AUXTRACE_INFO: return auxtrace_info(p, c);
	case PERF_REC_AUXTRACE_ERROR: return auxtrace_error(p, c);
	case PERF_REC_THREAD_MAP: return perf_thread_map(p, c);
	case PERF_REC_CPU_MAP: return cpu_map(p, c);
	case PERF_REC_STAT_CONFIG: return perf_stat_config(p, c);
	case PERF_REC_STAT: return perf_count(p, c);
	case PERF_REC_STAT_ROUND: return perf_round(p, c);
	case PERF_REC_TIME_CONV: return time_conv(p, c);
	case PERF_REC_BPF_METADATA: return bpf_metadata(p, c);
	case PERF_SIMPLEPERF_DSO: return perf_names_file(p, c);
	case PERF_SIMPLEPERF_SYMBOL: return perf_names_symbol(p, c);
	default: return 0;
	}
}
