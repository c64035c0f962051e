/*
 * What `perf stat record` wrote: counts become COUNTER, COUNT and ROUND records of the stream, the
 * way in which they are to be shown becomes facts. The layouts are those of
 * tools/lib/perf/include/perf/event.h of the kernel tree.
 */
#include "perfdata/decoder.h"

#include "base/err.h"

#include <inttypes.h>
#include <stdlib.h>

#define COMM_SIZE 16

int perf_counter_unit(struct perf_attr *a, const char *unit, size_t len)
{
	char *copy = strndup(unit, len);

	if (!copy)
		return PP_ENOMEM;
	free(a->count_unit);
	a->count_unit = copy;
	return 0;
}

int perf_thread_map(struct perf_decoder *p, struct cursor c)
{
	uint64_t n = get_u64(&c);
	struct buf b = BUF_INIT, *tids = &p->counts.tids;

	buf_reset(tids);
	for (uint64_t i = 0; i < n && perf_lines_more(&c, &b); i++) {
		uint64_t tid = get_u64(&c);
		uint32_t known = (int64_t)tid < 0 ? PS_NONE : (uint32_t)tid;
		size_t len;
		const char *comm = get_text(&c, COMM_SIZE, &len);

		if (!comm)
			break;
		buf_add(tids, &known, sizeof(known));
		buf_addf(&b, "%s%" PRId64 " ", i ? "\n" : "", (int64_t)tid);
		buf_add_safe(&b, comm, len);
	}
	buf_inherit(&b, tids);
	return perf_meta_buf(p, "thread_map", c.bad, &b);
}

int perf_stat_config(struct perf_decoder *p, struct cursor c)
{
	static const char *const tags[] = {"aggr_mode", "interval", "scale", "aggr_level"};
	uint64_t n = get_u64(&c);
	struct buf b = BUF_INIT;

	for (uint64_t i = 0; i < n && perf_lines_more(&c, &b); i++) {
		uint64_t tag = get_u64(&c), value = get_u64(&c);

		if (tag < sizeof(tags) / sizeof(tags[0]))
			buf_addf(&b, "%s%s %" PRIu64, b.len ? "\n" : "", tags[tag], value);
	}
	return perf_meta_buf(p, "stat_config", c.bad, &b);
}

static int put_counter(struct perf_decoder *p, const struct perf_attr *a)
{
	static const struct {
		uint64_t flag;
		uint32_t without;
	} bits[] = {
		{PERF_ATTR_EXCLUDE_USER, PS_WITHOUT_USER},
		{PERF_ATTR_EXCLUDE_KERNEL, PS_WITHOUT_KERNEL},
		{PERF_ATTR_EXCLUDE_HV, PS_WITHOUT_HV},
		{PERF_ATTR_EXCLUDE_HOST, PS_WITHOUT_HOST},
		{PERF_ATTR_EXCLUDE_IDLE, PS_WITHOUT_IDLE},
		{PERF_ATTR_EXCLUDE_GUEST, PS_WITHOUT_GUEST},
	};
	const char *unit = a->count_unit ? a->count_unit : "";
	struct ps_counter m = {.event = a->event, .scale = a->count_scale};
	double one = 1;

	if (!m.scale)
		memcpy(&m.scale, &one, sizeof(one));
	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if (a->flags & bits[i].flag)
			m.without |= bits[i].without;
	m.unit = ps_str(unit, strlen(unit));
	return perf_put(p, PS_COUNTER, &m);
}

/* All events, in their order: those that were not counted have their place in the table, too. */
static int put_counters(struct perf_decoder *p)
{
	int rc = perf_event_write_all(p);

	for (uint32_t i = 0; i < p->r.info.nattrs && !rc; i++)
		rc = put_counter(p, &p->r.info.attrs[i]);
	p->counts.counters = true;
	return rc;
}

/* Counts of an event on a CPU, of a thread. */
int perf_count(struct perf_decoder *p, struct cursor c)
{
	uint64_t id = get_u64(&c);
	struct perf_attr *a = perf_attr_find(&p->r.info, id);
	struct ps_count m = {.pid = PS_NONE, .tid = PS_NONE};
	uint32_t thread, n = (uint32_t)(p->counts.tids.len / sizeof(thread));
	int rc = 0;

	m.cpu = get_u32(&c);
	thread = get_u32(&c);
	m.value = get_u64(&c);
	m.enabled = get_u64(&c);
	m.running = get_u64(&c);
	if (c.bad)
		return PP_ECUT;
	if (!a || (n && thread >= n))
		return PP_ECORRUPT;
	if (!p->counts.counters)
		rc = put_counters(p);
	if (rc)
		return rc;
	if (n)
		memcpy(&m.tid, p->counts.tids.data + thread * sizeof(m.tid), sizeof(m.tid));
	m.event = a->event;
	return perf_put(p, PS_COUNT, &m);
}

int perf_round(struct perf_decoder *p, struct cursor c)
{
	struct ps_round m = {0};

	m.kind = get_u64(&c) != 0;
	m.elapsed = get_u64(&c);
	return c.bad ? PP_ECUT : perf_put(p, PS_ROUND, &m);
}
