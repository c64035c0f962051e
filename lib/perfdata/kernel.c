/*
 * Records of the kernel beside those about threads and mappings (record.c): counter values, BPF
 * programs, namespaces, changed kernel text, hardware trace data, deferred call chains. The layouts
 * are those of <linux/perf_event.h>.
 */
#include "perfdata/parts.h"

#include "base/err.h"

#include <linux/perf_event.h>
#include <stdlib.h>

#define READS_MAX      5    /* value, two times, id, lost */
#define NAMESPACES_MAX 4096 /* in a record of 64 KB */
#define AUX_TRUNCATED  1    /* PERF_AUX_FLAG_TRUNCATED */
#define FORMAT_LOST    (1u << 4)
#define CONTEXT(id)    .time = (id)->time, .cpu = (id)->cpu, .pid = (id)->pid, .tid = (id)->tid

/* Counter values of a thread that ended (perf record -s). */
int perf_record_read(struct perf *p, struct cursor c, const struct perf_id *id)
{
	struct perf_attr *a = perf_attr_find(p, id->id);
	struct ps_read m = {CONTEXT(id)};
	uint64_t values[READS_MAX], n = 1;

	if (!a)
		a = p->nattrs ? &p->attrs[0] : NULL;
	if (!a || perf_attr_write(p, a))
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

int perf_record_namespaces(struct perf *p, struct cursor c, const struct perf_id *id)
{
	struct ps_namespaces m = {CONTEXT(id)};
	uint64_t n;

	m.pid = get_u32(&c);
	m.tid = get_u32(&c);
	n = get_u64(&c);
	if (n > NAMESPACES_MAX)
		return PP_ECORRUPT;
	m.links.v = take_u64s(&c, 2 * n); /* device and inode of each */
	m.links.n = (uint32_t)(2 * n);
	return c.bad ? PP_ECUT : perf_put(p, PS_NAMESPACES, &m);
}

int perf_record_bpf(struct perf *p, struct cursor c, const struct perf_id *id)
{
	struct ps_bpf m = {CONTEXT(id)};

	m.bpf_type = get_u16(&c);
	m.flags = get_u16(&c);
	m.id = get_u32(&c);
	m.tag = ps_str((const char *)get_bytes(&c, 8), 8);
	return c.bad ? PP_ECUT : perf_put(p, PS_BPF, &m);
}

int perf_record_text_poke(struct perf *p, struct cursor c, const struct perf_id *id)
{
	struct ps_text_poke m = {CONTEXT(id)};
	uint16_t before, after;

	m.addr = get_u64(&c);
	before = get_u16(&c);
	after = get_u16(&c);
	m.old_text = ps_str((const char *)get_bytes(&c, before), before);
	m.new_text = ps_str((const char *)get_bytes(&c, after), after);
	return c.bad ? PP_ECUT : perf_put(p, PS_TEXT_POKE, &m);
}

/* AUX says that there is trace data, ITRACE_START and AUX_OUTPUT_HW_ID of whom. */
int perf_record_aux(struct perf *p, struct cursor c, uint32_t type, const struct perf_id *id)
{
	struct ps_aux m = {CONTEXT(id), .kind = type};
	struct ps_lost lost = {CONTEXT(id), .flags = 1, .kind = PS_LOST_TRACE};
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
	p->aux_cut++;
	return perf_put(p, PS_LOST, &lost);
}

/* ---- call chains that are recorded when the thread returns to user space (Linux 6.19) ---- */

/*
 * A sample then has PERF_CONTEXT_USER_DEFERRED and a cookie where its user addresses would be. The
 * record that has them comes later; those that are queued are found by thread and cookie.
 */
static uint64_t deferred_key(uint32_t tid, uint64_t cookie)
{
	uint64_t k = cookie * UINT64_C(0x9e3779b97f4a7c15) + tid;

	return k ^ k >> 29;
}

static struct perf_deferred *deferred_find(struct perf *p, uint32_t tid, uint64_t cookie)
{
	uint32_t *slot = map64_get(&p->deferred_by_key, deferred_key(tid, cookie));
	struct perf_deferred *d = slot && *slot ? &p->deferred[*slot - 1] : NULL;

	return d && d->tid == tid && d->cookie == cookie ? d : NULL;
}

static bool deferred_parse(struct perf *p, const uint8_t *rec, size_t size, uint32_t tid,
			   struct perf_deferred *d)
{
	struct cursor c = cursor_make(rec + 8, size - 8, p->swap);

	d->tid = tid;
	d->cookie = get_u64(&c);
	d->n = get_u64(&c);
	d->ips = c.p;
	return !c.bad && d->n <= cursor_left(&c) / 8;
}

int perf_deferred_add(struct perf *p, const uint8_t *rec, size_t size, uint32_t tid)
{
	struct perf_deferred d;
	uint32_t *slot;

	if (!deferred_parse(p, rec, size, tid, &d) || p->ndeferred >= PERF_DEFERRED_MAX)
		return 0;
	if (!p->deferred) {
		p->deferred = calloc(PERF_DEFERRED_MAX, sizeof(*p->deferred));
		if (!p->deferred)
			return PP_ENOMEM;
	}
	slot = map64_put(&p->deferred_by_key, deferred_key(tid, d.cookie), NULL);
	if (!slot)
		return PP_ENOMEM;
	if (*slot) { /* the same once more */
		p->deferred[*slot - 1] = d;
		return 0;
	}
	p->deferred[p->ndeferred++] = d;
	*slot = p->ndeferred;
	return 0;
}

/* The record's turn has come: no sample that waits for it can follow. */
int perf_deferred_done(struct perf *p, const uint8_t *rec, size_t size, uint32_t tid)
{
	struct perf_deferred d, *at, *last;
	uint32_t *slot;

	if (!deferred_parse(p, rec, size, tid, &d))
		return PP_ECUT;
	at = deferred_find(p, tid, d.cookie);
	if (!at || at->ips != d.ips)
		return 0;
	map64_del(&p->deferred_by_key, deferred_key(tid, d.cookie));
	last = &p->deferred[--p->ndeferred];
	if (at != last) {
		*at = *last;
		slot = map64_get(&p->deferred_by_key, deferred_key(at->tid, at->cookie));
		if (slot)
			*slot = (uint32_t)(at - p->deferred) + 1;
	}
	return 0;
}

uint64_t perf_deferred_merge(struct perf *p, uint32_t tid, uint64_t *ips, uint64_t n, uint64_t *out)
{
	const struct perf_deferred *d;
	struct cursor c;

	if (n < 2 || perf_u64(ips, n - 2) != PERF_CTX_USER_DEFERRED)
		return 0;
	d = deferred_find(p, tid, perf_u64(ips, n - 1));
	if (!d || d->n + n - 2 > PERF_CHAIN_MAX) {
		p->undeferred++;
		return 0;
	}
	memcpy(out, ips, 8 * (n - 2));
	c = cursor_make(d->ips, 8 * d->n, p->swap);
	for (uint64_t i = 0; i < d->n; i++)
		out[n - 2 + i] = get_u64(&c);
	return n - 2 + d->n;
}
