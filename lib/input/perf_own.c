/* perf's own records: they are not put in order, but act at once. */
#include "input/perf.h"

#include "base/err.h"

static int one_attr(struct perf *p, struct cursor c)
{
	struct cursor peek = c;
	struct perf_attr *a;
	uint32_t size;
	int rc;

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

static int event_update(struct perf *p, struct cursor c)
{
	uint64_t kind = get_u64(&c), id = get_u64(&c);
	uint32_t *slot = map64_get(&p->by_id, id);
	const char *name;
	size_t len;

	if (kind != 2 || !slot) /* PERF_EVENT_UPDATE__NAME */
		return 0;
	name = get_text(&c, cursor_left(&c), &len);
	return name ? perf_attr_rename(p, &p->attrs[*slot - 1], name, len) : PP_ECUT;
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

	/* Behind the last comes one without content: its number is that of the first unknown. */
	if (!cursor_left(&c) && feature != PERF_FEAT_BRANCH_STACK && feature != PERF_FEAT_STAT)
		return 0;
	rc = perf_feature_learn(p, feature, c);
	return rc ? rc : perf_feature_tell(p, feature, c);
}

int perf_own_record(struct perf *p, uint32_t type, uint16_t misc, struct cursor c)
{
	switch (type) {
	case PERF_REC_HEADER_ATTR: return one_attr(p, c);
	case PERF_REC_EVENT_UPDATE: return event_update(p, c);
	case PERF_REC_HEADER_TRACING_DATA: return tracing_data(p, c);
	case PERF_REC_HEADER_BUILD_ID: return perf_build_id(p, c, misc);
	case PERF_REC_HEADER_FEATURE: {
		uint32_t feature = (uint32_t)get_u64(&c);

		return c.bad ? PP_ECUT : pipe_feature(p, feature, c);
	}
	case PERF_REC_FINISHED_ROUND: p->rounds = true; return order_round(&p->order);
	case PERF_REC_AUXTRACE: return perf_skip(p, get_u64(&c));
	case PERF_REC_COMPRESSED: return perf_inflate(p, c, false);
	case PERF_REC_COMPRESSED2: return perf_inflate(p, c, true);
	default: return 0;
	}
}
