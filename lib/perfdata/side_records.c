/*
 * Records of the kernel besides those about threads and mappings (context_records.c): counter
 * values, BPF programs, namespaces, changed kernel text, hardware trace data. The layouts are those
 * of <linux/perf_event.h>.
 */
#include "perfdata/decoder.h"

#include "base/err.h"

#include <linux/perf_event.h>

#define READS_MAX      5    /* value, two times, id, lost */
#define NAMESPACES_MAX 4096 /* in a record of 64 KB */
#define AUX_TRUNCATED  1    /* PERF_AUX_FLAG_TRUNCATED */
#define FORMAT_LOST    (1u << 4)

/* Counter values of a thread that ended (perf record -s). */
int perf_record_read(struct perf_decoder *p, struct cursor c, const struct perf_id *id)
{
	struct perf_attr *a = perf_attr_find(&p->r.info, id->id);
	struct ps_read m = {PERF_CONTEXT(id)};
	uint64_t values[READS_MAX], n = 1;

	if (!a)
		a = p->r.info.nattrs ? &p->r.info.attrs[0] : NULL;
	if (!a || perf_event_write(p, a))
		return a ? PP_ENOMEM : 0;
	m.pid = get_u32(&c);
	m.tid = get_u32(&c);
	m.event = a->event;
	m.format = a->read_format;
	n += (uint64_t)__builtin_popcountll(a->read_format & (PERF_FORMAT_TOTAL_TIME_ENABLED |
							      PERF_FORMAT_TOTAL_TIME_RUNNING |
							      PERF_FORMAT_ID | FORMAT_LOST));
	for (uint64_t i = 0; i < n; i++)
		values[i] = get_u64(&c);
	m.values = (struct ps_u64s){values, (uint32_t)n};
	return c.bad ? PP_ECUT : perf_put(p, PS_READ, &m);
}

int perf_record_namespaces(struct perf_decoder *p, struct cursor c, const struct perf_id *id)
{
	struct ps_namespaces m = {PERF_CONTEXT(id)};
	uint64_t n;

	m.pid = get_u32(&c);
	m.tid = get_u32(&c);
	n = get_u64(&c);
	if (n > NAMESPACES_MAX)
		return PP_ECORRUPT;
	m.links.v = perf_take_u64s(&c, 2 * n); /* device and inode of each */
	m.links.n = (uint32_t)(2 * n);
	if (!c.bad && n && m.links.v[2 * (n - 1)] == PERF_NS_INNER_MARK) {
		m.inner = (uint32_t)m.links.v[2 * n - 1];
		m.links.n -= 2;
	}
	return c.bad ? PP_ECUT : perf_put(p, PS_NAMESPACES, &m);
}

int perf_record_bpf(struct perf_decoder *p, struct cursor c, const struct perf_id *id)
{
	struct ps_bpf m = {PERF_CONTEXT(id)};

	m.bpf_type = get_u16(&c);
	m.flags = get_u16(&c);
	m.id = get_u32(&c);
	m.tag = ps_str((const char *)get_bytes(&c, 8), 8);
	return c.bad ? PP_ECUT : perf_put(p, PS_BPF, &m);
}

int perf_record_text_poke(struct perf_decoder *p, struct cursor c, const struct perf_id *id)
{
	struct ps_text_poke m = {PERF_CONTEXT(id)};
	uint16_t before, after;

	m.addr = get_u64(&c);
	before = get_u16(&c);
	after = get_u16(&c);
	m.old_text = ps_str((const char *)get_bytes(&c, before), before);
	m.new_text = ps_str((const char *)get_bytes(&c, after), after);
	return c.bad ? PP_ECUT : perf_put(p, PS_TEXT_POKE, &m);
}

/* AUX announces trace data; ITRACE_START and AUX_OUTPUT_HW_ID name who is traced. */
int perf_record_aux(struct perf_decoder *p, struct cursor c, uint32_t type,
		    const struct perf_id *id)
{
	struct ps_aux m = {PERF_CONTEXT(id), .kind = type};
	struct ps_lost lost = {PERF_CONTEXT(id), .flags = 1, .kind = PS_LOST_TRACE};
	int rc;

	if (type == PERF_REC_ITRACE_START) {
		m.pid = get_u32(&c);
		m.tid = get_u32(&c);
	} else if (type == PERF_REC_AUX_OUTPUT_HW_ID) {
		m.flags = get_u64(&c);
	} else {
		m.offset = get_u64(&c);
		m.size = get_u64(&c);
		m.flags = get_u64(&c);
	}
	if (c.bad)
		return PP_ECUT;
	rc = perf_put(p, PS_AUX, &m);
	if (rc || type != PERF_REC_AUX || !(m.flags & AUX_TRUNCATED))
		return rc;
	p->tally.aux_cut++;
	return perf_put(p, PS_LOST, &lost);
}
