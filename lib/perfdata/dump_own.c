/* --dump of perf's own records. */
#include "perfdata/dump_records.h"

#include "base/err.h"

#include <inttypes.h>

/* A line for each of `names`: "... name value". */
static void add_numbers(struct buf *b, struct cursor *c, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_addf(b, "\n... %s %" PRIu64, names[i], get_u64(c));
}

static void add_text(struct buf *b, struct cursor *c, size_t room)
{
	size_t len;
	const char *s = get_text(c, room, &len);

	if (s)
		buf_add_safe(b, s, len);
}

static void dump_attr(const struct perf_info *p, struct buf *b, struct cursor *c)
{
	struct cursor peek = *c;
	struct perf_attr a = {0};
	uint32_t size;

	get_u32(&peek);
	size = get_u32(&peek);
	if (size < PERF_ATTR_SIZE_VER0)
		size = PERF_ATTR_SIZE_VER0;
	if (perf_attr_parse(p, cursor_sub(c, size), &a)) {
		c->bad = true;
		return;
	}
	buf_adds(b, "\n... attr");
	perf_attr_text(p, &a, b);
	while (cursor_left(c) >= 8)
		buf_addf(b, "\n... id: %" PRIu64, get_u64(c));
}

static void dump_update(struct buf *b, struct cursor *c)
{
	static const char *const kinds[] = {"unit", "scale", "name", "cpus"};
	uint64_t kind = get_u64(c), id = get_u64(c), bits;
	double scale;

	buf_addf(b, "\n... id:    %" PRIu64 "\n... %s: ", id, kind < 4 ? kinds[kind] : "?");
	if (kind == 1) {
		bits = get_u64(c);
		memcpy(&scale, &bits, sizeof(scale));
		buf_addf(b, "%g", scale);
	} else if (kind == 3) {
		perf_add_cpus(c, b);
	} else {
		add_text(b, c, cursor_left(c));
	}
}

/* Entries of an index; two more numbers for each guest come after all of them. */
static void dump_id_index(struct buf *b, struct cursor *c)
{
	uint64_t n = get_u64(c);

	buf_addf(b, " nr: %" PRIu64, n);
	for (uint64_t i = 0; i < n && !c->bad; i++) {
		uint64_t id = get_u64(c), idx = get_u64(c), cpu = get_u64(c), tid = get_u64(c);

		buf_addf(b,
			 "\n ... id: %" PRIu64 "  idx: %" PRIu64 "  cpu: %" PRId64
			 "  tid: %" PRId64,
			 id, idx, (int64_t)cpu, (int64_t)tid);
	}
}

static void dump_auxtrace(struct buf *b, struct cursor *c)
{
	uint64_t size = get_u64(c), offset = get_u64(c), reference = get_u64(c);
	uint32_t idx = get_u32(c), tid = get_u32(c), cpu = get_u32(c);

	buf_addf(b,
		 " size: %#" PRIx64 "  offset: %#" PRIx64 "  ref: %#" PRIx64 "  idx: %" PRIu32
		 "  tid: %" PRId32 "  cpu: %" PRId32,
		 size, offset, reference, idx, (int32_t)tid, (int32_t)cpu);
}

static void dump_auxtrace_error(struct buf *b, struct cursor *c)
{
	uint32_t type = get_u32(c), code = get_u32(c), cpu = get_u32(c);
	uint32_t pid = get_u32(c), tid = get_u32(c), fmt = get_u32(c);
	uint64_t ip = get_u64(c), time = fmt ? get_u64(c) : 0;

	buf_addf(b,
		 " type %" PRIu32 " time %" PRIu64 " cpu %" PRId32 " pid %" PRId32 " tid %" PRId32
		 " ip %#" PRIx64 " code %" PRIu32 ": ",
		 type, time, (int32_t)cpu, (int32_t)pid, (int32_t)tid, ip, code);
	add_text(b, c, cursor_left(c) < 64 ? cursor_left(c) : 64);
}

static void dump_thread_map(struct buf *b, struct cursor *c)
{
	uint64_t n = get_u64(c);

	buf_addf(b, " nr: %" PRIu64 " %s", n, n > 1 ? "threads" : "thread");
	for (uint64_t i = 0; i < n && !c->bad; i++) {
		buf_addf(b, "%s%" PRId64, i ? ", " : ": ", (int64_t)get_u64(c));
		cursor_skip(c, 16);
	}
}

static void dump_stat(struct buf *b, struct cursor *c)
{
	uint64_t id = get_u64(c);
	uint32_t cpu = get_u32(c), thread = get_u32(c);
	uint64_t value = get_u64(c), enabled = get_u64(c), running = get_u64(c);

	buf_addf(b,
		 "\n... id %" PRIu64 ", cpu %" PRId32 ", thread %" PRId32 "\n... value %" PRIu64
		 ", enabled %" PRIu64 ", running %" PRIu64,
		 id, (int32_t)cpu, (int32_t)thread, value, enabled, running);
}

static void dump_stat_config(struct buf *b, struct cursor *c)
{
	uint64_t n = get_u64(c);

	buf_addf(b, " nr: %" PRIu64, n);
	for (uint64_t i = 0; i < n && !c->bad; i++) {
		uint64_t tag = get_u64(c), value = get_u64(c);

		buf_addf(b, "\n... tag %" PRIu64 ", value %" PRIu64, tag, value);
	}
}

static void dump_time_conv(struct buf *b, struct cursor *c)
{
	static const char *const names[] = {"Time Shift     ", "Time Multiplier", "Time Zero      ",
					    "Time Cycles    ", "Time Mask      "};
	size_t n = cursor_left(c) >= PERF_TIME_CONV_LONG ? 5 : 3;

	add_numbers(b, c, names, n);
	if (n == 5) {
		buf_addf(b, "\n... Cap Time Zero   %u", get_u8(c));
		buf_addf(b, "\n... Cap Time Short  %u", get_u8(c));
	}
}

static void dump_build_id(struct buf *b, struct cursor *c, uint16_t misc)
{
	int32_t pid = perf_build_id_lacks_pid(*c) ? 0 : (int32_t)get_u32(c);
	const uint8_t *id = get_bytes(c, 24);
	unsigned n = id && (misc & PERF_MISC_BUILD_ID_SIZE) && id[20] <= 20 ? id[20] : 20;

	buf_addf(b, " pid %" PRId32 " <", pid);
	for (unsigned i = 0; id && i < n; i++)
		buf_add_hex(b, id[i], 2, '0');
	buf_adds(b, "> ");
	add_text(b, c, cursor_left(c));
}

static void dump_feature(const struct perf_info *p, struct buf *b, struct cursor *c)
{
	uint64_t feature = get_u64(c);

	buf_addf(b, " %" PRIu64, feature);
	if (cursor_left(c) && feature < PERF_FEAT_MAX) {
		buf_addc(b, '\n');
		perf_feature_lines(p, (uint32_t)feature, *c, b);
		if (b->len && b->data[b->len - 1] == '\n')
			b->data[--b->len] = 0;
	}
}

void perf_dump_own(const struct perf_info *p, struct buf *b, struct cursor *c, uint32_t type,
		   uint16_t misc)
{
	static const char *const round[] = {"type", "time"};

	switch (type) {
	case PERF_REC_HEADER_ATTR: dump_attr(p, b, c); break;
	case PERF_REC_HEADER_TRACING_DATA: buf_addf(b, " size: %" PRIu32, get_u32(c)); break;
	case PERF_REC_HEADER_BUILD_ID: dump_build_id(b, c, misc); break;
	case PERF_REC_ID_INDEX: dump_id_index(b, c); break;
	case PERF_REC_AUXTRACE_INFO: buf_addf(b, " type: %" PRIu32, get_u32(c)); break;
	case PERF_REC_AUXTRACE: dump_auxtrace(b, c); break;
	case PERF_REC_AUXTRACE_ERROR: dump_auxtrace_error(b, c); break;
	case PERF_REC_THREAD_MAP: dump_thread_map(b, c); break;
	case PERF_REC_CPU_MAP:
		buf_adds(b, ": ");
		perf_add_cpus(c, b);
		break;
	case PERF_REC_STAT_CONFIG: dump_stat_config(b, c); break;
	case PERF_REC_STAT: dump_stat(b, c); break;
	case PERF_REC_STAT_ROUND: add_numbers(b, c, round, 2); break;
	case PERF_REC_EVENT_UPDATE: dump_update(b, c); break;
	case PERF_REC_TIME_CONV: dump_time_conv(b, c); break;
	case PERF_REC_HEADER_FEATURE: dump_feature(p, b, c); break;
	case PERF_REC_COMPRESSED: buf_addf(b, ": %zu compressed bytes", cursor_left(c)); break;
	case PERF_REC_COMPRESSED2: buf_addf(b, ": %" PRIu64 " compressed bytes", get_u64(c)); break;
	case PERF_REC_BPF_METADATA: add_text(b, c, cursor_left(c)); break;
	default: break;
	}
}
