/* perf's own records: they are not put in order, but act at once. */
#include "perfdata/parts.h"

#include "base/err.h"

static int one_attr(struct perf *p, uint16_t misc, struct cursor c)
{
	struct cursor peek = c;
	struct perf_attr *a;
	uint32_t size;
	int rc;

	if (misc == PERF_MISC_END_MARK)
		p->mark_announced = true;
	get_u32(&peek);
	size = get_u32(&peek);
	if (size < PERF_ATTR_SIZE_VER0)
		size = PERF_ATTR_SIZE_VER0;
	rc = perf_attr_add(p, cursor_sub(&c, size), &a);
	while (!rc && cursor_left(&c) >= 8)
		rc = perf_attr_id(p, a, get_u64(&c));
	perf_attr_layout(p);
	return rc;
}

/* The data of a tracing data record follow it, outside of its size; simpleperf has them inside. */
static int tracing_data(struct perf *p, struct cursor c)
{
	uint32_t size = get_u32(&c);
	int rc;

	if (c.bad)
		return PP_ECUT;
	if (cursor_left(&c) && size <= cursor_left(&c))
		return perf_tracing_read(p, cursor_sub(&c, size));
	rc = perf_need(p, size);
	if (rc)
		return rc == PP_END ? PP_ECUT : rc;
	rc = perf_tracing_read(p, cursor_make(block_bytes(p->cur) + p->pos, size, p->swap));
	p->pos += size;
	/* The next record begins at a multiple of 8 bytes. */
	if (!rc && size % 8 && !(rc = perf_need(p, 8 - size % 8)))
		p->pos += 8 - size % 8;
	return rc == PP_END ? 0 : rc;
}

/* A feature of the pipe form, where each is a record. */
static int pipe_feature(struct perf *p, uint32_t feature, struct cursor c)
{
	int rc;

	/* Also, the last one is followed by one without content, whose number is the first unknown. */
	if (!cursor_left(&c) && !perf_feature_is_flag(feature))
		return 0;
	rc = perf_feature_learn(p, feature, c);
	return rc ? rc : perf_feature_tell(p, feature, c);
}

/* Hardware trace data follow the record. */
static int auxtrace(struct perf *p, struct cursor c)
{
	struct ps_aux m = {.cpu = PS_NONE, .pid = PS_NONE, .kind = PERF_REC_AUXTRACE};
	int rc;

	m.size = get_u64(&c);
	m.offset = get_u64(&c);
	m.flags = get_u64(&c); /* a number that the recorder gives it */
	get_u32(&c);	       /* index of the buffer */
	m.tid = get_u32(&c);
	m.cpu = get_u32(&c);
	if (c.bad)
		return PP_ECUT;
	rc = perf_skip(p, m.size);
	if (!rc)
		p->aux_bytes += m.size;
	return rc ? rc : perf_put(p, PS_AUX, &m);
}

int perf_own_record(struct perf *p, uint32_t type, uint16_t misc, struct cursor c)
{
	switch (type) {
	case PERF_REC_HEADER_ATTR: return one_attr(p, misc, c);
	case PERF_REC_EVENT_UPDATE: return perf_event_update(p, c);
	case PERF_REC_HEADER_TRACING_DATA: return tracing_data(p, c);
	case PERF_REC_HEADER_BUILD_ID: return perf_build_id(p, c, misc);
	case PERF_REC_HEADER_FEATURE: {
		uint32_t feature = (uint32_t)get_u64(&c);

		return c.bad ? PP_ECUT : pipe_feature(p, feature, c);
	}
	case PERF_REC_FINISHED_ROUND:
		/* In the directory form a round of one file says nothing of the others. */
		p->rounds = true;
		if (misc == PERF_MISC_END_MARK)
			p->mark_seen = true;
		return p->budget ? 0 : order_round(&p->order);
	case PERF_REC_AUXTRACE: return auxtrace(p, c);
	case PERF_REC_AUXTRACE_INFO: return perf_auxtrace_info(p, c);
	case PERF_REC_AUXTRACE_ERROR: return perf_auxtrace_error(p, c);
	case PERF_REC_THREAD_MAP: return perf_thread_map(p, c);
	case PERF_REC_CPU_MAP: return perf_cpu_map(p, c);
	case PERF_REC_STAT_CONFIG: return perf_stat_config(p, c);
	case PERF_REC_STAT: return perf_stat(p, c);
	case PERF_REC_STAT_ROUND: return perf_stat_round(p, c);
	case PERF_REC_TIME_CONV: return perf_time_conv(p, c);
	case PERF_REC_BPF_METADATA: return perf_bpf_metadata(p, c);
	case PERF_REC_COMPRESSED: return perf_inflate(p, c, false);
	case PERF_REC_COMPRESSED2: return perf_inflate(p, c, true);
	default: return 0;
	}
}
